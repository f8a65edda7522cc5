"""One seat of a game as a Gymnasium environment, the others being bots (extra ``environments``).

::

    from kibitz_bots.adapters.gymnasium import SoloEnv

    world = SoloEnv("number-merge", opponents=["number-merge/greedy"], seat=0)
    observation, info = world.reset(seed=7)

Observations and actions are those of `adapters.pettingzoo`. The reward comes at the end: 1 for
leaving all others behind, -1 for being last. An illegal action ends the episode with -1.

Source of the interface: Towers et al., Gymnasium: A Standard Interface for Reinforcement
Learning Environments, 2024.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from kibitz_bots import inprocess
from kibitz_bots.adapters.pettingzoo import Observation, observation, space
from kibitz_bots.loading import load
from kibitz_bots.sdk import Bot
from kibitz_bots.spec import BotFactory
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, Game, Json
from kibitz_games.core.position import Position


class SoloEnv(gymnasium.Env[Any, Any]):
    """A play in which the learner has one seat and `opponents` the others, in seat order.

    `opponents` are personalities, paths of files with a bot, or factories; one alone sits in
    every other seat. `seat` None changes the seat with every episode. Raises `SpecError` for an
    opponent that is none, `ValueError` for too many or too few.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game,
        options: Mapping[str, Json] | None = None,
        *,
        opponents: Sequence[str | BotFactory],
        seat: int | None = 0,
        think_ms: int = inprocess.THINK_MS,
    ) -> None:
        self.game = registry.get(game) if isinstance(game, str) else game
        self.options = self.game.Options.model_validate(dict(options or {}))
        makers = [load(each) if isinstance(each, str) else each for each in opponents]
        self.seats = _seats(self.game, len(makers))
        self._makers = makers if len(makers) > 1 else makers * (self.seats - 1)
        self._fixed, self._episode, self._think_ms = seat, 0, think_ms
        self.seat = seat or 0
        self.play = Position(self.game, self.options, self.seats)
        self.action_space = spaces.Discrete(self.game.num_dense_actions(self.play.state))
        self.observation_space = space(self.play)
        self._bots: dict[int, Bot] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a new play, up to the learner's first turn."""
        super().reset(seed=seed)
        self.play = Position(
            self.game, self.options, self.seats, seed=int(self.np_random.integers(2**53))
        )
        self.seat = self._episode % self.seats if self._fixed is None else self._fixed
        self._episode += 1
        others = [seat for seat in range(self.seats) if seat != self.seat]
        self._bots = {seat: make() for seat, make in zip(others, self._makers, strict=True)}
        self._others()
        return self._seen(), self._info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action and let the others act until it is the learner's turn again."""
        if not self._is_legal(int(action)):
            return self._seen(), -1.0, True, False, self._info() | {"illegal": int(action)}
        self.play.push(self.game.dense_action(self.play.state, int(action)))
        self._others()
        over = self.play.to_act == TERMINAL
        return self._seen(), self._reward() if over else 0.0, over, False, self._info()

    def _is_legal(self, action: int) -> bool:
        """Return whether a dense number stands for an action that the learner may take now."""
        mask = self.game.action_mask(self.play.state)
        return self.play.to_act == self.seat and 0 <= action < len(mask) and bool(mask[action])

    def _others(self) -> None:
        while (seat := self.play.to_act) not in (TERMINAL, self.seat):
            match = inprocess.local_match(self.play, seat, f"episode {self._episode}")
            self.play.push(
                inprocess.choose_action(self._bots[seat], self.play, match, self._think_ms)
            )

    def _seen(self) -> Observation:
        return observation(self.play, self.seat)

    def _reward(self) -> float:
        outcome = self.play.outcome
        assert outcome is not None
        return 2.0 * outcome.scores[self.seat] - 1.0

    def _info(self) -> dict[str, Any]:
        return {"view": self.game.dump(self.play.view(self.seat)), "seat": np.int64(self.seat)}


def _seats(game: Game, opponents: int) -> int:
    """Return how many sit at the table; one opponent alone fills the smallest one."""
    seats = min(game.info.seats) if opponents == 1 else opponents + 1
    if seats not in game.info.seats:
        expected = ", ".join(str(number - 1) for number in game.info.seats)
        raise ValueError(f"{game.info.name} is for {expected} opponents, not {opponents}")
    return seats
