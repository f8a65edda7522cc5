"""One seat of a game as a Gymnasium environment with bots in the others (extra ``environments``).

::

    from kibitz_bots.adapters.gymnasium import SoloEnv

    world = SoloEnv("number-merge", opponents=["number-merge/greedy"], seat=0)
    observation, info = world.reset(seed=7)

Observations and actions are those of `adapters.pettingzoo`. The reward is given at the end: 1 for
finishing ahead of all others, -1 for finishing last. An illegal action ends the episode with -1.

The same seed for `reset` and the same actions reproduce the same episode, even if opponents use
random numbers or memory; `kibitz_bots.adapters.opponents` lists the conditions. An environment can
be copied (`copy.deepcopy`) and pickled at any time, with its opponents, unless one of them is a
process.

Source of the interface: Towers et al., Gymnasium: A Standard Interface for Reinforcement
Learning Environments, 2024.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
from gymnasium import spaces

from kibitz_bots.adapters.opponents import Factories, Opponent, SeatedBots, Thinking
from kibitz_bots.adapters.pettingzoo import Observation, observation, space, view_of
from kibitz_games.core import learning, registry
from kibitz_games.core.game import TERMINAL, Game, Json, Model
from kibitz_games.core.integers import integer
from kibitz_games.core.position import Position

THINK_NODES = 1000
"""The default number of positions that an opponent searches per move."""


class SoloEnv(gymnasium.Env[Any, Any]):
    """One game with the learner in one seat and `opponents` in the others, in seat order.

    `opponents` are personalities, paths of bot files, factories, or functions
    ``agent(observation)``; a single opponent takes every other seat. With `seat` None the seat
    changes with every episode, and the seed of `reset` determines the first one. Opponents search
    `think_nodes` positions per move. With `think_ms` they think for that many milliseconds instead,
    and searching opponents are no longer reproducible.

    Raises `SpecError` for an invalid opponent, `ValueError` for too many or too few.
    """

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game,
        options: Mapping[str, Json] | None = None,
        *,
        opponents: Sequence[str | Opponent],
        seat: int | None = 0,
        think_ms: int | None = None,
        think_nodes: int = THINK_NODES,
    ) -> None:
        # Must be the first attribute, so that unpickling loads the opponents' files before their
        # bots.
        self._factories = Factories(opponents)
        self.game = registry.get(game) if isinstance(game, str) else game
        self.seats = _seats(self.game, len(opponents))
        self._thinking = Thinking(think_nodes) if think_ms is None else Thinking(0, think_ms)
        self._fixed, self._episode = seat, 0
        self.seat = seat or 0
        chosen = self.game.Options.model_validate(dict(options or {}))
        self.play = Position(self.game, chosen, self.seats)
        self.action_space = spaces.Discrete(learning.num_dense_actions(self.game, self.play.state))
        self.observation_space = space(self.play)
        self._others: SeatedBots | None = None

    @property
    def options(self) -> Model:
        """The options of the game."""
        assert self.play.options is not None
        return self.play.options

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new episode and play it up to the learner's first turn.

        `seed` makes this and later episodes repeatable.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._episode = int(self.np_random.integers(self.seats))
            self._factories.reload_files()
        deal, luck = (int(self.np_random.integers(2**53)) for _ in range(2))
        self.play = Position(self.game, self.options, self.seats, seed=deal)
        self.seat = self._episode % self.seats if self._fixed is None else self._fixed
        self._episode += 1
        others = [seat for seat in range(self.seats) if seat != self.seat]
        makers = self._factories.makers
        makers = makers if len(makers) > 1 else makers * len(others)
        self._others = SeatedBots(makers, others, self.play, luck)
        self._others.act(self.play, self.seat, self._thinking)
        return self._seen(), self._info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take an action and let the others act until it is the learner's turn again.

        Raises `TypeError` if `action` is not an integer, `AssertionError` before the first `reset`.
        """
        assert self._others is not None, "call reset() before step()"
        number = integer(action)
        if number is None:
            most = learning.num_dense_actions(self.game, self.play.state) - 1
            raise TypeError(f"expected an action from 0 to {most}, not {action!r:.80}")
        if not self._is_legal(number):
            return self._seen(), -1.0, True, False, self._info() | {"illegal": number}
        self.play.push(learning.dense_action(self.game, self.play.state, number))
        self._others.act(self.play, self.seat, self._thinking)
        over = self.play.to_act == TERMINAL
        if over:
            self._others.end(self.play)
        return self._seen(), self._reward() if over else 0.0, over, False, self._info()

    def _is_legal(self, action: int) -> bool:
        """Return whether an action number is legal for the learner."""
        mask = learning.action_mask(self.game, self.play.state)
        return self.play.to_act == self.seat and 0 <= action < len(mask) and bool(mask[action])

    def _seen(self) -> Observation:
        return observation(self.play, self.seat)

    def _reward(self) -> float:
        outcome = self.play.outcome
        assert outcome is not None
        return 2.0 * outcome.scores[self.seat] - 1.0

    def _info(self) -> dict[str, Any]:
        return {"view": view_of(self.game, self.play.state, self.seat), "seat": self.seat}


def _seats(game: Game, opponents: int) -> int:
    """Return the number of seats; with a single opponent, the game's minimum."""
    seats = min(game.info.seats) if opponents == 1 else opponents + 1
    if seats not in game.info.seats:
        expected = ", ".join(str(number - 1) for number in game.info.seats)
        raise ValueError(f"{game.info.name} takes {expected} opponents, not {opponents}")
    return seats
