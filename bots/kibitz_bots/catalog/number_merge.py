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
    Personality(f"{_GAME}/random", "plays a random legal move", random_bot, (SEED,)),
    *bots_by(
        _GAME,
        (GREEDY, IDDFS, MINIMAX, ALPHABETA, mcts(1, plies=64, epsilon=0.5, widen=0.0)),
        EVALUATIONS,
        "points",
        summaries={
            "greedy": "takes a point whenever it can and gives one up only when forced",
            "minimax": "the report's player: searches every line of play to the end on rows of six",
            "alphabeta": "searches to the end if time allows, and judges by points",
        },
    ),
    Personality(
        f"{_GAME}/solver",
        "plays perfectly once at most 26 numbers remain, with a depth-limited search before that",
        EngineSpec(imported(f"{_SEARCH}.solver:NumberMergeSolver"), at_once=2),
        (
            SEED,
            TIME,
            DEPTH,
            Parameter(
                "table",
                int,
                32,
                "the table size in MiB; doubling it covers one more number",
                least=1,
                most=2 * MOST_TABLE_MIB,
                is_memory=True,
            ),
        ),
        algorithm="solver",
    ),
)
