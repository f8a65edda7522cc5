"""The house bots of Tanks."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import kibitz_search
from kibitz_bots.catalog.parameters import BLUNDER, SEED
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
    """Return a network shipped with the package."""
    from kibitz_search.tanks.weights_file import shipped

    return shipped(name)


EVALUATIONS = {
    "hand": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:hand"), "by points, newly explored places and lines of fire"
    )
}

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays one of the seven actions at random", random_bot, (SEED,)),
    *bots_by(
        _GAME,
        (GREEDY, mcts(30, plies=8)),
        EVALUATIONS,
        "hand",
        summaries={
            "greedy": "explores, fires at visible targets and leaves lines of fire",
            "mcts": "runs Monte Carlo tree search over possible worlds that match its observations",
        },
    ),
    Personality(
        f"{_GAME}/explorer",
        "takes the shortest path to an unexplored place and never fires",
        EngineSpec(_PLANNER, imported(f"{_SEARCH}.planners:explorer"), at_once=16),
        (SEED, BLUNDER),
        algorithm="astar",
        evaluation="explorer",
    ),
    Personality(
        f"{_GAME}/hunter",
        "explores, estimates where opponents are, turns and fires, and avoids lines of fire",
        EngineSpec(_PLANNER, imported(f"{_SEARCH}.planners:hunter"), at_once=16),
        (SEED, BLUNDER),
        algorithm="astar",
        evaluation="hunter",
    ),
    Personality(
        f"{_GAME}/ann",
        "uses a small network with a tank-centered view, trained by an evolution strategy",
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
        "uses the report's network and training; the input is the cell codes of the local board",
        EngineSpec(_REPORT_NETWORK, functools.partial(_shipped, "ann-report"), at_once=16),
        (SEED,),
        algorithm="network",
        weights=(_WEIGHTS / "ann-report.json",),
    ),
    Personality(
        f"{_GAME}/ann-report-scaled",
        "uses the report's network, with the cell codes divided by ten as input",
        EngineSpec(_REPORT_NETWORK, functools.partial(_shipped, "ann-report-scaled"), at_once=16),
        (SEED,),
        algorithm="network",
        weights=(_WEIGHTS / "ann-report-scaled.json",),
    ),
)
