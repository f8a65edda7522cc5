"""The journal's file: opened by one process at a time, on the disk after every write."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from filelock import FileLock, Timeout

from kibitz_arena.journal import JournalError
from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.journal import (
    Entry,
    ParsedJournal,
    encode_line,
    make_header,
    parse,
    require_same_ladder,
)
from kibitz_arena.ladder.state import LadderState
from kibitz_arena.runner.journal_file import append_durably, sync_folder


class LadderJournal:
    """A ladder's journal and the state that it tells, for one writer at a time.

    Use it as a context manager, or `close` it. After an `OSError` close it and open it again: the
    disk knows what counts.
    """

    def __init__(self, path: Path, ladder: Ladder) -> None:
        """Open or begin the journal at `path`; its folder must be there.

        Raises `JournalError` where another process has it open, where it is no journal, or where
        it is that of another ladder.
        """
        self.path = path
        self._lock = FileLock(f"{path}.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise JournalError(
                f"{path} is open already: another process keeps this ladder"
            ) from None
        try:
            self._file, reading = _open(path, ladder)
            try:
                self.state = LadderState.fold(ladder, reading.entries)
            except BaseException:
                self._file.close()
                raise
        except BaseException:
            self._lock.release()
            raise
        self.torn = reading.torn
        """The half line that was cut off, empty where the end was whole."""

    def fold(self, *entries: Entry) -> bytes:
        """Fold entries into the state and return the lines that `write` has to be given next.

        Raises `JournalError` at an entry that cannot be.
        """
        for entry in entries:
            self.state.apply(entry)
        return b"".join(map(encode_line, entries))

    def write(self, lines: bytes) -> None:
        """Append lines and wait for the disk; may be called in a thread."""
        append_durably(self._file, lines)

    def append(self, *entries: Entry) -> None:
        """Fold entries in, write them down, and wait for the disk."""
        self.write(self.fold(*entries))

    def close(self) -> None:
        """Let others have the journal."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _open(path: Path, ladder: Ladder) -> tuple[BinaryIO, ParsedJournal]:
    """Return the file, open at its end, and what its whole lines say."""
    file = path.open("a+b", buffering=0)
    try:
        file.seek(0)
        reading = parse(file.read())
        if reading.header is not None:
            require_same_ladder(reading.header, ladder)
        if reading.torn:
            file.truncate(reading.length)
        if reading.header is None:
            append_durably(file, encode_line(make_header(ladder)))
            sync_folder(path.parent)
    except BaseException:
        file.close()
        raise
    return file, reading
