"""The searches for all games, and the bots that combine one with an evaluation of a game.

`bots_by` makes one bot per search; its parameter ``evaluation`` selects the evaluation. `preset`
makes a bot for a fixed pair of search and evaluation. A search can play a game if its ``supports``
returns None. The catalogs of two-player games omit the multi-player searches: with two players,
max^n and the paranoid search are minimax without a transposition table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kibitz_bots.catalog.parameters import (
    ATTACK,
    BLUNDER,
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

JUDGES = "the evaluation of positions"
"""The summary of the parameter ``evaluation``."""


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """A search, possibly with defaults for a specific game."""

    name: str
    """The first part of its bots' names."""
    load: SearchLoader
    summary: str
    """A description; ``{by}`` is replaced with the description of the evaluation."""
    parameters: tuple[Parameter, ...]
    seats: tuple[int, ...] = ()
    """The numbers of seats it supports; empty for any number."""
    at_once: int = 4


def bots_by(
    game: str,
    algorithms: Collection[Algorithm],
    evaluations: Mapping[str, NamedEvaluation],
    usual: str,
    *,
    summaries: Mapping[str, str] | None = None,
) -> Iterator[Personality]:
    """Yield one bot per search, named after it.

    Its default evaluation is `usual`. If the game has several evaluations, the bot's parameter
    ``evaluation`` selects another. `summaries` overrides the descriptions of some bots, by search
    name.
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
    """Return the bot ``search-evaluation``, which always uses the evaluation `name`."""
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
    summary="plays the best single move, judged {by}",
    parameters=(SEED, BLUNDER),
    at_once=16,
)
IDDFS = Algorithm(
    name="iddfs",
    load=imported("kibitz_search.algorithms.iddfs:Iddfs"),
    summary="plans several of its own moves ahead, judged {by}",
    parameters=(SEED, TIME, DEPTH),
)
MINIMAX = Algorithm(
    name="minimax",
    load=imported("kibitz_search.algorithms.minimax:Minimax"),
    summary="searches every line of play, judged {by}",
    parameters=(SEED, TIME, PLIES),
    seats=(2,),
)
ALPHABETA = Algorithm(
    name="alphabeta",
    load=imported("kibitz_search.algorithms.alphabeta:AlphaBeta"),
    summary="prunes the minimax search to look much deeper, judged {by}",
    parameters=(SEED, BLUNDER, TIME, PLIES, TABLE),
    seats=(2,),
)
MAXN = Algorithm(
    name="maxn",
    load=imported("kibitz_search.algorithms.maxn:Maxn"),
    summary="assumes that each player maximizes its own result, judged {by}",
    parameters=(SEED, TIME, PLIES, width()),
)
PARANOID = Algorithm(
    name="paranoid",
    load=imported("kibitz_search.algorithms.paranoid:Paranoid"),
    summary="assumes that all other players cooperate against it, judged {by}",
    parameters=(SEED, TIME, PLIES, width()),
)
BRS = Algorithm(
    name="brs",
    load=imported("kibitz_search.algorithms.brs:Brs"),
    summary="assumes that only one opponent replies to each of its moves, judged {by}",
    parameters=(SEED, TIME, PLIES, width(0)),
)
MPMIX = Algorithm(
    name="mpmix",
    load=imported("kibitz_search.algorithms.mpmix:MpMix"),
    summary="plays paranoid if it leads, attacks an opponent who leads, else max^n; judged {by}",
    parameters=(SEED, TIME, PLIES, width(), DEFEND, ATTACK),
)


def maxprob(lead: float) -> Algorithm:
    """Return the Max-Prob search; `lead` is the default of ``scale``."""
    return Algorithm(
        name="maxprob",
        load=imported("kibitz_search.algorithms.maxprob:MaxProb"),
        summary="assumes that players maximize their chances, with ties at random; judged {by}",
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
        summary="runs Monte Carlo tree search with playouts judged {by}",
        parameters=mcts_options(lead, plies=plies, epsilon=epsilon, widen=widen, explore=explore),
    )
