"""The house bots of Chinese Checkers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kibitz_bots.personalities.making import (
    DEPTH,
    PLIES,
    SEED,
    TABLE,
    TIME,
    Parameter,
    Personality,
    Recipe,
    alphabeta,
    anything,
    greedy,
    iddfs,
    minimax,
    searching,
)
from kibitz_bots.personalities.many_seats import (
    ATTACK,
    DEFEND,
    NEAR,
    brs,
    growing,
    maxn,
    maxprob,
    mcts,
    mpmix,
    paranoid,
    scale,
    width,
)

_GAME = "chinese-checkers"
_EVALUATIONS = "kibitz_bots.evaluate.chinese_checkers"

_BOTH = {
    "euclid": "by the straight ways to the goals",
    "hand": "by hand-tuned weights of the holes",
}
"""The evaluations that every search has a bot with, and how they judge."""
_HAND = {"hand": _BOTH["hand"]}
_OTHERS = {
    "stragglers": "by distances in which those furthest behind count most",
    "vacant": "by the ways to the nearest empty holes of the goal",
    "mobility": "by hand-tuned weights and the ways forward that the pegs have next",
    "race": "by the race database: the moves that are left if nobody else were there",
}
"""The evaluations of the searches that look at the own moves only."""


def _each(
    name: str,
    summary: str,
    build: Callable[[str], Recipe],
    parameters: tuple[Parameter, ...],
    evaluations: dict[str, str],
    *,
    seats: tuple[int, ...] = (),
) -> Iterator[Personality]:
    """Yield a bot of one search for each evaluation; `{by}` in the summary says how it judges."""
    for evaluation, by in evaluations.items():
        yield Personality(
            f"{_GAME}/{name}-{evaluation}",
            summary.format(by=by),
            build(f"{_EVALUATIONS}:{evaluation}"),
            parameters,
            seats=seats,
        )


PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", anything, (SEED,)),
    Personality(
        f"{_GAME}/greedy-euclid",
        "the move that shortens the straight way to the goal the most",
        greedy(f"{_EVALUATIONS}:euclid"),
        (SEED,),
    ),
    *_each("greedy", "the best move {by}", greedy, (SEED,), _HAND | _OTHERS),
    Personality(
        f"{_GAME}/iddfs-euclid",
        "plans its own moves ahead, towards the shortest straight way",
        iddfs(f"{_EVALUATIONS}:euclid"),
        (SEED, TIME, DEPTH),
    ),
    *_each("iddfs", "plans its own moves ahead, {by}", iddfs, (SEED, TIME, DEPTH), _HAND | _OTHERS),
    *_each("minimax", "every line of play, {by}", minimax, (SEED, TIME, PLIES), _BOTH, seats=(2,)),
    *_each(
        "alphabeta",
        "what minimax finds, much deeper, {by}",
        alphabeta,
        (SEED, TIME, PLIES, TABLE),
        _BOTH,
        seats=(2,),
    ),
    *_each(
        "maxn",
        "everybody does the best for itself; {by}",
        maxn,
        (SEED, TIME, PLIES, width()),
        _BOTH,
    ),
    *_each(
        "paranoid",
        "all others have joined against it; {by}",
        paranoid,
        (SEED, TIME, PLIES, width()),
        _BOTH,
    ),
    *_each(
        "brs",
        "one of the others may answer each of its moves; {by}",
        brs,
        (SEED, TIME, PLIES, width(0)),
        _BOTH,
    ),
    *_each(
        "mpmix",
        "careful when it leads, against the leader when another does; else max^n",
        mpmix,
        (SEED, TIME, PLIES, width(), DEFEND, ATTACK),
        _HAND,
    ),
    *_each(
        "maxprob",
        "everybody goes for the best chances, and takes any of equal ones",
        maxprob,
        (SEED, TIME, PLIES, width(), scale(10), NEAR),
        _HAND,
    ),
    *_each("mcts", "tries lines of play out, judged {by}", mcts, growing(10), _BOTH),
    Personality(
        f"{_GAME}/phases",
        "an opening book, a search of its own moves in the middle, and an exact race at the end",
        searching("kibitz_bots.experts.chinese_checkers.phases:Phases", f"{_EVALUATIONS}:mobility"),
        (SEED, TIME, DEPTH),
    ),
    Personality(
        f"{_GAME}/champion",
        "what was strongest in trials, with any number of seats",
        mcts(f"{_EVALUATIONS}:stragglers"),
        growing(10, explore=None),
    ),
)
