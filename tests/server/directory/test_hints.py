"""Hints: which turns have one, and the position that the process reads."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kibitz.analysis.match_process import hint
from kibitz_games.core import registry
from kibitz_protocol.wire.records import Moved, Spectating
from kibitz_server.directory.analyses import AnalysisFailed
from kibitz_server.directory.hints import Hints
from kibitz_server.match.state import MatchState
from tests.server.match.toy_games import setup

HUMAN, BOT = "human", "bot"


def match(game: str = "tic-tac-toe", kind: str = HUMAN, **fields: Any) -> MatchState:
    """Return a match whose first player is of a kind; the others are bots."""
    rules = registry.get(game)
    made = setup(rules, rules.info.seats[0])
    first = made.seats[0].model_copy(update={"kind": kind})
    return MatchState(rules, made.model_copy(update={"seats": [first, *made.seats[1:]], **fields}))


def hints(state: MatchState, *, durable: bool = True) -> Hints:
    pending = SimpleNamespace(durable_to_tail=durable)
    runner = SimpleNamespace(engine=SimpleNamespace(state=state), pending=pending)
    return Hints(cast(Any, {state.setup.match: runner}))


def play(state: MatchState, *cells: str) -> None:
    for cell in cells:
        move = state.game.notation.parse(cell)
        seq, ply, seat = state.seq + 1, state.ply, state.to_act
        state.apply(Moved(seq=seq, at_ms=0, ply=ply, seat=seat, action=move.to_wire()))


def test_a_person_has_a_hint_in_an_unrated_match() -> None:
    state = match()
    assert hints(state).turn(state.setup.match) == f"{state.setup.match}@0"
    assert hints(state).turn("another") is None


@pytest.mark.parametrize(
    "state",
    [
        match(kind=BOT),
        match(rated=["a", "b"]),
        match("tanks"),
        match(spectating=Spectating(mode="off")),
        match(spectating=Spectating(delay_plies=1)),
        match(spectating=Spectating(delay_ms=1)),
    ],
    ids=["a bot is to move", "rated", "hidden", "unwatched", "plies late", "late"],
)
def test_others_have_none(state: MatchState) -> None:
    assert hints(state).turn(state.setup.match) is None


def test_a_move_that_is_not_on_disk_yet_shows_in_no_hint() -> None:
    state = match()
    assert hints(state, durable=False).turn(state.setup.match) is None


def test_the_process_finds_the_winning_move() -> None:
    state = match()
    play(state, "a1", "a2", "b1", "b2")
    found = hints(state)
    turn = found.turn(state.setup.match)
    assert turn is not None
    answer = json.loads(hint(found.position(turn), 200))
    assert answer["text"] == "c1"
    assert state.game.Move.from_wire(answer["action"]) == state.game.notation.parse("c1")


def test_a_turn_that_is_over_has_no_position() -> None:
    state = match()
    found = hints(state)
    turn = found.turn(state.setup.match)
    assert turn is not None
    play(state, "a1")
    with pytest.raises(AnalysisFailed, match="over"):
        found.position(turn)
