"""Simple and slow reference versions of the multiplayer searches.

They share no code with the searches. Positions are copied rather than undone; there is no pruning.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.algorithms.result import WIN_SCORE

CHECKERS: Any = registry.get("chinese-checkers")
SOONER = 1 / 4096
Vector = list[float]
Last = dict[int, int]
"""The ply of each seat's last action."""


def start(seats: int = 2, **options: Any) -> Any:
    return CHECKERS.start(CHECKERS.Options(**options), seats, {})


def positions(seats: int, seed: int, **options: Any) -> Iterator[Any]:
    """Yield positions of a play in which all seats make progress, ending near its end."""
    state, chance = start(seats, **options), random.Random(seed)
    while CHECKERS.outcome(state) is None:
        yield state.copy()
        actions = sorted(CHECKERS.legal(state), key=lambda m: (int(op.move_score(state, m)), m))
        CHECKERS.play(state, actions[-1] if chance.random() < 0.8 else chance.choice(actions))


def some(seats: int, count: int, seed: int = 0, **options: Any) -> list[Any]:
    """Return a few positions spread over a play, including its last two."""
    found = list(positions(seats, seed, **options))
    return [found[len(found) * k // count] for k in range(count)] + found[-2:]


def actions(st: Any) -> list[int]:
    moves = np.zeros(op.max_actions(st.dtype), np.int32)
    return [int(m) for m in moves[: op.generate(st, moves)]]


def after(st: Any, action: int) -> Any:
    new = st.copy()
    op.play(new, action)
    return new


def wins_at_once(st: Any) -> bool:
    """Return whether the seat to act can finish with one move."""
    seat = int(op.to_act(st))
    return any(after(st, action).rank[seat] > 0 for action in actions(st))


def own(st: Any, ev: Any, last: Last) -> Vector:
    """Return each seat's own evaluation; drop-outs get the minimum."""
    worths = [float(op.evaluate(ev, st, seat)) for seat in range(int(st.seats))]
    decided = [WIN_SCORE * (1 - SOONER * last.get(seat, 0)) for seat in range(len(worths))]
    gone = [not op.in_contention(st, np.int64(seat)) for seat in range(len(worths))]
    return [
        sure if worth >= WIN_SCORE else -WIN_SCORE if out else worth
        for worth, sure, out in zip(worths, decided, gone, strict=True)
    ]


def scores(st: Any) -> Vector:
    out = np.zeros(op.MAX_SEATS)
    op.returns(st, out)
    return [float(score) for score in out[: int(st.seats)]]


def final(st: Any, last: Last, ply: int) -> Vector:
    """Return the scores of a finished play; sooner is better for all except the last.

    For tied seats the time does not matter.
    """
    late = [last.get(seat, 0) * SOONER / 2 for seat in range(int(st.seats))]
    found = scores(st)
    return [
        score
        if found.count(score) > 1
        else score - off
        if len(late) > 2 and score
        else 0.5 + (score - 0.5) * (1 - SOONER * ply)
        for score, off in zip(found, late, strict=True)
    ]


def leads(st: Any, ev: Any, last: Last, ply: int) -> Vector:
    if op.terminal(st):
        return [WIN_SCORE * (2 * score - 1) for score in final(st, last, ply)]
    worths = own(st, ev, last)
    return [lead(worths, seat) for seat in range(len(worths))]


def lead(worths: Vector, seat: int) -> float:
    """Return the lead of a seat: fixed against finished seats, otherwise a difference."""
    mine, *others = worths[seat], *worths[:seat], *worths[seat + 1 :]
    rivals = [other for other in others if abs(mine) < WIN_SCORE / 2 > abs(other)]
    sure = 0.0
    for other in others:
        if max(mine, other) > WIN_SCORE / 2:
            sure += mine * (mine > WIN_SCORE / 2) - other * (other > WIN_SCORE / 2)
        else:
            sure += WIN_SCORE * ((other == -WIN_SCORE) - (mine == -WIN_SCORE))
    return sure / len(others) + (mine - sum(rivals) / len(rivals) if rivals else 0.0)


def reported(lead: float) -> float:
    """Return a lead as searches report it: a win in n plies is n below `WIN_SCORE`."""
    plies = (1 - abs(lead) / WIN_SCORE) / SOONER
    return math.copysign(WIN_SCORE - plies, lead) if plies <= 100 else lead


def minimax(st: Any, ev: Any, depth: int, me: int, last: Last | None = None, ply: int = 0) -> float:
    """Return the lead of `me` if all others play against it."""
    last = last or {}
    if op.terminal(st) or depth == 0:
        return leads(st, ev, last, ply)[me]
    seat = int(op.to_act(st))
    now = {**last, seat: ply + 1}
    values = [minimax(after(st, m), ev, depth - 1, me, now, ply + 1) for m in actions(st)]
    return max(values) if seat == me else min(values)


def maxn(
    st: Any, ev: Any, depth: int, last: Last | None = None, ply: int = 0, hurt: Any = None
) -> Vector:
    """Return all leads if each seat maximizes its own.

    `hurt` is a pair: a seat, and the seat whose lead it minimizes instead.
    """
    last = last or {}
    if op.terminal(st) or depth == 0:
        return leads(st, ev, last, ply)
    seat = int(op.to_act(st))
    now = {**last, seat: ply + 1}
    vectors = [maxn(after(st, m), ev, depth - 1, now, ply + 1, hurt) for m in actions(st)]
    if hurt is not None and hurt[0] == seat:
        return max(vectors, key=lambda v: (-v[hurt[1]], v[seat]))
    return max(vectors, key=lambda v: (v[seat], -strongest(v, seat)))


def strongest(vector: Vector, seat: int) -> float:
    """Return the largest lead of another seat."""
    return max(lead for other, lead in enumerate(vector) if other != seat)


def best_reply(
    st: Any, ev: Any, depth: int, me: int, rivals: list[int], last: Any = None, ply: int = 0
) -> float:
    """Return the lead of `me` if only one of the others may answer each of its actions."""
    last = last or {}
    if op.terminal(st) or depth == 0 or (ply > 0 and op.evaluate(ev, st, me) >= WIN_SCORE):
        return leads(st, ev, last, ply)[me]
    values = []
    for seat in [me] if ply % 2 == 0 else rivals:
        if seat == me or op.evaluate(ev, st, seat) < WIN_SCORE:
            held = st.copy()
            op.set_side_to_move(held, seat)
            now = {**last, seat: ply + 1}
            values += [
                best_reply(after(held, m), ev, depth - 1, me, rivals, now, ply + 1)
                for m in actions(held)
            ]
    return max(values) if ply % 2 == 0 else min(values)


def shares(st: Any, ev: Any, last: Last, ply: int, scale: float) -> Vector:
    if op.terminal(st):
        return final(st, last, ply)
    worths = own(st, ev, last)
    return [
        sum(ahead(a, b, scale) for other, b in enumerate(worths) if other != seat)
        / (len(worths) - 1)
        for seat, a in enumerate(worths)
    ]


def ahead(a: float, b: float, scale: float) -> float:
    chance = float(1 / (1 + np.exp(-np.clip((a - b) / scale, -40, 40))))
    if max(a, b) > WIN_SCORE / 2:
        chance = 0.5 + (chance - 0.5) * max(a, b) / WIN_SCORE
    return chance


def max_prob(
    st: Any, ev: Any, depth: int, scale: float, near: float, last: Any = None, ply: int = 0
) -> Vector:
    """Return all chances if each seat chooses randomly among its best actions."""
    last = last or {}
    if op.terminal(st) or depth == 0:
        return shares(st, ev, last, ply, scale)
    seat = int(op.to_act(st))
    now = {**last, seat: ply + 1}
    vectors = [
        max_prob(after(st, m), ev, depth - 1, scale, near, now, ply + 1) for m in actions(st)
    ]
    most = max(vector[seat] for vector in vectors) - (near if ply > 0 else 0)
    likely = [vector for vector in vectors if vector[seat] >= most]
    return [sum(column) / len(likely) for column in zip(*likely, strict=True)]


def exact(st: Any) -> float:
    """Return the score of the seat to act in a small two-player game under perfect play."""
    seat = int(op.to_act(st))
    best = 0.0
    for m in actions(st):
        new = after(st, m)
        if op.terminal(new):
            best = max(best, scores(new)[seat])
        else:
            worth = exact(new)
            best = max(best, worth if op.to_act(new) == seat else 1 - worth)
    return best
