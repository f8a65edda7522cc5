"""Scores of ranks: the share of the opponents that a seat has beaten; win, draw or loss.

Standings of lobbies, tournaments and results of aborted matches all use these functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

Z_95: Final = 1.959964
"""Standard deviations on each side of a 95% interval."""


def beaten_share(ranks: Sequence[int], seat: int, *, alone: float) -> float:
    """Return the share of the other seats that `seat` has beaten, from 0 to 1.

    `ranks` has the rank of every seat, 1 being the best; a tie counts as half a win. A match of two
    gives 1, 0.5 or 0, a match of n seats without ties 1, (n-2)/(n-1), ..., 0.

    A seat that plays alone gets `alone`: 1 if it played to the end, as in standings; 0 if the match
    was aborted and there is nothing to score.
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

    The best rank alone is a win, the best rank shared is a draw, everything else is a loss.
    """
    own = ranks[seat]
    if own != min(ranks):
        return "loss"
    return "draw" if ranks.count(own) > 1 else "win"


def share_interval(share: float, count: int) -> tuple[float, float]:
    """Return the 95% interval of a share of `count` matches (E. B. Wilson, JASA 22, 1927)."""
    z2 = Z_95 * Z_95
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    spread = share * (1 - share) / count + z2 / (4 * count * count)
    reach = Z_95 * math.sqrt(spread) / (1 + z2 / count)
    # At the ends the formula is exact except for rounding errors.
    low = 0.0 if share == 0.0 else max(0.0, middle - reach)
    return low, 1.0 if share == 1.0 else min(1.0, middle + reach)
