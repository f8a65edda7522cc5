"""The past of a match, page by page, as a viewer may see it."""

from __future__ import annotations

import pytest

from kibitz_protocol.records import Hidden, Moved, Noted
from kibitz_server import history
from kibitz_server.history import EVERY, POSITION_BYTES, Positions, events, page
from kibitz_server.match import Note
from kibitz_server.record import line
from kibitz_server.view import PUBLIC, REFEREE
from tests.server.toys import Grid, Shell, Veil, setup


def played(shell: Shell, plies: int) -> list[bytes]:
    for _ in range(plies):
        shell.play()
    return [line(entry) for entry in shell.log]


def test_events_are_the_ones_that_were_shown_live() -> None:
    shell = Shell(Veil(), setup(Veil(), 2))
    lines = played(shell, 6)
    for viewer in (0, 1, PUBLIC, REFEREE):
        told, more = events(shell.game, shell.setup, lines, viewer, 1, 100)
        assert told == [sight.event(viewer) for sight in shell.sights]
        assert not more


@pytest.mark.parametrize(
    ("first", "count", "numbers", "more"),
    [(1, 3, [1, 2, 3], True), (4, 2, [4, 5], False), (3, 1, [3], True), (6, 9, [], False)],
)
def test_pages(first: int, count: int, numbers: list[int], more: bool) -> None:
    shell = Shell(Grid(), setup(Grid(), 2))
    lines = played(shell, 5)
    told, rest = events(shell.game, shell.setup, lines, PUBLIC, first, count)
    assert ([event.entry.seq for event in told], rest) == (numbers, more)


def test_a_page_has_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE_BYTES", 500)
    shell = Shell(Grid(), setup(Grid(), 2))
    lines = played(shell, 5)
    told, more = events(shell.game, shell.setup, lines, PUBLIC, 1, 100)
    assert 1 <= len(told) < 5
    assert more


def test_notes_stay_with_their_seat_when_all_is_revealed() -> None:
    shell = Shell(Grid(), setup(Grid(), 2))
    shell.do(Note(1, "a traceback"))
    lines = played(shell, 1)
    kinds = {
        own: [
            type(event.entry)
            for event in events(shell.game, shell.setup, lines, REFEREE, 1, 9, own=own)[0]
        ]
        for own in (None, 0, 1)
    }
    assert kinds == {None: [Hidden, Moved], 0: [Hidden, Moved], 1: [Noted, Moved]}


@pytest.mark.parametrize("game", [Grid(), Veil()])
def test_a_page_from_a_position_that_was_kept_is_the_same(
    game: Grid | Veil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "EVERY", 2)
    shell = Shell(game, setup(game, 2, clock="60"))
    lines = played(shell, 6)
    positions = Positions()
    for viewer in (0, PUBLIC, REFEREE):
        for first in (6, 5, 3, 4, 1):
            match = positions.before(game, shell.setup, first)
            told = page(match, lines[match.seq :], viewer, first, 2, positions=positions)
            whole, more = events(game, shell.setup, lines, viewer, first, 2)
            assert (told.events, told.more) == (whole, more)
            assert match.seq <= first + 2
    assert positions.before(game, shell.setup, 6).seq == 4


def test_positions_take_no_more_than_their_share() -> None:
    shell = Shell(Grid(), setup(Grid(), 2))
    shell.play()
    match = shell.match.copy()
    positions = Positions(100 * (POSITION_BYTES + match.state.nbytes))
    for number in range(1, 1000):
        match.seq = number * EVERY
        positions.passed(match)
    assert len(positions._kept) == 100
