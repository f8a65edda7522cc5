"""The Gymnasium environments: one seat, the others played by bots."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from kibitz_bots.adapters.gymnasium import SoloEnv
from kibitz_bots.spec import SpecError
from kibitz_games.core import registry


def learner(name: str, seat: int | None = 0) -> SoloEnv:
    short = {"chinese-checkers": {"size": 2}, "tanks": {"turns": 80}}
    return SoloEnv(name, short.get(name), opponents=[f"{name}/random:seed=1"], seat=seat)


def episode(world: SoloEnv, seed: int) -> tuple[float, int]:
    """Play one episode at random; return the reward of the end and the learner's moves."""
    seen, _ = world.reset(seed=seed)
    source, moves = np.random.default_rng(seed), 0
    while True:
        action = int(source.choice(np.flatnonzero(seen["action_mask"])))
        seen, reward, over, cut, _ = world.step(action)
        moves += 1
        assert not cut
        if over:
            return reward, moves
        assert reward == 0


@pytest.mark.parametrize("name", registry.names())
def test_an_episode_ends_with_the_share_of_the_seat(name: str) -> None:
    world = learner(name)
    reward, moves = episode(world, 2)
    outcome = world.play.outcome
    assert outcome is not None
    assert reward == 2 * outcome.scores[0] - 1
    assert moves > 1


def test_it_passes_the_checker_of_gymnasium() -> None:
    # The checker samples without the mask, so nearly every episode is one illegal action long.
    check_env(learner("number-merge"), skip_render_check=True)


def test_the_same_seed_is_the_same_episode() -> None:
    assert episode(learner("number-merge"), 5) == episode(learner("number-merge"), 5)


def test_the_seat_can_change_with_every_episode() -> None:
    world = learner("number-merge", seat=None)
    seats = []
    for seed in range(4):
        world.reset(seed=seed)
        seats.append(world.seat)
    assert seats == [0, 1, 0, 1]


def test_an_illegal_action_is_the_end() -> None:
    world = learner("chinese-checkers")
    world.reset(seed=0)
    _, reward, over, _, info = world.step(0)
    assert (reward, over, info["illegal"]) == (-1.0, True, 0)


def test_opponents_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("is for 1 opponents, not 2")):
        SoloEnv("number-merge", opponents=["number-merge/random"] * 2)
    with pytest.raises(SpecError, match="unknown bot"):
        SoloEnv("number-merge", opponents=["number-merge/nobody"])


def test_the_environments_are_found_where_they_were_before() -> None:
    with pytest.warns(DeprecationWarning, match=r"bridges\.solo is kibitz_bots\.adapters\.gym"):
        from kibitz_bots.bridges.solo import SoloEnv as Before
    with pytest.warns(DeprecationWarning, match=r"bridges\.aec is kibitz_bots\.adapters\.pet"):
        from kibitz_bots.bridges import aec
    assert Before is SoloEnv
    assert callable(aec.env)
