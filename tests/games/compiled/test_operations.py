from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import dispatch, kernels
from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.core import learning, registry
from kibitz_games.core.game import Game

GAME = registry.get("chinese-checkers")

WEIGHTS = kernels.record_type("weights_of_a_test", [("pull", np.float64)], source=__file__)


@kernel
def _evaluate(ev: op.Record, st: op.Record, seat: Int) -> float:
    """Evaluate by distance."""
    return float(-ev.pull * st.distance[seat])


op.implement(WEIGHTS, evaluate=_evaluate)


@kernel
def _best(st: op.Record, ev: op.Record, ws: op.Record) -> Int:
    """Return the best action for the mover: a search in ten lines."""
    seat = op.to_act(st)
    n = op.generate(st, ws.moves[0])
    best = np.int64(ws.moves[0, 0])
    value = -1e9
    for i in range(n):
        m = np.int64(ws.moves[0, i])
        op.play(st, m)
        found = op.evaluate(ev, st, seat)
        op.undo(st, m)
        ws.nodes += 1
        if found > value:
            value = found
            best = m
    return best


def _start() -> np.record:
    return GAME.start(GAME.Options(), 2, {})


def test_weights_change_without_compiling_again() -> None:
    state, weights = _start(), kernels.new(WEIGHTS)
    for pull in (1.0, -1.0):
        weights["pull"] = pull
        assert op.evaluate(weights, state, 0) == -pull * 120


def test_a_search_of_ten_lines() -> None:
    state, weights = _start(), kernels.new(WEIGHTS)
    workspace = op.workspace(state, depth=4)
    weights["pull"] = 1.0
    before = state.tobytes()
    action = int(_best(state, weights, workspace))
    assert action in GAME.legal(state)
    assert state.tobytes() == before
    assert workspace["nodes"] == 14
    weights["pull"] = -1.0
    assert int(_best(state, weights, workspace)) in GAME.legal(state)


def test_an_unknown_record_is_named() -> None:
    stranger = kernels.new(kernels.record_type("stranger", [("side", np.int32)], source=__file__))
    with pytest.raises(TypeError, match="no 'generate' for records of type _stranger_"):
        op.generate(stranger, np.zeros(1, np.int32))
    with pytest.raises(TypeError, match="no 'game'"):
        op.max_actions(stranger.dtype)
    assert not op.offers(stranger.dtype, "set_side_to_move")
    assert op.offers(_start().dtype, "set_side_to_move")


@pytest.mark.parametrize("name", registry.names())
def test_a_list_of_moves_that_is_too_short_is_refused(name: str) -> None:
    """Machine code would overwrite adjacent memory."""
    game = registry.get(name)
    state = game.start(game.Options(), game.info.seats[0], game.deal(game.Options(), 2, 0))
    most = op.max_actions(state.dtype)
    short = np.zeros(most - 1, np.int32)
    for operation, between in (
        (op.generate, ()),
        (op.generate_stage, (0,)),
        (op.tactical_moves, ()),
    ):
        with pytest.raises(ValueError, match=f"room for {most} actions, not for {most - 1}"):
            operation(state, *between, short)
    with pytest.raises(ValueError, match=r"room for \d seats, not for 1"):
        op.points(state, np.zeros(1))
    assert not short.any()
    assert op.generate(state, np.zeros(most, np.int32)) == len(game.legal(state))


def test_what_a_game_does_not_count_or_show_is_said() -> None:
    state, out = _start(), np.ones(6)
    op.points(state, out)
    assert out.tolist() == [0, 0, 1, 1, 1, 1]
    stranger = kernels.new(kernels.record_type("unseen", [("side", np.int32)], source=__file__))
    with pytest.raises(TypeError, match="'observe' is not implemented for this record type"):
        op.observe(stranger, 0, np.zeros(1, np.float32))


def test_an_incomplete_game_is_refused() -> None:
    dtype = kernels.record_type("incomplete", [("side", np.int32)], source=__file__)
    with pytest.raises(TypeError, match=r"must implement .*undo"):
        op.implement(dtype, max_actions=3, generate=_evaluate)
    with pytest.raises(TypeError, match="unknown operations: dance"):
        op.implement(dtype, dance=_evaluate)
    assert not op.offers(dtype, "generate")


@pytest.mark.skipif(not kernels.compiled(), reason="plain mode keeps nothing that could be stale")
def test_an_implementation_that_the_type_does_not_import_is_refused() -> None:
    foreign = kernels.record_type("foreign", [("side", np.int32)], source=kernels.__file__)
    with pytest.raises(TypeError, match=r"test_operations.*does not import"):
        op.implement(foreign, evaluate=_evaluate)
    assert not op.offers(foreign, "evaluate")


def test_a_workspace_has_room_for_every_depth_and_extra_fields() -> None:
    extra = [("table", np.uint64, (64,))]
    workspace: Any = op.workspace(_start(), depth=7, extra=extra, source=__file__)
    assert workspace.moves.shape == (8, op.max_actions(_start().dtype))
    assert workspace.scores.shape == workspace.moves.shape
    assert workspace.values.shape == (8, op.MAX_SEATS)
    assert workspace.table.shape == (64,)
    assert workspace.stop == workspace.nodes == 0


def _run_learners_operations(game: Game, state: Any, plain: dict[str, Any], action: int) -> None:
    seen = np.full(learning.observation_shape(game, state), np.nan, np.float32)
    plain["observe"](state, 0, seen.reshape(-1))
    np.testing.assert_array_equal(seen, game.features(game.view(state, 0), 0))
    assert plain["num_dense"](state) == learning.num_dense_actions(game, state)
    if "dense_index" in plain:
        assert plain["dense_action"](state, plain["dense_index"](state, action)) == action
    if "points" in plain:
        counted = np.zeros(op.MAX_SEATS)
        plain["points"](state, counted)
        assert tuple(counted[: int(state.seats)]) == game.points(state)


@pytest.mark.parametrize("name", registry.names())
def test_operations_run_plainly_for_every_game(name: str) -> None:
    """A misspelt field of a record gives a readable error only in plain mode."""
    game = registry.get(name)
    options, seats = game.Options(), game.info.seats[0]
    state: Any = game.start(options, seats, game.deal(options, seats, 0))
    offered = [name for name in op.NAMES if op.offers(state.dtype, name)]
    table = {name: dispatch.implementation(name, state.dtype) for name in offered}
    plain: dict[str, Any] = {name: getattr(f, "py_func", f) for name, f in table.items()}
    moves, out = np.zeros(op.max_actions(state.dtype), np.int32), np.zeros(op.MAX_SEATS)
    assert plain["generate"](state, moves) == len(game.legal(state))
    before, action = state.tobytes(), int(moves[0])
    if "move_score" in plain:
        assert isinstance(int(plain["move_score"](state, action)), int)
    if "set_side_to_move" in plain:
        plain["set_side_to_move"](state, plain["set_side_to_move"](state, op.to_act(state)))
    if "policy_weight" in plain:
        assert plain["policy_weight"](state, action) > 0
    if "observe" in plain:
        _run_learners_operations(game, state, plain, action)
    if "apply" in plain:
        plain["apply"](state, action)
        return
    plain["play"](state, action)
    plain["undo"](state, action)
    assert state.tobytes() == before
    assert plain["compute_key"](state) == state.key
    if "returns" in plain:
        plain["returns"](state, out)


def test_what_a_game_leaves_out_has_a_default() -> None:
    dtype = kernels.record_type("defaults", [("side", np.int32)], source=__file__)
    st = kernels.new(dtype)
    assert (op.to_act(st), bool(op.terminal(st))) == (0, False)
    assert (op.move_score(st, 3), op.policy_weight(st, 3)) == (0, 1.0)
    assert op.tactical_moves(st, np.zeros(1, np.int32)) == 0
    st["side"] = -1
    assert op.terminal(st)


def test_a_game_by_snapshots_needs_two_operations() -> None:
    dtype = kernels.record_type("two", [("side", np.int32)], source=__file__)
    with pytest.raises(TypeError, match="must implement generate"):
        op.implement(dtype, max_actions=3, apply=_evaluate)
