"""The data that retention finds and deletes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from kibitz_server.storage.errors import NotStored
from kibitz_server.storage.interface import PlayerRow, Store
from kibitz_server.storage.streams import Waiter
from tests.server.storage.conformance.engines import (
    Engine,
    FullEngine,
    RecordingWaiter,
    line,
    written,
)
from tests.tools.transcripts import transcript

LATER = 2**40
"""A time after the start of all streams."""


@pytest.fixture
def engine(full_engine: FullEngine) -> FullEngine:
    return full_engine


async def done(store: Store, write: Callable[[Waiter], None]) -> None:
    waiter = RecordingWaiter()
    write(waiter)
    await store.flush()
    assert waiter.told


async def test_a_closed_stream_goes_piece_by_piece_and_its_lobby_after_it(engine: Engine) -> None:
    store = engine.open()
    lobby = written(store, "abc", 2)
    match = written(store, "abc-m1", 300, owner="abc")
    other = written(store, "abc-m2", 1, owner="abc")
    for stream in (lobby, match, other):
        store.finish(stream, b"footer", b"summary")
    await store.flush()
    store.rate("m9", b"line")
    await store.close()
    store = engine.open()  # now SQLite's journal contains only its last batch
    expiry = store.expiry
    assert await expiry.closed_streams("lobby", LATER, 0, 9) == []
    old = await expiry.closed_streams("match", LATER, 0, 9)
    assert [(each.number, each.key) for each in old] == [
        (match.number, "abc-m1"),
        (other.number, "abc-m2"),
    ]
    assert old[0].last_line == line(300)
    assert await expiry.closed_streams("match", 0, 0, 9) == []
    assert len(await expiry.closed_streams("match", LATER, 0, 1)) == 1
    assert len(await expiry.closed_streams("match", LATER, match.number, 9)) == 1
    assert match.number not in await expiry.pinned()
    await done(store, lambda waiter: expiry.mark_deleted([match.number, other.number], waiter))
    assert await store.closed("abc-m1") is None
    assert await transcript(store, "abc-m2") is None
    portions = 0
    while remains := await expiry.remains(1):
        await done(store, partial(expiry.delete_remains, remains))
        portions += 1
    assert portions >= 4
    found = await store.reload(["abc-m1"])
    assert isinstance(found["abc-m1"], NotStored)
    assert [each.key for each in await expiry.closed_streams("lobby", LATER, 0, 9)] == ["abc"]
    await store.close()


async def test_what_is_open_is_not_deleted(store: Store) -> None:
    stream = written(store, "m1", 2)
    await store.flush()
    assert await store.expiry.closed_streams("match", LATER, 0, 9) == []
    await done(store, lambda waiter: store.expiry.mark_deleted([stream.number], waiter))
    assert await store.expiry.remains(9) == []


async def test_guests_go_by_their_age_and_their_number(store: Store) -> None:
    for number in range(5):
        row = PlayerRow(f"g{number}", f"Name {number}", "human", False, f"n{number}", 1000 + number)
        store.players.add_guest(row, b"secret %d" % number, RecordingWaiter())
    await store.flush()
    expiry = store.expiry
    assert await expiry.idle_guests(1003, 9) == ["g0", "g1", "g2"]
    assert await expiry.idle_guests(1003, 2) == ["g0", "g1"]
    assert await expiry.nth_newest_guest(3) == 1001
    assert await expiry.nth_newest_guest(5) is None
    store.players.note_seen("g1", 5000)
    await done(store, lambda waiter: expiry.delete_guests(["g0", "g1"], 1003, waiter))
    assert store.players.by_key("g0") is store.players.by_secret(b"secret 0") is None
    assert store.players.by_key("g1") is not None
    assert await expiry.idle_guests(9999, 9) == ["g2", "g3", "g4", "g1"]
