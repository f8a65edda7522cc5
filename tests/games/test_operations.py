from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_games import kernels, registry
from kibitz_games import operations as op
from kibitz_games.kernels import Int, kernel

GAME = registry.get("chinese-checkers")

WEIGHTS = kernels.record("weights_of_a_test", [("pull", np.float64)], source=__file__)


@kernel
def _evaluate(ev: op.Record, st: op.Record, seat: Int) -> float:
    """Judge by distance."""
    return float(-ev.pull * st.distance[seat])


op.implement(WEIGHTS, evaluate=_evaluate)


@kernel
def _best(st: op.Record, ev: op.Record, ws: op.Record) -> Int:
    """Return the action after which the mover is best off: a search in ten lines."""
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
    stranger = kernels.new(kernels.record("stranger", [("side", np.int32)], source=__file__))
    with pytest.raises(TypeError, match="no 'terminal' for records of type _stranger_"):
        op.terminal(stranger)
    with pytest.raises(TypeError, match="no 'game'"):
        op.widest(stranger.dtype)
    assert not op.offers(stranger.dtype, "hold")
    assert op.offers(_start().dtype, "hold")


def test_an_incomplete_game_is_refused() -> None:
    dtype = kernels.record("incomplete", [("side", np.int32)], source=__file__)
    with pytest.raises(TypeError, match=r"must implement .*undo"):
        op.implement(dtype, widest=3, generate=_evaluate)
    with pytest.raises(TypeError, match="unknown operations: dance"):
        op.implement(dtype, dance=_evaluate)
    assert not op.offers(dtype, "generate")


def test_a_workspace_has_room_for_every_depth_and_extra_fields() -> None:
    extra = [("table", np.uint64, (64,))]
    workspace: Any = op.workspace(_start(), depth=7, extra=extra, source=__file__)
    assert workspace.moves.shape == (8, op.widest(_start().dtype))
    assert workspace.scores.shape == workspace.moves.shape
    assert workspace.values.shape == (8, op.MAX_SEATS)
    assert workspace.table.shape == (64,)
    assert workspace.stop == workspace.nodes == 0


@pytest.mark.parametrize("name", registry.names())
def test_operations_run_plainly_for_every_game(name: str) -> None:
    """A misspelt field of a record gives a readable error only in plain mode."""
    game = registry.get(name)
    options, seats = game.Options(), game.info.seats[0]
    state: Any = game.start(options, seats, game.deal(options, seats, 0))
    offered = [name for name in op.NAMES if op.offers(state.dtype, name)]
    table = {name: op._tables[name][state.dtype] for name in offered}
    plain = {name: getattr(f, "py_func", f) for name, f in table.items()}
    moves, out = np.zeros(op.widest(state.dtype), np.int32), np.zeros(op.MAX_SEATS)
    assert plain["generate"](state, moves) == len(game.legal(state))
    before, action = state.tobytes(), int(moves[0])
    assert isinstance(int(plain["order"](state, action)), int)
    if "hold" in plain:
        plain["hold"](state, plain["hold"](state, plain["to_act"](state)))
    if "weigh" in plain:
        assert plain["weigh"](state, action) > 0
    plain["play"](state, action)
    plain["undo"](state, action)
    assert state.tobytes() == before
    assert not plain["terminal"](state)
    assert plain["to_act"](state) == game.to_act(state)
    assert plain["fresh_key"](state) == state.key
    plain["returns"](state, out)
