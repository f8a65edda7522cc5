"""Workers as processes on this machine, each with its own pipe for lines of JSON.

`concurrent.futures.ProcessPoolExecutor` fails all its tasks when one process is killed. Here, a
worker that exits loses only its own task, and is restarted for the next one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from typing import Final

from kibitz.process.child import terminate
from kibitz.process.parent_death import child_command
from kibitz.workers.port import Json
from kibitz_arena.runner.block_task import TaskFailedError, WorkerLostError

MOST_BYTES: Final = 1 << 30
"""The longest answer of a worker."""


class ProcessPool:
    """A pool of processes, each started when it is first needed."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.shared_machine = True
        self._idle: asyncio.LifoQueue[Process | None] = asyncio.LifoQueue()
        for _ in range(size):
            self._idle.put_nowait(None)

    async def run(self, task: str, given: Json) -> Json:
        """Run a task; see `WorkerPool`."""
        process = await self._idle.get()
        try:
            if process is None or process.returncode is not None:
                process = await _start()
            answer = await _ask(process, {"task": task, "given": given})
        except BaseException:
            # The contents of the pipe are now unknown, so the worker is not reused.
            if process is not None:
                await asyncio.shield(terminate(process))
            process = None
            raise
        finally:
            self._idle.put_nowait(process)
        return result_of(answer)

    async def close(self) -> None:
        """Stop the processes."""
        processes = [self._idle.get_nowait() for _ in range(self._idle.qsize())]
        await asyncio.gather(*(terminate(process) for process in processes if process is not None))


@contextlib.asynccontextmanager
async def process_pool(size: int) -> AsyncIterator[ProcessPool]:
    """Provide a pool within the block."""
    pool = ProcessPool(size)
    try:
        yield pool
    finally:
        await asyncio.shield(pool.close())


def result_of(answer: Json) -> Json:
    """Return a task's result, or raise `TaskFailedError` with its error."""
    if "error" in answer:
        raise TaskFailedError(answer["error"])
    result: Json = answer["ok"]
    return result


async def _start() -> Process:
    command = child_command("kibitz.workers.worker")
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, start_new_session=True, limit=MOST_BYTES
    )


async def _ask(process: Process, request: Json) -> Json:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(ConnectionError):
        process.stdin.write(json.dumps(request).encode() + b"\n")
        await process.stdin.drain()
        line = await process.stdout.readline()
        if line.endswith(b"\n"):
            answer: Json = json.loads(line)
            return answer
    raise WorkerLostError(f"the worker process {process.pid} exited")
