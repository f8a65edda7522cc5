"""A journal's file: open in one process at a time, on the disk after every append."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel

from kibitz_arena import entries
from kibitz_arena.entries import Entry
from kibitz_arena.journal import Header, JournalError, JournalFormat, ParsedJournal, encode_line
from kibitz_arena.schedule import Schedule
from kibitz_arena.state import TournamentState
from kibitz_arena.tournament import Tournament

E = TypeVar("E", bound=BaseModel)
T = TypeVar("T")


class State(Protocol):
    """The fold over a journal's entries."""

    def apply(self, entry: Any, /) -> None:
        """Fold one entry in; raises `JournalError`, and changes nothing, if it is impossible."""


S = TypeVar("S", bound=State)


class JournalFile(Generic[S, E]):
    """A journal's file and the state that it tells, for one writer at a time.

    Use it as a context manager, or `close` it. After an `OSError` close it and open it again: the
    disk knows what counts.
    """

    def __init__(
        self,
        path: Path,
        kind: JournalFormat[E],
        header: Header,
        fold: Callable[[Sequence[E]], S],
        busy: str,
    ) -> None:
        """Open or begin the journal at `path`; its folder must be there.

        `header` is the first line of a new one, and `fold` makes the state of the entries. Half a
        line at the end is cut off.

        Raises `JournalError` with `busy` where another process has it open, `JournalError` where it
        is no journal of this kind, and `JournalMismatchError` where it is another one's.
        """
        self.path = path
        self._kind = kind
        self._header = header
        self._lock = FileLock(f"{path}.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise JournalError(f"{path} is open already: {busy}") from None
        try:
            self._file = path.open("a+b", buffering=0)
            try:
                journal = self._read()
                self.state = fold(journal.entries)
            except BaseException:
                self._file.close()
                raise
        except BaseException:
            self._lock.release()
            raise
        self.torn = journal.torn
        """The half line that was cut off, empty if the end was whole."""
        # Held while entries are folded in: that may be done in a thread while others read.
        self._folding = threading.Lock()

    def _read(self) -> ParsedJournal[E]:
        """Return what the whole lines say, and leave the file open at its end."""
        self._file.seek(0)
        journal = self._kind.parse(self._file.read())
        if journal.header is not None:
            self._kind.require_same(journal.header, self._header)
        if journal.torn:
            self._file.truncate(journal.length)
        if journal.header is None:
            self.write(encode_line(self._header))
            _sync_folder(self.path.parent)
        return journal

    def tell_torn(self, tell: Callable[[str], None]) -> None:
        """Tell of the half line that was cut off, if there was one."""
        if self.torn:
            tell(f"the journal ended in half a line, which was cut off: {self.torn!r}")

    def read(self, made_of: Callable[[S], T]) -> T:
        """Return what is made of the state, into which nothing is folded meanwhile."""
        with self._folding:
            return made_of(self.state)

    def fold(self, *entries: E) -> bytes:
        """Fold entries into the state and return the lines to pass to `write` next.

        Raises `JournalError` at an impossible entry.
        """
        with self._folding:
            for entry in entries:
                self.state.apply(entry)
        return b"".join(map(encode_line, entries))

    def write(self, lines: bytes) -> None:
        """Append lines whole and wait for the disk; may be called in a thread."""
        left = memoryview(lines)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())

    def append(self, *entries: E) -> None:
        """Fold entries in, write them down, and wait for the disk.

        Raises `JournalError` at an impossible entry: neither it nor later ones are written.
        """
        lines: list[bytes] = []
        try:
            lines.extend(map(self.fold, entries))
        finally:
            self.write(b"".join(lines))

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


class TournamentJournal(JournalFile[TournamentState, Entry]):
    """The journal of a tournament."""

    def __init__(
        self, path: Path, tournament: Tournament, schedule: Schedule | None = None
    ) -> None:
        """Open or begin it; `schedule` is the tournament's own unless another one is given."""
        super().__init__(
            path,
            entries.FORMAT,
            entries.make_header(tournament),
            lambda logged: TournamentState.fold(tournament, logged, schedule),
            "another arena runs this tournament",
        )


def now_ms() -> int:
    """Return the time of day as entries have it, in milliseconds since 1970."""
    return int(time.time() * 1000)


def _sync_folder(folder: Path) -> None:
    """Wait until the disk knows the file's name, where folders can be opened at all."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
