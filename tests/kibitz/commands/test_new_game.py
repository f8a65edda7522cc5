"""`kibitz new-game`: what it writes works as it is, and it never writes over anything."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kibitz.cli import kibitz
from tests.tools.project_copy import ROOT, copy_project, environment

REGISTRY = "games/kibitz_games/core/registry.py"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a clone has of games."""
    for folder in ("games/kibitz_games", "tests/games", "docs/games"):
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=left_out)
    for file in ("README.md", "mkdocs.yml"):
        shutil.copy(ROOT / file, tmp_path)
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


@pytest.mark.parametrize("path", [REGISTRY, "README.md", "docs/games/README.md", "mkdocs.yml"])
def test_a_list_of_games_that_looks_otherwise_is_left_alone(clone: Path, path: str) -> None:
    (clone / path).write_text("MODULES = {}\n")
    before = _files(clone)
    assert f"{path} has no list of games" in _refusal("hop", "--root", str(clone))
    assert _files(clone) == before


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["hop", "nine-holes"])
def test_the_tests_of_a_new_game_pass_as_they_are(name: str, tmp_path: Path) -> None:
    clone = copy_project(tmp_path)

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=clone,
            env=environment(clone),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    printed = run("kibitz", "new-game", name)
    for path in (REGISTRY, "README.md", "docs/reference/house-bots.md"):
        assert f"wrote {path}\n" in printed
    assert f'    "{name}": "kibitz_games.' in (clone / REGISTRY).read_text()
    assert f"wrote {clone}" not in printed
    chosen = f"{name} or {name.replace('-', '_')}"
    found = run("pytest", "-q", "tests/games", "-k", chosen, "-m", "not slow and not e2e")
    assert int(found.split(" passed")[0].split()[-1]) >= 20
    assert "House bots" in run("kibitz", "games", name)
