"""The house bots of a server, as it asks for them."""

from __future__ import annotations

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
    assert tuple(house.seats(f"{name}:seed=1")) == PERSONALITIES[name].seats


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
