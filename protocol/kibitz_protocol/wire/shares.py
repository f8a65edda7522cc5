"""Scores from ranks: the share of opponents that a seat has beaten, and win, draw or loss.

Standings of lobbies, tournaments, and results of aborted matches use these functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

Z_95: Final = 1.959964
"""Standard deviations on each side of a 95% interval."""


def beaten_share(ranks: Sequence[int], seat: int, *, alone: float) -> float:
    """Return the share of the other seats that `seat` has beaten, from 0 to 1.

    `ranks` has the rank of every seat, where 1 is best; a tie counts as half a win. A match of two
    gives 1, 0.5 or 0; a match of n seats without ties gives 1, (n-2)/(n-1), ..., 0.

    A seat that plays alone gets `alone`: 1 in standings, where it played to the end; 0 if the match
    was aborted.
    """
    others = len(ranks) - 1
    if not others:
        return alone
    own = ranks[seat]
    beaten = sum([rank > own for rank in ranks])
    tied = ranks.count(own) - 1
    return (beaten + 0.5 * tied) / others


def seat_outcome(ranks: Sequence[int], seat: int) -> Literal["win", "draw", "loss"]:
    """Return whether a seat's rank is a win, a draw or a loss.

    A seat that alone has the best rank wins. Seats that share it draw. All others lose.
    """
    own = ranks[seat]
    if own != min(ranks):
        return "loss"
    return "draw" if ranks.count(own) > 1 else "win"


def share_interval(share: float, count: float) -> tuple[float, float]:
    """Return the 95% interval of a share of `count` matches (E. B. Wilson, JASA 22, 1927).

    `count` is fractional if it is an effective number, of matches that are not independent.
    """
    z2 = Z_95 * Z_95
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    spread = share * (1 - share) / count + z2 / (4 * count * count)
    reach = Z_95 * math.sqrt(spread) / (1 + z2 / count)
    # At 0 and 1 the formula is exact up to rounding errors.
    low = 0.0 if share == 0.0 else max(0.0, middle - reach)
    return low, 1.0 if share == 1.0 else min(1.0, middle + reach)
