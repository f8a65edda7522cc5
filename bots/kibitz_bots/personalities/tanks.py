"""The house bots of Tanks."""

from __future__ import annotations

from kibitz_bots.personalities.making import SEED, Personality, anything, greedy, searching
from kibitz_bots.personalities.many_seats import growing, mcts

_GAME = "tanks"
_EVALUATIONS = "kibitz_bots.evaluate.tanks"
_PLANS = "kibitz_bots.experts.tanks"

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
    ),
    Personality(
        f"{_GAME}/explorer",
        "goes the shortest way to a place where it has not been, and never fires",
        searching(f"{_PLANS}:Planner", f"{_PLANS}:explorer", at_once=16),
        (SEED,),
        algorithm="astar",
        evaluation="explorer",
    ),
    Personality(
        f"{_GAME}/hunter",
        "explores, reckons where the others are, turns and fires, keeps out of lines of fire",
        searching(f"{_PLANS}:Planner", f"{_PLANS}:hunter", at_once=16),
        (SEED,),
        algorithm="astar",
        evaluation="hunter",
    ),
)
