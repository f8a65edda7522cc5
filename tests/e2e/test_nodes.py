"""Two nodes on one database, as processes: one is killed, frozen or shut down, the other continues.

The players of a fleet connect through a proxy that checks only the nodes' `/readyz`. Afterwards,
`fleet.contradictions` compares what they received with the records.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.tools.fleet import Fleet, contradictions, fleet_of, percentile
from tests.tools.measurements import ReportFigure
from tests.tools.mnk import GAME
from tests.tools.postgres_server import PostgresCluster
from tests.tools.server_process import ServerProcess, drawn_matches
from tests.tools.standby_proxy import standby_proxy

MATCHES = 8


@contextlib.contextmanager
def two_nodes(directory: Path, cluster: PostgresCluster) -> Iterator[list[ServerProcess]]:
    """Run two nodes, the first of which serves."""
    nodes = []
    for name in ("a", "b"):
        (directory / name).mkdir()
        options = {"node": name, "public_url": "ws://games.example.org", "unlimited": True}
        nodes.append(ServerProcess(directory / name, {"db": cluster.url, **options}))
    try:
        for node in nodes:
            node.start()
            until_status(nodes[0], 200)
        yield nodes
    finally:
        for node in nodes:
            if node.running:
                node.terminate()


def until_status(node: ServerProcess, status: int) -> float:
    """Wait until a node's `/readyz` has a status; return the seconds it took."""
    began = time.monotonic()
    while node.status("/readyz") != status:
        time.sleep(0.05)
    return time.monotonic() - began


async def untrue(node: ServerProcess, fleet: Fleet) -> list[str]:
    """Return the contradictions between the records and the fleet's messages."""
    records = {
        match: await asyncio.to_thread(node.page, f"/records/{match}.jsonl")
        for match in fleet.seats
    }
    return contradictions(fleet, GAME, records)


def entries(cluster: PostgresCluster) -> int:
    with psycopg.connect(cluster.url, autocommit=True) as db:
        row = db.execute("SELECT count(*) FROM kibitz.entry").fetchone()
        assert row is not None
        return int(row[0])


async def all_back(fleet: Fleet, since: float) -> list[float]:
    """Wait until every player of a running match has reconnected; return the durations."""

    def back() -> dict[str, float]:
        found: dict[str, float] = {}
        for player, at in fleet.returns:
            if at >= since:
                found.setdefault(player, at - since)
        return found

    def playing() -> set[str]:
        live = fleet.seats.keys() - fleet.ended.keys()
        return {player for match in live for player in fleet.seats[match]}

    await fleet.until(lambda: playing() <= back().keys())
    return list(back().values())


async def test_a_killed_nodes_matches_go_on_at_the_other(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    with two_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(90),
            standby_proxy([node.port for node in nodes]) as proxy,
            fleet_of(proxy.url, MATCHES, drawn_matches(5), pause=0.1) as fleet,
        ):
            assert nodes[1].status("/readyz") == 503
            assert nodes[1].status("/healthz") == 200
            await fleet.moved(60)
            nodes[0].kill()
            await all_back(fleet, time.monotonic())
            await fleet.finished(MATCHES)
            assert await untrue(nodes[1], fleet) == []
            figures = await asyncio.to_thread(nodes[1].metrics)
        assert fleet.moves == MATCHES * 25
        assert nodes[1].error_lines() == []
        assert figures['kibitz_lobbies_moved_total{how="taken"}'] == MATCHES
        assert figures["kibitz_node_serving"] == 1


async def test_a_node_that_is_started_again_at_once_stands_by(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    """It finds its lobbies unchanged, but the other node has been alive for longer."""
    with two_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(90),
            standby_proxy([node.port for node in nodes]) as proxy,
            fleet_of(proxy.url, MATCHES, drawn_matches(5), pause=0.1) as fleet,
        ):
            await fleet.moved(60)
            nodes[0].kill()
            await asyncio.to_thread(nodes[0].start)
            await asyncio.to_thread(until_status, nodes[1], 200)
            await fleet.finished(MATCHES)
            assert nodes[0].status("/readyz") == 503
            assert await untrue(nodes[1], fleet) == []
        assert fleet.moves == MATCHES * 25


@pytest.mark.slow
async def test_matches_go_to_the_other_node_and_back(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    """The killed node is on standby after its restart until the other one is killed."""
    with two_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(200),
            standby_proxy([node.port for node in nodes]) as proxy,
            fleet_of(proxy.url, MATCHES, drawn_matches(10), pause=0.3) as fleet,
        ):
            for serving, standing_by in (nodes, nodes[::-1]):
                await fleet.moved(fleet.moves + 60)
                serving.kill()
                await all_back(fleet, time.monotonic())
                await asyncio.to_thread(serving.start)
                assert (serving.status("/readyz"), standing_by.status("/readyz")) == (503, 200)
            assert len(fleet.ended) < MATCHES
            fleet.pause = 0.0
            await fleet.finished(MATCHES)
            assert await untrue(nodes[0], fleet) == []
        assert fleet.moves == MATCHES * 100
        assert [line for node in nodes for line in node.error_lines()] == []


async def test_a_node_that_is_taken_down_hands_its_lobbies_over(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    with two_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(90),
            standby_proxy([node.port for node in nodes]) as proxy,
            fleet_of(proxy.url, MATCHES, drawn_matches(5), pause=0.1) as fleet,
        ):
            await fleet.moved(60)
            status, _ = await asyncio.to_thread(nodes[0].terminate)
            assert status == 0
            await fleet.finished(MATCHES)
            assert await untrue(nodes[1], fleet) == []
        assert fleet.moves == MATCHES * 25
        assert nodes[1].error_lines() == []


@pytest.mark.slow
async def test_a_node_that_was_frozen_writes_nothing_when_it_wakes_up(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    with two_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(200),
            standby_proxy([node.port for node in nodes]) as proxy,
            fleet_of(proxy.url, MATCHES, drawn_matches(6), pause=1.0) as fleet,
        ):
            await fleet.moved(60)
            with nodes[0].frozen():
                frozen = time.monotonic()
                await asyncio.sleep(1)  # an earlier commit has arrived by now
                before = await asyncio.to_thread(entries, cluster)
                await asyncio.to_thread(until_status, nodes[1], 200)
                await asyncio.sleep(20 - (time.monotonic() - frozen))
                acknowledged = fleet.moves
            assert acknowledged + 10 < MATCHES * 36, "the matches outlast the freeze"
            await asyncio.to_thread(until_status, nodes[0], 503)
            await fleet.moved(acknowledged + 10)
            await fleet.finished(MATCHES)
            after = await asyncio.to_thread(entries, cluster)
            written = await asyncio.to_thread(nodes[1].metrics)
            assert await untrue(nodes[1], fleet) == []
        assert fleet.moves == MATCHES * 36
        # Everything after the freeze is from the other node: its entries and its takeovers.
        assert after - before == written["kibitz_commit_entries_sum"] + MATCHES
        log = nodes[0].log.read_text()
        assert "this node no longer owns it" in log
        assert "is a standby now" in log
        assert "Traceback" not in log


@pytest.mark.slow
async def test_a_hundred_matches_of_a_killed_node_go_on(
    tmp_path: Path, cluster: PostgresCluster, report: ReportFigure
) -> None:
    with two_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(400),
            standby_proxy([node.port for node in nodes]) as proxy,
            fleet_of(proxy.url, 100, drawn_matches(6), pause=1.0) as fleet,
        ):
            await fleet.moved(600)
            nodes[0].kill()
            killed = time.monotonic()
            ready_s = await asyncio.to_thread(until_status, nodes[1], 200)
            waits = await all_back(fleet, killed)
            await fleet.finished(100)
            assert await untrue(nodes[1], fleet) == []
        assert fleet.moves == 100 * 36
    median_s, p99_s = percentile(waits, 0.5), percentile(waits, 0.99)
    report(
        f"a node with 100 matches was killed: the other served after {ready_s:.1f} s; players were"
        f" back at their seats after {median_s:.1f} s (median), {p99_s:.1f} s (p99)"
    )


@pytest.mark.slow
async def test_an_outage_of_the_database_under_two_nodes_loses_nothing(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    """All heartbeats expire in the meantime; only the node that serves afterwards writes."""
    with two_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(250),
            standby_proxy([node.port for node in nodes]) as proxy,
            fleet_of(proxy.url, MATCHES, drawn_matches(8), pause=0.1) as fleet,
        ):
            for outage_s in (1.0, 12.0):
                await fleet.moved(fleet.moves + 60)
                cluster.kill()
                await asyncio.sleep(outage_s)
                await asyncio.to_thread(cluster.start)
            await fleet.finished(MATCHES)
            assert await untrue(nodes[1], fleet) == []
        assert fleet.moves == MATCHES * 64
        assert [node.status("/healthz") for node in nodes] == [200, 200]
