"""The house bots of number merge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kibitz_bots.catalog.matrix import ALPHABETA, GREEDY, IDDFS, MINIMAX, Evaluations, mcts, pair
from kibitz_bots.catalog.parameters import DEPTH, MOST_TABLE_MIB, SEED, TIME, Parameter
from kibitz_bots.catalog.personality import EngineSpec, Personality, random_bot

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation, Search

_GAME = "number-merge"


def _load() -> Mapping[str, Evaluation]:
    from kibitz_search.number_merge.evaluation import EVALUATIONS

    return EVALUATIONS


def _solver() -> type[Search]:
    from kibitz_search.number_merge.solver import NumberMergeSolver

    return NumberMergeSolver


EVALUATIONS = Evaluations(load=_load, summaries={"points": "by the points"})

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", random_bot, (SEED,)),
    *pair(
        _GAME,
        (GREEDY, IDDFS, MINIMAX, ALPHABETA, mcts(1, plies=64, epsilon=0.5, widen=0.0)),
        EVALUATIONS,
        summaries={
            "greedy": "earns a point now if it can, loses one only if it must",
            "minimax": "the report's player: every line of play, to the end of its rows of six",
            "alphabeta": "looks ahead as far as it can, to the end if time allows, and counts"
            " points",
        },
        compiled_later=["iddfs"],
    ),
    Personality(
        f"{_GAME}/solver",
        "perfect from 26 numbers on, looks ahead before that",
        EngineSpec(_solver, at_once=2),
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
