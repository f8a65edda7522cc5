"""The log: appended entries become durable in order and can be read back."""

from __future__ import annotations

import asyncio

import pytest

from kibitz_server.storage.errors import DamagedStream, DatabaseInUse, NotStored, WriteFailed
from kibitz_server.storage.interface import Store
from kibitz_server.storage.streams import Stored, StoredCheckpoint, Stream
from tests.server.storage.conformance.engines import (
    Engine,
    FullEngine,
    RecordingWaiter,
    appended,
    line,
    lines,
    written,
)
from tests.tools.transcripts import transcript


async def test_nothing_is_told_before_the_commit_and_then_in_order(store: Store) -> None:
    waiter = RecordingWaiter()
    stream = written(store, count=3, waiter=waiter)
    assert (waiter.told, stream.durable) == ([], -1)
    await store.flush()
    assert (waiter.told, stream.durable) == ([0, 1, 2, 3], 3)


async def test_a_turn_of_the_loop_is_one_batch_and_what_follows_the_next(engine: Engine) -> None:
    batches: list[int] = []
    store = engine.open(observe=lambda entries, seconds: batches.append(entries))
    streams = [written(store, f"m{number}", 2) for number in range(50)]
    await store.flush()
    for stream in streams:
        appended(store, stream, 1)
    await store.flush()
    await store.close()
    assert batches == [100, 50]


async def test_what_comes_during_a_commit_is_the_next_batch(engine: Engine) -> None:
    batches: list[int] = []
    store = engine.open(observe=lambda entries, seconds: batches.append(entries))
    stream = written(store)

    class Continues(RecordingWaiter):
        def durable(self, seq: int) -> None:
            if seq < 5:
                store.append(stream, seq + 1, line(seq + 1), self)

    store.append(stream, 1, line(1), Continues())
    await store.flush()
    await store.close()
    assert batches == [1, 1, 1, 1, 1]


async def test_entries_have_no_gaps(store: Store) -> None:
    stream = written(store, count=2)
    for seq in (2, 4):
        with pytest.raises(WriteFailed):
            store.append(stream, seq, b"{}", None)


async def test_nothing_is_appended_to_what_is_closed(store: Store) -> None:
    stream = written(store, count=2)
    store.finish(stream, b"footer", b"summary")
    with pytest.raises(WriteFailed):
        store.append(stream, 3, b"{}", None)


async def test_a_waiter_that_raises_stops_nobody(store: Store) -> None:
    class Raising(RecordingWaiter):
        def durable(self, seq: int) -> None:
            raise ValueError("planted")

    waiter = RecordingWaiter()
    stream = Stream(0, "m1", "match")
    store.create(stream, b"head", owner=None, waiter=Raising())
    store.append(stream, 1, line(1), waiter)
    await store.flush()
    assert waiter.told == [1]


async def test_the_next_start_finds_what_was_told(engine: Engine) -> None:
    store = engine.open()
    first = written(store, "m1", 40)
    written(store, "L1")
    done = written(store, "m2", 3)
    store.finish(done, b"footer", b"summary")
    await store.flush()
    await store.close()
    store = engine.open()
    [match], [lobby] = store.load("match"), store.load("lobby")
    assert (match.stream.key, match.head, match.lines) == ("m1", b"head of m1", lines(1, 40))
    assert match.stream.chain == first.chain
    assert (match.stream.tail, match.stream.durable) == (40, 40)
    assert (lobby.stream.key, lobby.lines) == ("L1", [])
    appended(store, match.stream, 2)
    assert written(store, "m3").number > done.number
    await store.flush()
    await store.close()
    store = engine.open()
    assert [len(each.lines) for each in store.load("match")] == [42, 0]
    await store.close()


async def test_two_stores_do_not_own_a_database(full_engine: FullEngine) -> None:
    store = full_engine.open()
    with pytest.raises(DatabaseInUse):
        full_engine.open()
    await store.close()


async def test_a_checkpoint_spares_what_was_before_it(full_engine: FullEngine) -> None:
    store = full_engine.open()
    stream = written(store, count=5)
    store.write_checkpoint(stream, b"early")
    await store.flush()
    appended(store, stream, 5)
    store.write_checkpoint(stream, b"state")
    link = stream.chain
    appended(store, stream, 2)
    await store.flush()
    await store.close()
    store = full_engine.open()
    [found] = store.load("match")
    assert found.checkpoint == StoredCheckpoint(10, link, b"state")
    assert (found.lines, found.stream.chain) == (lines(11, 12), stream.chain)
    assert store.load_from_head(found).lines == lines(1, 12)
    await store.close()


async def test_a_closed_stream_has_no_checkpoint_and_is_read_in_pieces(store: Store) -> None:
    stream = written(store, count=700)
    store.write_checkpoint(stream, b"state")
    store.finish(stream, b"footer", b"summary")
    await store.flush()
    closed = await store.closed("m1")
    assert closed is not None
    assert (closed.head, closed.footer, closed.summary) == (b"head of m1", b"footer", b"summary")
    assert (closed.kind, closed.tail, closed.number) == ("match", 700, stream.number)
    assert await store.entries(stream.number, 1, 700) == lines(1, 700)
    assert await store.entries(stream.number, 300, 301) == lines(300, 301)
    assert await store.entries(stream.number, 699, 2**53) == lines(699, 700)
    assert await store.entries(stream.number, 701, 2**53) == []
    assert await store.entries_of_size(stream.number, 10, 1) == lines(10, 10)
    assert await store.entries_of_size(stream.number, 699, 10**6) == lines(699, 700)
    assert await store.entries_of_size(stream.number, 1, 10**6) == lines(1, 700)
    found = await transcript(store, "m1")
    assert found is not None
    assert (found.lines, found.footer) == (lines(1, 700), b"footer")


async def test_what_is_not_closed_is_not_told_of(store: Store) -> None:
    written(store, count=3)
    await store.flush()
    assert await store.closed("m1") is None
    assert await store.closed("nothing") is None
    assert await transcript(store, "m1") is None


async def test_an_open_stream_is_read_as_far_as_it_is_durable(store: Store) -> None:
    stream = written(store, count=3)
    assert await store.lines(stream, 1, 3) == []
    await store.flush()
    appended(store, stream, 1)
    assert await store.lines(stream, 1, 9) == lines(1, 3)
    assert await store.lines(stream, 2, 2) == lines(2, 2)


async def test_what_exists(engine: Engine) -> None:
    store = engine.open()
    lobby, match = written(store, "L1"), written(store, "m1", owner="L1")
    assert not store.exists("L2")
    await store.flush()
    assert store.exists("L1")
    assert store.exists("m1")
    store.finish(match, b"footer", b"summary")
    await store.flush()
    await store.close()
    store = engine.open()
    assert store.exists("m1")
    assert store.ending("m1") == (b"summary", b"footer")
    assert store.lobby_head("L1") == b"head of L1"
    assert store.lobby_head("m1") is None
    [stored] = store.load("lobby")
    assert stored.stream.number == lobby.number
    store.finish(stored.stream, None, b"closed")
    await store.flush()
    await store.close()
    store = engine.open()
    assert store.exists("L1") is store.remembers_closed
    assert store.lobby_head("L1") == b"head of L1"
    await store.close()


async def test_summaries_are_the_newest_first(engine: Engine) -> None:
    store = engine.open()
    for number in range(4):
        store.finish(written(store, f"m{number}"), b"footer", b"summary %d" % number)
    await store.flush()
    await store.close()
    store = engine.open()
    assert store.summaries("match", 2) == [b"summary 3", b"summary 2"]
    await store.close()


async def test_streams_are_read_again_in_one_go(store: Store) -> None:
    written(store, "m1", 3)
    store.finish(written(store, "m2", 2), b"footer", b"summary")
    await store.flush()
    found = await store.reload(["m1", "m2", "m3"])
    first, second = found["m1"], found["m2"]
    assert isinstance(first, Stored)
    assert isinstance(second, Stored)
    assert (first.lines, first.stream.closed) == (lines(1, 3), False)
    assert (second.lines, second.stream.closed) == (lines(1, 2), True)
    assert isinstance(found["m3"], NotStored)
    appended(store, first.stream, 1)
    await store.flush()
    assert first.stream.durable == 4


async def test_a_damaged_stream_stops_no_other(full_engine: FullEngine) -> None:
    store = full_engine.open()
    for key in ("m1", "m2", "m3"):
        written(store, key, 5)
    await store.flush()
    await store.close()
    await full_engine.open().close()  # SQLite moves its journal into segments at startup
    full_engine.damage("m2", 4)
    full_engine.damage("m3", 0)
    store = full_engine.open()
    assert [each.stream.key for each in store.load("match")] == ["m1"]
    assert [(each.key, each.sound) for each in store.damaged()][1] == ("m3", 0)
    assert store.damaged()[0].key == "m2"
    assert store.damaged()[0].sound <= 3
    assert store.set_aside_reason("m2") == store.damaged()[0].reason
    assert store.set_aside_reason("m1") is None
    assert store.exists("m1") is store.exists("nothing") or store.set_aside_reason("m3")
    await store.close()


async def test_a_closed_stream_that_was_changed_is_not_read(full_engine: FullEngine) -> None:
    store = full_engine.open()
    first, second = written(store, "m1", 5), written(store, "m2", 5)
    for stream in (first, second):
        store.finish(stream, b"footer", b"summary")
    await store.flush()
    full_engine.damage("m1", 3)
    full_engine.damage("m2", 0)
    with pytest.raises(DamagedStream):
        await store.entries(first.number, 1, 5)
    with pytest.raises(DamagedStream):
        await store.closed("m2")
    await store.close()


async def test_what_is_set_aside_is_known_at_once_and_after_a_start(engine: Engine) -> None:
    store = engine.open()
    written(store, count=2)
    store.set_aside("m1", "planted", 1000)
    await store.flush()
    assert store.set_aside_reason("m1") == "planted"
    await store.close()
    store = engine.open()
    assert store.load("match") == []
    assert store.set_aside_reason("m1") == "planted"
    await store.close()


async def test_the_ledger_counts_a_match_once(engine: Engine) -> None:
    store = engine.open()
    for match in ("m1", "m2", "m1", "m3"):
        store.rate(match, match.encode())
        await store.flush()
    found = await store.ledger(0, 10)
    assert [text for _, text in found] == [b"m1", b"m2", b"m3"]
    assert await store.ledger(found[0][0], 1) == [found[1]]
    assert await store.ledger(found[-1][0], 1) == []
    await store.close()


async def test_reading_does_not_keep_the_loop_waiting(store: Store) -> None:
    stream = written(store, count=700)
    store.finish(stream, b"footer", b"summary")
    await store.flush()
    reading = [asyncio.ensure_future(store.entries(stream.number, 1, 700)) for _ in range(8)]
    assert [len(found) for found in await asyncio.gather(*reading)] == [700] * 8
