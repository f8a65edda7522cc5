"""Starters of bots: what `kibitz bot new` writes plays, and its test holds it to that."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kibitz.cli import kibitz

TESTS = {
    "python": [sys.executable, "-m", "unittest"],
    "node": ["node", "--test"],
    "c": ["make", "test"],
}
NEEDS = {"python": sys.executable, "node": "node", "c": "cc"}


def new_bot(*words: str) -> Result:
    return CliRunner().invoke(kibitz, ["bot", "new", *words])


def run_test(directory: Path, language: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        TESTS[language], cwd=directory, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.e2e
@pytest.mark.parametrize("language", TESTS)
def test_a_starter_passes_its_own_test_and_fails_it_when_broken(
    language: str, tmp_path: Path
) -> None:
    if shutil.which(NEEDS[language]) is None:
        pytest.skip(f"{NEEDS[language]} is not installed")
    directory = tmp_path / "my-bot"
    done = new_bot(str(directory), "--lang", language)
    assert done.exit_code == 0, done.output
    for path in directory.iterdir():
        assert f"wrote {path}" in done.output
        assert "docs/examples" not in path.read_text()
    tested = run_test(directory, language)
    assert tested.returncode == 0, tested.stdout + tested.stderr
    breaks = {
        "python": ("bot.py", "return random.choice(position.legal)", "return -1"),
        "node": ("bot.js", "return moves[", "return [{ x: 9 }]["),
        "c": ("bot.c", 'printf("%.*s\\n"', 'printf("no %.*s\\n"'),
    }
    name, good, bad = breaks[language]
    text = (directory / name).read_text()
    assert good in text
    (directory / name).write_text(text.replace(good, bad))
    assert run_test(directory, language).returncode != 0


def test_a_game_can_be_named(tmp_path: Path) -> None:
    done = new_bot(str(tmp_path / "nimrod"), "--game", "line-nim")
    assert done.exit_code == 0, done.output
    assert "kibitz play line-nim bot.py line-nim/random" in done.output
    assert "class Nimrod(Bot):" in (tmp_path / "nimrod" / "bot.py").read_text()


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = new_bot(str(tmp_path / "mine"))
    assert done.exit_code == 1
    assert "is there already" in done.output
    assert not [*(tmp_path / "mine").iterdir()]


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (("1bot",), 2, "expected a name of letters"),
        (("b$t",), 2, "expected a name of letters"),
        (("bot", "--lang", "cobol"), 2, "'cobol' is not one of"),
        (("bot", "--game", "chess"), 1, "unknown game 'chess'"),
    ],
)
def test_what_cannot_be_is_refused(
    words: tuple[str, ...], status: int, sentence: str, tmp_path: Path
) -> None:
    done = new_bot(str(tmp_path / words[0]), *words[1:])
    assert done.exit_code == status
    assert sentence in done.output
    assert not [*tmp_path.iterdir()]
