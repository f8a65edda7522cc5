"""The rules: vision, shots, ends and ranks, compared with a slow reference."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import kernel
from kibitz_games.conformance import laws
from kibitz_games.core.game import TERMINAL, GameError, Outcome
from kibitz_games.core.position import Position
from kibitz_games.tanks import GAME, rules
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import models as tanks_models
from tests.games.tanks.reference import Reference
from tests.tools import profiles

TABLE_2 = {
    8: [-2, -2, -2, 0],
    9: [0, 0, 0, 0],
    10: [0, 0, 0, 0],
    11: [0, 0, 0, -2],
    12: [0, 0, 0, -2],
    13: [0, 0, 0],
    14: [0, 0],
    15: [11],
}
"""The first player's view at the start, from the Tanks report; everything else is unknown."""


def _play(*words: str, **options: Any) -> Position:
    play = Position(GAME, GAME.Options(**options))
    for word in words:
        play.push_move(word)
    return play


def _seat(play: Position, seat: int) -> tanks_models.View:
    return GAME.view(play.state, seat)


def _points(play: Position) -> list[int]:
    tanks = GAME.referee_view(play.state).tanks
    assert tanks is not None
    return [tank.score for tank in tanks]


def test_the_first_player_sees_what_the_second_table_of_the_report_shows() -> None:
    local = _seat(_play(), 0).local
    assert local == [
        TABLE_2.get(row, []) + [-1] * (15 - len(TABLE_2.get(row, []))) for row in range(1, 16)
    ]


def test_a_local_board_has_only_the_own_tank_before_the_first_look() -> None:
    local = _seat(_play(), 2).local
    assert local is not None
    assert local[0][0] == 33
    assert sum(row.count(-1) for row in local) == 224


def test_a_state_is_small() -> None:
    assert rules.STATE.itemsize <= 28 * 1024


def _along(play: Position, reference: Reference) -> None:
    """Compare a play with the reference, for every viewer."""
    for seat in (None, 0, 1, 2, 3):
        assert GAME.view(play.state, seat).to_wire() == reference.view(seat)
    assert GAME.referee_view(play.state).to_wire() == reference.full()
    assert play.to_act == reference.to_act


OPTIONS: list[dict[str, Any]] = [
    {},
    {"start": "table1", "rocks": "none"},
    {"start": "table1", "turns": 99},
    {"rocks": "none", "turns": 350},
    {"start": "table1", "turns": 300, "memory": "report"},
    {"start": "table1", "rocks": "none", "turns": 200, "memory": "also-destroyed"},
]


def _mirror(options: dict[str, Any]) -> Reference:
    rocky = options.get("rocks") != "none"
    start, turns = options.get("start", "corners"), options.get("turns", 1000)
    return Reference(start, rocky, turns, options.get("memory", "last"))


@given(st.randoms(use_true_random=False), st.sampled_from(OPTIONS), st.integers(1, 60))
@settings(max_examples=profiles.examples(12), deadline=None)
def test_the_reference_sees_the_same(
    source: random.Random, options: dict[str, Any], patience: int
) -> None:
    """Board, local boards, views and scores of plays with skipped turns and drop-outs."""
    play, reference = Position(GAME, GAME.Options(**options)), _mirror(options)
    actions = [*tanks_models.WORDS, "fire", "turn-left", *["up", "left", "right", "down"] * 2]
    for ply in range(240):
        if ply % 12 == 0:
            _along(play, reference)
        if play.to_act == TERMINAL:
            break
        _step(play, reference, source, actions, patience)
    _along(play, reference)
    if play.outcome is not None:
        assert list(play.outcome.ranks) == reference.ranks()


def _step(
    play: Position, reference: Reference, source: random.Random, actions: list[str], patience: int
) -> None:
    what = source.randrange(10 * patience)
    if what == 0:
        seat = source.randrange(4)
        play.forfeit(seat)
        reference.drop(seat)
    elif what < 5:
        play.skip()
        reference.act(None)
    else:
        word = source.choice(actions)
        play.push_move(word)
        reference.act(word)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_whole_play_is_the_same_for_the_reference(options: dict[str, Any]) -> None:
    source = random.Random(len(str(options)))
    play, reference = Position(GAME, GAME.Options(**options)), _mirror(options)
    while play.to_act != TERMINAL:
        word = source.choice(tanks_models.WORDS)
        play.push_move(word)
        reference.act(word)
        assert _seat(play, play.to_act % 4).to_wire() == reference.view(play.to_act % 4)
    _along(play, reference)
    assert play.outcome is not None
    assert list(play.outcome.ranks) == reference.ranks()


def test_a_move_leaves_the_hull_and_a_blocked_one_leaves_everything() -> None:
    play = _play("right")
    assert (_seat(play, 0).row, _seat(play, 0).column, _seat(play, 0).hull) == (15, 2, "up")
    assert _seat(play, 0).score == 20
    blocked = _play("left")
    assert (_seat(blocked, 0).row, _seat(blocked, 0).column) == (15, 1)
    assert _seat(blocked, 0).score == 10
    assert blocked.to_act == 1


def test_a_place_pays_once_and_to_everybody() -> None:
    play = _play("right", "left", "right", "up", "left", "right", "left", "down", "right")
    assert _points(play) == [20, 20, 20, 20]


def test_a_shot_hits_the_first_in_line_and_tells_where_the_shooter_is() -> None:
    play = _play("fire", start="table1", rocks="none")
    view = GAME.view(play.state, None)
    assert view.to_wire()["events"] == [{"slot": 0, "seat": 0, "row": 13, "column": 2, "victim": 2}]
    assert view.to_wire()["wrecks"] == [{"seat": 2, "by": 0, "slot": 0, "row": 1, "column": 2}]
    assert view.alive == [True, True, False, True]
    assert _points(play) == [60, 10, 10, 10]
    for seat in range(4):
        local = _seat(play, seat).local
        assert local is not None
        assert local[0][1] == -3
        assert local[12][1] == 11


def test_slots_of_the_dead_pass_silently_and_count() -> None:
    play = _play("fire", "up", start="table1", rocks="none")
    assert play.to_act == 3
    assert GAME.view(play.state, None).slot == 3
    assert int(play.state["ply"]) == 2


def test_a_rock_and_a_wreck_stop_a_shot_for_nothing() -> None:
    rock = _play("fire", start="corners")
    assert _points(rock) == [10, 10, 10, 10]
    wreck = _play("fire", "up", "up", "fire", start="table1", rocks="none")
    assert _points(wreck)[0] == 60


def test_the_dead_keep_their_points_and_may_win() -> None:
    play = Position(GAME, tanks_models.Options(start="table1", rocks="none", turns=40))
    for word in ["right"] * 3 + ["left"] * 3 + ["down"] * 3:
        play.skip()
        play.skip()
        play.push_move(word)
        play.skip()
    play.push_move("fire")
    while play.to_act != TERMINAL:
        play.skip()
    assert _points(play) == [60, 10, 70, 10]
    assert not GAME.view(play.state, None).alive[2]
    scores, points = (2 / 3, 1 / 6, 1.0, 1 / 6), (60.0, 10.0, 70.0, 10.0)
    assert play.outcome == Outcome((2, 3, 1, 3), scores, "turns", points)


def test_the_most_points() -> None:
    assert 10 + 195 * rules.NEW_CELL + 3 * rules.KILL == 2110


def test_a_lapsed_turn_does_nothing_but_pass() -> None:
    play = _play()
    before = GAME.referee_view(play.state).to_wire()
    play.skip()
    after = GAME.referee_view(play.state).to_wire()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"ply", "slot", "left", "to_act"}
    assert rules.SKIP not in GAME.legal(play.state)
    assert GAME.count_legal(play.state) == 7


def test_the_play_ends_with_the_last_slot() -> None:
    play = _play(*["fire"] * 4, turns=4)
    scores, points = (0.5, 0.5, 0.5, 0.5), (10.0, 10.0, 10.0, 10.0)
    assert play.outcome == Outcome((1, 1, 1, 1), scores, "turns", points)
    assert play.legal == []


def test_who_drops_ranks_last_and_stays_on_the_board() -> None:
    play = _play(start="table1", rocks="none", turns=9)
    play.forfeit(2)
    for word in ("fire", "right", "left", "up", "up", "up"):
        play.push_move(word)
    view = GAME.view(play.state, None)
    assert view.dropped == [2]
    assert not view.alive[2]
    assert _points(play)[0] == 70
    play.push_move("down")
    assert play.outcome is not None
    assert play.outcome.ranks == (1, 2, 4, 2)
    assert play.outcome.scores == (1.0, 0.5, 0.0, 0.5)


def test_the_turn_passes_when_the_seat_to_act_drops() -> None:
    play = _play()
    play.forfeit(0)
    assert play.to_act == 1
    local = _seat(play, 1).local
    assert local is not None
    assert sum(row.count(-1) for row in local) < 224


def test_who_drops_first_ranks_lowest() -> None:
    play = _play()
    for seat in (3, 1, 0):
        play.forfeit(seat)
    scores, points = (2 / 3, 1 / 3, 1.0, 0.0), (10.0, 10.0, 10.0, 10.0)
    assert play.outcome == Outcome((2, 3, 1, 4), scores, "dropped", points)
    play.forfeit(2)
    assert play.outcome.ranks == (2, 3, 1, 4)


def test_the_dead_have_finished_and_change_nothing_when_they_go() -> None:
    play = _play("fire", start="table1", rocks="none")
    before = play.state.tobytes()
    play.forfeit(2)
    assert play.state.tobytes() == before
    with pytest.raises(GameError, match="seat from 0 to 3, not 4"):
        play.forfeit(4)


def test_the_play_is_over_when_nobody_can_act() -> None:
    play = _play("fire", "fire", start="table1", rocks="none")
    assert GAME.view(play.state, None).alive == [True, True, False, False]
    play.forfeit(0)
    assert play.to_act == 1
    play.forfeit(1)
    assert play.outcome is not None
    assert play.outcome.ranks == (4, 3, 1, 1)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("restless", [False, True])
def test_everything_is_undone_however_much_the_local_boards_change(
    options: dict[str, Any], restless: bool
) -> None:
    """Plays with maximum changes of local boards fit the undo stack."""
    play, source = Position(GAME, GAME.Options(**options)), random.Random(7)
    trail = [play.state.tobytes()]
    actions = range(rules.UP, rules.FIRE) if restless else range(rules.UP, rules.FIRE + 1)
    while play.to_act != TERMINAL:
        play.push(_stirring(play, source, list(actions)))
        trail.append(play.state.tobytes())
    plies, height = int(play.state["ply"]), int(play.state["height"])
    assert height <= 4 * 225 + 8 * plies + 60 <= rules.ENTRIES
    assert not restless or height > 2 * plies
    for before in reversed(trail[:-1]):
        play.pop()
        assert play.state.tobytes() == before


def _stirring(play: Position, source: random.Random, actions: list[int]) -> int:
    """Return the action that adds most to the stack, sometimes a random one."""
    source.shuffle(actions)
    if source.random() < 0.1:
        return actions[0]
    heights = []
    for action in actions:
        GAME.play(play.state, action)
        heights.append(int(play.state["height"]))
        GAME.undo(play.state, action)
    return actions[int(np.argmax(heights))]


def test_four_tanks_that_dance_before_each_other_fit_the_stack() -> None:
    """Each tank sees two or three others, and all move constantly."""
    view = GAME.referee_view(_play(rocks="none").state).to_wire()
    stand = ((9, 6, "up"), (9, 8, "up"), (6, 5, "down"), (6, 9, "down"))
    view["board"] = [[0] * 15 for _ in range(15)]
    for tank, (row, column, hull) in zip(view["tanks"], stand, strict=True):
        tank |= {"row": row, "column": column, "hull": hull}
    state = GAME.sample(tanks_models.View.model_validate(view), 0)
    ply = 0
    while GAME.to_act(state) != TERMINAL:
        GAME.play(state, rules.RIGHT if ply % 8 < 4 else rules.LEFT)
        ply += 1
    assert 5500 < int(state["height"]) <= rules.ENTRIES


def test_a_tank_is_on_a_local_board_at_most_once() -> None:
    play, source = Position(GAME, tanks_models.Options(rocks="none")), random.Random(5)
    while play.to_act != TERMINAL:
        play.push(source.choice(play.legal))
        memory: Any = play.state["memory"]
        for seat in range(4):
            marks = memory[seat][memory[seat] > 0].tolist()
            assert len(marks) == len(set(marks))
            assert play.state["known"][seat].astype(bool).sum() == len(marks)


def _marks(play: Position, seat: int, tank: int) -> list[tuple[int, int]]:
    """Return the places of a tank on a local board."""
    local = _seat(play, seat).local
    assert local is not None
    found = np.argwhere(np.array(local) == rules.TANK * (tank + 1)) + 1
    return [(int(row), int(column)) for row, column in found]


@pytest.mark.parametrize("memory", rules.MEMORIES)
def test_a_tank_that_is_destroyed_elsewhere_leaves_no_mark(memory: str) -> None:
    """Seat 1 sees seat 3, which moves on and is destroyed out of sight of seat 1."""
    play = _play("turn-left", start="table1", rocks="none", memory=memory)
    assert _marks(play, 1, 3) == [(13, 14)]
    play.push_move("turn-left")
    for word in ("turn-left", "left", "turn-right", "right", "turn-left", "left", "turn-right"):
        play.push_move(word)
    play.skip()
    while play.state["fell"][3] == 0:
        seat = play.to_act
        play.push_move("fire") if seat == 0 else play.skip()
    assert not GAME.view(play.state, None).alive[3]
    stays = memory != "last"
    assert _marks(play, 1, 3) == ([(13, 14)] if stays else [])


@pytest.mark.parametrize("options", [{}, {"start": "table1"}, {"start": "table1", "rocks": "none"}])
def test_no_local_board_has_a_tank_that_is_known_to_be_destroyed(options: dict[str, Any]) -> None:
    fallen = 0
    for seed in range(6):
        play, source = (
            Position(GAME, tanks_models.Options.from_wire({"turns": 200, **options})),
            random.Random(seed),
        )
        while play.to_act != TERMINAL:
            play.push(laws.epsilon_greedy(play.state, play.legal, source, noise=0.5))
            wrecks = [wreck.seat for wreck in GAME.view(play.state, None).wrecks]
            fallen += len(wrecks)
            assert not any(_marks(play, seat, tank) for seat in range(4) for tank in wrecks)
    assert fallen > 0


def test_a_local_board_as_in_the_report_keeps_what_was_seen_until_it_is_seen_again() -> None:
    play, source = (
        Position(GAME, tanks_models.Options(rocks="none", memory="report")),
        random.Random(5),
    )
    most, before = 0, [set[tuple[int, int]]() for _ in range(4)]
    while play.to_act != TERMINAL:
        play.push(source.choice([*play.legal, rules.UP, rules.LEFT]))
        for seat in range(4):
            assert len(_marks(play, seat, seat)) == (play.state["fell"][seat] == 0)
            marks = {mark for tank in range(4) if tank != seat for mark in _marks(play, seat, tank)}
            if play.to_act != seat:
                assert before[seat] - marks <= {_place(play, wreck) for wreck in range(4)}
            before[seat] = marks
            most = max(most, *(len(_marks(play, seat, tank)) for tank in range(4)))
    assert most > 3


def _place(play: Position, seat: int) -> tuple[int, int]:
    return geo.place(int(play.state["place"][seat]))


def test_the_key_tells_hidden_things_apart_too() -> None:
    keys = {
        int(_play(*words).state["key"])
        for words in (["up"], ["right"], ["turn-left"], ["turn-right"], ["left"], ["up", "left"])
    }
    assert len(keys) == 6


@kernel
def _run(state: op.Record, actions: Any) -> None:
    """Play given actions to the end."""
    ply = 0
    while not op.terminal(state):
        op.play(state, np.int64(actions[ply]))
        ply += 1


def _random_plays(games: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of every seat and the kills of plays of four random players."""
    first, source = Position(GAME).state, np.random.Generator(np.random.PCG64(341))
    points, kills = np.zeros((games, 4)), np.zeros(games)
    for game in range(games):
        state: Any = first.copy()
        _run(state, source.integers(1, 8, 1000, dtype=np.int8))
        points[game] = rules.NEW_CELL * state.cells + rules.KILL * state.kills
        kills[game] = state.kills.sum()
    return points, kills


@pytest.mark.slow
@pytest.mark.skipif(not kernels.compiled(), reason="takes minutes in plain mode")
def test_four_random_players() -> None:
    """Means over 4,000 plays: 341 points, 1.08 kills, equal for all seats."""
    points, kills = _random_plays(4000)
    assert points.mean() == pytest.approx(341, abs=6)
    assert points.mean(axis=0) == pytest.approx(341, abs=8)
    assert points.std() == pytest.approx(113, abs=6)
    assert kills.mean() == pytest.approx(1.08, abs=0.05)
