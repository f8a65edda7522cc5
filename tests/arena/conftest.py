"""Golden files for the arena's tests, and its games.

Update goldens with ``KIBITZ_GOLDENS=write``, and check the diff before you commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game

GOLDENS = Path(__file__).parent / "goldens"


@pytest.fixture(scope="session")
def game() -> Game:
    return registry.get("chinese-checkers")


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with a file of ``goldens/``."""

    def compare(name: str, text: str) -> None:
        path = GOLDENS / name
        if os.environ.get("KIBITZ_GOLDENS") == "write":
            path.write_text(text + "\n", encoding="utf-8")
        assert text + "\n" == path.read_text(encoding="utf-8")

    return compare
