"""The journal of a run: truncated and damaged at every byte, and on a full disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from kibitz_training.journal import Journal, JournalError, parse
from kibitz_training.output import OutputError

HEADER = {"experiment": "sums", "seed": 2, "population": 4}
ENTRIES: list[dict[str, Any]] = [{"numbers": [number, 0.5]} for number in range(4)]


def write(path: Path) -> bytes:
    """Write a complete journal, or the missing part."""
    with Journal(path, HEADER) as journal:
        for entry in ENTRIES[len(journal.entries) :]:
            journal.append(entry)
        journal.sync()
    return path.read_bytes()


def test_cut_off_at_every_byte_it_goes_on_to_the_same(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole")
    path = tmp_path / "cut"
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        assert write(path) == whole


def test_a_change_of_any_byte_is_noticed(tmp_path: Path) -> None:
    """Except for the end of the last line: without it the line is torn and rewritten."""
    whole = write(tmp_path / "whole")
    for at in range(len(whole)):
        for bit in (0, 3, 6):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << bit
            if at == len(whole) - 1:
                assert len(parse(bytes(damaged), "file").entries) == 3
            else:
                with pytest.raises(JournalError, match=r"file, line \d+: "):
                    parse(bytes(damaged), "file")


def append_all(journal: Journal) -> None:
    for entry in ENTRIES:
        journal.append(entry)


class _FullDisk:
    """A file on a disk with a limited number of free bytes."""

    def __init__(self, file: Any, room: int) -> None:
        self._file, self._room = file, room

    def write(self, data: memoryview) -> int:
        if self._room == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = int(self._file.write(data[: self._room]))
        self._room -= written
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.mark.parametrize("room", [0, 1, 30, 100])
def test_on_a_full_disk_half_a_line_is_cut_off_later(tmp_path: Path, room: int) -> None:
    whole, path = write(tmp_path / "whole"), tmp_path / "full"
    with Journal(path, HEADER) as journal:
        journal._file = _FullDisk(journal._file, room)  # type: ignore[assignment]
        with pytest.raises(OutputError, match=r"full: cannot be written \(No space left"):
            append_all(journal)
    header = whole.index(b"\n") + 1
    assert path.read_bytes() == whole[: header + room]
    assert write(path) == whole


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"none.journal: cannot be written \(No such file"):
        Journal(tmp_path / "none" / "journal", HEADER)
    with pytest.raises(JournalError, match=r"journal: cannot read .* \(Not a directory\)"):
        Journal(Path("/dev/null/journal"), HEADER)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(
            JournalError, match="expected a file with the journal of a training run"
        ):
            Journal(path, HEADER)


def test_another_experiment_is_told_before_what_follows_from_it(tmp_path: Path) -> None:
    write(tmp_path / "run")
    with pytest.raises(JournalError, match="started with experiment = 'sums', not 'products'"):
        Journal(tmp_path / "run", {"experiment": "products", "also": 1})
