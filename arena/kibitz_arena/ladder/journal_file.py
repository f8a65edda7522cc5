"""The journal of a ladder: its file, and the state that it tells."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

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
from kibitz_arena.runner.append_file import open_append_file


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
        header = encode_line(make_header(ladder))
        self._file, found = open_append_file(
            path, partial(_parse, ladder), header, "another process keeps this ladder"
        )
        self.torn = found.torn
        """The half line that was cut off, empty where the end was whole."""
        try:
            self.state = LadderState.fold(ladder, found.entries)
        except BaseException:
            self.close()
            raise

    def fold(self, *entries: Entry) -> bytes:
        """Fold entries into the state and return the lines that `write` has to be given next.

        Raises `JournalError` at an entry that cannot be.
        """
        for entry in entries:
            self.state.apply(entry)
        return b"".join(map(encode_line, entries))

    def write(self, lines: bytes) -> None:
        """Append lines and wait for the disk; may be called in a thread."""
        self._file.append(lines)

    def append(self, *entries: Entry) -> None:
        """Fold entries in, write them down, and wait for the disk."""
        self.write(self.fold(*entries))

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


def _parse(ladder: Ladder, data: bytes) -> ParsedJournal:
    """Read a journal; raises `JournalError` where it is that of another ladder."""
    found = parse(data)
    if found.header is not None:
        require_same_ladder(found.header, ladder)
    return found
