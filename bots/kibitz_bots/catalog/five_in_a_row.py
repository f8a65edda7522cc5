"""The house bots of five in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kibitz_bots.catalog.matrix import ALPHABETA, GREEDY, MINIMAX, Evaluations, mcts, pair
from kibitz_bots.catalog.parameters import PLIES, SEED, TABLE, TIME
from kibitz_bots.catalog.personality import EngineSpec, Personality, random_bot

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation, Search

_GAME = "five-in-a-row"


def _load() -> Mapping[str, Evaluation]:
    from kibitz_search.five_in_a_row.evaluation import EVALUATIONS

    return EVALUATIONS


def _report_level() -> type[Search]:
    from kibitz_search.five_in_a_row.report_levels import ReportLevel

    return ReportLevel


def _report_utility() -> Evaluation:
    from kibitz_search.five_in_a_row import utility

    return utility.usual


def _threat() -> type[Search]:
    from kibitz_search.five_in_a_row.threat import Threat

    return Threat


def _class_weights() -> Evaluation:
    from kibitz_search.five_in_a_row import pattern_classes

    return pattern_classes.usual


def _level(name: str, plies: int, summary: str) -> Personality:
    return Personality(
        f"{_GAME}/{name}",
        summary,
        EngineSpec(_report_level, _report_utility, fixed={"plies": plies}),
        (SEED,),
        algorithm="minimax",
        evaluation="the report's utility",
    )


EVALUATIONS = Evaluations(load=_load, summaries={"usual": "by the rows on the board"})

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any empty cell", random_bot, (SEED,)),
    *pair(
        _GAME,
        (GREEDY, MINIMAX, ALPHABETA, mcts(300, plies=8, epsilon=0.1)),
        EVALUATIONS,
        summaries={
            "greedy": "the stone after which the rows on the board look best",
            "alphabeta": "looks several stones ahead, by the rows on the board",
        },
        compiled_later=["minimax"],
    ),
    _level("beginner", 1, "the report's first level: the best utility of one stone"),
    _level("intermediate", 3, "the report's second level: minimax to depth 2 beyond the stone"),
    _level("advanced", 5, "the report's third level: minimax to depth 4 beyond the stone"),
    Personality(
        f"{_GAME}/threat",
        "knows every threat on the board and follows fours to their end",
        EngineSpec(_threat, _class_weights),
        (SEED, TIME, PLIES, TABLE),
        algorithm="threat",
        evaluation="classes of cells",
    ),
)
