"""The house bots by name."""

from __future__ import annotations

import re

import pytest
from pydantic import TypeAdapter

from kibitz_bots import SpecError, load
from kibitz_bots.chance import RandomBot
from kibitz_bots.personalities import PERSONALITIES, Personality
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
        ("chinese-checkers/gready-hand", "did you mean chinese-checkers/greedy-hand?"),
        ("nonsense", "unknown bot 'nonsense'; expected a path to a .py file, or one of"),
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
