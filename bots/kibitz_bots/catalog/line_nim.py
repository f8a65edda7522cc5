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
        imported(f"{_SEARCH}.evaluation:parts"), "by the exact values of small regions"
    ),
    "outcome": NamedEvaluation(imported(f"{_SEARCH}.evaluation:outcome"), "by the result only"),
}

PERSONALITIES = (
    Personality(
        f"{_GAME}/random",
        "picks a random free cell, direction and length, like the original sample player",
        weighted_random_bot,
        (SEED,),
    ),
    *bots_by(
        _GAME,
        (GREEDY, MINIMAX, ALPHABETA, mcts(30, plies=50, epsilon=1.0, widen=0.0)),
        EVALUATIONS,
        "parts",
        summaries={"greedy": "looks one move ahead, judged by the exact values of small regions"},
    ),
    preset(
        _GAME,
        MINIMAX,
        EVALUATIONS,
        "outcome",
        "searches every line of play and evaluates only wins and losses: the assignment's opponent",
    ),
    Personality(
        f"{_GAME}/capstone",
        "the assignment's player: random at first, alpha-beta near the end",
        EngineSpec(imported(f"{_SEARCH}.reference_agent:ReferenceAgent")),
        (
            SEED,
            TIME,
            Parameter(
                "depth",
                int,
                0,
                "the maximum search depth in plies; 0 means 10, as in the assignment",
                most=1000,
            ),
        ),
        algorithm="capstone",
    ),
    Personality(
        f"{_GAME}/solver",
        "plays perfectly once at most 28 cells are free",
        EngineSpec(imported(f"{_SEARCH}.solver:LineNimSolver"), at_once=2),
        (
            SEED,
            Parameter("time", float, 3.0, TIME.summary, most=TIME.most),
            Parameter(
                "table",
                int,
                32,
                "the table size in MiB; doubling it covers one more free cell",
                least=1,
                most=2 * MOST_TABLE_MIB,
                is_memory=True,
            ),
        ),
        algorithm="solver",
    ),
)
