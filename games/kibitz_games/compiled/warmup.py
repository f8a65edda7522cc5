"""Ahead-of-time compilation of a game's operations."""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import operations as op


def warm_up_operations(state: np.record) -> None:
    """Compile or load every operation for the type of `state` by calling each of them once.

    `state` must not be terminal; it is not modified.
    """
    st, out = state.copy(), np.zeros(op.MAX_SEATS)
    moves = np.zeros(op.max_actions(st.dtype), np.int32)
    op.generate(st, moves)
    action = int(moves[0])
    op.move_score(st, action)
    seat = op.to_act(st)
    if op.offers(st.dtype, "set_side_to_move"):
        op.set_side_to_move(st, op.set_side_to_move(st, seat))
    if op.offers(st.dtype, "policy_weight"):
        op.policy_weight(st, action)
    op.tactical_moves(st, moves)
    op.generate_stage(st, 0, moves)
    if op.offers(st.dtype, "num_dense"):
        op.num_dense(st)
    op.dense_action(st, op.dense_index(st, action))
    op.play(st, action)
    op.undo(st, action)
    op.terminal(st)
    op.in_contention(st, seat)
    op.compute_key(st)
    op.returns(st, out)
