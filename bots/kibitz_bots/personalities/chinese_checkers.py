"""The house bots of Chinese Checkers."""

from __future__ import annotations

from kibitz_bots.personalities.making import (
    DEPTH,
    PLIES,
    SEED,
    TABLE,
    TIME,
    Personality,
    alphabeta,
    anything,
    greedy,
    iddfs,
    minimax,
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
    Personality(
        f"{_GAME}/minimax-euclid",
        "every line of play, by the straight ways to the goals",
        minimax(f"{_EVALUATIONS}:euclid"),
        (SEED, TIME, PLIES),
        seats=(2,),
    ),
    Personality(
        f"{_GAME}/minimax-hand",
        "every line of play, by hand-tuned weights of the holes",
        minimax(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, PLIES),
        seats=(2,),
    ),
    Personality(
        f"{_GAME}/alphabeta-euclid",
        "what minimax finds, much deeper, by the straight ways to the goals",
        alphabeta(f"{_EVALUATIONS}:euclid"),
        (SEED, TIME, PLIES, TABLE),
        seats=(2,),
    ),
    Personality(
        f"{_GAME}/alphabeta-hand",
        "what minimax finds, much deeper, by hand-tuned weights of the holes",
        alphabeta(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, PLIES, TABLE),
        seats=(2,),
    ),
)
