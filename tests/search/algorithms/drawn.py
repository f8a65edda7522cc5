"""Positions of Chinese Checkers one ply or two before a draw by the third repetition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry

GAME: Any = registry.get("chinese-checkers")


@dataclass(frozen=True)
class Repetition:
    """A position in which `action` is the next move towards the draw."""

    name: str
    state: np.record
    action: int
    ahead: bool
    """Whether the seat to act is nearer to its goal than the other active seats."""


def placed(
    where: Sequence[Sequence[int]], turn: int = 0, ranks: Sequence[int] = (), **options: Any
) -> np.record:
    """Return the position with the given pegs of each seat."""
    start = GAME.start(GAME.Options(**options), len(where), {})
    changed = {
        "pegs": [sorted(each) for each in where],
        "best": [99] * len(where),
        "turn": turn,
        "to_act": turn,
        "ranks": list(ranks or [0] * len(where)),
    }
    state: np.record = GAME.sample(GAME.view(start, None).model_copy(update=changed), 0)
    return state


def reverse(state: np.record, action: int) -> int:
    """Return the action that moves a peg back."""
    holes = int(state["holes"])
    return (action % holes) * holes + action // holes


def reversible(state: np.record) -> Iterator[int]:
    """Yield the moves that the seat to act could reverse next turn if no other seat moved."""
    for action in GAME.legal(state):
        st: Any = state.copy()
        seat = GAME.to_act(st)
        GAME.play(st, action)
        if GAME.to_act(st) >= 0 and not int(st.rank[seat]):
            op.set_side_to_move(st, np.int64(seat))
            if reverse(st, action) in GAME.legal(st):
                yield action


def acting_order(state: np.record) -> list[int]:
    """Return the seats in the order in which they act."""
    st, order = state.copy(), list[int]()
    while GAME.to_act(st) not in order:
        order.append(GAME.to_act(st))
        GAME.play(st, GAME.legal(st)[0])
    return order


def repeated(state: np.record, mover: int, mine: int, plies: int) -> np.record | None:
    """Return the play from `state` up to `plies` before its third occurrence, None if that fails.

    `mover` moves a peg with `mine` and back; every other seat does so with its first possible move.
    """
    st, moves, order = state.copy(), {mover: mine}, acting_order(state)
    for k in range(4 * len(order) - plies):
        seat, there = GAME.to_act(st), k // len(order) % 2 == 0
        if seat not in moves:
            moves[seat] = next(reversible(st), -1)
        action = moves[seat] if there else reverse(st, moves[seat])
        if action not in GAME.legal(st):
            return None
        GAME.play(st, action)
    return st if GAME.to_act(st) == mover else None


def repetitions(
    name: str, state: np.record, mover: int, *, plies: int, ahead: bool, most: int = 3
) -> Iterator[Repetition]:
    """Yield a few positions with `mover` to act, a given number of plies before the draw.

    The drawing move is a step forward for a mover who is ahead, and a step back for a mover who is
    behind, so the evaluation alone suggests the wrong decision.
    """
    st: Any = state.copy()
    op.set_side_to_move(st, np.int64(mover))
    candidates = sorted(reversible(st), key=lambda m: int(op.move_score(st, np.int64(m))))
    for mine in candidates if ahead else candidates[::-1]:
        found = repeated(state, mover, mine, plies)
        if found is not None and most > 0:
            most -= 1
            yield Repetition(f"{name}, {mine}", found, reverse(found, mine), ahead)


def two_seats(plies: int) -> list[Repetition]:
    """Return two-player positions with the mover ahead, or behind one ply before the draw."""
    mover = 1 if plies == 1 else 0
    options: dict[str, Any] = {"board": "rhombus", "size": 5, "pegs": 3}
    far = GAME.view(GAME.start(GAME.Options(**options), 2, {}), None).pegs
    near = [[13, 17, 18], [6, 7, 11]]
    ahead = placed([near[0], far[1]] if mover == 0 else [far[0], near[1]], **options)
    found = [*repetitions("ahead", ahead, mover, plies=plies, ahead=True)]
    if plies == 1:
        behind = placed([near[0], far[1]], **options)
        found += repetitions("behind", behind, mover, plies=1, ahead=False)
    return found


def three_seats() -> list[Repetition]:
    """Return three-player positions on a star: all active, one finished, one dropped out."""
    view = GAME.view(GAME.start(GAME.Options(size=2), 3, {}), None)
    homes = [[*holes] for holes in view.pegs]
    found = list[Repetition]()
    for label, ranks in (("all", (0, 0, 0)), ("finished", (1, 0, 0)), ("dropped", (3, 0, 0))):
        for ahead in (True, False):
            other = 0 if label == "all" else 1
            state = _advanced(homes, ranks, leader=2 if ahead else other)
            name = f"{label}, {'ahead' if ahead else 'behind'}"
            found += repetitions(name, state, 2, plies=1, ahead=ahead, most=2)
    return found


def _advanced(homes: list[list[int]], ranks: Sequence[int], leader: int) -> np.record:
    """Return a position in which only `leader` is near its goal."""
    turn = next(seat for seat, rank in enumerate(ranks) if rank == 0)
    st: Any = placed(homes, leader, ranks, size=2)
    for _ in range(8):
        actions = GAME.legal(st)
        GAME.play(st, max(actions, key=lambda m: int(op.move_score(st, np.int64(m)))))
        op.set_side_to_move(st, np.int64(leader))
    pegs = [[*holes] for holes in GAME.view(st, None).pegs]
    return placed(pegs, turn, ranks, size=2)
