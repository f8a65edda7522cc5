"""Every search respects every limit or refuses it."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import kibitz_search
from kibitz_games.core import registry
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.beam import Beam
from kibitz_search.algorithms.brs import Brs
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.limits import SearchLimits, UnsupportedLimit
from kibitz_search.algorithms.maxn import Maxn
from kibitz_search.algorithms.maxprob import MaxProb
from kibitz_search.algorithms.mcts import Mcts
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.algorithms.mpmix import MpMix
from kibitz_search.algorithms.outcome import outcome
from kibitz_search.algorithms.paranoid import Paranoid
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.chinese_checkers.evaluation import hand
from kibitz_search.chinese_checkers.guided import GuidedMcts
from kibitz_search.chinese_checkers.phased import Champion, PhasedChineseCheckers, SoloPlanner
from kibitz_search.five_in_a_row import pattern_classes, utility
from kibitz_search.five_in_a_row.report_levels import ReportLevel
from kibitz_search.five_in_a_row.threat import Threat
from kibitz_search.line_nim.reference_agent import ReferenceAgent
from kibitz_search.line_nim.solver import LineNimSolver
from kibitz_search.number_merge.solver import NumberMergeSolver
from kibitz_search.tanks.networks import EyesNetwork, ReportNetwork
from kibitz_search.tanks.planners import Planner, hunter
from kibitz_search.tanks.weights_file import shipped


@dataclass(frozen=True)
class Case:
    """A search and a start from which it would run very long without limits."""

    search: type[Any]
    game: str
    evaluation: Callable[[np.record], np.record]
    options: dict[str, Any] = field(default_factory=dict)
    seats: int = 2
    refuses: tuple[str, ...] = ()
    looks_once: bool = False
    """Whether it only looks at each move once."""
    crowd: int = 1 << 30
    """The maximum number of legal moves at which it is asked."""
    samples: bool = False
    """Whether it searches the same moves repeatedly, so that a depth does not end it."""
    parameters: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.search.__name__

    def found(self, **limits: Any) -> SearchResult:
        if self.samples and "seconds" not in limits:
            limits = {"nodes": SAMPLES, **limits}
        game = registry.get(self.game)
        options = game.Options.model_validate(self.options)
        state = game.start(options, self.seats, game.deal(options, self.seats, 1))
        while len(legal := game.legal(state)) > self.crowd:
            game.play(state, legal[-1])
        search = self.search(state, **self.parameters)
        result: SearchResult = search.search(
            state, self.evaluation(state), SearchLimits(seed=1, **limits)
        )
        assert result.action in game.legal(state)
        return result


SAMPLES = 100
CHECKERS, ROW, TANKS = "chinese-checkers", "five-in-a-row", "tanks"
SMALL_TABLE = {"table": 1}
CASES = [
    Case(Greedy, CHECKERS, hand, looks_once=True),
    Case(Iddfs, CHECKERS, hand),
    Case(Beam, CHECKERS, hand),
    Case(Minimax, CHECKERS, hand),
    Case(AlphaBeta, CHECKERS, hand, parameters=SMALL_TABLE),
    Case(Maxn, CHECKERS, hand, seats=3),
    Case(Paranoid, CHECKERS, hand, seats=3),
    Case(Brs, CHECKERS, hand, seats=3),
    Case(MpMix, CHECKERS, hand, seats=3),
    Case(MaxProb, CHECKERS, hand, seats=3),
    Case(Mcts, CHECKERS, hand, samples=True, parameters=SMALL_TABLE),
    Case(GuidedMcts, CHECKERS, hand, samples=True, parameters=SMALL_TABLE),
    # Without the opening book, which is closed with four seats, and before the race.
    Case(PhasedChineseCheckers, CHECKERS, hand, seats=4, options={"size": 3}),
    Case(SoloPlanner, CHECKERS, hand, seats=4, options={"size": 3}),
    Case(Champion, CHECKERS, hand, samples=True, parameters=SMALL_TABLE),
    Case(Threat, ROW, pattern_classes.usual, parameters=SMALL_TABLE),
    Case(ReportLevel, ROW, utility.usual, options={"opening": ["e5", "f6"]}),
    Case(ReferenceAgent, "line-nim", outcome, options={"free": 14}, crowd=22),
    Case(LineNimSolver, "line-nim", outcome, refuses=("depth",), crowd=12),
    Case(NumberMergeSolver, "number-merge", outcome, options={"length": 30}),
    Case(Planner, TANKS, hunter, seats=4, looks_once=True),
    Case(ReportNetwork, TANKS, shipped("ann-report"), seats=4, looks_once=True),
    Case(EyesNetwork, TANKS, shipped("ann"), seats=4, looks_once=True),
]


def search_classes() -> Iterator[type[Any]]:
    """Yield the concrete search classes of the package."""
    for module in pkgutil.walk_packages(kibitz_search.__path__, "kibitz_search."):
        for _, each in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            own = each.__module__ == module.name and not getattr(each, "_is_protocol", False)
            whole = callable(getattr(each, "search", None)) and hasattr(each, "supports")
            if own and whole and not inspect.isabstract(each):
                yield each


def test_every_search_is_in_the_table() -> None:
    missing = set(search_classes()) - {case.search for case in CASES}
    assert {each.__name__ for each in missing} <= {"PhasedSearch"}


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("depth", [1, 2])
def test_depth(case: Case, depth: int) -> None:
    if "depth" in case.refuses:
        with pytest.raises(UnsupportedLimit, match=f"{case} does not support a limit on depth"):
            case.found(depth=depth)
        return
    found = case.found(depth=depth)
    assert found.depth <= depth
    assert case.looks_once or case.samples or found.depth == depth


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("nodes", [1, 100, 2000])
def test_nodes(case: Case, nodes: int) -> None:
    if "nodes" in case.refuses:
        with pytest.raises(UnsupportedLimit, match=f"{case} does not support a limit on nodes"):
            case.found(nodes=nodes)
        return
    first_look = 0 if "depth" in case.refuses else case.found(depth=1).nodes
    found = case.found(nodes=nodes)
    assert found.nodes <= max(nodes, first_look) + BATCH
    assert found == case.found(nodes=nodes), "the same nodes find the same"
    if not case.looks_once and nodes == 2000:
        assert found.nodes > first_look


BATCH = 100
"""The nodes that some searches count at once: the moves of one position."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_seconds(case: Case) -> None:
    """The search ends, which without a limit would take days."""
    case.found(seconds=0.02)
    found = case.found(seconds=0.0)
    assert math.isfinite(found.value)
