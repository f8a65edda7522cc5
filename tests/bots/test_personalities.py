"""The house bots by name."""

from __future__ import annotations

import importlib
import re

import pytest
from pydantic import TypeAdapter

from kibitz_bots import SpecError, load
from kibitz_bots.chance import RandomBot
from kibitz_bots.personalities import PERSONALITIES, Personality
from kibitz_bots.personalities.making import Recipe, searching
from kibitz_games import registry
from kibitz_protocol.values import Personality as WireName


@pytest.mark.parametrize("personality", PERSONALITIES.values(), ids=list(PERSONALITIES))
def test_every_personality_can_be_made_and_plays_a_game_in_the_box(
    personality: Personality,
) -> None:
    bot = load(personality.name)()
    assert TypeAdapter(WireName).validate_python(personality.name)
    assert set(bot.games) <= set(registry.names())
    assert bot.games
    assert bot.name == personality.name.partition("/")[2]
    assert personality.summary


def test_every_game_has_a_random_player() -> None:
    assert {f"{game}/random" for game in registry.names()} <= set(PERSONALITIES)


@pytest.mark.parametrize("personality", PERSONALITIES.values(), ids=list(PERSONALITIES))
def test_its_search_supports_the_numbers_of_seats_that_it_says(personality: Personality) -> None:
    build, game = personality.build, registry.get(personality.game)
    assert set(personality.seats) <= set(game.info.seats)
    if not isinstance(build, Recipe):
        return
    module, _, name = build.search.partition(":")
    supports = getattr(importlib.import_module(module), name).supports
    for seats in personality.seats or game.info.seats:
        options = game.Options()
        state = game.start(options, seats, game.deal(options, seats, 0))
        assert supports(game.info, state) is None, seats


def test_a_recipe_says_what_the_algorithm_and_the_evaluation_are() -> None:
    plain = searching("package.best_reply:Best", "package.judges:by_hand")
    made = Personality("game/name", "plays", plain)
    assert (made.algorithm, made.evaluation) == ("best-reply", "by-hand")
    said = Personality("game/name", "plays", plain, algorithm="minimax", evaluation="hand")
    assert (said.algorithm, said.evaluation) == ("minimax", "hand")
    drawn = PERSONALITIES["chinese-checkers/random"]
    assert (drawn.algorithm, drawn.evaluation) == ("", "")


@pytest.mark.parametrize("personality", PERSONALITIES.values(), ids=list(PERSONALITIES))
def test_its_parameters_read_their_own_examples(personality: Personality) -> None:
    for each in personality.parameters:
        value = each.default if each.example is None else each.example
        assert each.read(str(value)) == value
        assert each.summary


def test_parameters_are_read() -> None:
    bot = load("chinese-checkers/random:seed=7")()
    assert isinstance(bot, RandomBot)
    assert bot.seed == 7


def test_two_bots_of_one_spec_share_nothing() -> None:
    make = load("chinese-checkers/greedy-hand")
    assert make() is not make()


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("chinese-checkers/gready-hand", "did you mean chinese-checkers/greedy-hand"),
        ("nonsense", "unknown bot 'nonsense'; expected a path to a .py file, or game/name"),
        ("line-nim/zzz", "as `kibitz bots --game line-nim` lists them"),
        ("chinese-checkers/random:speed=1", "no parameter 'speed'; it has seed"),
        ("chinese-checkers/random:seed=abc", "seed: expected a whole number from 0, not 'abc'"),
        ("chinese-checkers/random:seed=-1", "seed: expected a whole number from 0, not '-1'"),
        ("chinese-checkers/iddfs-hand:time=fast", "time: expected a number from 0, not 'fast'"),
        ("chinese-checkers/iddfs-hand:time=nan", "time: expected a number from 0, not 'nan'"),
        ("chinese-checkers/iddfs-hand:time", "time: expected a number from 0, not ''"),
    ],
)
def test_a_wrong_spec_says_what_is_known(spec: str, sentence: str) -> None:
    with pytest.raises(SpecError, match=re.escape(sentence)):
        load(spec)
