from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from kibitz.process.child import (
    TAIL_BYTES,
    child_process,
    log_tail,
)
from kibitz_server.housebots.wait_exit import wait_exit


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.mark.e2e
async def test_a_child_ends_with_its_block(tmp_path: Path) -> None:
    program = "import time; print('here', flush=True); time.sleep(3600)"
    async with child_process(python(program), tmp_path / "log", listen=True) as process:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"here\n"
        assert process.returncode is None
    assert process.returncode == -15


@pytest.mark.e2e
async def test_what_a_child_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    program = (
        "import subprocess, sys\n"
        "left = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        "print(left.pid, flush=True)\n"
    )
    async with child_process(python(program), tmp_path / "log", listen=True) as process:
        assert process.stdout is not None
        left = psutil.Process(int(await process.stdout.readline()))
        assert await wait_exit(process) == 0
        assert left.is_running()
    _, alive = psutil.wait_procs([left], timeout=10)
    assert alive == []


@pytest.mark.e2e
async def test_what_a_child_says_is_in_its_log(tmp_path: Path) -> None:
    program = "import sys; print('out', flush=True); print('err', file=sys.stderr)"
    async with child_process(python(program), tmp_path / "log") as process:
        assert await process.wait() == 0
    assert log_tail(tmp_path / "log") == "out\nerr"


def test_the_tail_of_a_log_is_its_last_lines(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("\n".join(map(str, range(100))))
    assert log_tail(tmp_path / "log").splitlines()[-1] == "99"
    assert len(log_tail(tmp_path / "log").splitlines()) == 12


def test_the_tail_of_a_log_without_lines_is_short(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x" * (4 * TAIL_BYTES) + b"\xff" + b"y" * 10)
    tail = log_tail(tmp_path / "log")
    assert tail.endswith("x\ufffd" + "y" * 10)
    assert len(tail) == TAIL_BYTES


def test_the_tail_of_a_log_reads_no_more_than_it_shows(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        log.truncate(1 << 40)  # a sparse file, too large for any memory
    assert len(log_tail(tmp_path / "log")) == TAIL_BYTES
