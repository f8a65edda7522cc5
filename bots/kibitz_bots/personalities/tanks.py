"""The house bots of Tanks."""

from __future__ import annotations

from kibitz_bots.personalities.making import SEED, Personality, anything, greedy
from kibitz_bots.personalities.many_seats import growing, mcts

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
    Personality(
        f"{_GAME}/mcts",
        "tries lines of play out in worlds that it may be in",
        mcts(f"{_EVALUATIONS}:hand"),
        growing(30, plies=8),
        algorithm="mcts",
        evaluation="hand",
    ),
)
