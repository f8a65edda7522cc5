"""A node's reads of logs written by another node."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest

from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import MatchHead, NewEntries, Nodes, Store
from kibitz_server.storage.streams import Stream
from tests.server.storage.conformance.engines import (
    NodeEngine,
    RecordingWaiter,
    appended,
    lines,
    nodes_of,
    written,
)


class Pair(NamedTuple):
    """A writing node and a reading node."""

    engine: NodeEngine
    writer: Store
    reader: Nodes

    async def head(self, key: str) -> MatchHead:
        found = (await self.reader.match_heads([key]))[key]
        assert isinstance(found, MatchHead)
        return found

    async def new(self, stream: Stream) -> NewEntries | StoreError | None:
        return (await self.reader.new_entries([stream])).get(stream.key)

    async def take(self, stream: Stream) -> NewEntries:
        """Continue reading a stream."""
        found = await self.new(stream)
        assert isinstance(found, NewEntries)
        stream.tail += len(found.lines)
        stream.chain = found.chain
        return found


@pytest.fixture
async def pair(node_engine: NodeEngine) -> AsyncIterator[Pair]:
    writer, reader = node_engine.node("a"), node_engine.node("b")
    yield Pair(node_engine, writer, nodes_of(reader))
    await writer.close()
    await reader.close()


def begun(pair: Pair, count: int, key: str = "m1") -> Stream:
    if not pair.writer.exists("lobby"):
        written(pair.writer, "lobby", 1, RecordingWaiter())
    return written(pair.writer, key, count, RecordingWaiter(), owner="lobby")


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


async def test_a_take_over_in_between_changes_nothing_for_a_reader(pair: Pair) -> None:
    match = begun(pair, 2)
    await pair.writer.flush()
    stream = (await pair.head("m1")).stream
    await pair.take(stream)
    pair.engine.give("lobby", "c")
    assert await pair.new(stream) is None
    pair.engine.give("lobby", "a")
    appended(pair.writer, match, 1)
    await pair.writer.flush()
    assert (await pair.take(stream)).lines == lines(3, 3)


async def test_only_matches_that_are_there_have_heads(pair: Pair) -> None:
    begun(pair, 1)
    await pair.writer.flush()
    assert (await pair.reader.match_heads(["m1", "m4", "lobby"])).keys() == {"m1"}
