"""Kibitz as the benchmark runs it: the server as shipped, with the common workload's game.

Everything that a deployment has is on: the durable log, clocks, validation, metrics. Only the
limits that protect a public server from one address are raised, because all load comes from
one.
"""

from __future__ import annotations

import argparse
import gc

gc.disable()  # as `kibitz serve` does until it serves

from benchmarks.mnk import GAME  # noqa: E402
from kibitz.builtin_games import load_games  # noqa: E402
from kibitz_server.app import Config, Server, run  # noqa: E402
from kibitz_server.storage.location import database_of  # noqa: E402


def listening(server: Server) -> None:
    print(f"listening {server.port}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", type=database_of, required=True)
    parser.add_argument("--node", help="be one of several on a PostgreSQL database")
    words = parser.parse_args()
    own = None if words.node is None else f"ws://{words.node}.example.org"
    hosted = {**load_games("compiled"), GAME.info.name: GAME}
    config = Config(db=words.db, unlimited=True, node=words.node, public_url=own)
    run(config, hosted, started=listening)
