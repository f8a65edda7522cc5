"""Failed commits: nothing is reported before it is on disk, and nothing is written twice."""

from __future__ import annotations

import pytest

from kibitz_server.storage.errors import NotStored, StoreError, WriteFailed
from kibitz_server.storage.streams import Stored
from tests.server.storage.conformance.engines import (
    Engine,
    Fault,
    RecordingWaiter,
    appended,
    lines,
    written,
)

FAULTS: tuple[Fault, ...] = ("absent", "doubtful")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("times", [1, 2])
async def test_a_commit_is_tried_again_and_nothing_is_written_twice(
    engine: Engine, fault: Fault, times: int
) -> None:
    store = engine.open(retries=(0.01, 0.01, 0.01))
    waiter = RecordingWaiter()
    stream = written(store, count=2)
    await store.flush()
    engine.fail_commits(store, fault, times)
    appended(store, stream, 3, waiter)
    await store.flush()
    assert (waiter.told, waiter.errors, store.healthy) == ([3, 4, 5], [], True)
    appended(store, stream, 1, waiter)
    await store.flush()
    await store.close()
    store = engine.open()
    [found] = store.load("match")
    assert found.lines == lines(1, 6)
    await store.close()


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_batch_that_is_given_up_is_found_as_the_disk_has_it(
    engine: Engine, fault: Fault
) -> None:
    store = engine.open(retries=())
    waiter, late = RecordingWaiter(), RecordingWaiter()
    stream, other = written(store, "m1", 2), written(store, "m2", 1)
    await store.flush()
    engine.fail_commits(store, fault, 1)
    appended(store, stream, 3, waiter)
    begun = written(store, "m3", 1, late)
    await store.flush()
    if fault == "absent" or waiter.errors:
        assert (waiter.told, len(waiter.errors), len(late.errors)) == ([], 1, 1)
        assert stream.failed
        assert begun.failed
        assert not other.failed
        with pytest.raises(WriteFailed):
            store.append(stream, 6, b"{}", None)
        found = await store.reload(["m1", "m3"])
        again = found["m1"]
        assert isinstance(again, Stored)
        expected = 5 if fault == "doubtful" else 2
        assert again.lines == lines(1, expected)
        assert isinstance(found["m3"], NotStored if fault == "absent" else Stored)
        assert store.exists("m3") is (fault == "doubtful")
        stream = again.stream
    appended(store, stream, 2)
    appended(store, other, 1)
    tail = stream.tail
    await store.flush()
    assert store.healthy
    await store.close()
    store = engine.open()
    found_after = {each.stream.key: each.lines for each in store.load("match")}
    assert found_after["m1"] == lines(1, tail)
    assert found_after["m2"] == lines(1, 2)
    await store.close()


async def test_what_follows_a_batch_that_is_given_up_is_lost_with_it(engine: Engine) -> None:
    store = engine.open(retries=(0.02,))
    stream = written(store, "m1", 1)
    await store.flush()
    engine.fail_commits(store, "absent", 2)
    first, second = RecordingWaiter(), RecordingWaiter()
    appended(store, stream, 1, first)

    class Follows(RecordingWaiter):
        def lost(self, error: StoreError) -> None:
            super().lost(error)
            assert stream.failed

    store.rate("m9", b"line")
    follower = Follows()
    appended(store, stream, 1, follower)
    await store.flush()
    assert (first.told, second.told, follower.told) == ([], [], [])
    assert (len(first.errors), len(follower.errors)) == (1, 1)
    assert await store.ledger(0, 9) == []
    await store.close()


async def test_a_waiter_that_raises_when_it_loses_stops_nobody(engine: Engine) -> None:
    class Raising(RecordingWaiter):
        def lost(self, error: StoreError) -> None:
            raise ValueError("planted")

    store = engine.open(retries=())
    waiter = RecordingWaiter()
    stream, other = written(store, "m1"), written(store, "m2")
    await store.flush()
    engine.fail_commits(store, "absent", 1)
    appended(store, stream, 1, Raising())
    appended(store, other, 1, waiter)
    await store.flush()
    assert len(waiter.errors) == 1
    await store.close()


async def test_a_server_that_was_replaced_writes_nothing_any_more(engine: Engine) -> None:
    store = engine.open(retries=(0.01,))
    failures: list[StoreError] = []
    store.on_failure = failures.append
    waiter = RecordingWaiter()
    stream = written(store, count=2)
    await store.flush()
    engine.take_over()
    appended(store, stream, 1, waiter)
    await store.flush()
    assert "taken over this database" in str(store.failure)
    assert len(failures) == 1
    assert (waiter.told, len(waiter.errors), store.healthy) == ([], 1, False)
    late = RecordingWaiter()
    written(store, "m2", 1, late)
    await store.flush()
    assert len(late.errors) == 1
    await store.close()
    store = engine.open()
    [found] = store.load("match")
    assert found.lines == lines(1, 2)
    await store.close()


async def test_what_is_appended_after_the_end_is_lost(engine: Engine) -> None:
    store = engine.open()
    stream = written(store, count=1)
    await store.close()
    waiter = RecordingWaiter()
    appended(store, stream, 1, waiter)
    await store.flush()
    assert len(waiter.errors) == 1
