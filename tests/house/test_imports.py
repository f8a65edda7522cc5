"""Who may import whom: the contracts of pyproject.toml, and what they cannot say."""

from __future__ import annotations

import re
import subprocess
import sys
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
    "bots/kibitz_bots/personalities.py",
    "bots/kibitz_bots/evaluate/",
    "clients/kibitz_clients/testing.py",
    "kibitz/demo.py",
)
"""The table of games, the house bots, evaluations (one module a game), test tools, the demo."""


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
    """Outside of its folder a game is a value, in the lines that run and those that explain."""
    own = f"games/kibitz_games/{game.replace('-', '_')}/"
    named = re.compile(rf"\b{re.escape(game)}\b|\b{re.escape(game.replace('-', '_'))}\b")
    guilty = [
        f"{place}:{number}: {line.strip()}"
        for path in sources()
        if not (place := path.relative_to(ROOT).as_posix()).startswith((own, *MAY_NAME_A_GAME))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if named.search(line) and not _is_example(line)
    ]
    assert guilty == []


def _is_example(line: str) -> bool:
    """A line of help or of a docstring that shows how something is written."""
    return "``" in line or line.strip().startswith(('"""', "kibitz ", "#"))
