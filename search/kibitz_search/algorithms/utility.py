"""The values of multiplayer positions for each seat: leads and shares.

`operations.evaluate` rates each seat by itself. Multiplayer searches need relative values: a gain
for one seat must be a loss for others, otherwise no seat would ever block another.

**Leads** (`relative_scores`) are for searches that compare values. The lead of a seat is its own
evaluation minus the mean evaluation of the other active seats. All leads add up to zero, and with
two seats they are the differences used by minimax. Seats that have finished or dropped out are
certainly ahead of or behind all other seats. In a finished game, leads depend only on the scores:
`WIN_SCORE` for a seat ahead of all others, ``-WIN_SCORE`` for the last seat, and 0 for a seat in
the middle or in a draw of all (`terminal`). With more than two seats, these leads add up to
slightly less than zero, because each seat except the last loses some value by finishing late.

**Shares** (`expected_scores`) are for searches that average values. The share of a seat is the
expected fraction of opponents that it beats: the mean over these of ``1 / (1 + exp(-difference /
scale))``. In a finished game, shares are those of `operations.returns`. The shares of all seats add
up to half the number of seats. `scale`, in the evaluation's units, is the difference with which a
seat is ahead about 3 out of 4 times.

An evaluation of at least `WIN_SCORE` marks a seat that has reached its goal in an unfinished game.
Decided values are discounted by `PLY_DISCOUNT` per ply, so earlier wins and later losses are
better. The searches record the ply of each seat's last action in ``last``, which tells when such a
seat finished.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record, Values
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.algorithms.terminal import PLY_DISCOUNT, final_shares

LOGISTIC_CLIP = 40.0
"""The maximum difference, in units of `scale`, that is passed to the logistic function."""


@kernel
def raw_scores(st: Record, ev: Record, last: Any, out: Values) -> None:
    """Write each seat's own evaluation into `out`; the game must not be over."""
    for seat in range(np.int64(st.seats)):
        own = op.evaluate(ev, st, np.int64(seat))
        if own >= WIN_SCORE:
            own = WIN_SCORE * (1.0 - PLY_DISCOUNT * np.int64(last[seat]))
        elif not op.in_contention(st, np.int64(seat)):
            own = -WIN_SCORE
        out[seat] = own


@kernel
def _certain_lead(a: float, b: float) -> float:
    """Return the lead of evaluation `a` over `b` if either seat has finished or dropped out."""
    if max(a, b) > WIN_SCORE / 2:
        return float((a if a > WIN_SCORE / 2 else 0.0) - (b if b > WIN_SCORE / 2 else 0.0))
    lead = 0.0
    if b < -WIN_SCORE / 2:
        lead += WIN_SCORE
    if a < -WIN_SCORE / 2:
        lead -= WIN_SCORE
    return lead


@kernel
def _lead(own: Values, seats: Int, seat: Int) -> float:
    """Return the lead of a seat in an unfinished game.

    The lead over seats that have finished or dropped out is certain; only active seats are compared
    by their evaluations.
    """
    certain, worths, rivals = 0.0, 0.0, 0
    for other in range(seats):
        if other == seat:
            continue
        if max(abs(own[seat]), abs(own[other])) > WIN_SCORE / 2:
            certain += _certain_lead(own[seat], own[other])
        else:
            worths += own[other]
            rivals += 1
    if rivals > 0:
        return float(certain / (seats - 1) + own[seat] - worths / rivals)
    return float(certain / (seats - 1)) if seats > 1 else float(own[seat])


@kernel
def relative_scores(st: Record, ev: Record, last: Any, ply: Int, out: Values) -> None:
    """Write the lead of each seat into `out`, for a state `ply` plies after the root."""
    seats = np.int64(st.seats)
    if op.terminal(st):
        final_shares(st, last, ply, out)
        for seat in range(seats):
            out[seat] = WIN_SCORE * (2.0 * out[seat] - 1.0)
        return
    own = np.empty(op.MAX_SEATS)
    raw_scores(st, ev, last, own)
    for seat in range(seats):
        out[seat] = _lead(own, seats, np.int64(seat))


@kernel
def expected_score(a: float, b: float, scale: float) -> float:
    """Return the probability that a seat with evaluation `a` beats one with `b`."""
    far = min(max((a - b) / scale, -LOGISTIC_CLIP), LOGISTIC_CLIP)
    chance = 1.0 / (1.0 + np.exp(-far))
    most = max(a, b)
    if most > WIN_SCORE / 2:
        chance = 0.5 + (chance - 0.5) * most / WIN_SCORE
    return float(chance)


@kernel
def expected_scores(st: Record, ev: Record, last: Any, ply: Int, scale: float, out: Values) -> None:
    """Write the share of each seat into `out`, for a state `ply` plies after the root."""
    seats = np.int64(st.seats)
    if op.terminal(st):
        final_shares(st, last, ply, out)
        return
    own = np.empty(op.MAX_SEATS)
    raw_scores(st, ev, last, own)
    for seat in range(seats):
        total = 0.0
        for other in range(seats):
            if other != seat:
                total += expected_score(own[seat], own[other], scale)
        out[seat] = total / (seats - 1) if seats > 1 else 1.0


def active_seats(state: np.record) -> list[int]:
    """Return the active seats, starting with the seat to act.

    The function finds them by playing arbitrary actions on a copy until all have acted once.
    """
    st, moves = state.copy(), np.zeros(op.max_actions(state.dtype), np.int32)
    seats: list[int] = []
    while (seat := int(op.to_act(st))) >= 0 and seat not in seats:
        seats.append(seat)
        op.generate(st, moves)
        op.play(st, int(moves[0]))
    return seats
