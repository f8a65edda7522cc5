"""The PettingZoo environments, checked with PettingZoo's own tests."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from kibitz_bots.adapters.pettingzoo import GameEnv, env
from kibitz_games.core import registry
from kibitz_games.core.game import GameError, IllegalAction
from kibitz_games.core.position import Played
from tests.tools.numbers import Tensor

SHORT: dict[str, dict[str, Any]] = {"chinese-checkers": {"size": 2}, "tanks": {"turns": 80}}
"""Options that shorten long games."""
MASKED = "Observation (is not a NumPy array|space for each agent probably should be)"
"""PettingZoo's warnings about external environments with an action mask."""
EMPTY = "Observation numpy array is all zeros"
"""Expected for an empty board, in the planes of own and other pieces."""


@pytest.mark.parametrize("name", registry.names())
def test_every_game_passes_the_api_test(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=MASKED)
        warnings.filterwarnings("ignore", message=EMPTY)
        api_test(env(name, SHORT.get(name)), num_cycles=60)


@pytest.mark.parametrize("name", registry.names())
def test_every_game_passes_the_seed_test(name: str) -> None:
    seed_test(lambda: env(name, SHORT.get(name)), num_cycles=40)


@pytest.mark.parametrize("name", registry.names())
def test_a_random_play_ends_with_rewards_that_say_who_was_better(name: str) -> None:
    world = GameEnv(name, SHORT.get(name))
    world.reset(seed=3)
    source = np.random.default_rng(5)
    for agent in world.agent_iter():
        seen, _, termination, truncation, _ = world.last()
        if termination or truncation:
            world.step(None)
            continue
        assert agent == f"seat_{world.play.to_act}"
        assert seen is not None
        assert np.abs(seen["observation"]).max() <= 1
        world.step(int(source.choice(np.flatnonzero(seen["action_mask"]))))
        if not world.rewards or any(world.terminations.values()):
            outcome = world.play.outcome
            assert outcome is not None
            assert list(world.rewards.values()) == [2 * score - 1 for score in outcome.scores]
    assert world.agents == []


@pytest.mark.parametrize("name", registry.names())
def test_only_the_agent_to_act_has_something_to_do(name: str) -> None:
    world = GameEnv(name, seats=max(registry.get(name).info.seats))
    world.reset(seed=1)
    busy = [agent for agent in world.agents if world.observe(agent)["action_mask"].any()]
    assert busy == [world.agent_selection]


def test_the_next_play_of_one_seed_is_another_and_repeatable() -> None:
    world, again = GameEnv("number-merge"), GameEnv("number-merge")
    deals = []
    for each in (world, again):
        each.reset(seed=11)
        deals.append([each.play.deal])
        each.reset()
        deals[-1].append(each.play.deal)
    assert deals[0] == deals[1]
    assert deals[0][0] != deals[0][1]


def test_an_illegal_action_is_an_error_and_with_the_wrappers_the_end() -> None:
    raw = GameEnv("chinese-checkers", {"size": 2})
    raw.reset(seed=0)
    with pytest.raises(IllegalAction, match=r"0 is not a legal action of seat_0"):
        raw.step(0)
    world = env("chinese-checkers", {"size": 2})
    world.reset(seed=0)
    world.step(0)
    assert world.rewards["seat_0"] == -1
    assert all(world.terminations.values())


def test_a_game_that_is_not_there_is_named() -> None:
    with pytest.raises(GameError, match="unknown game 'chess'"):
        env("chess")


def test_it_draws_itself() -> None:
    world = GameEnv("chinese-checkers", {"size": 1}, render_mode="ansi")
    world.reset(seed=0)
    picture = world.render()
    assert picture is not None
    assert "seat 1 N" in picture
    silent = GameEnv("chinese-checkers")
    silent.reset(seed=0)
    assert silent.render() is None


def test_what_is_done_in_the_wrong_order_or_out_of_bounds_is_refused() -> None:
    world = env("connect-four")
    for early in (lambda: world.step(0), lambda: world.observe("seat_0"), world.agent_iter):
        with pytest.raises(AssertionError, match="reset"):
            early()
    world.reset(seed=0)
    with pytest.raises(AssertionError, match="not in action space"):
        world.step(7)
    agents = iter(world.agent_iter())
    next(agents)
    with pytest.raises(AssertionError, match="need to call step"):
        next(agents)


def test_a_view_is_that_of_its_moment_whoever_looks_later() -> None:
    world = GameEnv("connect-four")
    world.reset(seed=0)
    info, view = world.infos["seat_0"], world.play.view(0).to_wire()
    world.step(3)
    assert dict(info) == {"view": view} == info
    assert "view" in info
    assert info.get("view") == info["view"] == view


@pytest.mark.parametrize("name", registry.names())
def test_every_game_passes_the_render_test(name: str) -> None:
    render_test(lambda render_mode: env(name, SHORT.get(name), render_mode=render_mode))


def moved(world: GameEnv, most: int) -> GameEnv:
    """Play up to `most` random moves from a seed."""
    source = np.random.default_rng(5)
    for _ in range(most):
        seen, _, over, _, _ = world.last()
        if over or seen is None:
            break
        world.step(int(source.choice(np.flatnonzero(seen["action_mask"]))))
    return world


def shown(world: GameEnv) -> str:
    """Return everything that an environment exposes, as text."""
    seen = {agent: world.observe(agent) for agent in world.agents}
    return repr([seen, world.rewards, world.terminations, world.infos, world.agent_selection])


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda world: pickle.loads(pickle.dumps(world)),
}


PLIES = (0, 3, 10_000)
COPIED = [
    *(
        ("number-merge", make, plies, way)
        for make in (env, GameEnv)
        for plies in PLIES
        for way in COPIES
    ),
    *((name, env, 3, "pickle") for name in registry.names() if name != "number-merge"),
]
"""Every moment and way with one game, and the state of every other game once."""


@pytest.mark.parametrize(("name", "make", "plies", "way"), COPIED)
def test_a_copy_goes_on_as_the_original_does(
    name: str, make: Callable[..., GameEnv], plies: int, way: str
) -> None:
    world = make(name, SHORT.get(name))
    assert COPIES[way](world).possible_agents == world.possible_agents, "before the first reset"
    world.reset(seed=2)
    moved(world, plies)
    before = shown(world)
    twin = COPIES[way](world)
    assert shown(twin) == before
    moved(twin, 2)
    assert shown(world) == before, "the copy has a play of its own"
    assert shown(moved(world, 2)) == shown(twin)
    world.reset()
    twin.reset()
    assert shown(world) == shown(twin), "the next play is the same one too"


@pytest.mark.parametrize("name", registry.names())
def test_infos_are_plain_dicts_of_json(name: str) -> None:
    world = GameEnv(name, SHORT.get(name))
    world.reset(seed=1)
    for _ in range(3):
        acting = world.agent_selection
        for agent, info in world.infos.items():
            assert type(info) is dict
            assert {**info} == copy.deepcopy(info) == json.loads(json.dumps(info))
            assert list(info) == (["view"] if agent == acting else [])
        assert world.infos[acting]["view"] == world.play.view(world.play.to_act).to_wire()
        moved(world, 1)


def test_views_can_be_left_out() -> None:
    world = env("connect-four", views=False)
    world.reset(seed=0)
    assert world.infos == {"seat_0": {}, "seat_1": {}}


@pytest.mark.parametrize("name", registry.names())
def test_observations_do_not_change_later_and_may_be_overwritten(name: str) -> None:
    world = GameEnv(name, SHORT.get(name), views=False)
    world.reset(seed=4)
    kept: list[tuple[Any, Any]] = []
    for _ in range(12):
        for agent in world.agents:
            seen, again = world.observe(agent), world.observe(agent)
            kept.append((seen, copy.deepcopy(seen)))
            for array in again.values():
                array[...] = 9
        moved(world, 1)
    for seen, before in kept:
        np.testing.assert_equal(seen, before)


def test_a_position_read_from_an_environment_is_a_copy() -> None:
    world = GameEnv("connect-four", views=False)
    world.reset(seed=0)
    world.step(3)
    before = shown(world)
    world.play.push(3)
    assert shown(world) == before
    assert world.play.history == [Played(0, 3)]


@pytest.mark.parametrize("make", [env, GameEnv])
@pytest.mark.parametrize("number", [int, np.int8, np.uint64, np.array, Tensor])
def test_an_action_may_be_an_integer_of_any_type(
    make: Callable[..., GameEnv], number: Callable[[int], Any]
) -> None:
    world = make("connect-four")
    world.reset(seed=0)
    world.step(number(3))
    assert world.play.history == [Played(0, 3)]


@pytest.mark.parametrize("wrong", [True, np.True_, Tensor(1, "torch.bool"), 3.0, "3", np.ones(2)])
def test_what_is_no_integer_is_no_action(wrong: Any) -> None:
    cases: list[tuple[Any, type[Exception]]] = [(env, AssertionError), (GameEnv, IllegalAction)]
    for make, error in cases:
        world = make("connect-four")
        world.reset(seed=0)
        with pytest.raises(error, match="action"):
            world.step(wrong)
