"""The house bots of a server, as it asks for them."""

from __future__ import annotations

import math

import pytest

from kibitz.process.house_bots import LocalBotLauncher
from kibitz_bots.catalog import PERSONALITIES


@pytest.mark.parametrize("name", PERSONALITIES)
def test_every_bot_can_be_made_as_it_is_and_as_its_examples_say(name: str) -> None:
    house = LocalBotLauncher()
    assert house.flaw(name) is None
    for parameter in PERSONALITIES[name].parameters:
        value = parameter.default if parameter.example is None else parameter.example
        assert house.flaw(f"{name}:{parameter.name}={value}") is None


def test_a_host_form_can_be_made_of_what_is_said_of_a_bot() -> None:
    lines = {line.name: line for line in LocalBotLauncher().bots()}
    assert set(lines) == set(PERSONALITIES)
    for name, line in lines.items():
        bot = PERSONALITIES[name]
        assert (tuple(line.seats), line.summary) == (bot.seats, bot.summary)
        told = [(each.name, each.least, each.default) for each in line.parameters]
        assert told == [(each.name, each.least, each.default) for each in bot.parameters]
        for parameter in line.parameters:
            least = math.ceil(parameter.least) if parameter.type == "int" else parameter.least
            assert LocalBotLauncher().flaw(f"{name}:{parameter.name}={least}") is None
            below = f"{name}:{parameter.name}={parameter.least - 1}"
            assert "expected" in (LocalBotLauncher().flaw(below) or "")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("chinese-checkers/random:seed=x", "seed: expected a whole number from 0, not 'x'"),
        ("chinese-checkers/random:seed=-1", "seed: expected a whole number from 0, not '-1'"),
        ("chinese-checkers/random:speed=1", "has no parameter 'speed'; it has seed"),
        ("chinese-checkers/nobody", "unknown bot 'chinese-checkers/nobody'"),
    ],
)
def test_a_parameter_that_cannot_be_is_said_with_its_own_error(spec: str, sentence: str) -> None:
    assert sentence in (LocalBotLauncher().flaw(spec) or "")
