"""Records for tests of the analysis."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record, read_record

RECORDS = Path(__file__).parents[3] / "docs/images"


@pytest.fixture(scope="session")
def nim() -> Record:
    """A Line-Nim match that seat 0 won in 26 plies."""
    return read_record(RECORDS / "line-nim.jsonl")


@pytest.fixture(scope="session")
def nim_rules() -> Game:
    return registry.get("line-nim")


@pytest.fixture(scope="session")
def all_games() -> dict[str, Game]:
    return {name: registry.get(name) for name in registry.names()}
