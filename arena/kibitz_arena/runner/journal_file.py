"""A journal file, open in one process at a time and synced to disk after every append."""

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
from kibitz_arena.tournament import Tournament
from kibitz_arena.tournament_state import TournamentState
from kibitz_protocol.atomic_write import sync

E = TypeVar("E", bound=BaseModel)
T = TypeVar("T")


class State(Protocol):
    """A state derived from a journal's entries."""

    def apply(self, entry: Any, /) -> None:
        """Apply an entry; raise `JournalError` and change nothing if it is inconsistent."""


S = TypeVar("S", bound=State)


class JournalFile(Generic[S, E]):
    """A journal file and its state, for one writer at a time.

    Use it as a context manager, or `close` it. After an `OSError`, close and reopen it, because the
    state may contain entries that are not on disk.
    """

    def __init__(
        self,
        path: Path,
        kind: JournalFormat[E],
        header: Header,
        fold: Callable[[Sequence[E]], S],
        busy: str,
    ) -> None:
        """Open or create the journal at `path`; its folder must exist.

        `header` is the first line of a new journal, and `fold` creates the state from entries. A
        partial last line is truncated.

        Raises `JournalError` with `busy` if another process has it open, `JournalError` if it is
        not a journal of this kind, and `JournalMismatchError` if it belongs to another tournament
        or ladder.
        """
        self.path = path
        self._kind = kind
        self._header = header
        self._lock = FileLock(f"{path}.lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise JournalError(f"{path} is already open: {busy}") from None
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
        """The partial line that was truncated; empty if there was none."""
        # Held while entries are applied and while the state is read, since threads do both.
        self._folding = threading.Lock()

    def _read(self) -> ParsedJournal[E]:
        """Parse the complete lines and leave the file positioned at their end."""
        self._file.seek(0)
        journal = self._kind.parse(self._file.read())
        if journal.header is not None:
            self._kind.require_same(journal.header, self._header)
        if journal.torn:
            self._file.truncate(journal.length)
        if journal.header is None:
            self.write(encode_line(self._header))
            sync(self.path.parent)
        return journal

    def tell_torn(self, tell: Callable[[str], None]) -> None:
        """Report the partial line that was truncated, if any."""
        if self.torn:
            tell(f"the journal ended in a partial line, which was removed: {self.torn!r}")

    def read(self, made_of: Callable[[S], T]) -> T:
        """Call `made_of` with the state and return its result; no entries are applied meanwhile."""
        with self._folding:
            return made_of(self.state)

    def fold(self, *entries: E) -> bytes:
        """Apply entries to the state and return the lines to pass to `write`.

        Raises `JournalError` for an inconsistent entry.
        """
        with self._folding:
            for entry in entries:
                self.state.apply(entry)
        return b"".join(map(encode_line, entries))

    def write(self, lines: bytes) -> None:
        """Append lines and sync them to disk; may be called in a thread."""
        left = memoryview(lines)
        while left:
            left = left[self._file.write(left) :]
        os.fsync(self._file.fileno())

    def append(self, *entries: E) -> None:
        """Apply entries, append them, and sync to disk.

        Raises `JournalError` for an inconsistent entry; neither it nor later ones are written.
        """
        lines: list[bytes] = []
        try:
            lines.extend(map(self.fold, entries))
        finally:
            self.write(b"".join(lines))

    def close(self) -> None:
        """Close the file and unlock it for other processes."""
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
        """Open or create the journal; `schedule` defaults to the tournament's own."""
        super().__init__(
            path,
            entries.FORMAT,
            entries.make_header(tournament),
            lambda logged: TournamentState.fold(tournament, logged, schedule),
            "another process is running this tournament",
        )


def now_ms() -> int:
    """Return the current time in milliseconds since 1970."""
    return int(time.time() * 1000)
