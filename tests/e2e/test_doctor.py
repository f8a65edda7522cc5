"""The doctor as run by users: healthy bots, and bots with each kind of fault."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kibitz.conformance.checks import CHECKS
from kibitz_games.core import registry
from tests.tools.command import Kibitz

RAW = Path(__file__).parents[1] / "kibitz" / "conformance" / "raw_bot.py"
FOUR = ("tanks", "4")
MORE = (
    ("one at a time", "several matches at once", "none within 4 s"),
    ("sulks", "match ends while it thinks", "exited with status 6"),
    ("sends again", "answer lost on the way", "a second one"),
    ("leaves at once", "connects", "exited with status 4"),
    ("ends badly", "lobby closes", "status 7"),
)
"""Faults similar enough to others to leave them to the slow tests."""


def failed(kibitz: Kibitz, *words: str) -> dict[str, str]:
    """Run the doctor; return the failed checks and the output."""
    done = kibitz.run("bot", "check", "--json", "--patience", "4", *words, seconds=240)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    found = {each["check"]: each["came"] for each in report["checks"] if each["status"] == "Failed"}
    assert done.returncode == (1 if found else 0), done.stderr
    return found


def test_a_bot_without_our_library_that_is_well(kibitz: Kibitz) -> None:
    assert failed(kibitz, "--", sys.executable, str(RAW), "none") == {}


@pytest.mark.slow
def test_it_is_well_among_four(kibitz: Kibitz) -> None:
    """The checks that find the faults below."""
    checks = ["late answer", "others drop out", "own elimination"]
    only = [word for check in checks for word in ("--check", check)]
    assert failed(kibitz, *only, "--", sys.executable, str(RAW), "none", *FOUR) == {}


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
        ("crashes at a forced move", "forced action", "exited with status 1"),
        ("rubbish", "legal play", "not JSON"),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in MORE),
    ],
)
def test_a_planted_fault_is_found(kibitz: Kibitz, fault: str, check: str, came: str) -> None:
    # Connecting and leaving are always checked; nothing else is needed here.
    only = check if check not in ("connects", "lobby closes") else "told to wait"
    found = failed(kibitz, "--check", only, "--", sys.executable, str(RAW), fault)
    assert [*found] == [check]
    assert came in found[check]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "check", "came"),
    [
        ("sulks", "late answer", "exited with status 6"),
        ("counts on others", "others drop out", "exited with status 8"),
        ("plays on", "own elimination", "refused as"),
    ],
)
def test_a_planted_fault_is_found_among_four(
    kibitz: Kibitz, fault: str, check: str, came: str
) -> None:
    found = failed(kibitz, "--check", check, "--", sys.executable, str(RAW), fault, *FOUR)
    assert [*found] == [check]
    assert came in found[check]


def test_every_check_finds_a_fault() -> None:
    """Thus every new check needs a fault."""
    marks = [
        mark
        for test in (test_a_planted_fault_is_found, test_a_planted_fault_is_found_among_four)
        for mark in test.pytestmark  # type: ignore[attr-defined]
        if mark.name == "parametrize"
    ]
    faults = [getattr(each, "values", each) for mark in marks for each in mark.args[1]]
    found = {check for _, check, _ in faults}
    assert found == {*(check.name for check in CHECKS), "connects", "lobby closes"}


STDIO = """
import json, sys
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "turn":
        print(json.dumps(told["legal"][0] if sys.argv[1] == "well" else {"x": 99}), flush=True)
"""


@pytest.mark.parametrize(("state", "fault"), [("well", set()), ("ill", {"legal play"})])
def test_a_program_on_stdio(kibitz: Kibitz, state: str, fault: set[str]) -> None:
    (kibitz.directory / "bot.py").write_text(STDIO)
    checks = ["--check", "legal play", "--check", "connection lost in its turn"]
    words = ["--stdio", "--game", "line-nim", *(checks if state == "well" else checks[:2])]
    assert {*failed(kibitz, *words, "--", sys.executable, "bot.py", state)} == fault


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
    done = kibitz.run("bot", "check", "--", "no-such-command")
    assert done.returncode == 2
    assert "no-such-command" in done.stderr
