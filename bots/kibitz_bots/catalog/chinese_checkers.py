"""The house bots of Chinese Checkers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import kibitz_search
from kibitz_bots.catalog.parameters import DEPTH, SEED, TIME, width
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

_GAME = "chinese-checkers"
_SEARCH = "kibitz_search.chinese_checkers"
_WEIGHTS = Path(kibitz_search.__file__).parent / "chinese_checkers" / "weights"
_PRIORS = tuple(_WEIGHTS / f"guided-{seats}.json" for seats in range(2, 7))
_OWN_MOVES = (GREEDY, IDDFS)
"""The searches that consider only the bot's own moves."""
_ALL_MOVES = (MINIMAX, ALPHABETA, MAXN, PARANOID, BRS, MPMIX, maxprob(10), mcts(10))
_PLAN = (
    replace(DEPTH, default=3, least=1, most=32, summary="the number of own moves to look ahead"),
    replace(width(512), least=1, most=4096, summary="the maximum number of positions per layer"),
)
_GUIDED = mcts(10, epsilon=None, plies=None, widen=None, explore=None)


EVALUATIONS = {
    "euclid": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:euclid"), "by straight-line distance to the goals"
    ),
    "hand": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:hand"), "by hand-tuned weights of the holes"
    ),
    "stragglers": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:stragglers"),
        "by distance to the goal, with more weight on the pegs furthest behind",
    ),
    "vacant": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:vacant"),
        "by distance to the nearest empty goal holes",
    ),
    "mobility": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:mobility"),
        "by hand-tuned weights of the holes and the forward moves available to the pegs",
    ),
    "cohesion": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:cohesion"),
        "by hand-tuned weights and how many of the pegs stand side by side",
    ),
    "race": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:race"),
        "by the race database: the number of moves to the goal on an otherwise empty board",
    ),
    "learned": NamedEvaluation(
        imported(f"{_SEARCH}.learned:learned"),
        "by learned weights of the holes, on boards other than the usual star like stragglers",
        tuple(_WEIGHTS / f"learned-{seats}.json" for seats in range(2, 7)),
    ),
    "evolved": NamedEvaluation(
        imported(f"{_SEARCH}.evaluation:evolved"),
        "by weights of the holes evolved by a genetic algorithm",
        (_WEIGHTS / "evolved-2.json", _WEIGHTS / "evolved-3.json"),
    ),
}

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays a random legal move", random_bot, (SEED,)),
    *bots_by(_GAME, _OWN_MOVES, EVALUATIONS, "mobility"),
    *bots_by(_GAME, _ALL_MOVES, EVALUATIONS, "hand"),
    # The players described in the report.
    preset(
        _GAME,
        GREEDY,
        EVALUATIONS,
        "euclid",
        "makes the most straight-line progress to the goal in one move",
    ),
    preset(_GAME, GREEDY, EVALUATIONS, "hand"),
    preset(_GAME, GREEDY, EVALUATIONS, "evolved"),
    preset(
        _GAME,
        IDDFS,
        EVALUATIONS,
        "euclid",
        "plans several of its own moves ahead, minimizing straight-line distance to the goal",
    ),
    preset(_GAME, IDDFS, EVALUATIONS, "hand"),
    Personality(
        f"{_GAME}/conspirator",
        "looks one move ahead and favors other conspirators, which it recognizes by name",
        EngineSpec(
            imported("kibitz_search.algorithms.greedy:Greedy"),
            EVALUATIONS["mobility"].load,
            at_once=16,
            bot="kibitz_bots.kinds.conspiring_bot:ConspiringBot",
        ),
        (SEED,),
        algorithm="conspiracy",
        evaluation="mobility",
    ),
    Personality(
        f"{_GAME}/phases",
        "uses an opening book, then searches its own moves, and plays the final race exactly",
        EngineSpec(
            imported(f"{_SEARCH}.phased:PhasedChineseCheckers"), EVALUATIONS["mobility"].load
        ),
        (SEED, TIME, DEPTH),
        algorithm="phases",
        evaluation="mobility",
    ),
    Personality(
        f"{_GAME}/planner",
        "plans three of its own moves ahead with a beam search, and plays the final race exactly",
        EngineSpec(imported(f"{_SEARCH}.phased:SoloPlanner"), EVALUATIONS["stragglers"].load),
        (SEED, TIME, *_PLAN),
        algorithm="beam",
        evaluation="stragglers",
    ),
    Personality(
        f"{_GAME}/mcts-guided",
        "runs Monte Carlo tree search with learned move probabilities and the learned evaluation",
        EngineSpec(imported(f"{_SEARCH}.guided:GuidedMcts"), imported(f"{_SEARCH}.learned:guided")),
        _GUIDED.parameters,
        algorithm="mcts",
        evaluation="guided",
        weights=_PRIORS,
    ),
    Personality(
        f"{_GAME}/champion",
        "plays the strongest configuration found in trials, for any number of seats",
        EngineSpec(imported(f"{_SEARCH}.phased:Champion"), imported(f"{_SEARCH}.learned:guided")),
        _GUIDED.parameters,
        algorithm="mcts",
        evaluation="guided",
        weights=_PRIORS,
    ),
)
