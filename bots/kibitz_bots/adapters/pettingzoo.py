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
act is a dict with its ``view`` as a server would send it. Building the view takes about as long as
the rest of a step; ``views=False`` omits it. Environments can be copied and pickled at any time.

Rewards are given at the end: 1 for finishing ahead of all others, -1 for finishing last, 0 for a
draw between two.

Source of the interface: Terry et al., PettingZoo: Gym for Multi-Agent Reinforcement Learning,
NeurIPS 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable, AECIterator
from pettingzoo.utils.env_logger import EnvLogger
from pydantic_core import from_json

from kibitz_games.conformance.playthrough import render_text
from kibitz_games.core import learning, registry
from kibitz_games.core.game import TERMINAL, Game, IllegalAction, Json, Model
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
        self.play = Position(self.game, chosen, self.seats)
        self._actions = learning.num_dense_actions(self.game, self.play.state)
        self._shape = learning.observation_shape(self.game, self.play.state)
        self._nothing = np.zeros(self._actions, np.int8)
        self._mask, self._to_act = self._nothing, TERMINAL
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        # One space per agent, because each space has its own random state.
        self._action_spaces = {
            agent: spaces.Discrete(self._actions) for agent in self.possible_agents
        }
        self._observation_spaces = {agent: space(self.play) for agent in self.possible_agents}

    @property
    def options(self) -> Model:
        """The options of the game."""
        assert self.play.options is not None
        return self.play.options

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
        deal = int(self._source.integers(2**53))
        self.play = Position(self.game, self.options, self.seats, seed=deal)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._see()

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation with the mask of its legal actions."""
        seat = self._seat_of[agent]
        mask = self._mask if seat == self._to_act else self._nothing
        out = np.empty(self._shape, np.float32)
        return {
            "observation": learning.observe(self.game, self.play.state, seat, out),
            "action_mask": mask.copy(),
        }

    def step(self, action: int | None) -> None:
        """Take an action for the current agent; raises `IllegalAction`."""
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        number = integer(action)
        if number is None or not 0 <= number < self._actions or not self._mask[number]:
            raise IllegalAction(f"{action!r} is not a legal action of {self.agent_selection}")
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()
        self.play.push(learning.dense_action(self.game, self.play.state, number))
        self._see()
        if self._to_act == TERMINAL:
            self._conclude()
        self._accumulate_rewards()

    def render(self) -> str | None:
        """Return the position as text if the render mode is ``ansi``."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(render_text(self.game.scene(self.game.referee_view(self.play.state))))

    def close(self) -> None:
        """Do nothing; the environment has no resources to release."""

    def _conclude(self) -> None:
        outcome = self.play.outcome
        assert outcome is not None
        for agent, score in zip(self.possible_agents, outcome.scores, strict=True):
            self.rewards[agent] = 2.0 * score - 1.0
        self.terminations = dict.fromkeys(self.agents, True)

    def _see(self) -> None:
        """Select the agent to act and update the agents' infos."""
        self._to_act = self.play.to_act
        self._mask = self._nothing
        if self._to_act != TERMINAL:
            self.agent_selection = self.possible_agents[self._to_act]
            self._mask = learning.action_mask(self.game, self.play.state, self._actions)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        seat = self._seat_of[self.agent_selection]
        if self._views:
            self.infos[self.agent_selection]["view"] = view_of(self.play, seat)


class _CheckedIterator(AECIterator[str, Any, Any]):  # type: ignore[misc]
    """The agents in the order of their turns; raises an error if an agent did not act."""

    def __next__(self) -> str:
        world: CheckedEnv = self.env
        agent: str = super().__next__()
        assert world._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
        world._has_updated = False
        return agent


class _CheckedIterable(AECIterable[str, Any, Any]):  # type: ignore[misc]
    def __iter__(self) -> _CheckedIterator:
        return _CheckedIterator(self.env, self.max_iter)


class CheckedEnv(GameEnv):
    """An environment with the checks of PettingZoo's three usual wrappers at a third of their cost.

    They are `OrderEnforcingWrapper`, `AssertOutOfBoundsWrapper` and `TerminateIllegalWrapper`; the
    last gives a reward of -1 for an illegal action.
    """

    _has_reset = _has_updated = False

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new episode."""
        self._has_reset = self._has_updated = True
        super().reset(seed, options)

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation with the mask of its legal actions."""
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return super().observe(agent)

    def render(self) -> str | None:
        """Return the position as text if the render mode is ``ansi``."""
        if not self._has_reset:
            EnvLogger.error_render_before_reset()
        return super().render()

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Iterate over the agents in the order of their turns."""
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return _CheckedIterable(self, max_iter)

    def step(self, action: int | None) -> None:
        """Take an action; an illegal one ends the episode."""
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        dead = self.terminations[agent] or self.truncations[agent]
        number = integer(action)
        known = dead or (number is not None and 0 <= number < self._actions)
        assert known, "action is not in action space"
        if dead or self._mask[number]:
            super().step(action)
        else:
            self._end_illegally(agent)

    def _end_illegally(self, agent: str) -> None:
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[agent] = -1.0
        self._accumulate_rewards()
        self._deads_step_first()


def view_of(play: Position, seat: int) -> dict[str, Any]:
    """Return a new copy of a seat's view as a server would send it."""
    view: dict[str, Any] = from_json(play.game.view_json(play.state, seat))
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
