"""Several nodes on one database, as processes, with methods to disturb them and their links.

Each node reaches the database through its own link, with a role named after it. Clients connect
through `NodeProxy`, which distributes them over the ready nodes in rotation. A node's public URL is
its direct address, so clients may also be redirected there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.tools.database_link import DatabaseLink, database_link
from tests.tools.node_history import NodeHistory, install_witness, read_history
from tests.tools.postgres_server import PostgresCluster
from tests.tools.server_process import ServerProcess, free_port
from tests.tools.standby_proxy import StandbyProxy, is_ready, running_proxy

POLL_S = 0.1
_OWNERS = "SELECT key, node FROM kibitz.stream WHERE kind = 'lobby' AND state = 'open'"
_OPEN_MATCHES = """
SELECT count(*) FROM kibitz.stream JOIN kibitz.stream AS lobby ON lobby.key = stream.owner
WHERE stream.state = 'open' AND lobby.node = %s"""


class NodeProxy(StandbyProxy):
    """Forwards each connection to the next node that is ready."""

    def __init__(self, targets: Sequence[int]) -> None:
        super().__init__(targets)
        self.ready: list[int] = []
        """The ports of the ready nodes, in rotation."""
        self._clients: dict[int, set[asyncio.StreamWriter]] = {port: set() for port in targets}

    async def watch(self) -> None:
        while True:
            ready = await asyncio.gather(*map(is_ready, self._clients))
            self.ready = [
                port for port, answered in zip(self._clients, ready, strict=True) if answered
            ]
            await asyncio.sleep(POLL_S)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.target = None
        if self.ready:
            self.target = self.ready[0]
            self.ready = [*self.ready[1:], self.target]
        clients = self._clients.get(self.target or 0, set())
        clients.add(writer)
        try:
            await super().serve(reader, writer)
        finally:
            clients.discard(writer)

    def leave(self, port: int, share: float = 1.0) -> None:
        """End connections to a node after forwarding all data for it."""
        clients = list(self._clients[port])
        for writer in clients[: round(len(clients) * share)]:
            writer.close()


@dataclass
class Node:
    """A node's process and its link to the database."""

    name: str
    process: ServerProcess
    link: DatabaseLink

    def said(self) -> str:
        """Return the node's log from all of its starts."""
        return self.process.log.read_text()

    async def status(self, path: str = "/readyz") -> int:
        return await asyncio.to_thread(self.process.status, path)


class NodeGroup:
    """The nodes of a database; created by `node_group`."""

    def __init__(self, cluster: PostgresCluster, nodes: Sequence[Node], proxy: NodeProxy) -> None:
        self.cluster = cluster
        self.nodes = nodes
        self.proxy = proxy

    def history(self) -> NodeHistory:
        return read_history(self.cluster.url)

    def lobby_owners(self) -> dict[str, str | None]:
        """Return the owners of open lobbies according to the database."""
        with psycopg.connect(self.cluster.url) as db:
            return dict(db.execute(_OWNERS).fetchall())

    async def owned_by(self, node: Node) -> list[str]:
        owners = await asyncio.to_thread(self.lobby_owners)
        return [lobby for lobby, owner in owners.items() if owner == node.name]

    async def busiest(self) -> Node:
        """Return the node that owns the most lobbies."""
        owners = list((await asyncio.to_thread(self.lobby_owners)).values())
        return max(self.nodes, key=lambda node: owners.count(node.name))

    async def taken_from(self, node: Node, lobbies: Iterable[str], seconds: float = 25.0) -> float:
        """Wait until other nodes have taken a node's lobbies; return the monotonic time."""
        wanted = set(lobbies)

        def taken() -> bool:
            owners = self.lobby_owners()
            return all(owners[lobby] not in {None, node.name} for lobby in wanted)

        await until(taken, seconds, f"the lobbies of {node.name} are taken")
        return time.monotonic()

    async def settled(self, seconds: float = 30.0) -> None:
        """Wait until every node serves exactly the matches that it owns."""

        def settled() -> bool:
            with psycopg.connect(self.cluster.url) as db:
                for node in self.nodes:
                    row = db.execute(_OPEN_MATCHES, (node.name,)).fetchone()
                    if row is None or node.process.metrics()["kibitz_matches_live"] != row[0]:
                        return False
            return True

        await until(settled, seconds, "every node serves what it owns and nothing else")


async def until(reached: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for a slow condition, checked in a thread; fail after a timeout."""
    deadline = time.monotonic() + seconds
    while not await asyncio.to_thread(reached):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        await asyncio.sleep(POLL_S)


@asynccontextmanager
async def node_group(
    directory: Path, cluster: PostgresCluster, names: Sequence[str] = ("a", "b", "c")
) -> AsyncIterator[NodeGroup]:
    """Run nodes and a proxy to them; the first node has been alive longest."""
    socket = f"{conninfo_to_dict(cluster.url)['host']}/.s.PGSQL.5432"
    with psycopg.connect(cluster.url) as db:
        for name in names:
            db.execute(f'CREATE ROLE "{name}" SUPERUSER LOGIN')
    nodes: list[Node] = []
    async with AsyncExitStack() as stack:
        for name in names:
            link = await stack.enter_async_context(database_link(socket))
            nodes.append(Node(name, _process(directory / name, name, link), link))
        try:
            for node in nodes:
                await asyncio.to_thread(node.process.start)
                if node is nodes[0]:
                    await until(lambda: nodes[0].process.status("/readyz") == 200, 15, "one serves")
            install_witness(cluster.url)
            proxy = await stack.enter_async_context(
                running_proxy(NodeProxy([each.process.port for each in nodes]))
            )
            await until(lambda: bool(proxy.ready), 15, "the proxy knows who is ready")
            yield NodeGroup(cluster, nodes, proxy)
        finally:
            ending = [each.process for each in nodes if each.process.running]
            await asyncio.gather(*(asyncio.to_thread(each.terminate) for each in ending))


def _process(directory: Path, name: str, link: DatabaseLink) -> ServerProcess:
    directory.mkdir()
    port = free_port()
    options = {"db": link.url(name), "node": name, "public_url": f"ws://127.0.0.1:{port}"}
    return ServerProcess(directory, {**options, "unlimited": True}, port=port)
