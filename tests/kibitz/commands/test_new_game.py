"""`kibitz new-game`: what it writes works as it is, and it never writes over anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kibitz.cli import kibitz

ROOT = Path(__file__).parents[3]
REGISTRY = "games/kibitz_games/core/registry.py"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a clone has of games."""
    for folder in ("games/kibitz_games", "tests/games", "tests/tools", "docs/games"):
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=left_out)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def _files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _refusal(*arguments: str) -> str:
    result = CliRunner().invoke(kibitz, ["new-game", *arguments])
    assert result.exit_code in (1, 2)
    return result.output


@pytest.mark.parametrize(
    "name", ["Tic", "tic_tac", "3-men", "tic--tac", "-tic", "tic-", "tic tac", "../tic", ""]
)
def test_a_name_is_lower_case_words_with_hyphens(name: str, clone: Path) -> None:
    before = _files(clone)
    assert "lower-case words" in _refusal("--root", str(clone), "--", name)
    assert _files(clone) == before


def test_nothing_is_written_over(clone: Path) -> None:
    before = _files(clone)
    assert "is there already" in _refusal("connect-four", "--root", str(clone))
    assert _files(clone) == before


def test_it_writes_into_a_clone_only(tmp_path: Path) -> None:
    assert f"it has no {REGISTRY}" in _refusal("hop", "--root", str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_table_of_games_that_looks_otherwise_is_left_alone(clone: Path) -> None:
    (clone / REGISTRY).write_text("MODULES = {}\n")
    before = _files(clone)
    assert "has no table of games" in _refusal("hop", "--root", str(clone))
    assert _files(clone) == before


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["hop", "nine-holes"])
def test_the_tests_of_a_new_game_pass_as_they_are(name: str, clone: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {
        "PYTHONPATH": os.pathsep.join([str(clone), str(clone / "games")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "KIBITZ_PLAIN": "1",
    }

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=clone,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert f"wrote {REGISTRY}" in run("kibitz", "new-game", name)
    assert f'    "{name}": "kibitz_games.' in (clone / REGISTRY).read_text()
    chosen = f"{name} or {name.replace('-', '_')}"
    found = run("pytest", "-q", "tests/games", "-k", chosen, "-m", "not slow and not e2e")
    assert int(found.split(" passed")[0].split()[-1]) >= 20
    assert "House bots" in run("kibitz", "games", name)
