"""The house bots of Line-Nim."""

from __future__ import annotations

from kibitz_bots.personalities.making import (
    SEED,
    TIME,
    Parameter,
    Personality,
    greedy,
    likely,
    searching,
)
from kibitz_bots.personalities.many_seats import growing, mcts

_GAME = "line-nim"
_EVALUATIONS = "kibitz_bots.evaluate.line_nim"
_EXPERT = "kibitz_bots.experts.line_nim"

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
    ),
    Personality(
        f"{_GAME}/capstone",
        "the assignment's player: any move at first, alpha-beta towards the end",
        searching(f"{_EXPERT}.capstone:Capstone", ""),
        (
            SEED,
            TIME,
            Parameter("depth", int, 0, "most plies ahead; 0 for 10, as the assignment has it"),
        ),
    ),
    Personality(
        f"{_GAME}/solver",
        "perfect from 28 free cells on",
        searching(f"{_EXPERT}.solver:LineNimSolver", "", at_once=2),
        (
            SEED,
            Parameter("time", float, 3.0, TIME.summary),
            Parameter(
                "table", int, 32, "MiB for a table; twice as many for one cell more", least=1
            ),
        ),
    ),
)
