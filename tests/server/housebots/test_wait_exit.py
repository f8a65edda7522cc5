"""Waiting for the end of a process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE

import pytest

from kibitz_server.housebots.wait_exit import wait_exit

pytestmark = pytest.mark.e2e


@pytest.mark.e2e
async def test_a_pipe_that_is_still_held_open_is_not_waited_for() -> None:
    program = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        "sys.exit(3)"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=PIPE, start_new_session=True
    )
    try:
        assert process.stdout is not None
        assert await wait_exit(process) == 3
        assert not process.stdout.at_eof()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    assert await process.stdout.read() == b""
