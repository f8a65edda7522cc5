"""Connections that say hello and then only answer pings, in a process of their own.

`python -m benchmarks.idle PORT COUNT` prints `ready` when all are open, and keeps them until its
standard input ends.
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from benchmarks.players import Meter, greet


async def main(port: int, count: int) -> None:
    kept = [await greet("127.0.0.1", port, Meter(), f"idle-{number}") for number in range(count)]
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for player in kept:
        player.connection.close()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), int(sys.argv[2])))
