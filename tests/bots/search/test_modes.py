"""Searches as whole processes: plain and compiled alike, and from a cache that was cold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
    import json
    from kibitz_bots.search.alphabeta import AlphaBeta
    from kibitz_bots.search.iddfs import Iddfs
    from kibitz_bots.search.limits import Limits
    from kibitz_bots.search.minimax import Minimax
    from kibitz_bots.search.one_ply import OnePly
    from kibitz_games import kernels
    from tests.bots.search.positions import SETTINGS

    rows = []
    for setting in SETTINGS:
        state = setting.after([5, 3, 8])
        ev = setting.weights(state)
        for kind in (OnePly, Iddfs, Minimax, AlphaBeta):
            if kind.supports(setting.rules.info, state) is None:
                depth = 2 if kind in (Minimax, Iddfs) else 3
                found = kind(state).search(state, ev, Limits(depth=depth))
                rows.append([str(setting), kind.__name__, found.value, found.nodes, found.line])
    print(json.dumps([kernels.mode(), rows]))
"""


def _run(**environment: str) -> tuple[str, list[Any]]:
    """Run the program in a process of its own; return its mode and what each search found."""
    env = {k: v for k, v in os.environ.items() if k not in ("KIBITZ_PLAIN", "NUMBA_DISABLE_JIT")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        env=env | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr
    mode, rows = json.loads(done.stdout)
    return mode, rows


def test_plain_and_compiled_searches_find_the_same_and_count_the_same() -> None:
    (fast, compiled), (slow, plain) = _run(), _run(KIBITZ_PLAIN="1")
    assert (fast, slow) == ("compiled", "plain")
    assert len(compiled) > 15
    assert compiled == plain


@pytest.mark.slow
def test_a_cold_cache_serves_the_next_process(tmp_path: Path) -> None:
    """Recursion that was cached with other types than it is entered with would crash it."""
    first = _run(KIBITZ_CACHE=str(tmp_path))
    files = sorted(tmp_path.rglob("*.nb?"))
    assert len(files) > 30
    for path in files:
        assert b".numba.unresolved" not in path.read_bytes()
    assert _run(KIBITZ_CACHE=str(tmp_path)) == first
