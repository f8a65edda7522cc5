"""Pairs of games between two engines in one process, at fixed nodes or fixed processor time.

There is no server, clock or connection, so a game takes little longer than its searches. The two
games of a pair have the same opening and the same seed, with the seats swapped. With fixed nodes, a
pair has the same moves on every machine.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from kibitz_bots.kinds.engine_bot import EngineBot
from kibitz_games.core.game import TERMINAL, Game
from kibitz_protocol.wire.values import Options
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.cancellation import CancelToken

MIN_WAIT_S = 0.0002
"""The shortest pause between two reads of a thread's processor time, in seconds."""
MAX_ATTEMPTS = 100
"""The maximum number of random openings to try; openings that end the game are rejected."""


@dataclass(frozen=True)
class EngineLimit:
    """The limit of a move: a number of nodes, or seconds of processor time."""

    nodes: int = 0
    seconds: float = 0.0

    @contextlib.contextmanager
    def limits(self, seed: str) -> Iterator[SearchLimits]:
        """Yield the limits of a search that this thread runs within the block."""
        if self.nodes:
            yield SearchLimits(nodes=self.nodes, seed=seed)
            return
        cancelled = CancelToken()
        with _cancelling(cancelled, self.seconds):
            yield SearchLimits(seed=seed, cancelled=cancelled)


@contextlib.contextmanager
def _cancelling(cancelled: CancelToken, seconds: float) -> Iterator[None]:
    """Set a token once this thread has used `seconds` of processor time within the block."""
    clock = time.pthread_getcpuclockid(threading.get_ident())
    end = time.clock_gettime(clock) + seconds
    done = threading.Event()

    def watch() -> None:
        while (left := end - time.clock_gettime(clock)) > 0:
            if done.wait(max(left, MIN_WAIT_S)):
                return
        cancelled.set()

    watcher = threading.Thread(target=watch, name="processor time", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


@dataclass(frozen=True)
class PlayedPair:
    """The two games of a pair."""

    opening: list[str]
    """The moves of the opening, in the game's notation."""
    moves: tuple[list[str], list[str]]
    """The moves of each game after the opening; the first engine has the first seat in the first
    game and the second seat in the second game."""
    points: tuple[float, float]
    """The first engine's points in each game: 0, 0.5 or 1."""


@dataclass(frozen=True)
class EnginePairs:
    """A series of pairs with the same engines, game and limit."""

    game: Game
    options: Options
    engines: tuple[EngineBot, EngineBot]
    limit: EngineLimit
    openings: Sequence[Options] = ()
    """Sets of options that contain an opening, used in turn."""
    random_plies: int = 0
    """The number of random plies before each pair, if there are no `openings`."""
    seed: int = 0

    def check(self) -> None:
        """Compile the code that a game needs; raises `ValueError` if an engine cannot play it."""
        state, _ = self._start(0)
        for bot in self.engines:
            with self.limit.limits("0") as limits:
                bot.searcher(state, self.game.info).search(state, limits)

    def play(self, number: int) -> PlayedPair:
        """Play one pair; pairs are numbered from 0."""
        first, second = (self._play_game(number, swapped=swapped) for swapped in (False, True))
        return PlayedPair(self._start(number)[1], (first[0], second[0]), (first[1], second[1]))

    def _start(self, number: int) -> tuple[np.record, list[str]]:
        """Return the position after the opening of a pair, and the moves of that opening."""
        overlay = self.openings[number % len(self.openings)] if self.openings else {}
        options = self.game.Options.from_wire({**self.options, **overlay})
        start = self.game.start(options, 2, self.game.deal(options, 2, self.seed + number))
        if self.openings:
            return start, [str(move) for move in cast("list[str]", overlay.get("opening", []))]
        rng = random.Random(f"{self.seed}/{number}")
        for _ in range(MAX_ATTEMPTS):
            state, moves = start.copy(), list[str]()
            while len(moves) < self.random_plies and self.game.to_act(state) != TERMINAL:
                action = rng.choice(self.game.legal(state))
                moves.append(self.game.notation.format(self.game.encode(state, action)))
                self.game.play(state, action)
            if self.game.to_act(state) != TERMINAL:
                return state, moves
        raise ValueError(
            f"{self.random_plies} random plies end every game of {self.game.info.name}"
        )

    def _play_game(self, number: int, *, swapped: bool) -> tuple[list[str], float]:
        """Play one game; return its moves and the first engine's points."""
        game, (state, _) = self.game, self._start(number)
        seats = [bot.searcher(state, game.info) for bot in self.engines]
        if swapped:
            seats.reverse()
        moves: list[str] = []
        while (seat := game.to_act(state)) != TERMINAL:
            with self.limit.limits(f"{self.seed}/{number}/{seat}/{len(moves)}") as limits:
                action = seats[seat].search(state, limits).action
            moves.append(game.notation.format(game.encode(state, action)))
            game.play(state, action)
        outcome = game.outcome(state)
        assert outcome is not None, "a game in which nobody is to act is over"
        mine, other = outcome.ranks[int(swapped)], outcome.ranks[int(not swapped)]
        return moves, 0.5 * ((mine < other) - (mine > other)) + 0.5
