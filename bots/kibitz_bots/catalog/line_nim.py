"""The house bots of Line-Nim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kibitz_bots.catalog.matrix import ALPHABETA, GREEDY, MINIMAX, Evaluations, mcts, pair
from kibitz_bots.catalog.parameters import MOST_TABLE_MIB, SEED, TIME, Parameter
from kibitz_bots.catalog.personality import EngineSpec, Personality, weighted_random_bot

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation, Search

_GAME = "line-nim"


def _load() -> Mapping[str, Evaluation]:
    from kibitz_search.line_nim.evaluation import EVALUATIONS

    return EVALUATIONS


def _outcome() -> Evaluation:
    from kibitz_search.line_nim.evaluation import outcome

    return outcome


def _reference_agent() -> type[Search]:
    from kibitz_search.line_nim.reference_agent import ReferenceAgent

    return ReferenceAgent


def _solver() -> type[Search]:
    from kibitz_search.line_nim.solver import LineNimSolver

    return LineNimSolver


EVALUATIONS = Evaluations(load=_load, summaries={"parts": "by the theory of small parts"})

PERSONALITIES = (
    Personality(
        f"{_GAME}/random",
        "draws a free cell, a direction and a length, as the original sample player does",
        weighted_random_bot,
        (SEED,),
    ),
    *pair(
        _GAME,
        (GREEDY, MINIMAX, ALPHABETA, mcts(30, plies=50, epsilon=1.0, widen=0.0)),
        EVALUATIONS,
        summaries={"greedy": "one move ahead, by the theory of small parts"},
        compiled_later=["minimax", "alphabeta"],
    ),
    Personality(
        f"{_GAME}/minimax-outcome",
        "every line of play, and nothing is judged but won and lost: the assignment's opponent",
        EngineSpec(MINIMAX.load, _outcome, MINIMAX.at_once),
        MINIMAX.parameters,
        algorithm="minimax",
        evaluation="outcome",
        seats=MINIMAX.seats,
        compiled_ahead=False,
    ),
    Personality(
        f"{_GAME}/capstone",
        "the assignment's player: any move at first, alpha-beta towards the end",
        EngineSpec(_reference_agent),
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
        EngineSpec(_solver, at_once=2),
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
