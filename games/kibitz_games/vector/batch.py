"""`VectorGame`: a batch of matches of one game that are stepped together.

::

    from kibitz_games.vector import VectorGame

    with VectorGame("five-in-a-row", {"size": 10}, count=512, seed=7) as games:
        for _ in range(1000):
            # games.observations [512, 3, 10, 10], games.masks [512, 100], games.seats [512]
            step = games.step(games.sample())
            # step.rewards [512, 2], step.over [512]

The observations, the masks and the results of `step` are views of the batch's memory, which the
next call overwrites; copy them to keep them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from kibitz_games.compiled import operations, records
from kibitz_games.core import learning, registry
from kibitz_games.core.game import Features, Game, Json, State
from kibitz_games.core.position import Position
from kibitz_games.vector import kernels
from kibitz_games.vector.slices import Slices, new_states

Rewards: TypeAlias = Literal["outcome", "points"]
"""``outcome``: at the end of a match, from 1 for first to -1 for last place. ``points``: at each
step, the points that each seat has won in the game's own scoring."""
Ints: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
Bools: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"

DEALS = 1024
"""The default number of different starts in a game of chance."""


@dataclass(frozen=True, slots=True)
class Step:
    """The results of a step, for each match."""

    rewards: Features
    """float32 [count, seats]."""
    over: Bools
    """Whether the step ended the match; with `auto_reset`, the next one has already started."""


class VectorGame:
    """`count` matches of one game, stepped in parallel; see the module docstring.

    In a game of chance, each match starts from one of `deals` starts, drawn from `seed`. The same
    seed gives the same matches for any number of `threads` (None: one per core). With `auto_reset`,
    a match that ended restarts immediately, and the results show the new one; otherwise it has no
    legal actions and its `seats` are -1 until `reset`.

    Observations are for the seat to act, and actions are dense numbers: see
    `learning.dense_action`. Raises `GameError` or `ValidationError` for an unsupported setup,
    `ValueError` for other invalid arguments.
    """

    def __init__(
        self,
        game: str | Game,
        options: Mapping[str, Json] | None = None,
        seats: int | None = None,
        *,
        count: int,
        seed: int = 0,
        threads: int | None = None,
        auto_reset: bool = True,
        rewards: Rewards = "outcome",
        deals: int = DEALS,
    ) -> None:
        for name, value in (("count", count), ("threads", threads), ("deals", deals)):
            if value is not None and value < 1:
                raise ValueError(f"{name}: expected at least 1, not {value}")
        self.game = registry.get(game) if isinstance(game, str) else game
        self.options = self.game.Options.model_validate(dict(options or {}))
        self.seats_of_play = min(self.game.info.seats) if seats is None else seats
        self.count, self.auto_reset, self._deals = count, auto_reset, deals
        self._slices = Slices(min(count, threads or os.cpu_count() or 1))
        counts_points = self._check_rewards(rewards)
        self._allocate(Position(self.game, self.options, self.seats_of_play).state, counts_points)
        self.reset(seed)

    def _check_rewards(self, rewards: str) -> bool:
        """Validate `rewards`; return whether they are points."""
        if rewards not in get_args(Rewards):
            expected = " or ".join(get_args(Rewards))
            raise ValueError(f"rewards: expected {expected}, not {rewards!r}")
        counts = operations.offers(self.game.state_type, "points")
        if rewards == "points" and not counts:
            raise ValueError(f"rewards: {self.game.info.name} does not count points")
        return rewards == "points"

    def _allocate(self, state: State, counts_points: bool) -> None:
        game, count, dtype = self.game, self.count, state.dtype
        self.num_actions = learning.num_dense_actions(game, state)
        self.observation_shape = learning.observation_shape(game, state)
        self._chances = np.zeros(count, np.uint64)
        self._actions = np.zeros(count, np.int32)
        self.observations = np.zeros((count, *self.observation_shape), np.float32)
        self.masks = np.zeros((count, self.num_actions), np.int8)
        self.seats = np.zeros(count, np.int32)
        states, raw = new_states(dtype, count)
        self._plays = kernels.Plays(
            states=states,
            raw=raw,
            starts=raw[:0],
            seed=np.uint64(0),
            episodes=np.zeros(count, np.int64),
            points=np.zeros((count, operations.MAX_SEATS)),
            moves=np.zeros((count, operations.max_actions(dtype)), np.int32),
            counts=np.zeros(count, np.int32),
            masks=self.masks,
            seats=self.seats,
            seen=self.observations.reshape(count, -1),
            over=np.zeros(count, np.bool_),
            rewards=np.zeros((count, self.seats_of_play), np.float32),
            observes=operations.offers(dtype, "observe"),
            counts_points=counts_points,
            auto_reset=self.auto_reset,
        )

    # ---------------------------------------------------------------------------- what users call

    def reset(self, seed: int | None = None, chosen: Bools | None = None) -> None:
        """Restart the chosen matches, by default all; a `seed` also restarts the random numbers."""
        if seed is not None:
            if chosen is not None:
                raise ValueError(
                    "a seed applies to all matches; it cannot be combined with `chosen`"
                )
            self._seed(seed)
        which = np.ones(self.count, np.bool_) if chosen is None else np.asarray(chosen, np.bool_)
        if which.shape != (self.count,):
            raise ValueError(f"chosen: expected {self.count} truth values, not {which.shape}")
        self._slices.run(kernels.begin, self.count, self._plays, which)
        self._see_through_views()

    def step(self, actions: Any) -> Step:
        """Play an action in each unfinished match; actions for other matches are ignored.

        Raises `ValueError` for an illegal action, without changing any match.
        """
        given = np.asarray(actions)
        if given.shape != (self.count,) or given.dtype.kind not in "iu":
            received = f"{given.shape} of {given.dtype}"
            raise ValueError(f"actions: expected {self.count} whole numbers, not {received}")
        if given.dtype != np.int32:  # without wrapping values that are out of range
            given = given.astype(np.int64).clip(-1, self.num_actions)
        taken = np.ascontiguousarray(given, np.int32)
        bad = int(kernels.first_illegal(self.masks, self.seats, taken, 0, self.count))
        if bad >= 0:
            raise ValueError(f"actions: {actions[bad]} is not legal in match {bad}")
        self._slices.run(kernels.step, self.count, self._plays, taken)
        self._see_through_views()
        return Step(self._plays.rewards, self._plays.over)

    def sample(self) -> Ints:
        """Draw a uniformly random legal action for each match; -1 if it is over."""
        arrays = (self._chances, self._plays.moves, self._plays.counts, self._actions)
        kernels.sample(*arrays, 0, self.count)  # faster than waking the other threads
        return self._actions

    def state(self, play: int) -> State:
        """Return a copy of the state of a match."""
        state = records.new(self.game.state_type)
        records.as_bytes(state)[:] = self._plays.raw[play]
        return state

    def start(self, play: int, episode: int) -> Position:
        """Return the first position of a match in an episode; episodes count from 1."""
        at = int(kernels.pick(self._plays.seed, play, episode, len(self._seeds)))
        return Position(self.game, self.options, self.seats_of_play, seed=self._seeds[at])

    def episode(self, play: int) -> int:
        """Return how many times a match has been started."""
        return int(self._plays.episodes[play])

    def close(self) -> None:
        """Stop the threads."""
        self._slices.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------ what they do

    def _seed(self, seed: int) -> None:
        """Draw the starts and the seeds of each match's random numbers."""
        source = np.random.default_rng(seed)
        key = np.uint64(source.integers(2**63))
        self._chances[:] = source.integers(0, 2**64, size=self.count, dtype=np.uint64)
        self._plays.episodes[:] = 0
        first = self.game.deal(self.options, self.seats_of_play, 0)
        self._seeds = source.integers(2**53, size=self._deals if first else 1).tolist()
        starts = [
            Position(self.game, self.options, self.seats_of_play, seed=start).state
            for start in self._seeds
        ]
        raw = np.stack([records.as_bytes(state) for state in starts])
        self._plays = self._plays._replace(seed=key, starts=raw)

    def _see_through_views(self) -> None:
        """Compute observations from views, for games without an observation kernel."""
        for play in range(0 if self._plays.observes else self.count):
            seat = max(int(self.seats[play]), 0)
            learning.observe(self.game, self.state(play), seat, self.observations[play])
