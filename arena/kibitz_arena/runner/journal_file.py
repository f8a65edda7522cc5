"""The journal's file: opened by one process at a time, on the disk after every append."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TypeVar

from filelock import FileLock, Timeout

from kibitz_arena.journal import (
    Entry,
    JournalError,
    ParsedJournal,
    encode_line,
    make_header,
    parse,
    require_same_tournament,
)
from kibitz_arena.schedule import Schedule
from kibitz_arena.state import TournamentState
from kibitz_arena.tournament import Tournament

T = TypeVar("T")


class Journal:
    """A journal's file and the progress that it tells, for one writer at a time.

    Every `append` is on the disk when it returns. Use it as a context manager, or `close` it.
    """

    def __init__(
        self, path: Path, tournament: Tournament, schedule: Schedule | None = None
    ) -> None:
        """Open or begin the journal at `path`; its folder must be there.

        `schedule` is the event's own unless another one is given.

        Raises `JournalError` where another process has it open, or where it is no journal, and
        `JournalMismatchError` where its event is not this one.
        """
        self.path = path
        self._lock = FileLock(f"{path}.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise JournalError(f"{path} is open already: another arena runs this event") from None
        try:
            self._file, reading = _open_journal(path, tournament)
        except BaseException:
            self._lock.release()
            raise
        self.torn = reading.torn
        """The half line that was cut off, empty where the end was whole."""
        try:
            self.state = TournamentState.fold(tournament, reading.entries, schedule)
        except BaseException:
            self.close()
            raise
        # Held while entries are folded in: that is done in a thread, and others may read meanwhile.
        self._folding = threading.Lock()

    def read(self, made_of: Callable[[TournamentState], T]) -> T:
        """Return what is made of the progress, into which nothing is folded meanwhile."""
        with self._folding:
            return made_of(self.state)

    def append(self, *entries: Entry) -> None:
        """Fold entries in, write them down, and wait for the disk.

        Raises `JournalError` at an entry that cannot be: it is not written, nor what is after
        it. After an `OSError` close the journal and open it again: the disk knows what counts.
        """
        lines: list[bytes] = []
        try:
            with self._folding:
                for entry in entries:
                    self.state.apply(entry)
                    lines.append(encode_line(entry))
        finally:
            append_durably(self._file, b"".join(lines))

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


def _open_journal(path: Path, tournament: Tournament) -> tuple[BinaryIO, ParsedJournal]:
    """Return the file, open at its end, and what its whole lines say."""
    file = path.open("a+b", buffering=0)
    try:
        file.seek(0)
        reading = parse(file.read())
        if reading.header is not None:
            require_same_tournament(reading.header, tournament)
        if reading.torn:
            file.truncate(reading.length)
        if reading.header is None:
            append_durably(file, encode_line(make_header(tournament)))
            sync_folder(path.parent)
    except BaseException:
        file.close()
        raise
    return file, reading


def append_durably(file: BinaryIO, data: bytes) -> None:
    """Append `data` whole and wait for the disk."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows the file's name, where folders can be opened at all."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
