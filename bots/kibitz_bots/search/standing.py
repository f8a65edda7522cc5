"""What a position is worth to every seat at once: leads and shares.

An evaluation judges each seat for itself (`operations.evaluate`). Searches for many seats need
more: what one seat gains has to be somebody's loss, or nobody would ever stand in anybody's way.

**Leads** (`leads`) are for searches that compare. The lead of a seat is its own worth less the
mean worth of the others, so the leads of all seats add up to zero, and with two seats each is the
difference that minimax takes. Where the play is over they follow from the scores instead:
`WON` for leaving all others behind, ``-WON`` for being last, 0 in the middle or for a tie.
(With more than two seats ``leads`` of a play that is over add up to a little less than zero: each
seat that is not last has its own reason to finish soon.)

**Shares** (`shares`) are for searches that average. The share of a seat is the part of the others
that it should leave behind, the mean over them of ``1 / (1 + exp(-difference / scale))``; that
is what `operations.returns` says where the play is over, and the shares of all seats always
add up to half their number. `scale` is in the evaluation's units: the difference at which the
better one wins about 3 of 4 times.

A seat that has reached its aim in a play that goes on is known by an evaluation of at least `WON`.
Sooner is better: each ply takes `SOONER` off whatever is decided, so a win at once is worth more
than one later, and a late loss less bad than an early one. When such a seat has finished says
``last``, the ply of its last action, which every search of this kind notes as it goes along.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_bots.search.found import WON
from kibitz_games import operations as op
from kibitz_games.kernels import Int, kernel
from kibitz_games.operations import Record, Values

SOONER = 1.0 / 4096
"""The part of `WON` that a ply costs; a power of two, so that sums of such values are exact."""
STEEPEST = 40.0
"""Beyond so many scales a difference is as good as decided."""


@kernel
def worths(st: Record, ev: Record, last: Any, out: Values) -> None:
    """Write each seat's own worth into `out`; the play goes on."""
    for seat in range(np.int64(st.seats)):
        own = op.evaluate(ev, st, np.int64(seat))
        if own >= WON:
            own = WON * (1.0 - SOONER * np.int64(last[seat]))
        out[seat] = own


@kernel
def timely(score: float, seats: Int, last: Int, ply: Int) -> float:
    """Return a final score, less what it loses by coming late.

    With two seats what one loses the other gains. With more, whoever is not last wants to be done
    soon, even in the middle; the last one wants to put it off.
    """
    if seats > 2 and score > 0.0:
        return float(score - 0.5 * SOONER * last)
    return float(0.5 + (score - 0.5) * (1.0 - SOONER * ply))


@kernel
def leads(st: Record, ev: Record, last: Any, ply: Int, out: Values) -> None:
    """Write the lead of each seat into `out`, which is `ply` plies after the root."""
    seats = np.int64(st.seats)
    if op.terminal(st):
        op.returns(st, out)
        for seat in range(seats):
            out[seat] = WON * (2.0 * timely(out[seat], seats, np.int64(last[seat]), ply) - 1.0)
        return
    own = np.empty(op.MAX_SEATS)
    worths(st, ev, last, own)
    for seat in range(seats):
        others = 0.0
        for other in range(seats):
            if other != seat:
                others += own[other]
        out[seat] = own[seat] - others / (seats - 1) if seats > 1 else own[seat]


@kernel
def ahead(a: float, b: float, scale: float) -> float:
    """Return how likely the seat that is worth `a` leaves the one that is worth `b` behind."""
    far = min(max((a - b) / scale, -STEEPEST), STEEPEST)
    chance = 1.0 / (1.0 + np.exp(-far))
    most = max(a, b)
    if most > WON / 2:
        chance = 0.5 + (chance - 0.5) * most / WON
    return float(chance)


@kernel
def shares(st: Record, ev: Record, last: Any, ply: Int, scale: float, out: Values) -> None:
    """Write the share of each seat into `out`, which is `ply` plies after the root."""
    seats = np.int64(st.seats)
    if op.terminal(st):
        op.returns(st, out)
        for seat in range(seats):
            out[seat] = timely(out[seat], seats, np.int64(last[seat]), ply)
        return
    own = np.empty(op.MAX_SEATS)
    worths(st, ev, last, own)
    for seat in range(seats):
        total = 0.0
        for other in range(seats):
            if other != seat:
                total += ahead(own[seat], own[other], scale)
        out[seat] = total / (seats - 1) if seats > 1 else 1.0


def acting(state: np.record) -> list[int]:
    """Return the seats that still act, the one to act first.

    They are found by letting each take its turn once, whatever it does.
    """
    st, moves = state.copy(), np.zeros(op.widest(state.dtype), np.int32)
    seats: list[int] = []
    while (seat := int(op.to_act(st))) >= 0 and seat not in seats:
        seats.append(seat)
        op.generate(st, moves)
        op.play(st, int(moves[0]))
    return seats
