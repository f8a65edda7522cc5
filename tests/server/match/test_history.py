"""The history of a match in pages, as visible to a viewer."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.records import Hidden, Moved, Noted
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE, Viewer, WantedViews
from kibitz_server.match import history
from kibitz_server.match.commands import Note
from kibitz_server.match.history import Page, read_page
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import MatchViews
from tests.server.match.toy_games import Grid, MatchDriver, Veil, setup


def played(shell: MatchDriver, plies: int) -> list[bytes]:
    for _ in range(plies):
        shell.play()
    return [encode(entry) for entry in shell.log]


def page_of(
    shell: MatchDriver,
    lines: list[bytes],
    viewer: Viewer,
    first: int,
    count: int,
    *,
    own: int | None = None,
    wanted: WantedViews = "turn",
) -> Page:
    match = MatchState(shell.game, shell.setup)
    return read_page(match, lines, viewer, first, count, own=own, wanted=wanted)


@pytest.mark.parametrize("game", [Grid(), Veil()])
def test_events_are_the_ones_that_were_shown_live(game: Grid | Veil) -> None:
    shell = MatchDriver(game, setup(game, 2), drawn=True)
    lines = played(shell, 6)
    for viewer, wanted in product((0, 1, PUBLIC, REFEREE), get_args(WantedViews)):
        page = page_of(shell, lines, viewer, 1, 100, wanted=wanted)
        assert page.events == [sight.event(viewer, wanted) for sight in shell.views]
        assert not page.more


@pytest.mark.parametrize("game", [Grid(), Veil()])
def test_a_page_begins_with_the_view_that_its_events_go_on_from(game: Grid | Veil) -> None:
    shell = MatchDriver(game, setup(game, 2))
    lines = played(shell, 6)
    for viewer, first in product((0, 1, PUBLIC, REFEREE), (1, 4, 7)):
        state = MatchState.restore(game, shell.setup, shell.log[: first - 1])
        begun = MatchViews(state).present()
        for wanted in get_args(WantedViews):
            page = read_page(MatchState(game, shell.setup), lines, viewer, first, 3, wanted=wanted)
            there = bool(page.events)
            seen = there and wanted in ("turn", "every")
            assert page.view == (begun.of(viewer) if seen else None)
            drawn = there and wanted == "drawn"
            assert page.stage == (begun.stage(viewer) if drawn else None)


@pytest.mark.parametrize(
    ("first", "count", "numbers", "more"),
    [(1, 3, [1, 2, 3], True), (4, 2, [4, 5], False), (3, 1, [3], True), (6, 9, [], False)],
)
def test_pages(first: int, count: int, numbers: list[int], more: bool) -> None:
    shell = MatchDriver(Grid(), setup(Grid(), 2))
    lines = played(shell, 5)
    page = page_of(shell, lines, PUBLIC, first, count)
    assert ([event.entry.seq for event in page.events], page.more) == (numbers, more)


def test_a_page_has_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE_BYTES", 500)
    shell = MatchDriver(Grid(), setup(Grid(), 2))
    lines = played(shell, 5)
    page = page_of(shell, lines, PUBLIC, 1, 100)
    assert 1 <= len(page.events) < 5
    assert page.more


def test_notes_stay_with_their_seat_when_all_is_revealed() -> None:
    shell = MatchDriver(Grid(), setup(Grid(), 2))
    shell.do(Note(1, "a traceback"))
    lines = played(shell, 1)
    kinds = {
        own: [type(event.entry) for event in page_of(shell, lines, REFEREE, 1, 9, own=own).events]
        for own in (None, 0, 1)
    }
    assert kinds == {None: [Hidden, Moved], 0: [Hidden, Moved], 1: [Noted, Moved]}
