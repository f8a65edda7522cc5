"""The bots in the other seats of a learning environment, repeatable by a seed.

A bot's decisions may depend on four things besides the position. This module makes each of them
repeatable:

- its own random numbers, which house bots seed with the match's id: the id is derived from the
  episode's seed
- the global random state of Python and numpy: a separate state replaces it during the bots' turns,
  so bots and learner do not affect each other
- the time: a turn is limited by a number of positions instead, and its clock advances by a fixed
  step at each reading (`Thinking`)
- memory of earlier episodes: every episode creates new bots, and a new seed re-executes bot files

A bot that takes random numbers or the time from the operating system is not repeatable.
"""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kibitz_bots.loading import factory_of
from kibitz_bots.running import inprocess
from kibitz_bots.sdk import Bot, Match
from kibitz_bots.spec import BotFactory
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position

Opponent: TypeAlias = "str | BotFactory | Callable[..., Any]"
"""A personality, a bot file, a bot factory, or a function ``agent(observation)``."""


class Factories:
    """The bot factories of a list of opponents. Raises `SpecError` for an invalid opponent.

    A pickle contains only `opponents`, and unpickling loads the bots again: bots from files have no
    importable module that a pickle could refer to.
    """

    def __init__(self, opponents: Sequence[Opponent]) -> None:
        self.opponents = tuple(opponents)
        self.makers = [factory_of(opponent) for opponent in self.opponents]

    def reload_files(self) -> None:
        """Execute the bot files again to clear their state."""
        for at, opponent in enumerate(self.opponents):
            if isinstance(opponent, str) and Path(opponent).is_file():
                self.makers[at] = factory_of(opponent)

    def __deepcopy__(self, memo: object) -> Factories:
        return copy.copy(self)

    def __copy__(self) -> Factories:
        made = object.__new__(Factories)
        made.opponents, made.makers = self.opponents, [*self.makers]
        return made

    def __reduce__(self) -> Any:
        return Factories, (self.opponents,)


@dataclass(frozen=True)
class Thinking:
    """The limit on opponents' thinking: `ms` milliseconds, or `nodes` positions if `ms` is 0."""

    nodes: int
    ms: int = 0


class SeatedBots:
    """The bots of one episode, by seat; `seed` seeds their random state."""

    def __init__(
        self, makers: Sequence[BotFactory], seats: Sequence[int], play: Position, seed: int
    ) -> None:
        self._random: Any = random.Random(seed).getstate()
        self._numpy: Any = np.random.RandomState(seed % 2**32).get_state()
        self._matches: dict[int, Match] = {
            seat: inprocess.local_match(play, seat, f"episode {seed}") for seat in seats
        }
        with self._own_randomness():
            self._bots: dict[int, Bot] = {
                seat: make() for seat, make in zip(seats, makers, strict=True)
            }
            for seat, bot in self._bots.items():
                bot.on_match_start(self._matches[seat])

    def act(self, play: Position, learner: int, thinking: Thinking) -> None:
        """Let the bots act until it is the learner's turn or the game is over."""
        if play.to_act in (TERMINAL, learner):
            return
        with self._own_randomness():
            while (seat := play.to_act) not in (TERMINAL, learner):
                bot, match = self._bots[seat], self._matches[seat]
                turn = inprocess.local_turn(play, match, thinking.ms, nodes=thinking.nodes)
                play.push(inprocess.chosen_action(bot, play, turn))

    def end(self, play: Position) -> None:
        """Report the result of a finished game to the bots."""
        with self._own_randomness():
            for seat, bot in self._bots.items():
                bot.on_match_end(self._matches[seat], inprocess.result_of(play))

    @contextlib.contextmanager
    def _own_randomness(self) -> Iterator[None]:
        """Replace the process's global random state with the bots' own."""
        outside = random.getstate(), np.random.get_state()
        random.setstate(self._random)
        np.random.set_state(self._numpy)
        try:
            yield
        finally:
            self._random, self._numpy = random.getstate(), np.random.get_state()
            random.setstate(outside[0])
            np.random.set_state(outside[1])
