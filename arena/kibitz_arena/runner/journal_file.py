"""The journal of an event: its file, and the progress that it tells."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from kibitz_arena.journal import (
    Entry,
    ParsedJournal,
    encode_line,
    make_header,
    parse,
    require_same_tournament,
)
from kibitz_arena.runner.append_file import open_append_file
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
        header = encode_line(make_header(tournament))
        self._file, found = open_append_file(
            path, partial(_parse, tournament), header, "another arena runs this event"
        )
        self.torn = found.torn
        """The half line that was cut off, empty where the end was whole."""
        try:
            self.state = TournamentState.fold(tournament, found.entries, schedule)
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
            self._file.append(b"".join(lines))

    def close(self) -> None:
        """Let others have the journal."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _parse(tournament: Tournament, data: bytes) -> ParsedJournal:
    """Read a journal; raises `JournalMismatchError` where its event is not this one."""
    found = parse(data)
    if found.header is not None:
        require_same_tournament(found.header, tournament)
    return found
