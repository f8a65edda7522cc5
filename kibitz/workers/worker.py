"""A worker process, ``python -m kibitz.workers.worker``, which reads tasks from standard input.

It answers on the original standard output; the output of tasks goes to standard error. When the
pipe is closed because the parent has exited, it cancels its task, which stops the servers and bots
started by it, and exits.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import BinaryIO

from kibitz.process.event_loop import run
from kibitz.workers import frames
from kibitz.workers.port import Json
from kibitz.workers.tasks import answer


async def serve(answers: BinaryIO) -> None:
    """Run the tasks from standard input one by one until it is closed."""
    stream = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), sys.stdin)
    requests: asyncio.Queue[Json] = asyncio.Queue()
    working = asyncio.create_task(_work(requests, answers))
    try:
        while True:
            requests.put_nowait(await frames.read(stream))
    except asyncio.IncompleteReadError:
        working.cancel()
        await asyncio.wait({working})


async def _work(requests: asyncio.Queue[Json], answers: BinaryIO) -> None:
    while True:
        request = await requests.get()
        result = await answer(request["task"], request["given"])
        await asyncio.to_thread(_write, answers, frames.encode(result))


def _write(answers: BinaryIO, frame: bytes) -> None:
    answers.write(frame)
    answers.flush()


def main() -> None:
    """Run the worker to the end of its pipe."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    run(serve(answers))


if __name__ == "__main__":
    main()
