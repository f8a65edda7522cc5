"""Compile the code that a set of tests needs, on all cores, before the tests start.

``python -m tests.tools.warm_cache fast`` does this for ``make test``, ``e2e`` for ``make
test-e2e``. The machine code is stored in the project's cache (``KIBITZ_CACHE`` overrides the path).
A stamp in the same directory marks a set as complete, so the next call with the same statements and
libraries returns after half a second.

Each task is a game, a house bot or one of `OTHERS`, and each core takes the next one. If two tasks
share a kernel, the first compiles it and the second loads it. If no task reaches a kernel, for
example because only slow tests use it, the first test that calls it compiles it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import kibitz_games
import kibitz_search
import kibitz_training
from kibitz_games.compiled import cache, kernels
from kibitz_games.core import registry
from kibitz_games.core.warmup import warm_up as warm_up_game

BOTS = {
    "fast": (
        "tanks/mcts",
        "five-in-a-row/mcts",
        "chinese-checkers/alphabeta",
        "line-nim/mcts",
        "number-merge/mcts",
        "five-in-a-row/alphabeta",
        "number-merge/alphabeta",
        "tanks/hunter",
        "chinese-checkers/maxn",
        "chinese-checkers/brs",
        "chinese-checkers/minimax",
        "line-nim/greedy",
        "chinese-checkers/mcts",
        "five-in-a-row/threat",
        "five-in-a-row/advanced",
        "connect-four/alphabeta",
        "chinese-checkers/iddfs-hand",
        "number-merge/minimax",
        "chinese-checkers/greedy",
        "connect-four/greedy",
        "number-merge/greedy",
    ),
    "e2e": (
        "chinese-checkers/iddfs-hand",
        "tanks/greedy",
        "five-in-a-row/greedy",
        "chinese-checkers/greedy",
        "chinese-checkers/greedy-euclid",
        "line-nim/greedy",
        "number-merge/greedy",
    ),
}
"""The house bots whose searches and evaluations each set needs, slowest to compile first."""


def _outcome_searches() -> None:
    """Compile the searches with the `outcome` evaluation, for the games that tests use."""
    from kibitz.process.warmup import warm_up
    from kibitz_bots.catalog import any_game

    warm_up(lambda line: None, [*any_game.bots("number-merge", any_game.FOR_TWO)])
    of_five = any_game.bots("five-in-a-row", any_game.FOR_TWO)
    warm_up(lambda line: None, [each for each in of_five if each.short == "alphabeta"])


def _batches() -> None:
    """Compile batched play of every game."""
    from kibitz_games.vector import VectorGame

    for name in registry.names():
        with VectorGame(name, count=2, threads=1, deals=2) as games:
            games.step(games.sample())


def _training() -> None:
    """Compile the games with which `kibitz train` evaluates Chinese Checkers arrays."""
    from kibitz_search.chinese_checkers.evaluation import distances
    from kibitz_training.chinese_checkers.hole_games import against

    for judge in ("hand", "euclid", "stragglers", "mobility"):
        with closing(against(judge)) as games:
            games.play(distances("hand")[None, :], [1], 0, 1)


def _chinese_checkers_searches() -> None:
    """Compile searches of Chinese Checkers with evaluations that no house bot combines."""
    from kibitz_search.algorithms.beam import Beam
    from kibitz_search.algorithms.limits import SearchLimits
    from kibitz_search.algorithms.maxprob import MaxProb
    from kibitz_search.algorithms.paranoid import Paranoid
    from kibitz_search.chinese_checkers.evaluation import euclid, hand, stragglers

    rules = registry.get("chinese-checkers")
    state = rules.start(rules.Options(), 2, {})
    for evaluation in (euclid, stragglers, hand):
        Beam(state, width=1).search(state, evaluation(state), SearchLimits(depth=1))
    for evaluation in (euclid, hand):
        MaxProb(state).search(state, evaluation(state), SearchLimits(depth=1))
    Paranoid(state).search(state, euclid(state), SearchLimits(depth=1))


def _races() -> None:
    """Compile the last phase of Chinese Checkers."""
    from kibitz_search.chinese_checkers.endgame import RaceEndgame

    rules = registry.get("chinese-checkers")
    RaceEndgame(rules.start(rules.Options.model_validate({"size": 3}), 2, {}))


def _plans() -> None:
    """Compile the games with which `kibitz train` evaluates plans of two moves."""
    import numpy as np

    from kibitz_search.chinese_checkers.evaluation import distances
    from kibitz_training.chinese_checkers.plan_games import PlanGames

    array = distances("stragglers")[np.newaxis]
    PlanGames(2).play(array, array, np.arange(1, dtype=np.uint64))


def _networks() -> None:
    """Compile the networks of Tanks and their games against random players."""
    import numpy as np

    from kibitz_games.core.position import Position
    from kibitz_search.tanks import networks
    from kibitz_training.tanks.network_games import NetworkGames

    weights = np.zeros((1, networks.REPORT_WEIGHTS))
    for quirks in (False, True):
        with closing(NetworkGames("report", turns=8, quirks=quirks)) as games:
            games.play(weights, [0], np.zeros((1, 1), np.int64), whole=True)
    rules = registry.get("tanks")
    state = Position(rules, rules.Options()).state
    networks.eyes_action(networks.new_mind(), np.zeros(networks.EYES_WEIGHTS), state)


OTHERS: Mapping[str, Callable[[], None]] = {
    "searches by the outcome": _outcome_searches,
    "batches": _batches,
    "training": _training,
    "searches of chinese checkers": _chinese_checkers_searches,
    "races": _races,
    "plans": _plans,
    "networks": _networks,
}
"""Code that the fast tests need and that is not part of a house bot or a game."""


def prepare(task: str) -> str:
    """Compile the kernels of a game, a house bot and its game, or another task; return the task."""
    if task in OTHERS:
        OTHERS[task]()
        return task
    game, _, bot = task.partition("/")
    if bot:
        from kibitz.process.warmup import warm_up
        from kibitz_bots.catalog import PERSONALITIES

        warm_up(lambda line: None, [PERSONALITIES[task]])
    else:
        rules = registry.get(game)
        for seats in rules.info.seats:
            warm_up_game(rules, seats=seats)
    return task


def run(tasks: Sequence[str], workers: int) -> None:
    """Prepare all tasks in `workers` processes; propagate exceptions."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(prepare, task) for task in tasks]):
            done.result()


def stamp(name: str, tasks: Sequence[str]) -> Path:
    """Return the stamp file that marks these tasks as done for the current sources."""
    packages = (kibitz_games, kibitz_search, kibitz_training)
    files = [file for top in packages for file in Path(top.__path__[0]).resolve().rglob("*.py")]
    key = " ".join([*tasks, *(cache.fingerprint(file) for file in sorted(files))])
    digest = hashlib.sha256(key.encode()).hexdigest()
    return cache.writable_directory() / f"{name}-{digest[:16]}.warm"


def main(name: str) -> None:
    """Compile a set into the cache unless it is complete."""
    tasks = [*BOTS[name], *(OTHERS if name == "fast" else ()), *registry.names()]
    if not kernels.compiled() or (done := stamp(name, tasks)).exists():
        return
    began = time.monotonic()
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    run(tasks, workers or 1)
    done.touch()
    sys.stdout.write(f"compiled the tests' code in {time.monotonic() - began:.0f} s\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
