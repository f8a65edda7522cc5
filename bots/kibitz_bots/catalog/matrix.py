"""The searches for all games, and the bots that are every one of them with every evaluation.

`pair` makes the bots of one game: the product of the searches that can play it and of its
evaluations. A bot is named ``search-evaluation``, or ``search`` where the game has one evaluation
only. A search fits a game if its ``supports`` says so; the searches for many seats are left out of
games for two, in which max^n and the paranoid search are minimax without a table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kibitz_bots.catalog.parameters import (
    ATTACK,
    DEFEND,
    DEPTH,
    NEAR,
    PLIES,
    SEED,
    TABLE,
    TIME,
    Parameter,
    mcts_options,
    scale,
    width,
)
from kibitz_bots.catalog.personality import EngineSpec, Personality

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation, Search


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """A search for all games, or with other defaults for one of them."""

    name: str
    """The name of its module in `kibitz_search.algorithms`; the names of its bots begin with it."""
    summary: str
    """What it does; ``{by}`` stands for how the evaluation judges."""
    parameters: tuple[Parameter, ...]
    seats: tuple[int, ...] = ()
    """With how many seats it plays; empty for any number."""
    at_once: int = 4

    def load(self) -> type[Search]:
        """Import and return the search."""
        return _import_search(self.name)


@dataclass(frozen=True, kw_only=True)
class Evaluations:
    """The evaluations of a game."""

    load: Callable[[], Mapping[str, Evaluation]]
    """Imports and returns them by name."""
    summaries: Mapping[str, str]
    """Their names, and how each judges: ``by ...``."""
    weights: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """The files of trained weights of those that have any."""

    def loader(self, name: str) -> Callable[[], Evaluation]:
        """Return what loads the evaluation of this name."""
        return lambda: self.load()[name]


def pair(
    game: str,
    algorithms: Collection[Algorithm],
    evaluations: Evaluations,
    *,
    summaries: Mapping[str, str] | None = None,
    compiled_later: Collection[str] = (),
) -> Iterator[Personality]:
    """Yield a bot of each search with each evaluation.

    `summaries` say what some of the bots do, by their names without the game's;
    `compiled_later` are the names of those that are not `compiled_ahead`.
    """
    for algorithm in algorithms:
        for evaluation, by in evaluations.summaries.items():
            several = len(evaluations.summaries) > 1
            short = f"{algorithm.name}-{evaluation}" if several else algorithm.name
            yield Personality(
                f"{game}/{short}",
                (summaries or {}).get(short) or algorithm.summary.format(by=by),
                EngineSpec(algorithm.load, evaluations.loader(evaluation), algorithm.at_once),
                algorithm.parameters,
                algorithm=algorithm.name,
                evaluation=evaluation,
                seats=algorithm.seats,
                weights=evaluations.weights.get(evaluation, ()),
                compiled_ahead=short not in compiled_later,
            )


def _import_search(name: str) -> type[Search]:
    match name:
        case "alphabeta":
            from kibitz_search.algorithms.alphabeta import AlphaBeta

            return AlphaBeta
        case "brs":
            from kibitz_search.algorithms.brs import Brs

            return Brs
        case "greedy":
            from kibitz_search.algorithms.greedy import Greedy

            return Greedy
        case "iddfs":
            from kibitz_search.algorithms.iddfs import Iddfs

            return Iddfs
        case "maxn":
            from kibitz_search.algorithms.maxn import Maxn

            return Maxn
        case "maxprob":
            from kibitz_search.algorithms.maxprob import MaxProb

            return MaxProb
        case "mcts":
            from kibitz_search.algorithms.mcts import Mcts

            return Mcts
        case "minimax":
            from kibitz_search.algorithms.minimax import Minimax

            return Minimax
        case "mpmix":
            from kibitz_search.algorithms.mpmix import MpMix

            return MpMix
        case "paranoid":
            from kibitz_search.algorithms.paranoid import Paranoid

            return Paranoid
        case _:
            raise KeyError(name)


GREEDY = Algorithm(name="greedy", summary="the best move {by}", parameters=(SEED,), at_once=16)
IDDFS = Algorithm(
    name="iddfs",
    summary="plans its own moves ahead, {by}",
    parameters=(SEED, TIME, DEPTH),
)
MINIMAX = Algorithm(
    name="minimax",
    summary="every line of play, {by}",
    parameters=(SEED, TIME, PLIES),
    seats=(2,),
)
ALPHABETA = Algorithm(
    name="alphabeta",
    summary="what minimax finds, much deeper, {by}",
    parameters=(SEED, TIME, PLIES, TABLE),
    seats=(2,),
)
MAXN = Algorithm(
    name="maxn",
    summary="everybody does the best for itself; {by}",
    parameters=(SEED, TIME, PLIES, width()),
)
PARANOID = Algorithm(
    name="paranoid",
    summary="all others have joined against it; {by}",
    parameters=(SEED, TIME, PLIES, width()),
)
BRS = Algorithm(
    name="brs",
    summary="one of the others may answer each of its moves; {by}",
    parameters=(SEED, TIME, PLIES, width(0)),
)
MPMIX = Algorithm(
    name="mpmix",
    summary="careful when it leads, against the leader when another does, else max^n; {by}",
    parameters=(SEED, TIME, PLIES, width(), DEFEND, ATTACK),
)


def maxprob(lead: float) -> Algorithm:
    """Return the Max-Prob search, `lead` being the usual ``scale`` of the game."""
    return Algorithm(
        name="maxprob",
        summary="everybody goes for the best chances, and takes any of equal ones; {by}",
        parameters=(SEED, TIME, PLIES, width(), scale(lead), NEAR),
    )


def mcts(
    lead: float,
    *,
    plies: int | None = 6,
    epsilon: float | None = 0.2,
    widen: float | None = 1.0,
    explore: float | None = 0.3,
) -> Algorithm:
    """Return Monte Carlo tree search with these defaults; see `mcts_options`."""
    return Algorithm(
        name="mcts",
        summary="tries lines of play out, judged {by}",
        parameters=mcts_options(lead, plies=plies, epsilon=epsilon, widen=widen, explore=explore),
    )
