from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from kibitz_arena.journal import JournalError
from kibitz_arena.runner.append_file import AppendFile, open_append_file

HEADER = b"header\n"


@dataclass(frozen=True)
class Lines:
    header: bytes | None
    entries: list[bytes]
    length: int
    torn: bytes


def parse(data: bytes) -> Lines:
    length = data.rfind(b"\n") + 1
    lines = data[:length].splitlines(keepends=True)
    if lines and lines[0] != HEADER:
        raise JournalError("expected the header")
    return Lines(lines[0] if lines else None, lines[1:], length, data[length:])


def opened(path: Path) -> tuple[AppendFile, Lines]:
    return open_append_file(path, parse, HEADER, "somebody writes it")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def test_a_new_file_has_its_header_and_what_is_appended(path: Path) -> None:
    file, found = opened(path)
    file.append(b"one\n")
    file.close()
    assert found.header is None
    assert path.read_bytes() == b"header\none\n"


@pytest.mark.parametrize("torn", [b"", b"tw"])
def test_half_a_line_at_the_end_is_cut_off_and_told(path: Path, torn: bytes) -> None:
    path.write_bytes(HEADER + b"one\n" + torn)
    file, found = opened(path)
    file.append(b"three\n")
    file.close()
    assert (found.entries, found.torn) == ([b"one\n"], torn)
    assert path.read_bytes() == b"header\none\nthree\n"


def test_half_a_header_is_written_anew(path: Path) -> None:
    path.write_bytes(HEADER[:3])
    opened(path)[0].close()
    assert path.read_bytes() == HEADER


def test_one_writer_at_a_time(path: Path) -> None:
    file, _ = opened(path)
    with pytest.raises(JournalError, match="journal is open already: somebody writes it"):
        opened(path)
    file.close()
    opened(path)[0].close()


def test_what_cannot_be_read_is_left_as_it_is_and_to_others(path: Path) -> None:
    path.write_bytes(b"something else\nhalf")
    for _ in range(2):  # the lock is free again after the first time
        with pytest.raises(JournalError, match="expected the header"):
            opened(path)
    assert path.read_bytes() == b"something else\nhalf"


def test_a_write_that_the_system_cuts_short_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, _ = opened(path)
    whole = file._file

    class Short:
        def write(self, data: memoryview) -> int:
            return whole.write(data[:2])

        def __getattr__(self, name: str) -> object:
            return getattr(whole, name)

    monkeypatch.setattr(file, "_file", Short())
    file.append(b"a long line\n")
    file.close()
    assert path.read_bytes() == b"header\na long line\n"
