"""The house bots of number merge."""

from __future__ import annotations

from kibitz_bots.catalog.parameters import DEPTH, MOST_TABLE_MIB, SEED, TIME, Parameter
from kibitz_bots.catalog.personality import (
    EngineSpec,
    NamedEvaluation,
    Personality,
    imported,
    random_bot,
)
from kibitz_bots.catalog.searches import ALPHABETA, GREEDY, IDDFS, MINIMAX, bots_by, mcts

_GAME = "number-merge"
_SEARCH = "kibitz_search.number_merge"

EVALUATIONS = {"points": NamedEvaluation(imported(f"{_SEARCH}.evaluation:points"), "by the points")}

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", random_bot, (SEED,)),
    *bots_by(
        _GAME,
        (GREEDY, IDDFS, MINIMAX, ALPHABETA, mcts(1, plies=64, epsilon=0.5, widen=0.0)),
        EVALUATIONS,
        "points",
        summaries={
            "greedy": "earns a point now if it can, loses one only if it must",
            "minimax": "the report's player: every line of play, to the end of its rows of six",
            "alphabeta": "looks ahead as far as it can, to the end if time allows, and counts"
            " points",
        },
    ),
    Personality(
        f"{_GAME}/solver",
        "perfect from 26 numbers on, looks ahead before that",
        EngineSpec(imported(f"{_SEARCH}.solver:NumberMergeSolver"), at_once=2),
        (
            SEED,
            TIME,
            DEPTH,
            Parameter(
                "table",
                int,
                32,
                "MiB for a table; twice as many for one number more",
                least=1,
                most=2 * MOST_TABLE_MIB,
                is_memory=True,
            ),
        ),
        algorithm="solver",
    ),
)
