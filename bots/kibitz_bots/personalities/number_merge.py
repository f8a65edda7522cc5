"""The house bots of number merge."""

from __future__ import annotations

from kibitz_bots.personalities.making import (
    DEPTH,
    PLIES,
    SEED,
    TABLE,
    TIME,
    Parameter,
    Personality,
    alphabeta,
    anything,
    greedy,
    minimax,
    searching,
)
from kibitz_bots.personalities.many_seats import growing, mcts

_GAME = "number-merge"
_EXPERT = "kibitz_bots.experts.number_merge"

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", anything, (SEED,)),
    Personality(
        f"{_GAME}/greedy",
        "earns a point now if it can, loses one only if it must",
        greedy("kibitz_bots.evaluate.number_merge:points"),
        (SEED,),
    ),
    Personality(
        f"{_GAME}/minimax",
        "the report's player: every line of play, to the end of its rows of six",
        minimax("kibitz_bots.evaluate.number_merge:points"),
        (SEED, TIME, PLIES),
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
    Personality(
        f"{_GAME}/solver",
        "perfect from 26 numbers on, looks ahead before that",
        searching(f"{_EXPERT}.solver:NumberMergeSolver", "", at_once=2),
        (
            SEED,
            TIME,
            DEPTH,
            Parameter(
                "table", int, 32, "MiB for a table; twice as many for one number more", least=1
            ),
        ),
    ),
)
