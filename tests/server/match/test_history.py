"""The history of a match in pages, as visible to a viewer."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.records import Hidden, Moved, Noted
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE, WantedViews
from kibitz_server.match import history
from kibitz_server.match.commands import Note
from kibitz_server.match.history import (
    POSITION_BYTES,
    POSITION_INTERVAL,
    PositionCache,
    read_events,
    read_page,
)
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import MatchViews
from tests.server.match.toy_games import Grid, MatchDriver, Veil, setup


def played(shell: MatchDriver, plies: int) -> list[bytes]:
    for _ in range(plies):
        shell.play()
    return [encode(entry) for entry in shell.log]


@pytest.mark.parametrize("game", [Grid(), Veil()])
def test_events_are_the_ones_that_were_shown_live(game: Grid | Veil) -> None:
    shell = MatchDriver(game, setup(game, 2), drawn=True)
    lines = played(shell, 6)
    for viewer, wanted in product((0, 1, PUBLIC, REFEREE), get_args(WantedViews)):
        told, more = read_events(shell.game, shell.setup, lines, viewer, 1, 100, wanted=wanted)
        assert told == [sight.event(viewer, wanted) for sight in shell.views]
        assert not more


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
    told, rest = read_events(shell.game, shell.setup, lines, PUBLIC, first, count)
    assert ([event.entry.seq for event in told], rest) == (numbers, more)


def test_a_page_has_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE_BYTES", 500)
    shell = MatchDriver(Grid(), setup(Grid(), 2))
    lines = played(shell, 5)
    told, more = read_events(shell.game, shell.setup, lines, PUBLIC, 1, 100)
    assert 1 <= len(told) < 5
    assert more


def test_notes_stay_with_their_seat_when_all_is_revealed() -> None:
    shell = MatchDriver(Grid(), setup(Grid(), 2))
    shell.do(Note(1, "a traceback"))
    lines = played(shell, 1)
    kinds = {
        own: [
            type(event.entry)
            for event in read_events(shell.game, shell.setup, lines, REFEREE, 1, 9, own=own)[0]
        ]
        for own in (None, 0, 1)
    }
    assert kinds == {None: [Hidden, Moved], 0: [Hidden, Moved], 1: [Noted, Moved]}


@pytest.mark.parametrize("game", [Grid(), Veil()])
def test_a_page_from_a_position_that_was_kept_is_the_same(
    game: Grid | Veil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "POSITION_INTERVAL", 2)
    shell = MatchDriver(game, setup(game, 2, clock="60"))
    lines = played(shell, 6)
    positions = PositionCache()
    for viewer in (0, PUBLIC, REFEREE):
        for first in (6, 5, 3, 4, 1):
            match = positions.match_before(game, shell.setup, first)
            told = read_page(match, lines[match.seq :], viewer, first, 2, positions=positions)
            whole, more = read_events(game, shell.setup, lines, viewer, first, 2)
            assert (told.events, told.more) == (whole, more)
            assert match.seq <= first + 2
    assert positions.match_before(game, shell.setup, 6).seq == 4


def test_positions_take_no_more_than_their_share() -> None:
    shell = MatchDriver(Grid(), setup(Grid(), 2))
    shell.play()
    match = shell.match.state.copy()
    positions = PositionCache(100 * (POSITION_BYTES + match.game_state.nbytes))
    for number in range(1, 1000):
        match.seq = number * POSITION_INTERVAL
        positions.offer(match)
    assert len(positions._cache) == 100
