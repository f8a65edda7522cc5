"""Who may import whom: the contracts of pyproject.toml, and what they cannot say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz_games import registry

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "protocol/kibitz_protocol",
    "games/kibitz_games",
    "server/kibitz_server",
    "bots/kibitz_bots",
    "clients/kibitz_clients",
    "kibitz",
)
MAY_NAME_A_GAME = (
    "games/kibitz_games/registry.py",
    "bots/kibitz_bots/personalities/",
    "bots/kibitz_bots/evaluate/",
    "bots/kibitz_bots/experts/",
    "bots/kibitz_bots/bridges/gomocup.py",
    "bots/kibitz_bots/bridges/pbrain.py",
    "clients/kibitz_clients/testing.py",
    "kibitz/demo.py",
)
"""The table of games, the house bots, evaluations and experts (each for one game), a protocol that
is spoken for one game only (its engines here, our bots there), test tools, the demo."""


def sources() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def test_the_contracts_are_kept() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_package_is_under_contract() -> None:
    assert {path.name for path in map(Path, PACKAGES)} == {
        path.parent.name for path in ROOT.glob("*/*/py.typed")
    } | {"kibitz"}


@pytest.mark.parametrize("game", registry.names())
def test_no_code_that_is_for_all_games_names_one(game: str) -> None:
    """Outside of its folders a game is a value; only comments and docstrings may name it."""
    module = game.replace("-", "_")
    own = (f"games/kibitz_games/{module}/", f"bots/kibitz_bots/{module}/")
    guilty = [
        f"{place}:{line}: {word}"
        for path in sources()
        if not (place := path.relative_to(ROOT).as_posix()).startswith((*own, *MAY_NAME_A_GAME))
        for line, word in words(ast.parse(path.read_text()))
        if re.search(rf"\b({game}|{module})\b", word)
    ]
    assert guilty == []


def words(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module that are no docstrings, and the modules that it imports."""
    prose = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in prose:
            yield each.lineno, each.value
        elif isinstance(each, ast.ImportFrom):
            yield each.lineno, f"{each.module} {' '.join(alias.name for alias in each.names)}"
        elif isinstance(each, ast.Import):
            yield each.lineno, " ".join(alias.name for alias in each.names)


def test_a_game_that_is_named_is_found() -> None:
    code = '"""Plays chess."""\nfrom kibitz_games import chess\nname = f"{1} chess"\n'
    found = [word for _, word in words(ast.parse(code)) if "chess" in word]
    assert found == ["kibitz_games chess", " chess"]
