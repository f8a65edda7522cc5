"""Warm-up and play use the same machine code: nothing is compiled while a clock runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz_bots.catalog import PERSONALITIES
from kibitz_bots.catalog.personality import EngineSpec
from kibitz_games.compiled import kernels

LIKELY = (
    "chinese-checkers/phases",
    "chinese-checkers/mpmix",
    "line-nim/greedy",
    "line-nim/solver",
)
"""The bots with the most code that only some positions need."""

pytestmark = pytest.mark.skipif(not kernels.compiled(), reason="nothing is compiled")


def specs(game: str) -> list[str]:
    """Return every bot of a game with every evaluation."""
    found = []
    for name, bot in PERSONALITIES.items():
        choices = bot.build.choices if isinstance(bot.build, EngineSpec) else {}
        if bot.game == game:
            found += [f"{name}:evaluation={each}" for each in choices] or [name]
    return found


def missing(*names: str) -> dict[str, list[str]]:
    """Return the compiler requests of each bot's turns after its warm-up."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.compile_audit", *names],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr
    measured = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, *_ in measured] == list(names)
    assert any(before for _, before, _ in measured), "nothing was measured"
    return {name: after for name, _, after in measured if after}


@pytest.mark.e2e
def test_turns_ask_for_no_code_that_warming_up_has_not_made() -> None:
    assert missing(*LIKELY) == {}


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted({each.game for each in PERSONALITIES.values()}))
def test_no_turn_of_any_house_bot_asks_for_code(game: str) -> None:
    assert missing(*specs(game)) == {}
