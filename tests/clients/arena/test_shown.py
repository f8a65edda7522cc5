"""Whatever an event has come to, every way of showing it takes what the journal's fold gives."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from rich.cells import cell_len

from kibitz_clients.arena import exports, tables
from kibitz_clients.arena.event import Stop
from kibitz_clients.arena.journal import Progress, Stopped
from kibitz_clients.arena.page import page
from kibitz_clients.arena.results import Results
from tests.clients.arena.events import event, play
from tests.clients.arena.test_page import Tree

FORMATS: dict[str, tuple[int, dict[str, Any]]] = {
    "round-robin": (4, {"blocks": 2, "stop": Stop(better=("Ada", "Bob"), elo1=400)}),
    "gauntlet": (4, {"format": "gauntlet"}),
    "swiss": (5, {"format": "swiss", "rounds": 3}),
    "free-for-all": (7, {"format": "free-for-all", "seats": 6}),
}


@pytest.mark.parametrize("games", [0, 1, 5, 10**6])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_shown_at_every_stage(name: str, games: int) -> None:
    count, fields = FORMATS[name]
    form = event(count, **fields)
    progress = Progress(form)
    play(progress, most=games)
    results = Results.of(form, progress)
    text = tables.text(results, superiority=True)
    assert all(entrant in text for entrant in form.names)
    assert max(map(cell_len, text.splitlines())) <= 80
    assert Results.model_validate_json(exports.as_json(results)) == results
    assert len([*csv.reader(io.StringIO(exports.games_csv(results)))]) == results.played + 1
    assert len([*csv.reader(io.StringIO(exports.ratings_csv(results)))]) == count + 1
    root = Tree(page(results, {})).root
    rows = [row for row in root.all("tr") if "data-who" in row.attributes]
    assert len(rows) == results.played


def test_every_reason_to_stop_has_words() -> None:
    form = event(3)
    for reason in ("decided", "deadline", "asked", "failed"):
        progress = Progress(form)
        progress.apply(Stopped.model_validate({"at_ms": 0, "reason": reason}))
        assert "stopped: " not in tables.text(Results.of(form, progress))
