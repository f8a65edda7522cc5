"""The values of finished games: the only conversion of `operations.returns` to scores.

The value of a result for a seat depends only on its share, the fraction of opponents ranked below
it: `WIN_SCORE` for a share of 1, ``-WIN_SCORE`` for the last seat, and 0 for a draw of all,
whatever the evaluation of the position. A player who is ahead therefore avoids a draw, and one who
is behind seeks it.

A discount for each ply makes earlier wins and later losses better: 1 in `two_player_value`,
`PLY_DISCOUNT` in `final_shares`. Draws are not discounted, because no player gains from an early or
late draw.

With more than two seats, seats that have finished or left have fixed ranks. The others compete for
the remaining ranks; if they draw, each gets the mean value of these ranks. Searches that evaluate
only one seat use `Standing` to compare such a draw with an unfinished game.
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
"""The fraction of `WIN_SCORE` lost per ply; a power of two, so that sums of values are exact."""


@kernel
def final_share(st: Record, seat: Int, out: Values) -> float:
    """Return the share of `seat` in a finished game; write all shares into `out`."""
    op.returns(st, out)
    return float(out[seat])


@kernel
def two_player_value(st: Record, ws: Record, seat: Int, ply: Int) -> Any:
    """Return the value for `seat` of a two-seat game that ended `ply` plies after the root."""
    share = final_share(st, seat, ws.values[0])
    if share > 0.5:
        return WIN_SCORE - ply
    if share < 0.5:
        return ply - WIN_SCORE
    return 0.0


@kernel
def _discounted(share: float, seats: Int, last: Int, ply: Int) -> float:
    """Return a final share with the discount for its ply.

    With two seats, one seat's discount is the other's gain. With more seats, the last seat gains
    from a later end, and every other seat from finishing early.
    """
    if seats > 2 and share > 0.0:
        return float(share - 0.5 * PLY_DISCOUNT * last)
    return float(0.5 + (share - 0.5) * (1.0 - PLY_DISCOUNT * ply))


@kernel
def final_shares(st: Record, last: Any, ply: Int, out: Values) -> None:
    """Write the discounted share of each seat into `out`, `ply` plies after the root.

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
    """The values of the other seats, for searches that evaluate only one seat."""

    level: float
    """The mean of the other active seats' evaluations of their own positions."""
    par: float
    """The lead of each active seat if all of them draw."""

    def score(self, share: float) -> float:
        """Return the value of a result: `WIN_SCORE` for a win, 0 for a draw."""
        return WIN_SCORE * (2.0 * share - 1.0 - self.par)

    def worth(self, share: float) -> float:
        """Return the value of a result on the scale of the seat's evaluation."""
        return self.level + self.score(share)


def standing(state: np.record, ev: np.record, seat: int) -> Standing:
    """Return the standing of the seats other than `seat` in an unfinished game."""
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
