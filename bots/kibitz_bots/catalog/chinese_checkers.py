"""The house bots of Chinese Checkers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kibitz_search
from kibitz_bots.catalog.matrix import (
    ALPHABETA,
    BRS,
    GREEDY,
    IDDFS,
    MAXN,
    MINIMAX,
    MPMIX,
    PARANOID,
    Evaluations,
    maxprob,
    mcts,
    pair,
)
from kibitz_bots.catalog.parameters import DEPTH, SEED, TIME
from kibitz_bots.catalog.personality import EngineSpec, Personality, random_bot
from kibitz_bots.sdk import Bot

if TYPE_CHECKING:
    from kibitz_search.algorithms.interface import Evaluation, Search

_GAME = "chinese-checkers"
_WEIGHTS = Path(kibitz_search.__file__).parent / "chinese_checkers" / "weights"
_OWN_MOVES = (GREEDY, IDDFS)
"""The searches that look at the own moves only."""
_ALL_MOVES = (MINIMAX, ALPHABETA, MAXN, PARANOID, BRS, MPMIX, maxprob(10), mcts(10))
_GUIDED = mcts(10, epsilon=None, plies=None, widen=None, explore=None)
_SLOW = ("vacant", "mobility", "race")
"""Evaluations with a record of their own; the others share one, and so their machine code."""


def _load() -> Mapping[str, Evaluation]:
    from kibitz_search.chinese_checkers.learned import ALL

    return ALL


def _phased() -> type[Search]:
    from kibitz_search.chinese_checkers.phased import PhasedChineseCheckers

    return PhasedChineseCheckers


def _guided_search() -> type[Search]:
    from kibitz_search.chinese_checkers.guided import GuidedMcts

    return GuidedMcts


def _guided_weights() -> Evaluation:
    from kibitz_search.chinese_checkers.learned import guided

    return guided


def _conspiracy() -> type[Search]:
    from kibitz_search.algorithms.conspiracy import Conspiracy

    return Conspiracy


class _ConspiringSpec(EngineSpec):
    """Makes bots that look for friends at the table."""

    def __call__(
        self, seed: int | None, time: float = 0.0, depth: int = 0, **parameters: Any
    ) -> Bot:
        from kibitz_bots.conspiring_bot import ConspiringBot

        made = None if self.evaluation is None else self.evaluation()
        return ConspiringBot(self.search(), made, seed=seed, at_once=self.at_once)


EVALUATIONS = Evaluations(
    load=_load,
    summaries={
        "euclid": "by the straight ways to the goals",
        "hand": "by hand-tuned weights of the holes",
        "stragglers": "by distances in which those furthest behind count most",
        "vacant": "by the ways to the nearest empty holes of the goal",
        "mobility": "by hand-tuned weights and the ways forward that the pegs have next",
        "race": "by the race database: the moves that are left if nobody else were there",
        "learned": "by weights of the holes learned for two players or four, else as stragglers",
        "evolved": "by weights of the holes that a genetic algorithm has evolved",
    },
    weights={
        "learned": (_WEIGHTS / "learned-2.json", _WEIGHTS / "learned-4.json"),
        "evolved": (_WEIGHTS / "evolved-2.json", _WEIGHTS / "evolved-3.json"),
    },
)

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", random_bot, (SEED,)),
    *pair(
        _GAME,
        _OWN_MOVES + _ALL_MOVES,
        EVALUATIONS,
        summaries={
            "greedy-euclid": "the move that shortens the straight way to the goal the most",
            "iddfs-euclid": "plans its own moves ahead, towards the shortest straight way",
        },
        compiled_later=[f"{each.name}-{slow}" for each in _ALL_MOVES for slow in _SLOW],
    ),
    Personality(
        f"{_GAME}/conspirator",
        "one move ahead for all conspirators at the table, which it knows by their names",
        _ConspiringSpec(_conspiracy, EVALUATIONS.loader("mobility"), at_once=16),
        (SEED,),
        algorithm="conspiracy",
        evaluation="mobility",
    ),
    Personality(
        f"{_GAME}/phases",
        "an opening book, a search of its own moves in the middle, and an exact race at the end",
        EngineSpec(_phased, EVALUATIONS.loader("mobility")),
        (SEED, TIME, DEPTH),
        algorithm="phases",
        evaluation="mobility",
    ),
    Personality(
        f"{_GAME}/mcts-guided",
        "tries lines of play out by learned moves, judged as mcts-learned does",
        EngineSpec(_guided_search, _guided_weights),
        _GUIDED.parameters,
        algorithm="mcts",
        evaluation="guided",
        seats=(2, 6),  # there are priors for these
        weights=(_WEIGHTS / "guided-2.json", _WEIGHTS / "guided-6.json"),
    ),
    Personality(
        f"{_GAME}/champion",
        "what was strongest in trials, with any number of seats",
        EngineSpec(mcts(10).load, EVALUATIONS.loader("stragglers")),
        mcts(10, explore=None).parameters,
        algorithm="mcts",
        evaluation="stragglers",
    ),
)
