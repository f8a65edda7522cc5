"""Spectators of one match, in a separate process so that they do not share CPU time with players.

`python -m benchmarks.crowd SERVER PORT COUNT MATCH VIEWS` prints `ready` when all spectators watch.
A line on standard input starts counting delivered moves. The next line ends the count and prints it
as JSON, with the time at which the last spectator received each ply; this can be repeated. The
spectators leave at the end of the input. VIEWS is ``turn`` or ``drawn``. A reference server ignores
MATCH and VIEWS, and shows its board 0.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from benchmarks.players import Meter, Player, greet, watch_kibitz, watch_reference

ROOT = Path(__file__).parent.parent
HOST = "127.0.0.1"
NOTHING = "-"
"""Used as MATCH: connect to kibitz, say hello, and then only answer pings."""


@dataclass
class Heard:
    """The moves that all spectators together have received."""

    deliveries: int
    at: dict[int, float]
    """When the last of them received each ply (`time.perf_counter`, the same in all processes)."""


class Crowd:
    """The parent's handle to a process with spectators."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def yield_to_others(self) -> None:
        """Lower the process's priority, so that it runs only if the processor is otherwise idle."""
        os.setpriority(os.PRIO_PROCESS, self._process.pid, 19)

    def begin(self) -> None:
        """Start counting."""
        self._say()

    def end(self) -> Heard:
        """Return what the spectators have received since `begin`."""
        self._say()
        answer = json.loads(self._line())
        times = {int(ply): at for ply, at in answer["heard_at"].items()}
        return Heard(answer["deliveries"], times)

    def _say(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process of the spectators has exited")
        return line.strip()


@asynccontextmanager
async def crowd(
    server: str, port: int, count: int, match: str = NOTHING, views: str = "turn"
) -> AsyncIterator[Crowd]:
    """Start a process with `count` spectators of one match, without blocking the players."""
    words = [sys.executable, "-m", "benchmarks.crowd", server, str(port), str(count), match, views]
    pipe = subprocess.PIPE
    with subprocess.Popen(  # noqa: ASYNC220 - takes a millisecond
        words, cwd=ROOT, stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdout is not None
        try:
            line = await asyncio.to_thread(process.stdout.readline)
            if line.strip() != "ready":
                raise RuntimeError(f"{count} spectators could not watch")
            yield Crowd(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


async def main(words: Sequence[str]) -> None:
    server, port, count, match, views = words
    meter = Meter()
    watchers: Sequence[Player]
    if match == NOTHING and server == "kibitz":
        watchers = [await greet(HOST, int(port), meter, f"idle-{n}") for n in range(int(count))]
    elif server == "kibitz":
        watchers = await watch_kibitz(HOST, int(port), int(count), meter, match, "w", views)
    else:
        watchers = await watch_reference(HOST, int(port), int(count), meter)
    print("ready", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        meter.running = not meter.running
        if meter.running:
            meter.reset()
        else:
            print(
                json.dumps({"deliveries": meter.deliveries, "heard_at": meter.heard_at}), flush=True
            )
    for watcher in watchers:
        watcher.connection.close()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1:]))
