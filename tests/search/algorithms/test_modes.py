"""Searches in separate processes agree: plain, compiled, and with a cold cache."""

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
    from kibitz_search.algorithms.alphabeta import AlphaBeta
    from kibitz_search.algorithms.beam import Beam
    from kibitz_search.algorithms.iddfs import Iddfs
    from kibitz_search.algorithms.limits import SearchLimits
    from kibitz_search.algorithms.minimax import Minimax
    from kibitz_search.algorithms.greedy import Greedy
    from kibitz_games.compiled import kernels
    from tests.search.algorithms.positions import QUICK, SETTINGS

    rows = []
    for setting in {settings}:
        state = setting.after([5, 3, 8])
        ev = setting.weights(state)
        for kind in (Greedy, Iddfs, Beam, Minimax, AlphaBeta):
            if kind.supports(setting.rules.info, state) is None:
                depth = 2 if kind in (Minimax, Iddfs) else 3
                found = kind(state).search(state, ev, SearchLimits(depth=depth))
                rows.append([str(setting), kind.__name__, found.value, found.nodes, found.line])
    print(json.dumps([kernels.get_mode(), rows]))
"""


def _run(settings: str, **environment: str) -> tuple[str, list[Any]]:
    """Run the program in a separate process; return its mode and each search's result."""
    env = {k: v for k, v in os.environ.items() if k not in ("KIBITZ_PLAIN", "NUMBA_DISABLE_JIT")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM).replace("{settings}", settings)],
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


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("settings", "least"), [("QUICK", 6), pytest.param("SETTINGS", 16, marks=pytest.mark.slow)]
)
def test_plain_and_compiled_searches_find_the_same_and_count_the_same(
    settings: str, least: int
) -> None:
    (fast, compiled), (slow, plain) = _run(settings), _run(settings, KIBITZ_PLAIN="1")
    assert (fast, slow) == ("compiled", "plain")
    assert len(compiled) >= least
    assert compiled == plain


@pytest.mark.slow
def test_a_cold_cache_serves_the_next_process(tmp_path: Path) -> None:
    """Recursion cached with different types than it is called with would crash the process."""
    first = _run("SETTINGS", KIBITZ_CACHE=str(tmp_path))
    files = sorted(tmp_path.rglob("*.nb?"))
    assert len(files) > 30
    for path in files:
        assert b".numba.unresolved" not in path.read_bytes()
    assert _run("SETTINGS", KIBITZ_CACHE=str(tmp_path)) == first
