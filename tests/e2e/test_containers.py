"""The commands of the Compose files, run locally in sequence with adapted paths."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools import postgres_server
from tests.tools.command import Kibitz
from tests.tools.server_process import ServerPages
from tests.tools.standby_proxy import standby_proxy

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
CLUSTER: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.cluster.yml").read_text())
PLAYING = ("keeper", "greedy", "planner")
FINISHED = 'kibitz_matches_finished_total{cause="rules"}'
MOVED = {"/etc/kibitz/open-house.yaml": str(ROOT / "docker" / "open-house.yaml")}


class Node(ServerPages):
    """The pages of a node run by the command."""

    def __init__(self, port: int) -> None:
        self.port = port


async def until(holds: Callable[[], bool]) -> None:
    """Poll other processes until a condition holds."""
    while not await asyncio.to_thread(holds):  # noqa: ASYNC110 - no event comes from there
        await asyncio.sleep(0.1)


async def test_the_services_come_up_and_the_bots_play_on(kibitz: Kibitz) -> None:
    house, data = kibitz.directory / "house", kibitz.directory / "data"
    house.mkdir()

    def here(text: str, url: str = "") -> str:
        for there, path in (MOVED | {"/house/": f"{house}/", "/data/": f"{data}/"}).items():
            text = text.replace(there, path)
        return re.sub(r"ws://server:\d+", url, text)

    with ExitStack() as stack:
        words = [here(word) for word in SERVICES["server"]["command"][1:]]
        words[words.index("--port") + 1] = "0"
        server = stack.enter_context(kibitz.start(*words, "--guests", "nobody", "--json"))
        url = server.json()["url"]
        await asyncio.to_thread(
            subprocess.run,
            ["sh", "-c", here((ROOT / "docker" / "open-house.sh").read_text(), url)],
            check=True,
            timeout=60,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )
        for name in PLAYING:
            words = [here(word, url) for word in SERVICES[name]["command"][1:]]
            stack.enter_context(kibitz.start(*words))
        page = Node(int(url.rpartition(":")[2]))
        # Unlike a programme, the ladder continues after its first game.
        async with asyncio.timeout(150):
            await until(lambda: page.metrics().get(FINISHED, 0) >= 2)


@pytest.mark.slow
async def test_the_bots_of_the_cluster_play_on_when_a_node_is_killed(kibitz: Kibitz) -> None:
    """Proxy and database are the tests' own; everything else is as in the file."""
    if postgres_server.programs() is None:
        pytest.skip(postgres_server.SKIPPED)
    services = CLUSTER["services"]
    house = kibitz.directory / "house"
    house.mkdir()
    moved = MOVED | {"/house/": f"{house}/", "0.0.0.0": "127.0.0.1"}

    def here(text: str, url: str = "") -> str:
        for there, path in moved.items():
            text = text.replace(there, path)
        return re.sub(r"ws://proxy:\d+", url, text)

    with ExitStack() as stack:
        database = stack.enter_context(postgres_server.cluster())
        nodes = dataclasses.replace(kibitz, variables={"KIBITZ_DB": database.url})
        running, pages = [], []
        for name in ("node-a", "node-b"):
            words = [here(word) for word in services[name]["command"][1:]]
            words[words.index("--port") + 1] = "0"
            running.append(stack.enter_context(nodes.start(*words, "--json")))
            said = await asyncio.to_thread(running[-1].json)
            pages.append(Node(int(said["url"].rpartition(":")[2])))
        async with asyncio.timeout(150), standby_proxy([each.port for each in pages]) as proxy:
            await until(lambda: proxy.target == pages[0].port)
            own = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
            await asyncio.to_thread(
                subprocess.run,
                ["sh", "-c", here((ROOT / "docker" / "open-house.sh").read_text())],
                check=True,
                timeout=60,
                env=os.environ | own | {"KIBITZ_DB": database.url},
            )
            for name in PLAYING:
                words = [here(word, proxy.url) for word in services[name]["command"][1:]]
                stack.enter_context(kibitz.start(*words))
            await until(lambda: pages[0].metrics()["kibitz_moves_total"] > 0)
            running[0].process.kill()
            await until(lambda: pages[1].metrics()["kibitz_moves_total"] > 0)
