"""The searches for all games, and the bots that combine one with an evaluation of a game.

`bots_by` makes one bot of each search, whose parameter ``evaluation`` chooses its evaluation;
`preset` makes a named bot for such a pair. A search fits a game if its ``supports`` returns true;
the searches for many seats are left out of games for two, in which max^n and the paranoid search
are minimax without a table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kibitz_bots.catalog.parameters import (
    ATTACK,
    DEFEND,
    DEPTH,
    NEAR,
    PLIES,
    SEED,
    TABLE,
    TIME,
    Choice,
    Parameter,
    mcts_options,
    scale,
    width,
)
from kibitz_bots.catalog.personality import (
    EngineSpec,
    NamedEvaluation,
    Personality,
    SearchLoader,
    imported,
)

JUDGES = "what it judges positions by"
"""The summary of the parameter ``evaluation``."""


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """A search for all games, or with other defaults for one of them."""

    name: str
    """The names of its bots begin with it."""
    load: SearchLoader
    summary: str
    """A description; ``{by}`` is replaced by the description of the evaluation."""
    parameters: tuple[Parameter, ...]
    seats: tuple[int, ...] = ()
    """With how many seats it plays; empty for any number."""
    at_once: int = 4


def bots_by(
    game: str,
    algorithms: Collection[Algorithm],
    evaluations: Mapping[str, NamedEvaluation],
    usual: str,
    *,
    summaries: Mapping[str, str] | None = None,
) -> Iterator[Personality]:
    """Yield a bot of each search, with the search's name.

    It judges by the evaluation `usual`; in a game with several its parameter ``evaluation`` chooses
    another. `summaries` describe some of the bots, by the search's name.
    """
    for algorithm in algorithms:
        summary = (summaries or {}).get(algorithm.name)
        choices = evaluations if len(evaluations) > 1 else {}
        yield _bot(f"{game}/{algorithm.name}", algorithm, evaluations, usual, summary, choices)


def preset(
    game: str,
    algorithm: Algorithm,
    evaluations: Mapping[str, NamedEvaluation],
    name: str,
    summary: str | None = None,
) -> Personality:
    """Return the bot ``search-evaluation``, which always judges by the evaluation `name`."""
    return _bot(f"{game}/{algorithm.name}-{name}", algorithm, evaluations, name, summary, {})


def _bot(
    name: str,
    algorithm: Algorithm,
    evaluations: Mapping[str, NamedEvaluation],
    usual: str,
    summary: str | None,
    choices: Mapping[str, NamedEvaluation],
) -> Personality:
    judge = evaluations[usual]
    chosen = (Choice("evaluation", tuple(choices), usual, JUDGES),) if choices else ()
    return Personality(
        name,
        summary or algorithm.summary.format(by=judge.summary),
        EngineSpec(algorithm.load, judge.load, algorithm.at_once, choices=choices),
        algorithm.parameters + chosen,
        algorithm=algorithm.name,
        evaluation=usual,
        seats=algorithm.seats,
        weights=judge.weights,
    )


GREEDY = Algorithm(
    name="greedy",
    load=imported("kibitz_search.algorithms.greedy:Greedy"),
    summary="the best move {by}",
    parameters=(SEED,),
    at_once=16,
)
IDDFS = Algorithm(
    name="iddfs",
    load=imported("kibitz_search.algorithms.iddfs:Iddfs"),
    summary="plans its own moves ahead, {by}",
    parameters=(SEED, TIME, DEPTH),
)
MINIMAX = Algorithm(
    name="minimax",
    load=imported("kibitz_search.algorithms.minimax:Minimax"),
    summary="every line of play, {by}",
    parameters=(SEED, TIME, PLIES),
    seats=(2,),
)
ALPHABETA = Algorithm(
    name="alphabeta",
    load=imported("kibitz_search.algorithms.alphabeta:AlphaBeta"),
    summary="what minimax finds, much deeper, {by}",
    parameters=(SEED, TIME, PLIES, TABLE),
    seats=(2,),
)
MAXN = Algorithm(
    name="maxn",
    load=imported("kibitz_search.algorithms.maxn:Maxn"),
    summary="everybody does the best for itself; {by}",
    parameters=(SEED, TIME, PLIES, width()),
)
PARANOID = Algorithm(
    name="paranoid",
    load=imported("kibitz_search.algorithms.paranoid:Paranoid"),
    summary="all others have joined against it; {by}",
    parameters=(SEED, TIME, PLIES, width()),
)
BRS = Algorithm(
    name="brs",
    load=imported("kibitz_search.algorithms.brs:Brs"),
    summary="one of the others may answer each of its moves; {by}",
    parameters=(SEED, TIME, PLIES, width(0)),
)
MPMIX = Algorithm(
    name="mpmix",
    load=imported("kibitz_search.algorithms.mpmix:MpMix"),
    summary="careful when it leads, against the leader when another does, else max^n; {by}",
    parameters=(SEED, TIME, PLIES, width(), DEFEND, ATTACK),
)


def maxprob(lead: float) -> Algorithm:
    """Return the Max-Prob search, `lead` being the usual ``scale`` of the game."""
    return Algorithm(
        name="maxprob",
        load=imported("kibitz_search.algorithms.maxprob:MaxProb"),
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
        load=imported("kibitz_search.algorithms.mcts:Mcts"),
        summary="tries lines of play out, judged {by}",
        parameters=mcts_options(lead, plies=plies, epsilon=epsilon, widen=widen, explore=explore),
    )
