"""The house bots of Chinese Checkers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kibitz_search
from kibitz_bots.catalog.parameters import DEPTH, SEED, TIME
from kibitz_bots.catalog.personality import (
    EngineSpec,
    NamedEvaluation,
    Personality,
    imported,
    random_bot,
)
from kibitz_bots.catalog.searches import (
    ALPHABETA,
    BRS,
    GREEDY,
    IDDFS,
    MAXN,
    MINIMAX,
    MPMIX,
    PARANOID,
    bots_by,
    maxprob,
    mcts,
    preset,
)
from kibitz_bots.sdk import Bot

_GAME = "chinese-checkers"
_SEARCH = "kibitz_search.chinese_checkers"
_WEIGHTS = Path(kibitz_search.__file__).parent / "chinese_checkers" / "weights"
_OWN_MOVES = (GREEDY, IDDFS)
"""The searches that look at the own moves only."""
_ALL_MOVES = (MINIMAX, ALPHABETA, MAXN, PARANOID, BRS, MPMIX, maxprob(10), mcts(10))
_GUIDED = mcts(10, epsilon=None, plies=None, widen=None, explore=None)


class _ConspiringSpec(EngineSpec):
    """Makes bots that look for allies at the table."""

    def __call__(
        self,
        seed: int | None,
        time: float = 0.0,
        depth: int = 0,
        *,
        evaluation: str | None = None,
        **parameters: Any,
    ) -> Bot:
        from kibitz_bots.kinds.conspiring_bot import ConspiringBot

        made = None if self.evaluation is None else self.evaluation()
        return ConspiringBot(self.search(), made, seed=seed, at_once=self.at_once)


EVALUATIONS = {
    "euclid": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:euclid"), "by the straight ways to the goals"
    ),
    "hand": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:hand"), "by hand-tuned weights of the holes"
    ),
    "stragglers": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:stragglers"),
        "by distances in which those furthest behind count most",
    ),
    "vacant": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:vacant"),
        "by the ways to the nearest empty holes of the goal",
    ),
    "mobility": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:mobility"),
        "by hand-tuned weights and the ways forward that the pegs have next",
    ),
    "race": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:race"),
        "by the race database: the moves that are left if nobody else were there",
    ),
    "learned": NamedEvaluation(
        imported(f"{_SEARCH}.learned:learned"),
        "by weights of the holes learned for two players or four, else as stragglers",
        (_WEIGHTS / "learned-2.json", _WEIGHTS / "learned-4.json"),
    ),
    "evolved": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:evolved"),
        "by weights of the holes that a genetic algorithm has evolved",
        (_WEIGHTS / "evolved-2.json", _WEIGHTS / "evolved-3.json"),
    ),
}

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", random_bot, (SEED,)),
    *bots_by(_GAME, _OWN_MOVES, EVALUATIONS, "mobility"),
    *bots_by(_GAME, _ALL_MOVES, EVALUATIONS, "hand"),
    # Those of the report.
    preset(
        _GAME,
        GREEDY,
        EVALUATIONS,
        "euclid",
        "the move that shortens the straight way to the goal the most",
    ),
    preset(_GAME, GREEDY, EVALUATIONS, "hand"),
    preset(_GAME, GREEDY, EVALUATIONS, "evolved"),
    preset(
        _GAME,
        IDDFS,
        EVALUATIONS,
        "euclid",
        "plans its own moves ahead, towards the shortest straight way",
    ),
    preset(_GAME, IDDFS, EVALUATIONS, "hand"),
    Personality(
        f"{_GAME}/conspirator",
        "one move ahead for all conspirators at the table, which it knows by their names",
        _ConspiringSpec(
            imported("kibitz_search.algorithms.conspiracy:Conspiracy"),
            EVALUATIONS["mobility"].load,
            at_once=16,
        ),
        (SEED,),
        algorithm="conspiracy",
        evaluation="mobility",
    ),
    Personality(
        f"{_GAME}/phases",
        "an opening book, a search of its own moves in the middle, and an exact race at the end",
        EngineSpec(
            imported(f"{_SEARCH}.phased:PhasedChineseCheckers"), EVALUATIONS["mobility"].load
        ),
        (SEED, TIME, DEPTH),
        algorithm="phases",
        evaluation="mobility",
    ),
    Personality(
        f"{_GAME}/mcts-guided",
        "tries lines of play out by learned moves, judged as by the learned weights",
        EngineSpec(imported(f"{_SEARCH}.guided:GuidedMcts"), imported(f"{_SEARCH}.learned:guided")),
        _GUIDED.parameters,
        algorithm="mcts",
        evaluation="guided",
        seats=(2, 6),  # there are priors for these
        weights=(_WEIGHTS / "guided-2.json", _WEIGHTS / "guided-6.json"),
    ),
    Personality(
        f"{_GAME}/champion",
        "what was strongest in trials, with any number of seats",
        EngineSpec(mcts(10).load, EVALUATIONS["stragglers"].load),
        mcts(10, explore=None).parameters,
        algorithm="mcts",
        evaluation="stragglers",
    ),
)
