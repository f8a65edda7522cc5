from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from pydantic import TypeAdapter

from kibitz_arena.journal import (
    EntryBase,
    JournalError,
    JournalFormat,
    JournalMismatchError,
    encode_line,
)
from kibitz_arena.runner.journal_file import JournalFile


class Counted(EntryBase):
    kind: Literal["counted"] = "counted"


FORMAT = JournalFormat("test/1", TypeAdapter(list[Counted]), frozenset({"width"}))
HEADER = FORMAT.header({"name": "one"})
ONE, TWO = Counted(at_ms=1), Counted(at_ms=2)
LINES = encode_line(HEADER) + encode_line(ONE)


class Total:
    def __init__(self, entries: Sequence[Counted]) -> None:
        self.moments = [each.at_ms for each in entries]

    def apply(self, entry: Counted, /) -> None:
        if entry.at_ms in self.moments:
            raise JournalError("twice")
        self.moments.append(entry.at_ms)


def opened(path: Path, name: str = "one", width: int = 1) -> JournalFile[Total, Counted]:
    header = FORMAT.header({"name": name, "width": width})
    return JournalFile(path, FORMAT, header, Total, "somebody writes it")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def test_a_new_file_has_its_header_and_what_is_appended(path: Path) -> None:
    with opened(path) as file:
        assert file.state.moments == []
        file.append(ONE)
    header = FORMAT.header({"name": "one", "width": 1})
    assert path.read_bytes() == encode_line(header) + encode_line(ONE)


@pytest.mark.parametrize("torn", [b"", b"tw"])
def test_half_a_line_at_the_end_is_cut_off_and_told(path: Path, torn: bytes) -> None:
    path.write_bytes(LINES + torn)
    told: list[str] = []
    with opened(path) as file:
        file.tell_torn(told.append)
        file.append(TWO)
        assert (file.state.moments, file.torn) == ([1, 2], torn)
    assert path.read_bytes() == LINES + encode_line(TWO)
    assert [repr(torn) in line for line in told] == [True] * bool(torn)


def test_half_a_header_is_written_anew(path: Path) -> None:
    path.write_bytes(LINES[:3])
    opened(path).close()
    assert FORMAT.parse(path.read_bytes()).header == FORMAT.header({"name": "one", "width": 1})


def test_one_writer_at_a_time(path: Path) -> None:
    with (
        opened(path),
        pytest.raises(JournalError, match="journal is already open: somebody writes it"),
    ):
        opened(path)
    opened(path).close()


def test_what_may_change_may_and_what_may_not_is_named(path: Path) -> None:
    opened(path).close()
    opened(path, width=2).close()
    with pytest.raises(JournalMismatchError, match='name is "two" and was "one"'):
        opened(path, name="two")


@pytest.mark.parametrize("data", [b"something else\nhalf", b'{"schema":"b/1","config":{}}\nhalf'])
def test_what_cannot_be_read_is_left_as_it_is_and_to_others(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    for _ in range(2):  # the first close released the lock
        with pytest.raises(JournalError, match="line 1: expected the header of a journal"):
            opened(path)
    assert path.read_bytes() == data


def test_what_cannot_be_applied_is_not_written(path: Path) -> None:
    with opened(path) as file:
        with pytest.raises(JournalError, match="twice"):
            file.append(ONE, ONE, TWO)
        with pytest.raises(JournalError, match="twice"):
            file.fold(ONE)
    assert len(FORMAT.parse(path.read_bytes()).entries) == 1


def test_a_write_that_the_system_cuts_short_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(path) as file:
        whole = file._file

        class Short:
            def write(self, data: memoryview) -> int:
                return whole.write(data[:2])

            def __getattr__(self, name: str) -> object:
                return getattr(whole, name)

        monkeypatch.setattr(file, "_file", Short())
        file.append(ONE)
    assert [*FORMAT.parse(path.read_bytes()).entries] == [ONE]
