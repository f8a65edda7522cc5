"""The quick way to write messages writes what the codec writes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kibitz_games.api import Game
from kibitz_protocol.codec import encode
from kibitz_protocol.messages import Done
from kibitz_protocol.records import Comment
from kibitz_server.match import Append, Leave, Note, Play
from kibitz_server.outbox import text_frame
from kibitz_server.record import line
from kibitz_server.scribe import Scribe, done_frame
from kibitz_server.view import PUBLIC, REFEREE, Sight
from tests.server.toys import Grid, Race, Shell, Veil, setup, variant

RULED = variant(Grid, legal_rule='any "empty" cell')


@pytest.mark.parametrize("seq", [None, 0, 1, 2**53 - 1])
def test_done(seq: int | None) -> None:
    assert done_frame(7, seq) == text_frame(encode(Done(re=7, seq=seq)))


@pytest.mark.parametrize("clock", ["none", "10+1", "byo=5+3x2,bank=9"])
@pytest.mark.parametrize("game", [Grid(), Race(), Veil(), RULED], ids=lambda game: game.info.title)
def test_events_and_turns(game: Game, clock: str) -> None:
    scribe, shell = Scribe(), Shell(game, setup(game, 3, clock=clock))
    for _ in range(6):
        for now in (None, shell.now):
            turn = shell.match.your_turn(now)
            assert scribe.turn(turn) == text_frame(encode(turn))
        effects = shell.play(wait=5)
        check(scribe, effects_of(effects))


def test_entries_that_are_no_moves() -> None:
    scribe, shell = Scribe(), Shell(Grid(), setup(Grid(), 2, clock="10+1"))
    for command in (Note(0, 'say "ä"'), Leave(1, "disconnect"), Leave(1, "left")):
        check(scribe, effects_of(shell.do(command)))


def test_a_comment_is_shown_to_its_seat_only() -> None:
    scribe, shell = Scribe(), Shell(Grid(), setup(Grid(), 2))
    play = Play(0, 1, 0, {"x": 0, "y": 0}, Comment(value=0.5, text='"'))
    check(scribe, effects_of(shell.do(play)))


def effects_of(effects: Sequence[object]) -> list[tuple[Sight, bytes]]:
    return [(each.sight, line(each.entry)) for each in effects if isinstance(each, Append)]


def check(scribe: Scribe, shown: list[tuple[Sight, bytes]]) -> None:
    assert shown
    for sight, text in shown:
        for viewer in (0, 1, PUBLIC, REFEREE, 0):
            event = sight.event(viewer)
            own = text if event.entry is sight.entry else None
            assert scribe.event(event, own) == text_frame(encode(event))
            assert scribe.event(event) == text_frame(encode(event))
