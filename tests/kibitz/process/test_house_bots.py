"""The house bots of a server, as listed and started by it."""

from __future__ import annotations

import math

import pytest

from kibitz.process.house_bots import BOT_MEMORY_MIB, LocalBotLauncher
from kibitz_bots.catalog import PERSONALITIES, Parameter, Personality
from kibitz_bots.catalog.personality import EngineSpec
from kibitz_bots.levels import table

COMPILING_MIB = 400
"""The resident memory of a bot that compiles a search, before it allocates a table."""


def test_a_host_form_can_be_made_of_what_is_said_of_a_bot() -> None:
    lines = {line.name: line for line in LocalBotLauncher().bots()}
    assert set(lines) == set(PERSONALITIES)
    for name, line in lines.items():
        bot = PERSONALITIES[name]
        assert (tuple(line.seats), line.summary) == (bot.seats, bot.summary)
        told = [(each.name, each.default, each.summary) for each in line.parameters]
        assert told == [(each.name, each.default, each.summary) for each in bot.parameters]
        numbers = [each for each in line.parameters if each.type != "word"]
        known = [each for each in bot.parameters if isinstance(each, Parameter)]
        assert [(each.least, each.most) for each in numbers] == [
            (each.least, each.most) for each in known
        ]
        for parameter in numbers:
            least = math.ceil(parameter.least) if parameter.type == "int" else parameter.least
            assert LocalBotLauncher().flaw(f"{name}:{parameter.name}={least}") is None
            below = f"{name}:{parameter.name}={parameter.least - 1}"
            assert "expected" in (LocalBotLauncher().flaw(below) or "")


def test_a_host_form_has_the_words_that_may_be_chosen() -> None:
    house = LocalBotLauncher()
    lines = {line.name: line for line in house.bots()}
    (evaluation,) = (
        each for each in lines["chinese-checkers/alphabeta"].parameters if each.name == "evaluation"
    )
    assert (evaluation.type, evaluation.default) == ("word", "hand")
    for word in evaluation.words:
        assert house.flaw(f"chinese-checkers/alphabeta:evaluation={word}") is None
    assert "evaluation: expected one of euclid, hand" in (
        house.flaw("chinese-checkers/alphabeta:evaluation=rank") or ""
    )


def test_every_bot_keeps_the_pace_of_its_server() -> None:
    command = [*LocalBotLauncher(pace=0.5).command("line-nim/random", "ws://x", "L1")]
    assert command[command.index("--pace") + 1] == "0.5"


@pytest.mark.parametrize("bot", PERSONALITIES.values(), ids=PERSONALITIES)
def test_every_parameter_has_a_largest_value(bot: Personality) -> None:
    house = LocalBotLauncher()
    for parameter in bot.parameters:
        if not isinstance(parameter, Parameter):
            continue
        whole = parameter.type is int
        most = int(parameter.most) if whole else parameter.most
        beyond = most + 1 if whole else math.nextafter(most, math.inf)
        assert house.flaw(f"{bot.name}:{parameter.name}={most}") is None
        for value in (beyond, "inf", "nan", "9" * 400):
            sentence = house.flaw(f"{bot.name}:{parameter.name}={value}") or ""
            assert f"{parameter.name}: expected a" in sentence


@pytest.mark.parametrize("name", PERSONALITIES)
def test_the_tables_of_a_bot_leave_room_in_its_memory(name: str) -> None:
    bot = PERSONALITIES[name]
    numbers = [each for each in bot.parameters if isinstance(each, Parameter)]
    assert {each for each in numbers if "MiB" in each.summary} == {
        each for each in numbers if each.is_memory
    }
    largest = sum(each.most for each in numbers if each.is_memory)
    at_once = bot.build.at_once if isinstance(bot.build, EngineSpec) else 1
    assert largest * at_once + COMPILING_MIB <= BOT_MEMORY_MIB


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            "chinese-checkers/random:seed=x",
            "seed: expected a whole number from 0 to 9007199254740991, not 'x'",
        ),
        ("chinese-checkers/random:seed=-1", "seed: expected a whole number from 0 to"),
        (
            "chinese-checkers/alphabeta:table=1500",
            "table: expected a whole number from 1 to 128, not '1500'",
        ),
        ("chinese-checkers/random:speed=1", "has no parameter 'speed'; it has seed"),
        ("chinese-checkers/nobody", "unknown bot 'chinese-checkers/nobody'"),
    ],
)
def test_a_parameter_that_cannot_be_is_said_with_its_own_error(spec: str, sentence: str) -> None:
    assert sentence in (LocalBotLauncher().flaw(spec) or "")


def test_a_server_tells_at_which_levels_a_bot_plays() -> None:
    told = {
        (bot.name.partition("/")[0], line.seats, line.level): f"{bot.name}:{line.parameters}"
        for bot in LocalBotLauncher().bots()
        for line in bot.levels
    }
    assert told == {
        (game, seats, number): level.bot if ":" in level.bot else f"{level.bot}:"
        for game, by_seats in table().games.items()
        for seats, ladder in by_seats.items()
        for number, level in enumerate(ladder, 1)
    }
