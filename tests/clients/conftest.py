"""Virtual time for the terminal application, sample matches, and golden files.

Update goldens with ``KIBITZ_GOLDENS=write``, and check the diff before you commit.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import async_solipsism
import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_games.core.position import Position
from kibitz_protocol.wire.recordfile import Record
from tests.tools import fake_connection as testing

HERE = Path(__file__).parent
GOLDENS = HERE / "goldens"
Golden = Callable[[str, str], None]


def _drives_screens(item: pytest.Item) -> bool:
    """Return whether a test drives the terminal application."""
    return not {HERE / "tui", HERE / "test_games.py"}.isdisjoint((item.path, *item.path.parents))


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run tests of screens on virtual time, because Textual's pilot sleeps after every key."""
    if _drives_screens(item):
        return {"virtual": async_solipsism.EventLoop}
    return {"real": asyncio.new_event_loop}


@pytest.fixture(autouse=True)
def virtual_timers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Textual's timers and animations read the clock of the loop that wakes them up."""
    if _drives_screens(request.node):
        monkeypatch.setattr("textual._time.get_time", lambda: asyncio.get_running_loop().time())


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
