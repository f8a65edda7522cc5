"""The house bots of Tanks."""

from __future__ import annotations

from kibitz_bots.personalities.making import SEED, Personality, anything, greedy

_GAME = "tanks"
_EVALUATIONS = "kibitz_bots.evaluate.tanks"

PERSONALITIES = (
    Personality(f"{_GAME}/random", "any of the seven actions, all alike", anything, (SEED,)),
    Personality(
        f"{_GAME}/greedy",
        "goes where it has not been, fires at what it sees, leaves a shooter's line",
        greedy(f"{_EVALUATIONS}:hand"),
        (SEED,),
    ),
)
