"""Sample matches for tests of the clients, and golden files.

Update goldens with ``KIBITZ_GOLDENS=write``, and check the diff before you commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_games.core.position import Position
from kibitz_protocol.wire.recordfile import Record
from tests.tools import fake_connection as testing

GOLDENS = Path(__file__).parent / "goldens"
Golden = Callable[[str, str], None]


@pytest.fixture(scope="session")
def game() -> Game:
    return registry.get("chinese-checkers")


@pytest.fixture(scope="session")
def games(game: Game) -> dict[str, Game]:
    return {game.info.name: game}


def spread(play: Position) -> int:
    """Choose moves from all over the list, reproducibly."""
    return play.legal[len(play.history) * 7 % len(play.legal)]


def wild(play: Position) -> int:
    """Choose moves that happen to fill a goal."""
    return play.legal[len(play.history) ** 2 * 53 % len(play.legal)]


@pytest.fixture(scope="session")
def running(game: Game) -> Record:
    """Return a match of three players, still running after thirty plies."""
    return testing.play_record(game, ["ada", "bo", "cy"], 30, spread)


@pytest.fixture(scope="session")
def finished(game: Game) -> Record:
    """A two-player match on a small star that the second player wins."""
    small = game.Options.model_validate({"size": 2})
    record = testing.play_record(game, ["ada", "bo"], 1000, wild, options=small, number=2)
    assert record.footer is not None
    return record


@pytest.fixture
def golden() -> Golden:
    """Compare a text with a file of ``goldens/``."""

    def compare(name: str, text: str) -> None:
        path = GOLDENS / name
        if os.environ.get("KIBITZ_GOLDENS") == "write":
            path.write_text(text + "\n", encoding="utf-8")
        assert text + "\n" == path.read_text(encoding="utf-8")

    return compare
