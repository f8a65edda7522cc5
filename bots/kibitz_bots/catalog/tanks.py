"""The house bots of Tanks."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import kibitz_search
from kibitz_bots.catalog.parameters import SEED
from kibitz_bots.catalog.personality import (
    EngineSpec,
    NamedEvaluation,
    Personality,
    imported,
    random_bot,
)
from kibitz_bots.catalog.searches import GREEDY, bots_by, mcts

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation

_GAME = "tanks"
_SEARCH = "kibitz_search.tanks"
_WEIGHTS = Path(kibitz_search.__file__).parent / "tanks" / "weights"
_PLANNER = imported(f"{_SEARCH}.planners:Planner")
_REPORT_NETWORK = imported(f"{_SEARCH}.networks:ReportNetwork")


def _shipped(name: str) -> Evaluation:
    """Return a network that comes with the package."""
    from kibitz_search.tanks.weights_file import shipped

    return shipped(name)


EVALUATIONS = {
    "hand": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:hand"), "by points, new places and lines of fire"
    )
}

PERSONALITIES = (
    Personality(f"{_GAME}/random", "any of the seven actions, all alike", random_bot, (SEED,)),
    *bots_by(
        _GAME,
        (GREEDY, mcts(30, plies=8)),
        EVALUATIONS,
        "hand",
        summaries={
            "greedy": "goes where it has not been, fires at what it sees, leaves a shooter's line",
            "mcts": "tries lines of play out in worlds that it may be in",
        },
    ),
    Personality(
        f"{_GAME}/explorer",
        "goes the shortest way to a place where it has not been, and never fires",
        EngineSpec(_PLANNER, imported(f"{_SEARCH}.planners:explorer"), at_once=16),
        (SEED,),
        algorithm="astar",
        evaluation="explorer",
    ),
    Personality(
        f"{_GAME}/hunter",
        "explores, reckons where the others are, turns and fires, keeps out of lines of fire",
        EngineSpec(_PLANNER, imported(f"{_SEARCH}.planners:hunter"), at_once=16),
        (SEED,),
        algorithm="astar",
        evaluation="hunter",
    ),
    Personality(
        f"{_GAME}/ann",
        "a small network that looks from its tank, by an evolution strategy",
        EngineSpec(
            imported(f"{_SEARCH}.networks:EyesNetwork"),
            functools.partial(_shipped, "ann"),
            at_once=16,
        ),
        (SEED,),
        algorithm="network",
        weights=(_WEIGHTS / "ann.json",),
    ),
    Personality(
        f"{_GAME}/ann-report",
        "the report's network by the report's evolution, which reads the codes of its local board",
        EngineSpec(_REPORT_NETWORK, functools.partial(_shipped, "ann-report"), at_once=16),
        (SEED,),
        algorithm="network",
        weights=(_WEIGHTS / "ann-report.json",),
    ),
    Personality(
        f"{_GAME}/ann-report-scaled",
        "the same, which reads a tenth of the codes",
        EngineSpec(_REPORT_NETWORK, functools.partial(_shipped, "ann-report-scaled"), at_once=16),
        (SEED,),
        algorithm="network",
        weights=(_WEIGHTS / "ann-report-scaled.json",),
    ),
)
