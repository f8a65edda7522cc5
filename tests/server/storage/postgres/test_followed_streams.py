"""What a node reads of logs that another node writes, on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import NamedTuple

import psycopg
import pytest

from kibitz_server.storage.errors import DamagedStream, StoreError, UnusableDatabase
from kibitz_server.storage.interface import MatchHead, NewEntries
from kibitz_server.storage.location import NodeIdentity, PostgresURL
from kibitz_server.storage.postgres import followed_streams
from kibitz_server.storage.postgres.nodes import PostgresNodes
from kibitz_server.storage.postgres.store import PostgresStore
from kibitz_server.storage.streams import Stream
from tests.server.storage.conformance.engines import RecordingWaiter, appended, lines, written
from tests.tools import postgres_server

pytestmark = pytest.mark.e2e


class Pair(NamedTuple):
    """A node that writes and one that reads."""

    url: PostgresURL
    writer: PostgresStore
    reader: PostgresNodes

    async def head(self, key: str) -> MatchHead:
        found = (await self.reader.match_heads([key]))[key]
        assert isinstance(found, MatchHead)
        return found

    async def new(self, stream: Stream) -> NewEntries | StoreError | None:
        return (await self.reader.new_entries([stream])).get(stream.key)

    async def take(self, stream: Stream) -> NewEntries:
        """Read on in a stream."""
        found = await self.new(stream)
        assert isinstance(found, NewEntries)
        stream.tail += len(found.lines)
        stream.chain = found.chain
        return found

    def execute(self, sql: str, *values: object) -> None:
        options = "-c search_path=kibitz"
        with psycopg.connect(self.url.url, autocommit=True, options=options) as db:
            db.execute(sql, values)


@pytest.fixture
async def pair(server: str) -> AsyncIterator[Pair]:
    with postgres_server.database(server) as url:
        loop = asyncio.get_running_loop()
        stores = [
            PostgresStore(url, loop, node=NodeIdentity(name, f"ws://{name}.example.org"))
            for name in ("a", "b")
        ]
        reader = stores[1].nodes
        assert reader is not None
        yield Pair(url, stores[0], reader)
        for store in stores:
            await store.close()


def begun(pair: Pair, count: int, key: str = "m1") -> Stream:
    waiter = RecordingWaiter()
    if not pair.writer.exists("lobby"):
        written(pair.writer, "lobby", 1, waiter)
    return written(pair.writer, key, count, waiter, owner="lobby")


async def test_a_match_is_read_from_its_head_on_and_then_what_is_new(pair: Pair) -> None:
    match = begun(pair, 3)
    await pair.writer.flush()
    head = await pair.head("m1")
    assert (head.head, head.lobby_head) == (b"head of m1", b"head of lobby")
    first = await pair.take(head.stream)
    assert (first.lines, first.more, first.closed) == (lines(1, 3), False, False)
    assert first.chain == match.chain
    assert await pair.new(head.stream) is None
    appended(pair.writer, match, 2)
    await pair.writer.flush()
    assert (await pair.take(head.stream)).lines == lines(4, 5)


async def test_the_end_comes_with_the_last_entry_and_is_told_again(pair: Pair) -> None:
    match = begun(pair, 2)
    await pair.writer.flush()
    stream = (await pair.head("m1")).stream
    await pair.take(stream)
    appended(pair.writer, match, 1)
    pair.writer.finish(match, b"footer", b"summary")
    await pair.writer.flush()
    last = await pair.take(stream)
    assert (last.lines, last.closed) == (lines(3, 3), True)
    assert (await pair.take(stream)) == NewEntries([], match.chain, more=False, closed=True)
    assert isinstance(await pair.head("m1"), MatchHead), "a match that is over can be read too"


async def test_what_is_read_at_a_time_is_limited_for_each_and_for_all(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed_streams, "STREAM_PIECE", 4)
    matches = [begun(pair, 10, f"m{number}") for number in range(3)]
    pair.writer.finish(matches[0], b"footer", b"summary")
    await pair.writer.flush()
    streams = [(await pair.head(match.key)).stream for match in matches]
    piece = await pair.take(streams[0])
    assert (piece.lines, piece.more, piece.closed) == (lines(1, 4), True, False)
    monkeypatch.setattr(followed_streams, "PIECE", 7)
    found = await pair.reader.new_entries(streams)
    shares = {key: len(new.lines) for key, new in found.items() if isinstance(new, NewEntries)}
    assert shares == {"m0": 3, "m1": 2, "m2": 2}
    assert all(isinstance(new, NewEntries) and new.more for new in found.values())
    seen: list[bytes] = list(piece.lines)
    while (piece := await pair.take(streams[0])).more:
        seen += piece.lines
    assert (seen + piece.lines, piece.closed) == (lines(1, 10), True)


async def test_a_take_over_in_between_changes_nothing_for_a_reader(pair: Pair) -> None:
    match = begun(pair, 2)
    await pair.writer.flush()
    stream = (await pair.head("m1")).stream
    await pair.take(stream)
    pair.execute("UPDATE stream SET node = 'c' WHERE key = 'lobby'")
    assert await pair.new(stream) is None
    pair.execute("UPDATE stream SET node = 'a' WHERE key = 'lobby'")
    appended(pair.writer, match, 1)
    await pair.writer.flush()
    assert (await pair.take(stream)).lines == lines(3, 3)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entry SET line = 'another' WHERE seq = 2",
        "DELETE FROM entry WHERE seq = 2",
        "UPDATE stream SET state = 'damaged' WHERE key = 'm1'",
        "DELETE FROM stream WHERE key = 'm1'",
        "UPDATE stream SET state = 'closed', tail = 9 WHERE key = 'm1'",
    ],
)
async def test_a_log_that_is_not_as_it_was_written_is_not_read_on(pair: Pair, damage: str) -> None:
    begun(pair, 3)
    sound = begun(pair, 1, "m2")
    await pair.writer.flush()
    stream, other = (await pair.head("m1")).stream, (await pair.head("m2")).stream
    pair.execute(damage)
    found = await pair.reader.new_entries([stream, other])
    assert isinstance(found["m1"], DamagedStream)
    new = found["m2"]
    assert isinstance(new, NewEntries)
    assert (new.lines, new.chain) == (lines(1, 1), sound.chain)


async def test_heads_that_are_missing_or_damaged_are_told_apart(pair: Pair) -> None:
    for key in ("m1", "m2", "m3"):
        begun(pair, 1, key)
    await pair.writer.flush()
    pair.execute("UPDATE stream SET head = 'another' WHERE key = 'm2'")
    pair.execute("UPDATE stream SET state = 'damaged' WHERE key = 'm3'")
    found = await pair.reader.match_heads(["m1", "m2", "m3", "m4", "lobby"])
    assert {key: type(head) for key, head in found.items()} == {
        "m1": MatchHead,
        "m2": DamagedStream,
        "m3": DamagedStream,
    }


async def test_a_database_that_is_away_is_said_to_be_and_is_read_again(pair: Pair) -> None:
    begun(pair, 1)
    await pair.writer.flush()
    stream = (await pair.head("m1")).stream
    pair.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    assert (await pair.take(stream)).lines == lines(1, 1), "a dead connection is made again"
    pair.reader._readers._url = PostgresURL("postgresql://nobody@127.0.0.1:1/nothing")
    await pair.reader._readers.close()
    with pytest.raises(UnusableDatabase):
        await pair.new(stream)
