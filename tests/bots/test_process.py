"""A bot as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from kibitz_bots import process
from kibitz_bots.kinds.random_bot import RandomBot
from kibitz_bots.spec import SpecError
from kibitz_protocol.client.errors import SessionError

ROOT = Path(__file__).parents[2]


HERE = process.URL


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a Python process to its end."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
        check=False,
    )


def test_a_token_comes_from_a_file_or_from_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(" abcdefgh\n")
    assert process._token(path, {}, HERE) == "abcdefgh"
    own = {"KIBITZ_TOKEN": "of-the-environment"}
    assert process._token(None, own, HERE) == "of-the-environment"
    assert process._token(path, own, "ws://elsewhere:1") == "abcdefgh"
    assert process._token(None, {}, HERE) is None
    with pytest.raises(SpecError, match="KIBITZ_TOKEN belongs to"):
        process._token(None, own, "ws://elsewhere:1")


@pytest.mark.parametrize("text", ["", "short", "two words here"])
def test_a_bad_token_file_is_named_and_its_content_is_not(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    with pytest.raises(SpecError, match="expected one token of at least 8") as raised:
        process._token(path, {}, HERE)
    assert str(path) in str(raised.value)
    assert not text or text not in str(raised.value)


def test_a_missing_token_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="expected a file with a token"):
        process._token(tmp_path / "none", {}, HERE)


def test_the_secret_for_coming_back_is_kept_where_only_the_owner_reads(tmp_path: Path) -> None:
    path = tmp_path / "resume"
    assert process._resume(path, {}) is None
    process._write_secret(path, "secret-of-the-welcome")
    process._write_secret(path, "another-secret")
    assert process._resume(path, {}) == "another-secret"
    assert process._resume(path, {"KIBITZ_RESUME": "of-the-environment"}) == "of-the-environment"
    assert path.stat().st_mode & 0o077 == 0


def test_a_secret_that_cannot_be_kept_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot save the resume secret"):
        process._write_secret(tmp_path / "nowhere" / "resume", "secret-of-the-welcome")


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5"])
def test_counts_are_whole_numbers(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert process.main(["chinese-checkers/random", "--matches", number]) == 2
    assert "Invalid value for '--matches'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "expected a bot: game/name, a .py file, or a program after --stdio --"),
        (["--", "node", "bot.js"], "expected --stdio or --gomocup for the program 'bot.js'"),
        (["--stdio", "line-nim/random"], "--stdio takes a program after --, not 'line-nim/random'"),
        (["--stdio", "--", "no-such"], "no-such: no such program"),
        (["--pause", "3", "line-nim/random"], "--pause=3 is for a program"),
        (["--memory", "5"], "--memory is for a program: add --stdio or --gomocup"),
    ],
)
def test_what_is_no_bot_and_no_program_cannot_begin(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert process.main(words) == 2
    assert sentence in capsys.readouterr().err


def test_a_newcomer_finds_its_place_in_the_environment() -> None:
    environment = {"KIBITZ_LOBBY": "L1"}
    assert process._newcomer_setting("KIBITZ_LOBBY", environment) == "L1"
    assert process._newcomer_setting("KIBITZ_NAME", environment) is None
    assert (
        process._newcomer_setting("KIBITZ_LOBBY", environment | {"KIBITZ_RESUME": "secret"}) is None
    )
    handed = environment | {"KIBITZ_RESUME_FD": "3"}
    assert process._newcomer_setting("KIBITZ_LOBBY", handed) == "L1", "its parent says both"


def test_an_unknown_bot_cannot_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert process.main(["chinese-checkers/nobody"]) == 2
    assert "unknown bot" in capsys.readouterr().err


@pytest.mark.e2e
def test_a_file_is_a_program_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "mybot.py"
    path.write_text(
        "from kibitz import Bot\n"
        "class First(Bot):\n"
        "    def choose(self, turn):\n"
        "        return turn.legal[0]\n"
        "if __name__ == '__main__':\n"
        "    First.main()\n"
    )
    done = run(str(path), "--help")
    assert done.returncode == 0
    assert "--lobby" in done.stdout
    assert "SPEC" not in done.stdout


@pytest.mark.e2e
def test_a_bot_without_a_search_loads_no_compiler() -> None:
    code = (
        "import sys, kibitz_bots, kibitz_bots.running.connection, kibitz_protocol.client.client\n"
        "bot = kibitz_bots.load('chinese-checkers/random')()\n"
        "bot.prepare([])\n"
        "sys.exit('numba' in sys.modules or 'llvmlite' in sys.modules)"
    )
    assert run("-c", code).returncode == 0


@pytest.mark.e2e
def test_a_cache_that_one_process_wrote_serves_the_next(tmp_path: Path) -> None:
    """Recursive machine code from a cache must not crash because of unresolved calls."""
    code = (
        "from kibitz_bots import load\n"
        "from kibitz_games.core import registry\n"
        "from kibitz_search.chinese_checkers.evaluation import hand\n"
        "from kibitz_search.algorithms import iddfs\n"
        "from kibitz_search.algorithms.limits import SearchLimits\n"
        "load('chinese-checkers/iddfs-hand:depth=2')().prepare([])\n"
        "game = registry.get('chinese-checkers')\n"
        "state = game.start(game.Options(), 2, {})\n"
        "found = iddfs.Iddfs(state).search(state, hand(state), SearchLimits(depth=2))\n"
        "print(found.action, found.value, found.nodes)\n"
        "assert '.numba.unresolved' not in "
        "''.join(map(str, iddfs._explore.inspect_llvm().values()))\n"
    )
    cold = run("-c", code, KIBITZ_CACHE=str(tmp_path), NUMBA_DISABLE_JIT="0", KIBITZ_PLAIN="0")
    assert cold.returncode == 0, cold.stderr
    warm = run(
        "-c",
        code.rpartition("assert")[0],
        KIBITZ_CACHE=str(tmp_path),
        NUMBA_DISABLE_JIT="0",
        KIBITZ_PLAIN="0",
    )
    plain = run("-c", code.rpartition("assert")[0], KIBITZ_PLAIN="1")
    assert (warm.returncode, warm.stdout) == (0, cold.stdout), warm.stderr
    assert plain.stdout == cold.stdout, plain.stderr


@pytest.mark.parametrize(
    ("error", "status"), [(SessionError("the server is gone"), 1), (SpecError("no such lobby"), 2)]
)
def test_why_a_bot_has_ended_is_said(
    error: Exception,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(process, "_play", AsyncMock(side_effect=error))
    assert process._run(RandomBot, {}, None, None, None) == status
    assert capsys.readouterr().err == f"error: {error}\n"
