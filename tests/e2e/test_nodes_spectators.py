"""Spectators at one node of matches on another node, as processes on one database."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psycopg

from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.messages import Event, Finished, Snapshot
from tests.e2e.test_nodes_side_by_side import three_nodes, untrue, urls
from tests.tools.fleet import fleet_of
from tests.tools.postgres_server import PostgresCluster
from tests.tools.server_process import ServerProcess, drawn_matches


class Screen:
    """The messages about matches that a spectator receives, in order."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.news: dict[str, list[Snapshot | Event | Finished]] = {}
        self._task = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        async for news in self.client.news():
            if isinstance(news, Snapshot | Event | Finished):
                self.news.setdefault(news.match, []).append(news)

    def shown(self, match: str) -> int:
        """Return the number of the last known entry."""
        last = self.news.get(match, [])[-1:]
        numbers = (each.entry.seq if isinstance(each, Event) else each.seq for each in last)
        return max(numbers, default=-1)

    async def until(self, match: str, seq: int) -> None:
        await _until(lambda: self.shown(match) >= seq)

    async def finished(self, match: str) -> None:
        await _until(lambda: any(isinstance(each, Finished) for each in self.news.get(match, ())))

    def require_whole(self, match: str) -> None:
        """Require one snapshot, each entry after it once, and the end."""
        snapshot, *events, finished = self.news[match]
        assert isinstance(snapshot, Snapshot)
        assert isinstance(finished, Finished)
        numbers = [each.entry.seq for each in events if isinstance(each, Event)]
        assert numbers == list(range(snapshot.seq + 1, finished.seq + 1))

    def close(self) -> None:
        self._task.cancel()


async def _until(reached: Callable[[], bool]) -> None:
    while not reached():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def screen(node: ServerProcess, name: str) -> AsyncIterator[Screen]:
    async with Client(node.url, name=name) as client:
        made = Screen(client)
        try:
            yield made
        finally:
            made.close()


async def figures(node: ServerProcess) -> dict[str, float]:
    return dict(await asyncio.to_thread(node.metrics))


def owner(cluster: PostgresCluster, match: str) -> str:
    """Return the node that owns a match's lobby."""
    sql = (
        "SELECT lobby.node FROM kibitz.stream JOIN kibitz.stream AS lobby"
        " ON lobby.key = stream.owner WHERE stream.key = %s"
    )
    with psycopg.connect(cluster.url, autocommit=True) as db:
        row = db.execute(sql, (match,)).fetchone()
    assert row is not None
    return str(row[0])


async def listed(client: Client, count: int) -> list[str]:
    """Wait until a node lists so many running matches, and return them."""
    while True:
        briefs = (await client.hall.matches()).matches
        matches = [brief.match for brief in briefs if brief.result is None]
        if len(matches) >= count:
            return matches
        await asyncio.sleep(0.1)


async def test_spectators_stay_at_their_node_and_share_one_tail(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    with three_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(90),
            fleet_of(nodes[0].url, 1, drawn_matches(5), pause=0.2, spectators=0) as fleet,
            screen(nodes[1], "Eve") as eve,
            screen(nodes[1], "Gus") as gus,
        ):
            [match] = await listed(eve.client, 1)
            await asyncio.gather(eve.client.watch(match), gus.client.watch(match))
            await eve.until(match, 3)
            here, there = await figures(nodes[1]), await figures(nodes[0])
            assert (here["kibitz_matches_elsewhere"], here["kibitz_spectators"]) == (1, 2)
            assert (there["kibitz_matches_elsewhere"], there["kibitz_spectators"]) == (0, 0)
            past = await gus.client.history(match, 1)
            assert [event.entry.seq for event in past.events][:2] == [1, 2]
            for each in (eve, gus):
                await each.finished(match)
                each.require_whole(match)
            assert (await eve.client.history(match, 1)).events[0].entry.seq == 1
            await fleet.finished(1)
            assert await untrue(nodes[1], fleet) == []
            await _follows_nothing(nodes[1])
        here = await figures(nodes[1])
        assert not any('code="elsewhere"' in name for name in here), "nobody was sent away"


async def _follows_nothing(node: ServerProcess) -> None:
    while (await figures(node))["kibitz_matches_elsewhere"]:  # noqa: ASYNC110
        await asyncio.sleep(0.1)


async def test_spectators_go_on_without_a_gap_when_their_node_takes_the_match_over(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    """Spectators at the node that takes over switch to the match; others notice nothing."""
    with three_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(120),
            fleet_of(nodes[0].url, 2, drawn_matches(5), pause=0.4, spectators=0) as fleet,
            screen(nodes[1], "Eve") as eve,
            screen(nodes[2], "Gus") as gus,
        ):
            matches = await listed(eve.client, 2)
            await listed(gus.client, 2)
            for match in matches:
                await asyncio.gather(eve.client.watch(match), gus.client.watch(match))
            await eve.until(matches[0], 3)
            nodes[0].kill()
            await fleet.finished(2)
            for match in matches:
                for each in (eve, gus):
                    await each.finished(match)
                    each.require_whole(match)
            assert await untrue(nodes[1], fleet) == []
            taken = 'kibitz_lobbies_moved_total{how="taken"}'
            assert sum([(await figures(node))[taken] for node in nodes[1:]]) == 2
        assert [line for node in nodes[1:] for line in node.error_lines()] == []


async def test_a_wall_shows_matches_of_every_node_and_who_comments_goes_there(
    tmp_path: Path, cluster: PostgresCluster
) -> None:
    with three_nodes(tmp_path, cluster) as nodes:
        async with (
            asyncio.timeout(90),
            fleet_of(urls(nodes), 3, drawn_matches(5), pause=0.5, spectators=0) as fleet,
            screen(nodes[1], "Eve") as eve,
            screen(nodes[1], "Gus") as gus,
        ):
            matches = await listed(eve.client, 3)
            told = await eve.client.wall(matches)
            assert (sorted(told.watching), told.refused) == (sorted(matches), [])
            for match in matches:
                await eve.until(match, 1)
            here = await figures(nodes[1])
            assert (here["kibitz_matches_elsewhere"], here["kibitz_spectators"]) == (2, 3)
            elsewhere = next(match for match in matches if owner(cluster, match) == "a")
            await gus.client.watch(elsewhere)
            await gus.client.comment(elsewhere, "well played")
            await eve.client.wall([])
            await _follows_nothing(nodes[1])
            await fleet.finished(3)
            await gus.finished(elsewhere)
            comments = [
                each
                for each in gus.news[elsewhere]
                if isinstance(each, Event) and each.entry.kind == "comment"
            ]
            assert len(comments) == 1
