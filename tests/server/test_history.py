"""The past of a match, page by page, as a viewer may see it."""

from __future__ import annotations

import pytest

from kibitz_protocol.records import Hidden, Moved, Noted
from kibitz_server import history
from kibitz_server.history import events
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
