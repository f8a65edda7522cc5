"""The journal file of a ladder and the state derived from it."""

from __future__ import annotations

from pathlib import Path

from kibitz_arena.ladder import entries
from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.entries import Entry
from kibitz_arena.ladder.state import LadderState
from kibitz_arena.runner.journal_file import JournalFile


class LadderJournal(JournalFile[LadderState, Entry]):
    """An open ladder journal."""

    def __init__(self, path: Path, ladder: Ladder) -> None:
        """Open or create the journal."""
        super().__init__(
            path,
            entries.FORMAT,
            entries.make_header(ladder),
            lambda logged: LadderState.fold(ladder, logged),
            "another process is running this ladder",
        )
