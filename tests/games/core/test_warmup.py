"""A server loads all code of a game that it uses before a match."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz_games.core import registry, warmup

pytestmark = pytest.mark.e2e

PLAYED = Path(__file__).with_name("served_play.py")
"""A program that plays like a server and prints the compiled or loaded kernels."""


def compiled_environment() -> dict[str, str]:
    """Return an environment with compiled rules, regardless of that of the tests."""
    plain = ("KIBITZ_PLAIN", "NUMBA_DISABLE_JIT")
    return {name: value for name, value in os.environ.items() if name not in plain}


@pytest.mark.parametrize("name", registry.names())
def test_nothing_is_compiled_or_loaded_once_a_game_is_warm(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(PLAYED), name],
        capture_output=True,
        text=True,
        timeout=600,
        env=compiled_environment(),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["warm_up"] > 0, "the spy sees what is loaded"
    assert found["plays"] > 0
    assert found["use"] == []
    assert found["is_compiled"]


def test_every_game_can_be_made_ready_in_either_mode() -> None:
    for name in registry.names():
        warmup.warm_up_for_server(registry.get(name))
