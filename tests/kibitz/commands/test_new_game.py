"""`kibitz game new`: its files work unchanged, and it never overwrites anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kibitz.cli import kibitz


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new_game(*arguments: str) -> Result:
    return CliRunner().invoke(kibitz, ["game", "new", *arguments])


@pytest.mark.parametrize(
    "name", ["Tic", "tic_tac", "3-men", "tic--tac", "-tic", "tic-", "tic tac", "../tic", ""]
)
def test_a_name_is_lower_case_words_with_hyphens(name: str, directory: Path) -> None:
    refused = new_game("--", name)
    assert refused.exit_code == 2
    assert "lower-case words" in refused.output
    assert not list(directory.iterdir())


@pytest.mark.parametrize("name", ["connect-four", "json", "class", "kibitz-games"])
def test_the_name_of_a_game_or_a_module_is_taken(name: str, directory: Path) -> None:
    refused = new_game(name)
    assert refused.exit_code == 1
    assert f"the name '{name}' is taken" in refused.output
    assert not list(directory.iterdir())


def test_nothing_is_written_over(directory: Path) -> None:
    (directory / "hop").mkdir()
    refused = new_game("hop")
    assert refused.exit_code == 1
    assert "hop already exists" in refused.output
    assert not list((directory / "hop").iterdir())


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["hop", "move", "nine-holes"])
def test_the_tests_of_a_new_game_pass_as_they_are(name: str, directory: Path) -> None:
    done = new_game(name)
    assert done.exit_code == 0, done.output
    for path in Path(name).rglob("*.*"):
        assert f"wrote {path}\n" in done.output
        assert "$" not in path.read_text()
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=name,
        capture_output=True,
        text=True,
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "3 passed" in tested.stdout
