"""Waiting for the end of a process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE
from typing import Any

import pytest

from kibitz_server.housebots import wait_exit as module
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


class CountingLoop:
    """Counts the timers set while a test waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = asyncio.get_running_loop()
        self.timers = 0
        call_later, call_at = loop.call_later, loop.call_at

        def counted(*args: Any, **named: Any) -> asyncio.TimerHandle:
            self.timers += 1
            return call_later(*args, **named)

        def counted_at(*args: Any, **named: Any) -> asyncio.TimerHandle:
            self.timers += 1
            return call_at(*args, **named)

        monkeypatch.setattr(loop, "call_later", counted)
        monkeypatch.setattr(loop, "call_at", counted_at)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no descriptors of processes here")
async def test_an_exit_is_awaited_and_not_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    process = await asyncio.create_subprocess_exec("cat", stdin=PIPE)
    assert process.stdin is not None
    counting = CountingLoop(monkeypatch)
    waiting = asyncio.ensure_future(wait_exit(process))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not waiting.done()
    process.stdin.close()
    assert await waiting == 0
    assert counting.timers == 0


async def test_an_exit_is_noticed_where_the_system_does_not_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "RETRY_S", 0.001)
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "raise SystemExit(3)")
    assert await wait_exit(process) == 3
    assert await wait_exit(process) == 3


async def test_waiting_that_is_canceled_leaves_no_descriptor_open() -> None:
    process = await asyncio.create_subprocess_exec("cat", stdin=PIPE)
    waiting = asyncio.ensure_future(wait_exit(process))
    await asyncio.sleep(0)
    during = set(os.listdir("/proc/self/fd")) if sys.platform == "linux" else set()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    if sys.platform == "linux":
        assert len(set(os.listdir("/proc/self/fd"))) == len(during) - 1
    process.kill()
    assert await wait_exit(process) == -signal.SIGKILL
