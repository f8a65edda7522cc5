"""House bots that play in the process of `kibitz play`."""

from __future__ import annotations

import pytest

from kibitz.local.residents import resident_bot
from kibitz_bots.kinds.random_bot import RandomBot


@pytest.mark.parametrize("name", ["connect-four/random", "connect-four/random:seed=3"])
def test_a_uniformly_random_bot_is_resident(name: str) -> None:
    make = resident_bot(name)
    assert make is not None
    bot = make()
    assert type(bot) is RandomBot
    assert bot.seed == (3 if "seed" in name else None)


@pytest.mark.parametrize("name", ["connect-four/greedy", "line-nim/random", "random.py"])
def test_searches_compiled_rules_and_files_are_not(name: str) -> None:
    assert resident_bot(name) is None
