"""The house bots of Chinese Checkers."""

from __future__ import annotations

from kibitz_bots.personalities.making import (
    DEPTH,
    SEED,
    TIME,
    Personality,
    anything,
    greedy,
    iddfs,
)

_GAME = "chinese-checkers"
_EVALUATIONS = "kibitz_bots.evaluate.chinese_checkers"

PERSONALITIES = (
    Personality(f"{_GAME}/random", "plays any legal move", anything, (SEED,)),
    Personality(
        f"{_GAME}/greedy-euclid",
        "the move that shortens the straight way to the goal the most",
        greedy(f"{_EVALUATIONS}:euclid"),
        (SEED,),
    ),
    Personality(
        f"{_GAME}/greedy-hand",
        "the best move by hand-tuned weights of the holes",
        greedy(f"{_EVALUATIONS}:hand"),
        (SEED,),
    ),
    Personality(
        f"{_GAME}/iddfs-euclid",
        "plans its own moves ahead, towards the shortest straight way",
        iddfs(f"{_EVALUATIONS}:euclid"),
        (SEED, TIME, DEPTH),
    ),
    Personality(
        f"{_GAME}/iddfs-hand",
        "plans its own moves ahead, by hand-tuned weights of the holes",
        iddfs(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, DEPTH),
    ),
)
