"""Every game as a PettingZoo environment, one agent per seat (the extra ``environments``).

::

    from kibitz_bots.adapters.pettingzoo import env

    game = env("line-nim", {"free": 16})
    game.reset(seed=7)
    for agent in game.agent_iter():
        observation, reward, termination, truncation, info = game.last()
        done = termination or truncation
        action = None if done else game.action_space(agent).sample(observation["action_mask"])
        game.step(action)

An observation is a dict with ``observation``, the game's `features` (float32), and ``action_mask``
(int8), which is all zeros except for the agent to act. Actions are numbered from 0 without gaps;
`learning.dense_action` converts such a number to the game's own action. The info of the agent to
act is a dict with its ``view`` as a server would send it. Building the view can take
several times as long as the rest of a step; ``views=False`` omits it. Environments can be copied
and pickled at any time.

Rewards are given at the end: 1 for finishing ahead of all others, -1 for finishing last, 0 for a
draw between two.

Source of the interface: Terry et al., PettingZoo: Gym for Multi-Agent Reinforcement Learning,
NeurIPS 2021.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pydantic_core import from_json

from kibitz_games.conformance.playthrough import render_text
from kibitz_games.core import learning, registry
from kibitz_games.core.game import TERMINAL, Game, IllegalAction, Json, Model, State
from kibitz_games.core.integers import integer
from kibitz_games.core.position import Position

Observation = dict[str, "np.ndarray[Any, Any]"]


def env(
    game: str | Game,
    options: Mapping[str, Json] | None = None,
    seats: int | None = None,
    *,
    render_mode: str | None = None,
    views: bool = True,
) -> AECEnv[str, Any, Any]:
    """Return a game's environment with PettingZoo's usual checks.

    An illegal action ends the episode with a reward of -1 for the agent that took it. Raises
    `GameError`, or pydantic's `ValidationError` for unsupported options.
    """
    return CheckedEnv(game, options, seats, render_mode=render_mode, views=views)


class GameEnv(AECEnv[str, Any, Any]):  # type: ignore[misc]
    """A game as an environment; see the module docstring. `seats` defaults to the minimum."""

    metadata = {"render_modes": ["ansi"], "is_parallelizable": False, "name": "kibitz"}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game,
        options: Mapping[str, Json] | None = None,
        seats: int | None = None,
        *,
        render_mode: str | None = None,
        views: bool = True,
    ) -> None:
        super().__init__()
        self.game = registry.get(game) if isinstance(game, str) else game
        self.seats = min(self.game.info.seats) if seats is None else seats
        self.metadata = {**type(self).metadata, "name": f"{self.game.info.name}_v0"}
        self.render_mode = render_mode
        self._views = views
        self.possible_agents = [f"seat_{seat}" for seat in range(self.seats)]
        self.agents: list[str] = []
        self._source = np.random.default_rng()
        chosen = self.game.Options.model_validate(dict(options or {}))
        self._start = Position(self.game, chosen, self.seats)
        self._stepper = learning.Stepper(self.game, self._start.state)
        self._actions = len(self._stepper.mask)
        self._nothing = np.zeros(self._actions, np.int8)
        self._to_act, self._taken = TERMINAL, list[int]()
        self._has_reset = self._has_updated = False
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        # One space per agent, because each space has its own random state.
        self._action_spaces = {
            agent: spaces.Discrete(self._actions) for agent in self.possible_agents
        }
        self._observation_spaces = {agent: space(self._start) for agent in self.possible_agents}

    @property
    def options(self) -> Model:
        """The options of the game."""
        assert self._start.options is not None
        return self._start.options

    @property
    def play(self) -> Position:
        """A copy of the current position."""
        copy = self._start.copy()
        for number in self._taken:
            copy.push(learning.dense_action(self.game, copy.state, number))
        return copy

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of action numbers; the action mask marks the legal ones."""
        return self._action_spaces[agent]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of the observations."""
        return self._observation_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new episode; `seed` makes the deals of this and later episodes repeatable."""
        if seed is not None:
            self._source = np.random.default_rng(seed)
        if self._start.deal:
            deal = int(self._source.integers(2**53))
            self._start = Position(self.game, self.options, self.seats, seed=deal)
        self._to_act = self._stepper.start(self._start.state)
        self._taken = []
        self._has_reset = self._has_updated = True
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = self.rewards.copy()
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = self.terminations.copy()
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self._to_act]
        if self._views:
            self._show_view()

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation with the mask of its legal actions."""
        stepper, seat = self._stepper, self._seat_of[agent]
        if seat == self._to_act:
            return {"observation": stepper.seen.copy(), "action_mask": stepper.mask.copy()}
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return {"observation": stepper.observe(seat), "action_mask": self._nothing.copy()}

    def step(self, action: int | None) -> None:
        """Take an action for the current agent; raises `IllegalAction`."""
        if not self.agents:
            self._refuse_step()
            return
        self._has_updated = True
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = action if type(action) is int else integer(action)
        if number is None or not 0 <= number < self._actions:
            self._refuse(action, known=False)
            return
        seat = self._stepper.step(number)
        if seat == learning.ILLEGAL:
            self._refuse(action, known=True)
            return
        self._taken.append(number)
        self._to_act = seat
        if seat == TERMINAL:
            self._conclude()
        else:
            self.agent_selection = self.possible_agents[seat]
        if self._views:
            self._show_view()

    def agent_iter(self, max_iter: int = sys.maxsize) -> Iterator[str]:
        """Iterate over the agents in the order of their turns; every agent must act."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return self._turns(max_iter)

    def render(self) -> str | None:
        """Return the position as text if the render mode is ``ansi``."""
        if not self._has_reset:
            EnvLogger.error_render_before_reset()
        if self.render_mode != "ansi":
            return None
        view = self.game.referee_view(self._stepper.state)
        return "\n".join(render_text(self.game.scene(view)))

    def close(self) -> None:
        """Do nothing; the environment has no resources to release."""

    def _turns(self, most: int) -> Iterator[str]:
        for _ in range(min(most, sys.maxsize)):
            if not self.agents:
                return
            assert self._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
            self._has_updated = False
            yield self.agent_selection

    def _refuse_step(self) -> None:
        """Raise `AssertionError` before the first reset, and warn after the end."""
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        EnvLogger.warn_step_after_terminated_truncated()

    def _refuse(self, action: Any, *, known: bool) -> None:
        """Raise `IllegalAction`; `known` says whether the action is in the action space."""
        raise IllegalAction(f"{action!r} is not a legal action of {self.agent_selection}")

    def _conclude(self) -> None:
        self.rewards = dict(zip(self.possible_agents, self._stepper.rewards(), strict=True))
        # Nothing else was added, since rewards are only given at the end.
        self._cumulative_rewards = self.rewards.copy()
        self.terminations = dict.fromkeys(self.agents, True)

    def _show_view(self) -> None:
        """Give the current agent its view; the others have empty infos."""
        self.infos = {agent: {} for agent in self.agents}
        seat = self._seat_of[self.agent_selection]
        self.infos[self.agent_selection]["view"] = view_of(self.game, self._stepper.state, seat)


class CheckedEnv(GameEnv):
    """An environment in which an illegal action ends the episode with a reward of -1.

    It behaves like an environment in PettingZoo's three usual wrappers: `OrderEnforcingWrapper`,
    `AssertOutOfBoundsWrapper` and `TerminateIllegalWrapper`.
    """

    def _refuse(self, action: Any, *, known: bool) -> None:
        """End the episode; raise `AssertionError` if the action is not in the action space."""
        assert known, "action is not in action space"
        EnvLogger.warn_on_illegal_move()
        agent = self.agent_selection
        self._cumulative_rewards[agent] = 0
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[agent] = -1.0
        self._accumulate_rewards()
        self._deads_step_first()


def view_of(game: Game, state: State, seat: int) -> dict[str, Any]:
    """Return a new copy of a seat's view as a server would send it."""
    view: dict[str, Any] = from_json(game.view_json(state, seat))
    return view


def observation(play: Position, seat: int) -> Observation:
    """Return a seat's observation of `play` and the mask of its legal actions."""
    game, state = play.game, play.state
    if play.to_act == seat:
        mask = learning.action_mask(game, state)
    else:
        mask = np.zeros(learning.num_dense_actions(game, state), np.int8)
    return {"observation": learning.observe(game, state, seat), "action_mask": mask}


def space(play: Position) -> spaces.Space[Any]:
    """Return the observation space for games with the same options and seats as `play`."""
    shape = learning.observation_shape(play.game, play.state)
    actions = learning.num_dense_actions(play.game, play.state)
    return spaces.Dict(
        {
            "observation": spaces.Box(-1.0, 1.0, shape, np.float32),
            "action_mask": spaces.Box(0, 1, (actions,), np.int8),
        }
    )
