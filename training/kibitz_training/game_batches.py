"""Runs that fit weights to games, which are played and journaled in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import numpy as np

from kibitz_training.experiment import TrainingRun
from kibitz_training.journal import Journal, JournalError

Game = TypeVar("Game")

BATCH: Final = 10
"""Games per write to the journal."""
HELD_BACK: Final = 5
"""One game in this many is held out, to test the predictions of the weights."""


def play_all(
    given: TrainingRun,
    journal: Journal,
    count: int,
    play: Callable[[int], Any],
    read: Callable[[Any], Game],
) -> list[Game]:
    """Return the games of a run: first those in the journal, then newly played ones.

    `play` plays the game of a seed and returns it as JSON. `read` parses it, and raises `TypeError`
    or `ValueError` if it is not a game. Raises `JournalError` if the journal has different games.
    """
    games = list[Game]()
    with ThreadPoolExecutor(given.threads) as pool:
        for number in range(-(-count // BATCH)):
            if number == len(journal.entries):
                seeds = [_seed(given.seed, number * BATCH + each) for each in range(BATCH)]
                journal.append({"games": list(pool.map(play, seeds))})
            games += _read(journal, number, read)
            given.reporter.progress(min(len(games), count), count, "games")
    journal.sync()
    return games[:count]


def _seed(seed: int, number: int) -> int:
    return int(np.random.default_rng([seed, number]).integers(2**62))


def _read(journal: Journal, number: int, read: Callable[[Any], Game]) -> list[Game]:
    """Return the games of a batch."""
    where = f"{journal.path}: batch {number}"
    try:
        games = [read(game) for game in journal.entries[number]["games"]]
    except (KeyError, TypeError, ValueError) as error:
        raise JournalError(f"{where}: expected games: {error}") from None
    if len(games) != BATCH:
        raise JournalError(f"{where}: expected {BATCH} games")
    return games


def split(games: Sequence[Game]) -> tuple[list[Game], list[Game]]:
    """Return the games for fitting, and the held-out games."""
    held = list(games[::HELD_BACK])
    return [game for number, game in enumerate(games) if number % HELD_BACK], held
