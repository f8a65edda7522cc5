"""Import rules: the contracts in pyproject.toml, and rules it cannot express."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz_games.core import registry

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "protocol/kibitz_protocol",
    "games/kibitz_games",
    "search/kibitz_search",
    "training/kibitz_training",
    "server/kibitz_server",
    "bots/kibitz_bots",
    "arena/kibitz_arena",
    "clients/kibitz_clients",
    "kibitz",
)
MAY_NAME_A_GAME = (
    "games/kibitz_games/core/registry.py",
    "bots/kibitz_bots/catalog/",
    "bots/kibitz_bots/adapters/gomocup_client.py",
    "bots/kibitz_bots/adapters/gomocup_server.py",
    "training/kibitz_training/experiments.py",
    "kibitz/local/demo_programme.py",
)
"""The table of games, the catalog of bots, the protocol that exists for one game only (engines
here, our bots there), the table of experiments, the demo."""
OWN_FOLDERS = (
    "games/kibitz_games",
    "search/kibitz_search",
    "training/kibitz_training",
    "bots/kibitz_bots",
)
"""The folders with a subfolder for each game."""


def sources() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


@pytest.mark.e2e
def test_the_contracts_are_kept() -> None:
    # In a separate process, because import-linter configures logging globally.
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_is_under_contract() -> None:
    assert {path.name for path in map(Path, PACKAGES)} == {
        path.parent.name for path in ROOT.glob("*/*/py.typed")
    } | {"kibitz"}


def test_no_code_that_is_for_all_games_names_one() -> None:
    """Outside its folders a game is only a value; only comments and docstrings may name it."""
    games = {game: game.replace("-", "_") for game in registry.BUILT_IN}
    named = re.compile(rf"\b({'|'.join([*games, *games.values()])})\b")
    guilty = []
    for path in sources():
        place = path.relative_to(ROOT).as_posix()
        text = path.read_text()
        if place.startswith(MAY_NAME_A_GAME) or not named.search(text):
            continue
        for line, word in words(ast.parse(text)):
            for found in named.findall(word):
                own = tuple(f"{folder}/{found.replace('-', '_')}/" for folder in OWN_FOLDERS)
                if not place.startswith(own):
                    guilty.append(f"{place}:{line}: {word}")
    assert guilty == []


def words(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module except docstrings, and the modules it imports."""
    docstrings = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if (
            isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and id(each) not in docstrings
        ):
            yield each.lineno, each.value
        elif isinstance(each, ast.ImportFrom):
            yield each.lineno, f"{each.module} {' '.join(alias.name for alias in each.names)}"
        elif isinstance(each, ast.Import):
            yield each.lineno, " ".join(alias.name for alias in each.names)


def test_a_game_that_is_named_is_found() -> None:
    code = '"""Plays chess."""\nfrom kibitz_games import chess\nname = f"{1} chess"\n'
    found = [word for _, word in words(ast.parse(code)) if "chess" in word]
    assert found == ["kibitz_games chess", " chess"]
