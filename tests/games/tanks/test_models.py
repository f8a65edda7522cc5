"""Moves and views on the wire, hidden information, and states that agree with views."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from kibitz_games.core.game import TERMINAL, IllegalAction, InvalidSetup, State
from kibitz_games.core.position import Position
from kibitz_games.tanks import GAME, rules
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import models as tanks_models
from tests.games.tanks import cases
from tests.tools import profiles

VIEWERS: tuple[int | None, ...] = (None, 0, 1, 2, 3)


@pytest.mark.parametrize("seats", [0, 2, 3, 5])
def test_four_play(seats: int) -> None:
    with pytest.raises(InvalidSetup, match=f"expected 4 players, not {seats}") as refusal:
        GAME.start(GAME.Options(), seats, {})
    assert refusal.value.path == "seats"


@pytest.mark.parametrize(
    "options", [{"turns": 3}, {"turns": 1001}, {"rocks": "29"}, {"start": "middle"}, {"fog": True}]
)
def test_what_is_no_option_is_no_model(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GAME.Options.model_validate(options)


@pytest.mark.parametrize("raw", [{}, {"action": "skip"}, {"action": 1}, {"action": "up", "by": 1}])
def test_what_is_no_move_is_no_model(raw: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        tanks_models.Move.model_validate_json(json.dumps(raw))


@pytest.mark.parametrize("short", tanks_models.SHORT)
def test_short_forms(short: str) -> None:
    assert (
        GAME.notation.format(GAME.notation.parse(f" {short.upper()} ")) == tanks_models.SHORT[short]
    )


@pytest.mark.parametrize("text", ["", "skip", "x", "up down", "turn", "7", "turn_left"])
def test_what_is_no_text_of_a_move_is_refused(text: str) -> None:
    with pytest.raises(IllegalAction, match=r"expected one of up \(u\), .*fire \(f\), not '"):
        GAME.notation.parse(text)


def test_actions_have_the_numbers_of_the_report() -> None:
    assert [
        GAME.notation.format(GAME.encode(Position(GAME).state, action)) for action in range(1, 8)
    ] == [
        "up",
        "down",
        "right",
        "left",
        "turn-right",
        "turn-left",
        "fire",
    ]


def test_after_the_end_everything_is_refused() -> None:
    play = Position(GAME, tanks_models.Options(turns=4))
    for _ in range(4):
        play.push_move("f")
    for move in tanks_models.MOVES:
        with pytest.raises(IllegalAction, match=r"^the game is over$"):
            GAME.decode(play.state, move)


def _wander(options: dict[str, Any], seed: int, plies: int, drops: bool = False) -> Position:
    """Return a play after some random actions."""
    play, source = Position(GAME, GAME.Options(**options)), random.Random(seed)
    for _ in range(plies):
        if play.to_act == TERMINAL:
            break
        if drops and source.random() < 0.01:
            play.forfeit(source.randrange(4))
        else:
            play.push(source.choice([*play.legal, rules.FIRE]))
    return play


SOME = st.sampled_from(cases.OPTIONS)


@given(SOME, st.integers(0, 2**32), st.integers(0, 1000), st.integers(0, 2**63))
@settings(max_examples=profiles.examples(25), deadline=None)
def test_a_sample_looks_the_same(
    options: dict[str, Any], seed: int, plies: int, sampled: int
) -> None:
    state = _wander(options, seed, plies, drops=True).state
    for viewer in VIEWERS:
        view = GAME.view(state, viewer)
        world = GAME.sample(view, sampled)
        assert GAME.view(world, viewer) == view
        assert GAME.sample(view, sampled).tobytes() == world.tobytes()
        _check_world(world, state)
    full = GAME.referee_view(state)
    assert GAME.referee_view(GAME.sample(full, sampled)) == full


def _check_world(world: Any, state: Any) -> None:
    """Check the invariants of every reachable state."""
    tanks = [cell for seat, cell in enumerate(world.place) if world.fell[seat] == 0]
    assert len(set(tanks)) == len(tanks) == (world.board > 0).sum()
    assert (world.board == rules.ROCK).sum() == (state.board == rules.ROCK).sum()
    for seat in range(4):
        trail = (world.visited >> seat) & 1
        assert trail.sum() == world.cells[seat]
        assert trail[world.place[seat]]
        assert trail[geo.number(tuple(geo.STARTS.values())[world.start][seat])]
        assert world.cells[seat] <= 1 + (world.slot - seat + 3) // 4
        assert not trail[world.board == rules.ROCK].any()


@given(SOME, st.integers(0, 2**32), st.integers(0, 900), st.integers(0, 2**63))
@settings(max_examples=profiles.examples(25), deadline=None)
def test_a_sample_agrees_with_what_the_mover_sees(
    options: dict[str, Any], seed: int, plies: int, sampled: int
) -> None:
    """On its turn, a seat's view is the same in the sampled and in the true world."""
    state: Any = _wander(options, seed, plies).state
    seat = GAME.to_act(state)
    if seat == TERMINAL:
        return
    world: Any = GAME.sample(GAME.view(state, seat), sampled)
    seen = [np.zeros(geo.CELLS, np.uint8) for _ in range(2)]
    for here, cone in zip((state, world), seen, strict=True):
        rules.mark_visible(here.board, int(here.place[seat]), int(here.hull[seat]), cone)
    assert (seen[0] == seen[1]).all()
    assert (state.board[seen[0] == 1] == world.board[seen[1] == 1]).all()
    for tank in range(4):
        if state.fired[tank] > state.slot - 4 and state.fell[tank] == 0:
            assert world.place[tank] == state.place[tank]


def test_samples_differ_where_the_viewer_does_not_know() -> None:
    play, source = Position(GAME), random.Random(1)
    for _ in range(80):
        play.push(source.randrange(rules.UP, rules.FIRE))
    view = GAME.view(play.state, 0)
    worlds: list[Any] = [GAME.sample(view, seed) for seed in range(30)]
    hidden = [seat for seat in (1, 2, 3) if view.alive[seat]]
    assert any(len({int(world.place[seat]) for world in worlds}) > 10 for seat in hidden)
    assert any(len({int(world.hull[seat]) for world in worlds}) == 4 for seat in hidden)
    assert len({int(world.cells[1]) for world in worlds}) > 10


def test_a_sampled_state_plays_to_the_end_and_back() -> None:
    play = _wander({}, 3, 400)
    state = GAME.sample(GAME.view(play.state, play.to_act), 5)
    before, source, actions = state.tobytes(), random.Random(1), []
    while GAME.to_act(state) != TERMINAL:
        actions.append(source.randrange(8))
        GAME.play(state, actions[-1])
    for action in reversed(actions):
        GAME.undo(state, action)
    assert state.tobytes() == before


def _worlds(state: State, viewer: int | None, seed: int) -> Iterator[State]:
    """Yield states that differ from `state` only in information hidden from a viewer."""
    others = [seat for seat in range(4) if seat != viewer]
    turned: Any = state.copy()
    for seat in others:
        turned.hull[seat] = (turned.hull[seat] + 1 + seed % 3) % 4
    yield turned
    rich: Any = state.copy()
    rich.visited[:] |= sum(1 << seat for seat in others)
    rich.cells[others] = 196
    yield rich
    wise: Any = state.copy()
    for seat in others:
        wise.memory[seat] = wise.board
    yield wise
    moved: Any = state.copy()
    free = np.flatnonzero(moved.board == rules.FREE).tolist()
    places = random.Random(seed).sample(free, 4)
    for seat in others:
        if moved.fell[seat] == 0:
            moved.board[moved.place[seat]] = rules.FREE
            rules.put_tank(moved, seat, places[seat], int(moved.hull[seat]))
    yield moved


@given(SOME, st.integers(0, 2**32), st.integers(0, 900))
@settings(max_examples=profiles.examples(15), deadline=None)
def test_two_worlds(options: dict[str, Any], seed: int, plies: int) -> None:
    """Hidden information does not affect a viewer's views, legal moves or refusals."""
    state = _wander(options, seed, plies, drops=True).state
    for viewer in VIEWERS:
        before = GAME.view(state, viewer).to_wire()
        worlds = list(_worlds(state, viewer, seed))
        assert all(world.tobytes() != state.tobytes() for world in worlds[:3])
        for world in worlds:
            assert GAME.view(world, viewer).to_wire() == before
            assert GAME.scene(GAME.view(world, viewer)) == GAME.scene(GAME.view(state, viewer))
            assert GAME.legal(world) == GAME.legal(state)
            assert _answers(world) == _answers(state)


def _answers(state: State) -> list[int | str]:
    answers: list[int | str] = []
    for move in tanks_models.MOVES:
        try:
            answers.append(GAME.decode(state, move))
        except IllegalAction as refusal:
            answers.append(str(refusal))
    return answers


PUBLIC = {
    "options",
    "ply",
    "slot",
    "left",
    "to_act",
    "alive",
    "dropped",
    "events",
    "shots",
    "wrecks",
}


def test_the_fields_of_each_kind_of_view() -> None:
    state = _wander({}, 2, 100).state
    assert set(GAME.view(state, None).to_wire()) == PUBLIC
    own = {"seat", "row", "column", "hull", "score", "local", "visited"}
    assert set(GAME.view(state, 1).to_wire()) == PUBLIC | own
    assert set(GAME.referee_view(state).to_wire()) == PUBLIC | {"board", "trails", "tanks"}


def test_views_are_small() -> None:
    """Every seat is sent a view every turn."""
    play, source, longest = Position(GAME), random.Random(4), 0
    while play.to_act != TERMINAL:
        for view in (
            *(GAME.view(play.state, seat) for seat in VIEWERS),
            GAME.referee_view(play.state),
        ):
            longest = max(longest, len(json.dumps(view.to_wire(), separators=(",", ":"))))
        play.push(source.choice(play.legal))
    assert 1000 < longest < 2000


def test_a_view_of_a_seat_without_its_parts_is_refused() -> None:
    view = GAME.view(Position(GAME).state, 0).model_copy(update={"local": None})
    with pytest.raises(ValueError, match="a seat's place, hull"):
        GAME.sample(view, 0)


def test_a_view_as_it_travels() -> None:
    play = Position(GAME, tanks_models.Options(turns=8))
    for word in ("up", "fire", "tr"):
        play.push_move(word)
    assert GAME.view(play.state, None).to_wire() == {
        "options": {"start": "corners", "rocks": "classic", "turns": 8, "memory": "last"},
        "ply": 3,
        "slot": 3,
        "left": 5,
        "to_act": 3,
        "alive": [True] * 4,
        "dropped": [],
        "events": [{"slot": 1, "seat": 1, "row": 1, "column": 15}],
        "shots": [{"slot": 1, "seat": 1, "row": 1, "column": 15}],
        "wrecks": [],
    }


def test_every_state_that_a_seat_may_believe_in_ends_with_the_same_slot() -> None:
    """Without any shots, hidden information cannot change the length of the game."""
    state = GAME.start(GAME.Options(turns=12), 4, {})
    while GAME.to_act(state) >= 0:
        seat = GAME.to_act(state)
        worlds = [GAME.sample(GAME.view(state, viewer), 3) for viewer in (seat, None)]
        steps = 0
        true = state.copy()
        while GAME.to_act(true) >= 0:
            for each in (true, *worlds):
                GAME.play(each, GAME.legal(each)[4])
            steps += 1
            assert {GAME.to_act(each) for each in (true, *worlds)} == {GAME.to_act(true)}
        assert steps == 12 - int(state["ply"])
        GAME.play(state, GAME.legal(state)[0])
