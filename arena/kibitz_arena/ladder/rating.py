"""How strong the entrants of a ladder are: one computation over all games that counted.

There is no update from game to game that could drift: the ratings are always what
`kibitz_arena.ratings` says of all games at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kibitz_arena.ratings import RatedGame, rate


@dataclass(frozen=True, slots=True)
class EntrantRating:
    """A rating with the bounds of its 95% interval."""

    rating: float
    low: float
    high: float


def rate_entrants(
    entrants: Sequence[str],
    games: Sequence[RatedGame],
    anchors: Mapping[str, float],
    mean: float,
) -> dict[str, EntrantRating]:
    """Rate those who have played, in the order in which they came; games name them by number."""
    there = sorted({number for game in games for number in game.players})
    if not there:
        return {}
    place = {number: index for index, number in enumerate(there)}
    known = {
        index: anchors[entrants[number]]
        for number, index in place.items()
        if entrants[number] in anchors
    }
    moved = [
        RatedGame(game.block, tuple(place[number] for number in game.players), game.ranks)
        for game in games
    ]
    ratings = rate(len(there), moved, anchors=known, mean=mean)
    return {
        entrants[number]: EntrantRating(
            float(ratings.rating[index]), float(ratings.low[index]), float(ratings.high[index])
        )
        for number, index in place.items()
    }
