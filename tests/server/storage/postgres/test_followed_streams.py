"""A node's reads of another node's logs in PostgreSQL: limits, damage, outages."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kibitz_server.storage.errors import DamagedStream, UnusableDatabase
from kibitz_server.storage.interface import MatchHead, NewEntries
from kibitz_server.storage.location import PostgresURL
from kibitz_server.storage.postgres import followed_streams
from kibitz_server.storage.postgres.nodes import PostgresNodes
from tests.server.storage.conformance.engines import PostgresEngine, lines, nodes_of
from tests.server.storage.conformance.test_followed_streams import Pair, begun

pytestmark = pytest.mark.e2e


class PostgresPair(Pair):
    """A writing and a reading node on PostgreSQL."""

    def execute(self, sql: str, *values: object) -> None:
        assert isinstance(self.engine, PostgresEngine)
        self.engine.execute(sql, *values)


@pytest.fixture
async def pair(url: PostgresURL) -> AsyncIterator[PostgresPair]:
    engine = PostgresEngine(url)
    writer, reader = engine.node("a"), engine.node("b")
    yield PostgresPair(engine, writer, nodes_of(reader))
    await writer.close()
    await reader.close()


async def test_what_is_read_at_a_time_is_limited_for_each_and_for_all(
    pair: PostgresPair, monkeypatch: pytest.MonkeyPatch
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
async def test_a_log_that_is_not_as_it_was_written_is_not_read_on(
    pair: PostgresPair, damage: str
) -> None:
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


async def test_heads_that_are_missing_or_damaged_are_told_apart(pair: PostgresPair) -> None:
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


async def test_a_database_that_is_away_is_said_to_be_and_is_read_again(pair: PostgresPair) -> None:
    begun(pair, 1)
    await pair.writer.flush()
    stream = (await pair.head("m1")).stream
    pair.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    assert (await pair.take(stream)).lines == lines(1, 1), "a dead connection is made again"
    reader = pair.reader
    assert isinstance(reader, PostgresNodes)
    reader._readers._url = PostgresURL("postgresql://nobody@127.0.0.1:1/nothing")
    await reader._readers.close()
    with pytest.raises(UnusableDatabase):
        await pair.new(stream)
