"""The doctor as people call it: bots that are well, and bots with a fault of each kind."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kibitz.testing import Kibitz
from kibitz_games import registry

RAW = Path(__file__).parents[1] / "house" / "clinic" / "raw_bot.py"


def failed(kibitz: Kibitz, *words: str) -> dict[str, str]:
    """Run the doctor; return what failed and what came."""
    done = kibitz.run("doctor", "--json", "--patience", "4", *words, seconds=240)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    found = {each["check"]: each["came"] for each in report["checks"] if each["status"] == "Failed"}
    assert done.returncode == (1 if found else 0), done.stderr
    return found


def test_a_bot_without_our_library_that_is_well(kibitz: Kibitz) -> None:
    assert failed(kibitz, "--", sys.executable, str(RAW), "none") == {}


@pytest.mark.parametrize(
    ("fault", "check", "came"),
    [
        ("illegal", "legal play", "refused as malformed"),
        ("hangs", "legal play", "none within 4 s"),
        ("slow", "short clock", "its flag fell"),
        ("stays away", "connection lost in its turn", "it did not connect"),
        ("stranger", "connection lost between turns", "without the secret"),
        ("twice", "legal play", "a second one at ply 0"),
        ("answers again", "connection lost in its turn", "a second one"),
        ("impatient", "told to wait", "it came after"),
        ("crashes at a forced move", "forced action", "ended with status 1"),
        ("rubbish", "legal play", "not JSON"),
    ],
)
def test_a_planted_fault_is_found(kibitz: Kibitz, fault: str, check: str, came: str) -> None:
    found = failed(kibitz, "--check", check, "--", sys.executable, str(RAW), fault)
    assert came in found[check]


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["random", "greedy"])
@pytest.mark.parametrize("game", [name for name in registry.names() if name != "chinese-checkers"])
def test_house_bots_are_well(kibitz: Kibitz, game: str, bot: str) -> None:
    assert failed(kibitz, f"{game}/{bot}") == {}


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["random", "greedy-hand"])
def test_bots_for_six_are_well(kibitz: Kibitz, bot: str) -> None:
    assert failed(kibitz, f"chinese-checkers/{bot}") == {}


def test_a_command_that_is_not_there(kibitz: Kibitz) -> None:
    done = kibitz.run("doctor", "--", "no-such-command")
    assert done.returncode == 2
    assert "no-such-command" in done.stderr
