"""The house bots of number merge."""

from __future__ import annotations

from kibitz_bots.personalities.making import (
    PLIES,
    SEED,
    TABLE,
    TIME,
    Personality,
    alphabeta,
    anything,
    greedy,
)

_GAME = "number-merge"

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", anything, (SEED,)),
    Personality(
        f"{_GAME}/greedy",
        "earns a point now if it can, loses one only if it must",
        greedy("kibitz_bots.evaluate.number_merge:points"),
        (SEED,),
    ),
    Personality(
        f"{_GAME}/alphabeta",
        "looks ahead as far as it can, to the end if time allows, and counts points",
        alphabeta("kibitz_bots.evaluate.number_merge:points"),
        (SEED, TIME, PLIES, TABLE),
    ),
)
