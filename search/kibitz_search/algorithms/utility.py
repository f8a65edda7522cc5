"""Utilities of multi-player positions: relative and expected scores of every seat.

An evaluation judges each seat for itself (`operations.evaluate`). Searches for many seats need
relative values: a gain of one seat must be a loss to others, or no seat would ever block another.

**Leads** (`relative_scores`) are for searches that compare. The lead of a seat is its own worth
less the mean worth of the others who still play, so the leads of all seats add up to zero, and with
two seats each is the difference that minimax takes. Seats that have finished or dropped out are
certainly ahead of or behind every other seat. In a finished play the leads follow from the scores
alone. A seat ahead of all others has `WIN_SCORE`, the last seat ``-WIN_SCORE``, and a seat in the
middle, or in a draw of all, 0 (`terminal`). With more than two seats these leads add up to a little
less than zero, because each seat that is not last is rewarded for finishing soon.

**Shares** (`expected_scores`) are for searches that average. The share of a seat is the part of the
others that it should leave behind, the mean over them of ``1 / (1 + exp(-difference / scale))``.
When the play is over it is `operations.returns`. The shares of all seats always add up to half
their number. `scale` is in the evaluation's units: the difference at which the better one wins
about 3 of 4 times.

An evaluation of at least `WIN_SCORE` marks a seat that has reached its aim in a play that goes on.
Each ply takes `PLY_DISCOUNT` off a decided value, so an early win is worth more than a late one,
and a late loss is less bad than an early one. ``last``, the ply of a seat's last action, which
these searches record, tells when such a seat finished.
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
"""The difference, in scales, from which a comparison counts as decided."""


@kernel
def raw_scores(st: Record, ev: Record, last: Any, out: Values) -> None:
    """Write each seat's own worth into `out`; the play goes on."""
    for seat in range(np.int64(st.seats)):
        own = op.evaluate(ev, st, np.int64(seat))
        if own >= WIN_SCORE:
            own = WIN_SCORE * (1.0 - PLY_DISCOUNT * np.int64(last[seat]))
        elif not op.in_contention(st, np.int64(seat)):
            own = -WIN_SCORE
        out[seat] = own


@kernel
def _certain_lead(a: float, b: float) -> float:
    """Return the lead of a seat worth `a` over one worth `b`, if either finished or dropped out."""
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
    """Return the lead of a seat in a play that goes on.

    Against those who have finished or dropped out the lead is certain; the others are compared with
    each other only.
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
    """Write the lead of each seat into `out`, which is `ply` plies after the root."""
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
    """Return the chance, 0 to 1, that the seat worth `a` leaves the one worth `b` behind."""
    far = min(max((a - b) / scale, -LOGISTIC_CLIP), LOGISTIC_CLIP)
    chance = 1.0 / (1.0 + np.exp(-far))
    most = max(a, b)
    if most > WIN_SCORE / 2:
        chance = 0.5 + (chance - 0.5) * most / WIN_SCORE
    return float(chance)


@kernel
def expected_scores(st: Record, ev: Record, last: Any, ply: Int, scale: float, out: Values) -> None:
    """Write the share of each seat into `out`, which is `ply` plies after the root."""
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
    """Return the seats that still act, the one to act first.

    They are found by letting each take its turn once, whatever it does.
    """
    st, moves = state.copy(), np.zeros(op.max_actions(state.dtype), np.int32)
    seats: list[int] = []
    while (seat := int(op.to_act(st))) >= 0 and seat not in seats:
        seats.append(seat)
        op.generate(st, moves)
        op.play(st, int(moves[0]))
    return seats
