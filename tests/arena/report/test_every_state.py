"""Every output format handles every state of a tournament."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from rich.cells import cell_len

from kibitz_arena.entries import RunStopped
from kibitz_arena.report import export
from kibitz_arena.report import text as report_text
from kibitz_arena.report.html import render_html
from kibitz_arena.results import Results
from kibitz_arena.tournament import StopRule
from kibitz_arena.tournament_state import TournamentState
from tests.arena.report.test_html import Tree
from tests.arena.tournaments import event, play

FORMATS: dict[str, tuple[int, dict[str, Any]]] = {
    "round-robin": (4, {"blocks": 2, "stop": StopRule(better=("Ada", "Bob"), elo1=400)}),
    "gauntlet": (4, {"format": "gauntlet"}),
    "swiss": (5, {"format": "swiss", "rounds": 3}),
    "free-for-all": (7, {"format": "free-for-all", "seats": 6}),
}


@pytest.mark.parametrize("games", [0, 1, 5, 10**6])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_shown_at_every_stage(name: str, games: int) -> None:
    count, fields = FORMATS[name]
    form = event(count, **fields)
    progress = TournamentState(form)
    play(progress, most=games)
    results = Results.of(form, progress)
    text = report_text.render_text(results)
    assert all(entrant in text for entrant in form.names)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert Results.model_validate_json(export.results_json(results)) == results
    assert len([*csv.reader(io.StringIO(export.games_csv(results)))]) == results.played + 1
    assert len([*csv.reader(io.StringIO(export.ratings_csv(results)))]) == count + 1
    root = Tree(render_html(results, {})).root
    rows = [row for row in root.all("tr") if "data-who" in row.attributes]
    assert len(rows) == results.played


def test_every_reason_to_stop_has_words() -> None:
    form = event(3)
    for reason in ("decided", "deadline", "asked", "failed"):
        progress = TournamentState(form)
        progress.apply(RunStopped.model_validate({"at_ms": 0, "reason": reason}))
        assert "stopped: " not in report_text.render_text(Results.of(form, progress))
