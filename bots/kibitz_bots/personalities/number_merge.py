"""The house bots of number merge."""

from __future__ import annotations

from kibitz_bots.personalities.making import SEED, Personality, anything, greedy

_GAME = "number-merge"

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", anything, (SEED,)),
    Personality(
        f"{_GAME}/greedy",
        "earns a point now if it can, loses one only if it must",
        greedy("kibitz_bots.evaluate.number_merge:points"),
        (SEED,),
    ),
)
