"""Batched play equals single play for every game, seed and number of threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from kibitz_games.core import learning, registry
from kibitz_games.core.game import TERMINAL, InvalidSetup
from kibitz_games.core.position import Position
from kibitz_games.vector import VectorGame

SHORT: dict[str, dict[str, Any]] = {
    "chinese-checkers": {"size": 2},
    "tanks": {"turns": 60},
    "five-in-a-row": {"size": 6, "swap": True},
}
"""Options for short plays, so that restarts are tested too."""


def assert_equal(games: VectorGame, play: int, single: Position) -> None:
    """Compare a play in a batch with a single play."""
    game, state = games.game, single.state
    assert games.state(play).tobytes() == state.tobytes()
    assert games.seats[play] == single.to_act
    seat = max(single.to_act, 0)
    np.testing.assert_array_equal(games.observations[play], learning.observe(game, state, seat))
    np.testing.assert_array_equal(games.masks[play], learning.action_mask(game, state))


@pytest.mark.parametrize("name", registry.names())
def test_batched_play_is_single_play(name: str) -> None:
    with VectorGame(name, SHORT.get(name), count=5, seed=0, threads=2, deals=8) as games:
        singles = [games.start(play, 1) for play in range(5)]
        ended = 0
        for _ in range(150):
            for play, single in enumerate(singles):
                assert_equal(games, play, single)
            actions = games.sample().copy()
            step = games.step(actions)
            for play, single in enumerate(singles):
                single.push(learning.dense_action(games.game, single.state, int(actions[play])))
                outcome = single.outcome
                assert step.over[play] == (outcome is not None)
                scores = outcome.scores if outcome else [0.5] * games.seats_of_play
                np.testing.assert_allclose(step.rewards[play], [2 * s - 1 for s in scores])
                if outcome is not None:
                    ended += 1
                    singles[play] = games.start(play, games.episode(play))
        assert ended > 0


def digest(name: str, threads: int, seed: int = 3) -> str:
    """Return a hash of a batch's complete output over some plies."""
    total = hashlib.sha256()
    with VectorGame(name, SHORT.get(name), count=13, seed=seed, threads=threads) as games:
        for _ in range(60):
            step = games.step(games.sample())
            for array in (step.rewards, step.over, games.observations, games.masks, games.seats):
                total.update(array.tobytes())
    return total.hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_threads_change_nothing_and_seeds_do(name: str) -> None:
    assert digest(name, 1) == digest(name, 2) == digest(name, 5)
    assert digest(name, 1) != digest(name, 1, seed=4)


PLAIN = """
from tests.games.vector.test_batch import digest
print(digest("connect-four", 1), digest("tanks", 2), digest("number-merge", 1))
"""


@pytest.mark.e2e
def test_plain_and_compiled_batches_are_the_same() -> None:
    env = {**os.environ, "KIBITZ_PLAIN": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        digest("connect-four", 1),
        digest("tanks", 1),
        digest("number-merge", 1),
    ]


@pytest.mark.parametrize("name", ["tanks", "number-merge"])
def test_points_are_rewarded_step_by_step(name: str) -> None:
    with VectorGame(name, SHORT.get(name), count=4, seed=2, rewards="points") as games:
        before = [games.game.points(games.state(play)) for play in range(4)]
        for _ in range(70):
            episodes = [games.episode(play) for play in range(4)]
            step = games.step(games.sample())
            for play in range(4):
                if games.episode(play) == episodes[play]:
                    after = games.game.points(games.state(play))
                    gained = np.subtract(after, before[play])
                    np.testing.assert_allclose(step.rewards[play], gained)
                before[play] = games.game.points(games.state(play))


def test_without_auto_reset_plays_wait_until_they_are_chosen() -> None:
    with VectorGame("connect-four", count=6, seed=1, auto_reset=False) as games:
        for _ in range(42):
            games.step(games.sample())
        assert (games.seats == TERMINAL).all()
        assert not games.masks.any()
        assert (games.sample() == -1).all()
        last = games.state(0).tobytes()
        assert not games.step([7] * 6).over.any()
        assert games.state(0).tobytes() == last
        games.reset(chosen=np.arange(6) < 2)
        assert games.seats.tolist() == [0, 0, -1, -1, -1, -1]
        assert [games.episode(play) for play in range(6)] == [2, 2, 1, 1, 1, 1]


def test_an_action_that_is_not_legal_changes_nothing() -> None:
    with VectorGame("connect-four", count=3) as games:
        before = [games.state(play).tobytes() for play in range(3)]
        for bad in (7, -1, 2**32 + 1, -(2**40)):
            with pytest.raises(ValueError, match=f"actions: {bad} is not legal in match 2"):
                games.step([0, 1, bad])
        for given, found in (([0, 1], r"\(2,\) of int64"), ([0, 1.5, 2], r"\(3,\) of float64")):
            with pytest.raises(ValueError, match=f"expected 3 whole numbers, not {found}"):
                games.step(given)
        assert [games.state(play).tobytes() for play in range(3)] == before
        games.step(np.array([0, 1, 2], np.uint8))
        assert [games.state(play)["ply"] for play in range(3)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("game", "arguments", "sentence"),
    [
        ("connect-four", {"count": 0}, "count: expected at least 1, not 0"),
        ("connect-four", {"count": 1, "threads": 0}, "threads: expected at least 1"),
        ("connect-four", {"count": 1, "deals": -2}, "deals: expected at least 1"),
        ("connect-four", {"count": 1, "rewards": "points"}, "connect-four does not count points"),
        ("connect-four", {"count": 1, "rewards": "x"}, "expected outcome or points, not 'x'"),
    ],
)
def test_what_cannot_be_is_refused(game: str, arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        VectorGame(game, **arguments)


def test_a_setup_that_the_game_has_not_is_refused() -> None:
    with pytest.raises(InvalidSetup):
        VectorGame("connect-four", seats=3, count=1)


def test_a_game_without_compiled_observations_is_seen_through_its_view(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with VectorGame("connect-four", count=3, seed=1) as games:
        monkeypatch.setattr(games, "_plays", games._plays._replace(observes=False))
        monkeypatch.setattr(learning, "_offers", lambda game, name: False)
        for _ in range(50):
            games.step(games.sample())
            for play in range(3):
                game, state = games.game, games.state(play)
                seen = game.features(game.view(state, int(games.seats[play])), games.seats[play])
                np.testing.assert_array_equal(games.observations[play], seen)
