"""The data file for a running tournament's page, rewritten as games start and end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from kibitz_arena.report.live import LiveEvent
from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.journal_file import TournamentJournal
from kibitz_arena.runner.publication import Publication
from kibitz_arena.tournament_state import TournamentState

SHARE: Final = 0.02
"""The share of one core for writing, since each update computes the ratings of all games."""


def live_file(
    journal: TournamentJournal,
    directory: TournamentDirectory,
    lobby: str,
    tell: Callable[[str], None],
) -> Publication:
    """Return a publication that writes ``live.json`` for a tournament played in `lobby`."""

    def write() -> None:
        live = journal.read(lambda state: LiveEvent.of(state, lobby))
        directory.write("live.json", live.model_dump_json(), durable=False)

    return Publication(
        lambda: journal.read(_marks),
        lambda: asyncio.to_thread(write),
        share=SHARE,
        what="the tournament's page is",
        tell=tell,
    )


def _marks(progress: TournamentState) -> object:
    """Return a value that changes whenever the page has to be updated."""
    running = tuple(progress.outstanding_tags)
    return progress.played, progress.requeued, progress.stopped is not None, running
