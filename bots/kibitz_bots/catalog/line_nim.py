"""The house bots of Line-Nim."""

from __future__ import annotations

from kibitz_bots.catalog.parameters import MOST_TABLE_MIB, SEED, TIME, Parameter
from kibitz_bots.catalog.personality import (
    EngineSpec,
    NamedEvaluation,
    Personality,
    imported,
    weighted_random_bot,
)
from kibitz_bots.catalog.searches import ALPHABETA, GREEDY, MINIMAX, bots_by, mcts, preset

_GAME = "line-nim"
_SEARCH = "kibitz_search.line_nim"

EVALUATIONS = {
    "parts": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:parts"), "by the theory of small parts"
    ),
    "outcome": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:outcome"), "by nothing but who has won"
    ),
}

PERSONALITIES = (
    Personality(
        f"{_GAME}/random",
        "draws a free cell, a direction and a length, as the original sample player does",
        weighted_random_bot,
        (SEED,),
    ),
    *bots_by(
        _GAME,
        (GREEDY, MINIMAX, ALPHABETA, mcts(30, plies=50, epsilon=1.0, widen=0.0)),
        EVALUATIONS,
        "parts",
        summaries={"greedy": "one move ahead, by the theory of small parts"},
    ),
    preset(
        _GAME,
        MINIMAX,
        EVALUATIONS,
        "outcome",
        "every line of play, and nothing is judged but won and lost: the assignment's opponent",
    ),
    Personality(
        f"{_GAME}/capstone",
        "the assignment's player: any move at first, alpha-beta towards the end",
        EngineSpec(imported(f"{_SEARCH}.reference_agent:ReferenceAgent")),
        (
            SEED,
            TIME,
            Parameter(
                "depth", int, 0, "most plies ahead; 0 for 10, as the assignment has it", most=1000
            ),
        ),
        algorithm="capstone",
    ),
    Personality(
        f"{_GAME}/solver",
        "perfect from 28 free cells on",
        EngineSpec(imported(f"{_SEARCH}.solver:LineNimSolver"), at_once=2),
        (
            SEED,
            Parameter("time", float, 3.0, TIME.summary, most=TIME.most),
            Parameter(
                "table",
                int,
                32,
                "MiB for a table; twice as many for one cell more",
                least=1,
                most=2 * MOST_TABLE_MIB,
                is_memory=True,
            ),
        ),
        algorithm="solver",
    ),
)
