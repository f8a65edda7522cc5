"""Three serving nodes with their own URLs on one database, as processes.

Each client starts with the URL of one node. Most requested objects are at another node, to which it
is redirected. If that node fails, it finds the node that took over. Afterwards, all received
messages are compared with the records.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest

from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import (
    HelloRefusedError,
    KickedError,
    RefusedError,
    UnansweredError,
)
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat
from kibitz_protocol.wire.messages import Finished, HallNews, Snapshot
from kibitz_protocol.wire.records import Branch
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.storage.location import PostgresURL
from tests.tools.fleet import Fleet, contradictions, fleet_of
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.node_group import until
from tests.tools.postgres_server import PostgresCluster
from tests.tools.server_process import ServerProcess, drawn_matches

MATCHES = 9


@contextlib.contextmanager
def three_nodes(
    directory: Path, cluster: PostgresCluster, names: str = "abc", *, unlimited: bool = True
) -> Iterator[list[ServerProcess]]:
    """Run nodes, three by default."""
    nodes = []
    for name in names:
        (directory / name).mkdir()
        node = ServerProcess(directory / name)
        node.options = {"db": cluster.url, "node": name, "public_url": node.url}
        if unlimited:
            node.options["unlimited"] = True
        nodes.append(node)
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            while node.status("/readyz") != 200:
                time.sleep(0.05)
        yield nodes
    finally:
        for node in nodes:
            if node.running:
                node.terminate()


def urls(nodes: list[ServerProcess]) -> list[str]:
    return [node.url for node in nodes]


def owners(cluster: PostgresCluster) -> Counter[str]:
    """Return the number of lobbies per node."""
    sql = "SELECT node, count(*) FROM kibitz.stream WHERE kind = 'lobby' GROUP BY node"
    with psycopg.connect(cluster.url, autocommit=True) as db:
        return Counter(dict(db.execute(sql).fetchall()))


async def untrue(node: ServerProcess, fleet: Fleet) -> list[str]:
    """Return the contradictions between the fleet's messages and any node's records."""
    records = {
        match: await asyncio.to_thread(node.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }
    return contradictions(fleet, GAME, records)


async def test_the_matches_of_a_killed_node_go_on_at_the_others(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    """The players of each pair start at two nodes and play where their lobby was opened."""
    with three_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(120),
            fleet_of(urls(nodes), MATCHES, drawn_matches(5), pause=0.2, spectators=0) as fleet,
        ):
            assert owners(cluster) == {"a": 3, "b": 3, "c": 3}
            await fleet.moved(60)
            nodes[0].kill()
            await fleet.finished(MATCHES)
            assert await untrue(nodes[1], fleet) == []
            figures = [await asyncio.to_thread(node.metrics) for node in nodes[1:]]
        assert fleet.moves == MATCHES * 25
        assert sum(each['kibitz_lobbies_moved_total{how="taken"}'] for each in figures) == 3
        assert [line for node in nodes[1:] for line in node.error_lines()] == []


async def test_a_node_that_is_taken_down_hands_its_lobbies_to_the_others(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    with three_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(120),
            fleet_of(urls(nodes), MATCHES, drawn_matches(5), pause=0.2, spectators=0) as fleet,
        ):
            await fleet.moved(60)
            began = time.monotonic()
            await asyncio.to_thread(nodes[0].terminate)
            await fleet.until(lambda: not owners(cluster)["a"])
            assert time.monotonic() - began < 8.0  # without waiting for a heartbeat to expire
            await fleet.finished(MATCHES)
            assert await untrue(nodes[2], fleet) == []
        assert fleet.moves == MATCHES * 25


@contextlib.asynccontextmanager
async def client(url: str, name: str) -> AsyncIterator[Client]:
    async with Client(url, name=name) as made:
        yield made


async def test_a_hall_shows_what_all_nodes_have_and_a_spectator_goes_there(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    settings = LobbySettings(
        name="over there", seats=[OpenSeat()] * 2, programme=[drawn_matches(3)]
    )
    with three_nodes(tmp_path, cluster) as nodes:
        here, there, third = urls(nodes)
        async with (
            asyncio.timeout(60),
            client(here, "Ada") as ada,
            client(there, "Bob") as bob,
            client(third, "Eve") as eve,
        ):
            await eve.hall.subscribe()
            done = await ada.hosting.host(settings)
            lobby = done.lobby
            assert lobby is not None
            await ada.join(lobby)
            await bob.join(lobby)  # no node has announced it yet; the database has its place
            async with client(third, "Gus") as gus:
                elsewhere = (await gus.hosting.host(settings)).lobby
                assert elsewhere is not None
                with pytest.raises(RefusedError) as busy:
                    await ada.join(elsewhere)
            assert busy.value.code is Code.ELSEWHERE
            assert "lobby or a seat on this node" in busy.value.hint
            await ada.ready(lobby)
            await bob.ready(lobby)
            match = await match_in_hall(eve, lobby)
            listed = [brief.lobby for brief in (await eve.hall.lobbies()).lobbies]
            assert lobby in listed
            await eve.watch(match)
            async for news in eve.news():
                if isinstance(news, Snapshot):
                    assert [seat.name for seat in news.seats] == ["Ada", "Bob"]
                    break
            await ada.resign(match)
            async for news in eve.news():
                if isinstance(news, Finished):
                    break
            async with client(third, "Fay") as fay:
                await fay.hall.subscribe()
                await ended_in_hall(fay, match)


async def test_a_token_that_is_revoked_counts_nowhere_any_more(
    tmp_path: Path, cluster: PostgresCluster, report: ReportFigure
) -> None:
    with contextlib.ExitStack() as running:
        admin = running.enter_context(TokenAdmin(PostgresURL(cluster.url)))
        issued = [admin.issue(f"owner {number}", kind="bot") for number in range(3)]
        nodes = running.enter_context(three_nodes(tmp_path, cluster))
        async with contextlib.AsyncExitStack() as stack:
            owners = [
                await stack.enter_async_context(Client(url, token=each.token))
                for url, each in zip(urls(nodes), issued, strict=True)
            ]
            began = time.monotonic()
            for each in issued:
                assert await asyncio.to_thread(admin.revoke, each.id)
            async with asyncio.timeout(5):
                for owner in owners:
                    with pytest.raises(KickedError):
                        async for _ in owner.news():
                            pass
            report(f"revoked at three nodes within {time.monotonic() - began:.2f} s")
        for url, each in zip(urls(nodes)[::-1], issued, strict=True):
            with pytest.raises(HelloRefusedError):
                async with Client(url, token=each.token):
                    pass


async def test_the_lobbies_that_an_account_may_open_are_counted_over_all_nodes(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    settings = LobbySettings(
        name="one of many", seats=[OpenSeat()] * 2, programme=[drawn_matches(3)]
    )
    with TokenAdmin(PostgresURL(cluster.url)) as admin:
        token = admin.issue("ada", kind="bot").token
    with three_nodes(tmp_path, cluster, "ab", unlimited=False) as nodes:
        here, there = urls(nodes)
        async with (
            asyncio.timeout(90),
            Client(here, token=token) as ada,
            Client(there, token=token) as also_ada,
            client(here, "Eve") as eve,
            client(there, "Fay") as fay,
        ):
            await eve.hall.subscribe()
            await fay.hall.subscribe()
            for _ in range(5):
                await ada.hosting.host(settings)
            await lobbies_in_hall(fay, 5)
            opened = [(await also_ada.hosting.host(settings)).lobby for _ in range(3)]
            await lobbies_in_hall(eve, 8)
            for each in (ada, also_ada):
                with pytest.raises(RefusedError) as refused:
                    await each.hosting.host(settings)
                assert refused.value.code is Code.LIMIT
                assert "8 lobbies of yours" in str(refused.value)
            nodes[0].kill()
            await until(lambda: owners(cluster)["b"] == 8, 20, "b has taken the lobbies of a")
            assert "8 lobbies of yours" in str(await answer(also_ada, settings))
            assert opened[0] is not None
            await also_ada.hosting.close_lobby(opened[0])
            assert await answer(also_ada, settings) is None


async def test_a_match_of_one_node_is_played_on_at_another(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    item = drawn_matches(3).model_copy(update={"games": 1, "rotate": False})
    seats = [OpenSeat()] * 2
    settings = LobbySettings(seats=seats, programme=[item])
    on = LobbySettings(seats=seats, programme=[item.model_copy(update={"options": {}})])
    with three_nodes(tmp_path, cluster, "ab") as nodes:
        here, there = urls(nodes)
        async with (
            asyncio.timeout(90),
            client(here, "Ada") as ada,
            client(here, "Bob") as bob,
            client(there, "Eve") as eve,
            client(there, "Fay") as fay,
        ):
            origin = await begun(ada, bob, settings)
            with pytest.raises(RefusedError):
                await eve.hosting.host(on, branch=Branch(match=origin.match, ply=0))
            players = {"Ada": ada, "Bob": bob}
            for ply in range(3):
                mover = players[origin.seats[ply % 2].name]
                await mover.move(origin.match, ply, {"cell": ply})
            await ada.resign(origin.match)
            branch = Branch(match=origin.match, ply=2)
            match = await begun(eve, fay, on, branch)
            assert (match.branch, match.ply, match.options) == (branch, 2, origin.options)
            assert owners(cluster)["b"] == 1


async def begun(
    host: Client, other: Client, settings: LobbySettings, branch: Branch | None = None
) -> Snapshot:
    """Open a lobby for two players, and return the start of its match."""
    lobby = (await host.hosting.host(settings, branch=branch)).lobby
    assert lobby is not None
    for player in (host, other):
        await player.join(lobby)
        await player.ready(lobby)
    async for news in host.news():
        if isinstance(news, Snapshot):
            return news
    raise AssertionError("the news never ends")


async def answer(host: Client, settings: LobbySettings) -> RefusedError | None:
    """Return the refusal of a request to open a lobby; the host may have to reconnect first."""
    while True:
        try:
            await host.hosting.host(settings)
        except RefusedError as refused:
            return refused
        except UnansweredError:
            continue
        return None


async def lobbies_in_hall(watcher: Client, count: int) -> None:
    """Wait until the hall shows a number of lobbies."""
    async for news in watcher.news():
        if isinstance(news, HallNews) and len(news.lobbies) == count:
            return


async def ended_in_hall(watcher: Client, match: str) -> None:
    """Wait until the hall shows a match as finished."""
    async for news in watcher.news():
        if isinstance(news, HallNews) and match in news.finished:
            return


async def match_in_hall(watcher: Client, lobby: str) -> str:
    """Wait until the hall shows a match of a lobby."""
    async for news in watcher.news():
        if isinstance(news, HallNews):
            for brief in news.matches.values():
                if brief.lobby == lobby:
                    return brief.match
    raise AssertionError("the news have ended")
