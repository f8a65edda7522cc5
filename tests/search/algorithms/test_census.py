"""The same source gives equal results compiled, plain, with a cold cache and with a warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.search.algorithms import census


def printed(*words: str, **environment: str) -> list[str]:
    """Return the program's output from a separate process."""
    done = subprocess.run(
        [sys.executable, census.__file__, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.e2e
def test_compiled_and_plain_agree(capsys: pytest.CaptureFixture[str]) -> None:
    census.main()
    here = capsys.readouterr().out.splitlines()
    assert len(here) == 12
    assert printed(KIBITZ_PLAIN="1") == here


@pytest.mark.slow
def test_a_cold_cache_and_a_warm_one_agree_and_nothing_is_left_open(tmp_path: Path) -> None:
    """Machine code that calls itself by an unresolved name crashes the process that loads it."""
    *cold, left_open = printed("cold", KIBITZ_CACHE=str(tmp_path))
    assert left_open == "([],)"
    assert printed(KIBITZ_CACHE=str(tmp_path)) == cold
    assert printed(KIBITZ_CACHE=str(tmp_path)) == cold
