"""The house bots of Line-Nim."""

from __future__ import annotations

from kibitz_bots.personalities.making import SEED, Personality, greedy, likely
from kibitz_bots.personalities.many_seats import growing, mcts

_GAME = "line-nim"
_EVALUATIONS = "kibitz_bots.evaluate.line_nim"

PERSONALITIES = (
    Personality(
        f"{_GAME}/random",
        "draws a free cell, a direction and a length, as the original sample player does",
        likely,
        (SEED,),
    ),
    Personality(
        f"{_GAME}/greedy",
        "one move ahead, by the theory of small parts",
        greedy(f"{_EVALUATIONS}:parts"),
        (SEED,),
    ),
    Personality(
        f"{_GAME}/mcts",
        "tries lines of play out, judged by the theory of small parts",
        mcts(f"{_EVALUATIONS}:parts"),
        growing(30, plies=50, epsilon=1.0, widen=0.0),
        algorithm="mcts",
        evaluation="parts",
    ),
)
