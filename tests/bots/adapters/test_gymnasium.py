"""The Gymnasium environments: one seat, the others played by bots."""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from kibitz_bots.adapters.gymnasium import SoloEnv
from kibitz_bots.adapters.opponents import Opponent
from kibitz_bots.catalog import PERSONALITIES
from kibitz_bots.kinds.random_bot import RandomBot
from kibitz_bots.sdk import Bot, Match, Turn
from kibitz_bots.spec import SpecError
from kibitz_games.core import registry
from kibitz_protocol.wire.records import Result
from tests.tools.numbers import Tensor


def learner(name: str, seat: int | None = 0) -> SoloEnv:
    short = {"chinese-checkers": {"size": 2}, "tanks": {"turns": 80}}
    return SoloEnv(name, short.get(name), opponents=[f"{name}/random:seed=1"], seat=seat)


def episode(world: SoloEnv, seed: int) -> tuple[float, int]:
    """Play one random episode; return the final reward and the learner's moves."""
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


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_an_episode_ends_with_the_share_of_the_seat(name: str) -> None:
    world = learner(name)
    reward, moves = episode(world, 2)
    outcome = world.play.outcome
    assert outcome is not None
    assert reward == 2 * outcome.scores[0] - 1
    assert moves > 1


FILES = {
    "class": """
import random
from kibitz import Bot
turns = 0
class Moody(Bot):
    def __init__(self):
        self.offset = random.randrange(100)
    def choose(self, turn):
        global turns
        turns += 1
        return turn.legal[(turns + self.offset) % len(turn.legal)]
""",
    "function": """
import random
import numpy as np
asked = []
def agent(observation):
    asked.append(observation["ply"])
    number = len(observation["legal"])
    return (random.randrange(number) + np.random.randint(number) + len(asked)) % number
""",
    "kaggle": """
import random
def agent(observation, configuration):
    assert configuration.actTimeout > 0
    return random.choice(observation.legal)
""",
}
"""Bot files with memory or with global random state."""


class Searcher(Bot):
    """Tries moves until the budget is used up, like typical user bots."""

    def choose(self, turn: Turn) -> Any:
        tries = 0
        while turn.budget.left > 0:
            tries += 1
        return turn.legal[tries % len(turn.legal)]


class Patient(Bot):
    async def choose(self, turn: Turn) -> Any:
        return random.choice(turn.legal)


def drawing(observation: dict[str, Any]) -> int:
    return int(np.random.randint(len(observation["legal"])))


def with_configuration(observation: Any, configuration: Any) -> np.int64:
    return np.int64(random.randrange(len(observation.legal)))


KINDS: dict[str, Opponent] = {
    "random": "number-merge/random",
    "search": "number-merge/mcts",
    "table": "number-merge/alphabeta:table=1",
    "solver": "number-merge/solver",
    "class": Searcher,
    "async": Patient,
    "factory": lambda: RandomBot(),
    "function": drawing,
    "kaggle function": with_configuration,
    **{f"{name} file": name for name in FILES},
}


@pytest.fixture(params=KINDS)
def opponent(request: pytest.FixtureRequest, tmp_path: Path) -> Opponent:
    """Every kind of opponent; bot files are created first."""
    kind: Opponent = KINDS[request.param]
    if kind not in FILES:
        return kind
    path = tmp_path / "mybot.py"
    path.write_text(FILES[kind])
    return str(path)


def against(opponent: Opponent, seat: int | None = 1) -> SoloEnv:
    return SoloEnv("number-merge", opponents=[opponent], seat=seat, think_nodes=200)


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.names())
def test_every_game_passes_the_checker_of_gymnasium(name: str) -> None:
    # The checker samples without the mask, so almost every episode ends with its first, illegal
    # action.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(learner(name), skip_render_check=True)
        world = SoloEnv(name, opponents=[f"{name}/mcts"], seat=1, think_nodes=50)
        check_env(world, skip_render_check=True)


def test_every_kind_of_opponent_passes_the_checker_of_gymnasium(opponent: Opponent) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(against(opponent), skip_render_check=True)


def played(world: SoloEnv, *, seed: int | None) -> list[Any]:
    """Play one episode with the smallest legal actions; return all observations."""
    seen, info = world.reset(seed=seed)
    shown: list[Any] = [info]
    over = False
    while not over:
        seen, reward, over, _, info = world.step(int(np.flatnonzero(seen["action_mask"])[0]))
        shown += [info, reward, seen["observation"].tolist()]
    return shown


def test_the_same_seed_is_the_same_episodes_whoever_the_opponent_is(opponent: Opponent) -> None:
    world = against(opponent, seat=None)
    random.seed(1)
    first = [played(world, seed=5), played(world, seed=None)]
    random.seed(2)
    np.random.seed(3)
    assert [played(world, seed=5), played(world, seed=None)] == first, "by the same environment"
    again = against(opponent, seat=None)
    assert [played(again, seed=5), played(again, seed=None)] == first, "by another environment"
    assert first[0] != first[1], "but the next episode is another"


def test_another_seed_is_another_play_of_the_opponent() -> None:
    games = [played(SoloEnv("line-nim", opponents=[drawing]), seed=seed) for seed in range(5)]
    assert any(game != games[0] for game in games)


def test_opponents_and_learner_do_not_disturb_each_others_random_numbers() -> None:
    random.seed(4)
    np.random.seed(4)
    expected = random.random(), np.random.random()
    random.seed(4)
    np.random.seed(4)
    played(against(drawing), seed=1)
    assert (random.random(), np.random.random()) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", PERSONALITIES)
def test_every_house_bot_plays_the_same_for_the_same_seed(name: str) -> None:
    game = registry.get(PERSONALITIES[name].game)
    seats = min(PERSONALITIES[name].seats or game.info.seats)
    games = []
    for _ in range(2):
        world = SoloEnv(game, opponents=[name] * (seats - 1), seat=seats - 1, think_nodes=300)
        seen, info = world.reset(seed=3)
        games.append([info])
        for _ in range(3):
            action = int(np.flatnonzero(seen["action_mask"])[0])
            seen, _, over, _, info = world.step(action)
            games[-1].append(info)
            if over:
                break
    assert games[0] == games[1]


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda world: pickle.loads(pickle.dumps(world)),
}


def on(world: SoloEnv, steps: int) -> list[Any]:
    """Continue for a number of steps, then play another episode; return the observations."""
    shown: list[Any] = []
    seen = world._seen()
    for _ in range(steps):
        if not seen["action_mask"].any():
            break
        action = int(np.flatnonzero(seen["action_mask"])[-1])
        seen, reward, over, _, info = world.step(action)
        shown += [seen["action_mask"].tolist(), reward, over, info]
    _, info = world.reset()
    return [*shown, info]


MOMENTS = ("made", "reset", "middle", "end")
COPIED = [
    *(("number-merge", moment, way) for moment in MOMENTS for way in COPIES),
    *((name, "middle", "pickle") for name in registry.names() if name != "number-merge"),
]
"""Every moment and way with one game, and the state of every other game once."""


@pytest.mark.parametrize(("name", "moment", "way"), COPIED)
def test_a_copy_goes_on_as_the_original_does(name: str, moment: str, way: str) -> None:
    world = learner(name)
    if moment != "made":
        seen, _ = world.reset(seed=2)
    if moment in ("middle", "end"):
        source, over, moves = np.random.default_rng(2), False, 0
        while not over and (moment == "end" or moves < 2):
            action = int(source.choice(np.flatnonzero(seen["action_mask"])))
            seen, _, over, _, _ = world.step(action)
            moves += 1
    twin = COPIES[way](world)
    assert twin.play is not world.play
    if moment == "made":
        world.reset(seed=1)
        twin.reset(seed=1)
    expected = on(world, 5)
    assert on(twin, 5) == expected


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_has_its_own_opponents_whatever_kind_they_are(opponent: Opponent, way: str) -> None:
    if way == "pickle" and opponent is KINDS["factory"]:
        pytest.skip("a lambda cannot be pickled, by Python's own rule")
    world = against(opponent)
    seen, _ = world.reset(seed=4)
    world.step(int(np.flatnonzero(seen["action_mask"])[0]))
    twin = COPIES[way](world)
    shown = on(twin, 3)
    assert shown[0] is not None
    seen = world._seen()
    assert seen["action_mask"].any(), "the original was not played on"
    world.step(int(np.flatnonzero(seen["action_mask"])[0]))


@pytest.mark.e2e
def test_a_pickle_is_read_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "mybot.py").write_text(FILES["class"])
    world = against(str(tmp_path / "mybot.py"))
    world.reset(seed=1)
    (tmp_path / "world").write_bytes(pickle.dumps(world))
    code = "import pickle, sys; w = pickle.load(open(sys.argv[1], 'rb')); print(w._seen(), w.seat)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "world")], capture_output=True, text=True
    )
    assert done.stdout.strip() == f"{world._seen()} {world.seat}", done.stderr


def test_infos_are_plain_dicts_of_json() -> None:
    world = against(drawing)
    _, info = world.reset(seed=1)
    assert type(info) is dict
    assert json.loads(json.dumps(info)) == info
    assert info["view"] == world.play.view(world.seat).to_wire()


@pytest.mark.parametrize("number", [np.int8, np.int64, np.array, Tensor])
def test_an_action_may_be_an_integer_of_any_type(number: Callable[[int], Any]) -> None:
    world = against(drawing)
    seen, _ = world.reset(seed=1)
    world.step(number(int(np.flatnonzero(seen["action_mask"])[0])))
    assert len(world.play.history) > 1


@pytest.mark.parametrize("wrong", [True, np.True_, 1.0, None, "1", np.array([1, 2])])
def test_what_is_no_integer_is_no_action(wrong: Any) -> None:
    world = against(drawing)
    world.reset(seed=1)
    with pytest.raises(TypeError, match="expected an action from 0 to 6, not"):
        world.step(wrong)


def test_it_has_to_be_reset_first() -> None:
    with pytest.raises(AssertionError, match="reset"):
        against(drawing).step(0)


def test_opponents_hear_of_the_start_and_of_the_end() -> None:
    heard: list[str] = []

    class Listener(RandomBot):
        def on_match_start(self, match: Match) -> None:
            heard.append(match.id)

        def on_match_end(self, match: Match, result: Result) -> None:
            heard.append(result.reason)

    world = against(Listener)
    played(world, seed=1)
    assert len(heard) == 2
    outcome = world.play.outcome
    assert outcome is not None
    assert heard[1] == outcome.reason


def test_the_seat_can_change_with_every_episode() -> None:
    world = learner("number-merge", seat=None)
    seats = []
    for _ in range(4):
        world.reset()
        seats.append(world.seat)
    assert seats == [0, 1, 0, 1]
    drawn = []
    for seed in [*range(20)] * 2:
        world.reset(seed=seed)
        drawn.append(world.seat)
    assert set(drawn) == {0, 1}
    assert drawn[:20] == drawn[20:]


def test_an_illegal_action_is_the_end() -> None:
    world = learner("chinese-checkers")
    world.reset(seed=0)
    _, reward, over, _, info = world.step(0)
    assert (reward, over, info["illegal"]) == (-1.0, True, 0)


def test_opponents_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("takes 1 opponents, not 2")):
        SoloEnv("number-merge", opponents=["number-merge/random"] * 2)
    with pytest.raises(SpecError, match="unknown bot"):
        SoloEnv("number-merge", opponents=["number-merge/nobody"])
