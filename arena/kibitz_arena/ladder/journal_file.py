"""The journal of a ladder: its file, and the state that it tells."""

from __future__ import annotations

from pathlib import Path

from kibitz_arena.ladder import entries
from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.entries import Entry
from kibitz_arena.ladder.state import LadderState
from kibitz_arena.runner.journal_file import JournalFile


class LadderJournal(JournalFile[LadderState, Entry]):
    """The journal of a ladder."""

    def __init__(self, path: Path, ladder: Ladder) -> None:
        """Open or begin it."""
        super().__init__(
            path,
            entries.FORMAT,
            entries.make_header(ladder),
            lambda logged: LadderState.fold(ladder, logged),
            "another process keeps this ladder",
        )
