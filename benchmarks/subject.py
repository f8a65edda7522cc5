"""Kibitz as the benchmark runs it: the server as shipped, with the common workload's game.

Everything that a deployment has is on: the durable log, clocks, validation, metrics. Only the
limits that protect a public server from one address are raised, because all load comes from
one.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from kibitz_games.registry import GAMES
from kibitz_server.app import Config, running

from benchmarks.mnk import GAME


async def main(db: Path) -> None:
    games = {**GAMES, GAME.info.name: GAME}
    async with running(Config(db=db, unlimited=True), games) as server:
        print(f"listening {server.port}", flush=True)
        await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    import uvloop

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", type=Path, required=True)
    uvloop.run(main(parser.parse_args().db))
