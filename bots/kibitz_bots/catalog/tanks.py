"""The house bots of Tanks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import kibitz_search
from kibitz_bots.catalog.matrix import GREEDY, Evaluations, mcts, pair
from kibitz_bots.catalog.parameters import SEED
from kibitz_bots.catalog.personality import EngineSpec, Personality, random_bot

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation, Search

_GAME = "tanks"
_WEIGHTS = Path(kibitz_search.__file__).parent / "tanks" / "weights"


def _load() -> Mapping[str, Evaluation]:
    from kibitz_search.tanks.evaluation import EVALUATIONS

    return EVALUATIONS


def _planner() -> type[Search]:
    from kibitz_search.tanks.planners import Planner

    return Planner


def _explorer() -> Evaluation:
    from kibitz_search.tanks.planners import explorer

    return explorer


def _hunter() -> Evaluation:
    from kibitz_search.tanks.planners import hunter

    return hunter


def _eyes() -> type[Search]:
    from kibitz_search.tanks.networks import EyesNetwork

    return EyesNetwork


def _report_network() -> type[Search]:
    from kibitz_search.tanks.networks import ReportNetwork

    return ReportNetwork


def _shipped(name: str) -> Callable[[], Evaluation]:
    """Return what loads a network that comes with the package."""

    def load() -> Evaluation:
        from kibitz_search.tanks.weights_file import shipped

        return shipped(name)

    return load


EVALUATIONS = Evaluations(load=_load, summaries={"hand": "by points, new places and lines of fire"})

PERSONALITIES = (
    Personality(f"{_GAME}/random", "any of the seven actions, all alike", random_bot, (SEED,)),
    *pair(
        _GAME,
        (GREEDY, mcts(30, plies=8)),
        EVALUATIONS,
        summaries={
            "greedy": "goes where it has not been, fires at what it sees, leaves a shooter's line",
            "mcts": "tries lines of play out in worlds that it may be in",
        },
    ),
    Personality(
        f"{_GAME}/explorer",
        "goes the shortest way to a place where it has not been, and never fires",
        EngineSpec(_planner, _explorer, at_once=16),
        (SEED,),
        algorithm="astar",
        evaluation="explorer",
    ),
    Personality(
        f"{_GAME}/hunter",
        "explores, reckons where the others are, turns and fires, keeps out of lines of fire",
        EngineSpec(_planner, _hunter, at_once=16),
        (SEED,),
        algorithm="astar",
        evaluation="hunter",
    ),
    Personality(
        f"{_GAME}/ann",
        "a small network that looks from its tank, by an evolution strategy",
        EngineSpec(_eyes, _shipped("ann"), at_once=16),
        (SEED,),
        algorithm="network",
        weights=(_WEIGHTS / "ann.json",),
    ),
    Personality(
        f"{_GAME}/ann-report",
        "the report's network by the report's evolution, which reads the codes of its local board",
        EngineSpec(_report_network, _shipped("ann-report"), at_once=16),
        (SEED,),
        algorithm="network",
        weights=(_WEIGHTS / "ann-report.json",),
    ),
    Personality(
        f"{_GAME}/ann-report-scaled",
        "the same, which reads a tenth of the codes",
        EngineSpec(_report_network, _shipped("ann-report-scaled"), at_once=16),
        (SEED,),
        algorithm="network",
        weights=(_WEIGHTS / "ann-report-scaled.json",),
    ),
)
