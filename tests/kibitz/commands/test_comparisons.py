"""Commands that compare bots: failures appear in the result and in the exit status."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from kibitz.cli import kibitz
from kibitz.options.analysis import EXIT_FAULT
from kibitz.text import result_tables
from kibitz_protocol.wire.records import Cause
from tests.kibitz.analysis.conftest import RECORDS
from tests.kibitz.conftest import commands

NIM = str(RECORDS / "line-nim.jsonl")
RANDOM = "line-nim/random"

COMPARE = {
    "record analyze": "test_a_bot_that_fails_judges_nothing",
    "arena": "test_causes_that_are_faults",
    "record bisect": "test_a_judge_that_fails_decides_nothing",
    "record branch": "test_a_failure_of_anybody_shows_in_branch",
    "demo": "test_causes_that_are_faults",
    "bot check": "tests/kibitz/conformance",
    "host": "test_causes_that_are_faults",
    "play": "test_causes_that_are_faults",
    "record retry": "test_a_retry_that_fails_is_no_other_answer",
    "sprt": "tests/kibitz/commands/test_sprt.py",
    "match shadow": "tests/kibitz/commands/test_shadow.py",
}
"""Commands whose results depend on bots' play, with the tests of their fault handling."""
OTHERS = {
    *("bot list", "bot new", "bot show", "bot warm", "connect", "game list", "game new"),
    *("game show", "join", "match abort", "match list", "mcp", "pbrain", "record export"),
    *("record replay", "record report", "record verify", "seek", "serve", "train", "watch"),
    *("db backup", "db check", "db nodes", "ladder keep", "ladder rated", "ladder show"),
    *("lobby close", "lobby kick", "lobby list", "lobby rematch", "lobby start"),
    *("token list", "token new", "token revoke"),
}
"""Commands that compare no bots: they list, draw, connect, run ladders, or train on their own
games."""

FAILING = {
    "crash": """
from kibitz import Bot
class Failing(Bot):
    def choose(self, turn):
        raise RuntimeError("out of order")
""",
    "illegal": """
from kibitz import Bot
class Failing(Bot):
    def choose(self, turn):
        return {"x": 99, "y": 0, "length": 1}
""",
    "start": """
from kibitz import Bot
class Failing(Bot):
    def on_match_start(self, match):
        raise RuntimeError("out of order")
    def choose(self, turn):
        return turn.legal[0]
""",
    "prepare": """
from kibitz import Bot
class Failing(Bot):
    def prepare(self, programme):
        raise RuntimeError("out of order")
    def choose(self, turn):
        return turn.legal[0]
""",
}
IN_TURNS = ("crash", "illegal")


@pytest.fixture(params=sorted(FAILING))
def kind(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def failing(tmp_path: Path, kind: str) -> str:
    path = tmp_path / "failing.py"
    path.write_text(FAILING[kind])
    return str(path)


def run(*words: str) -> Result:
    done = CliRunner().invoke(kibitz, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_every_command_is_known_to_compare_or_not() -> None:
    named = {*COMPARE, *OTHERS}
    leaves = [path for path, each in commands() if not isinstance(each, click.Group)]
    assert named == set(map(" ".join, leaves))
    for where in COMPARE.values():
        assert where in globals() or Path(__file__).parents[3].joinpath(where).exists()


@pytest.mark.parametrize("seat", [1, 2])
@pytest.mark.parametrize("side", ["own", "other"])
def test_a_failure_of_anybody_shows_in_branch(
    failing: str, kind: str, seat: int, side: str
) -> None:
    bots = (failing, RANDOM) if side == "own" else (RANDOM, failing)
    words = ["record", "branch", NIM, "--ply", "4", "--seat", str(seat), "--games", "3"]
    words += ["--ms", "5", "--with", bots[0], "--others", bots[1]]
    done = run(*words)
    assert done.exit_code == EXIT_FAULT
    if kind not in IN_TURNS:
        assert "the bot failed" in done.output
        return
    at = seat if side == "own" else 3 - seat
    assert f"failed: {failing} in seat {at}: {kind} 3" in done.output
    told = json.loads(run(*words, "--json").stdout)
    assert told["faults"] == {str(at - 1): {kind: 3}}
    # A bot's own failure is a loss; a game lost by the opponent's failure proves nothing.
    assert (told["counted"], told["score"]) == ((3, 0.0) if side == "own" else (0, None))
    assert ("no score" in done.output) == (side == "other")


def test_a_branch_without_failures_has_status_0() -> None:
    words = ["record", "branch", NIM, "--ply", "4", "--seat", "1", "--games", "2", "--ms", "5"]
    done = run(*words, "--with", RANDOM, "--others", RANDOM)
    assert (done.exit_code, "failed" in done.output) == (0, False)


@pytest.mark.parametrize("seat", ["1", "2"])
def test_a_judge_that_fails_decides_nothing(failing: str, seat: str) -> None:
    done = run("record", "bisect", NIM, "--seat", seat, "--by", failing, "--ms", "5")
    assert done.exit_code == EXIT_FAULT
    assert "the bot failed" in done.output
    assert "could not have done better" not in done.output


def test_a_bot_that_fails_judges_nothing(failing: str) -> None:
    done = run("record", "analyze", NIM, "--by", failing, "--ms", "5")
    assert done.exit_code == EXIT_FAULT
    assert "the bot failed" in done.output


@pytest.mark.parametrize("kind", IN_TURNS)
def test_a_retry_that_fails_is_no_other_answer(failing: str) -> None:
    done = run("record", "retry", NIM, failing, "--seat", "2")
    assert done.exit_code == 1
    assert "not legal" in done.output


def test_causes_that_are_faults() -> None:
    """In a match between bots, all entries except these are part of the play."""
    played = {Cause.RULES, Cause.RESIGNATION}
    assert set(Cause) - result_tables.BOT_FAULTS == played
    # A person may run out of time without a program failing.
    assert set(Cause) - result_tables.ABNORMAL_CAUSES == {*played, Cause.TIME}
