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
    Personality(
        f"{_GAME}/maxn-euclid",
        "everybody does the best for itself; by the straight ways to the goals",
        maxn(f"{_EVALUATIONS}:euclid"),
        (SEED, TIME, PLIES, width(8)),
    ),
    Personality(
        f"{_GAME}/paranoid-euclid",
        "all others have joined against it; by the straight ways to the goals",
        paranoid(f"{_EVALUATIONS}:euclid"),
        (SEED, TIME, PLIES, width(0)),
    ),
    Personality(
        f"{_GAME}/brs-euclid",
        "one of the others may answer each of its moves; by the straight ways to the goals",
        brs(f"{_EVALUATIONS}:euclid"),
        (SEED, TIME, PLIES, width(0)),
    ),
    Personality(
        f"{_GAME}/maxn-hand",
        "everybody does the best for itself; by hand-tuned weights of the holes",
        maxn(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, PLIES, width(8)),
    ),
    Personality(
        f"{_GAME}/paranoid-hand",
        "all others have joined against it; by hand-tuned weights of the holes",
        paranoid(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, PLIES, width(0)),
    ),
    Personality(
        f"{_GAME}/brs-hand",
        "one of the others may answer each of its moves; by hand-tuned weights of the holes",
        brs(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, PLIES, width(0)),
    ),
    Personality(
        f"{_GAME}/mpmix-hand",
        "careful when it leads, against the leader when another does; else max^n",
        mpmix(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, PLIES, width(8), DEFEND, ATTACK),
    ),
    Personality(
        f"{_GAME}/maxprob-hand",
        "everybody goes for the best chances, and takes any of equal ones",
        maxprob(f"{_EVALUATIONS}:hand"),
        (SEED, TIME, PLIES, width(8), scale(10), NEAR),
    ),
    Personality(
        f"{_GAME}/mcts-euclid",
        "tries lines of play out, judged by the straight ways to the goals",
        mcts(f"{_EVALUATIONS}:euclid"),
        growing(10),
    ),
    Personality(
        f"{_GAME}/mcts-hand",
        "tries lines of play out, judged by hand-tuned weights of the holes",
        mcts(f"{_EVALUATIONS}:hand"),
        growing(10),
    ),
    *(
        made
        for evaluation, what in (
            ("stragglers", "by distances in which those furthest behind count most"),
            ("vacant", "by the ways to the nearest empty holes of the goal"),
            ("mobility", "by hand-tuned weights and the ways forward that the pegs have next"),
            ("race", "by the race database: the moves that are left if nobody else were there"),
        )
        for made in (
            Personality(
                f"{_GAME}/greedy-{evaluation}",
                f"the best move {what}",
                greedy(f"{_EVALUATIONS}:{evaluation}"),
                (SEED,),
            ),
            Personality(
                f"{_GAME}/iddfs-{evaluation}",
                f"plans its own moves ahead, {what}",
                iddfs(f"{_EVALUATIONS}:{evaluation}"),
                (SEED, TIME, DEPTH),
            ),
        )
    ),
    Personality(
        f"{_GAME}/phases",
        "an opening book, a search of its own moves in the middle, and an exact race at the end",
        searching("kibitz_bots.experts.chinese_checkers.phases:Phases", f"{_EVALUATIONS}:mobility"),
        (SEED, TIME, DEPTH),
    ),
)
