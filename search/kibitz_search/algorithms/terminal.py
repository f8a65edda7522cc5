"""Values of plays that are over: the one place that turns `operations.returns` into scores.

The value of a result to a seat follows from the share of opponents that it left behind, 0 to 1:
`WIN_SCORE` for all of them, ``-WIN_SCORE`` for the last seat, and 0 for a draw of all, whatever the
evaluation of the position. So a player who is ahead avoids a draw, and one who is behind takes it.

Sooner wins are better and later losses less bad, by a discount for each ply: 1 in
`two_player_value`, `PLY_DISCOUNT` in `final_shares`. A draw is never discounted, because no player
gains by an early or a late one.

With more than two seats those who have finished, or left, have their places already. The others
play for what is between, and a draw among them is worth the middle of that. `Standing` compares it
with a play that goes on, for searches that judge one seat alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.compiled import operations as op
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record, Values
from kibitz_search.algorithms.result import WIN_SCORE

PLY_DISCOUNT = 1.0 / 4096
"""The part of `WIN_SCORE` that a ply costs; a power of two, so that sums of values are exact."""


@kernel
def final_share(st: Record, seat: Int, out: Values) -> float:
    """Return the share of `seat` in a play that is over; all shares are written into `out`."""
    op.returns(st, out)
    return float(out[seat])


@kernel
def two_player_value(st: Record, ws: Record, seat: Int, ply: Int) -> Any:
    """Return what a play of two that is over `ply` plies from the root is worth to `seat`."""
    share = final_share(st, seat, ws.values[0])
    if share > 0.5:
        return WIN_SCORE - ply
    if share < 0.5:
        return ply - WIN_SCORE
    return 0.0


@kernel
def _discounted(share: float, seats: Int, last: Int, ply: Int) -> float:
    """Return a final share, less what it loses by coming late.

    With two seats a loss of one is a gain of the other. With more, every seat but the last gains by
    finishing early, even in the middle; the last one gains by delay.
    """
    if seats > 2 and share > 0.0:
        return float(share - 0.5 * PLY_DISCOUNT * last)
    return float(0.5 + (share - 0.5) * (1.0 - PLY_DISCOUNT * ply))


@kernel
def final_shares(st: Record, last: Any, ply: Int, out: Values) -> None:
    """Write the share of each seat into `out`, `ply` plies after the root, the sooner the better.

    Seats that share a rank are not discounted.
    """
    seats = np.int64(st.seats)
    shares = np.empty(op.MAX_SEATS)
    op.returns(st, shares)
    for seat in range(seats):
        alone = True
        for other in range(seats):
            alone = alone and (other == seat or shares[other] != shares[seat])
        out[seat] = shares[seat]
        if alone:
            out[seat] = _discounted(shares[seat], seats, np.int64(last[seat]), ply)


@dataclass(frozen=True)
class Standing:
    """The reference for results in searches that judge one seat alone."""

    level: float
    """The mean value of the other active seats to themselves."""
    par: float
    """The lead of each active seat if all of them drew."""

    def score(self, share: float) -> float:
        """Return the worth of a result: `WIN_SCORE` for a win, 0 for a draw."""
        return WIN_SCORE * (2.0 * share - 1.0 - self.par)

    def worth(self, share: float) -> float:
        """Return the worth of a result in the units in which the evaluation judges the seat."""
        return self.level + self.score(share)


def standing(state: np.record, ev: np.record, seat: int) -> Standing:
    """Return how the seats other than `seat` stand in a play that goes on."""
    level, rivals, decided = 0.0, 0, 0
    others = [other for other in range(int(state["seats"])) if other != seat]
    for other in others:
        worth = float(op.evaluate(ev, state, np.int64(other)))
        if worth >= WIN_SCORE:
            decided -= 1
        elif not op.in_contention(state, np.int64(other)):
            decided += 1
        else:
            level, rivals = level + worth, rivals + 1
    return Standing(level / max(rivals, 1), decided / max(len(others), 1))
