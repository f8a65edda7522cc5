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
from kibitz_bots.personalities.many_seats import growing, mcts

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
    Personality(
        f"{_GAME}/mcts",
        "tries lines of play out, judged by the points",
        mcts("kibitz_bots.evaluate.number_merge:points"),
        growing(1, plies=64, epsilon=0.5, widen=0.0),
    ),
)
