"""The group commit on a scripted engine; `conformance` tests the real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from kibitz_server.storage import group_commit
from kibitz_server.storage.errors import StoreError, TakenOver, WriteFailed
from kibitz_server.storage.group_commit import Batch, Done, GroupCommit, Statement
from kibitz_server.storage.streams import Stream
from tests.server.storage.conformance.engines import RecordingWaiter

ROW = Statement("INSERT", ())
FULL = WriteFailed("the disk is full")


class ScriptedEngine:
    """Stores batches; `outcomes` are the results of the next attempts, later ones succeed."""

    def __init__(self, *outcomes: WriteFailed | None, retries: Sequence[float] = ()) -> None:
        self.outcomes = list(outcomes)
        self.attempts: list[Batch] = []
        self._loop = asyncio.get_running_loop()
        self.commits = GroupCommit(self._loop, self.write, retries=retries)
        self.stream = Stream(1, "m1", "match", durable=0)

    def write(self, batch: Batch, done: Done) -> None:
        self.attempts.append(batch)
        self._loop.call_later(0.01, done, self.outcomes.pop(0) if self.outcomes else None)

    def append(self, waiter: RecordingWaiter) -> None:
        self.commits.append(self.stream, self.stream.tail + 1, b"line", waiter)

    @property
    def sizes(self) -> list[int]:
        """The number of entries in each attempt."""
        return [len(batch.entries) for batch in self.attempts]


async def test_a_turn_is_a_batch_and_what_comes_during_its_commit_is_the_next_one() -> None:
    engine, waiter = ScriptedEngine(), RecordingWaiter()
    for _ in range(3):
        engine.append(waiter)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    for _ in range(2):
        engine.append(waiter)
    assert waiter.told == []
    await engine.commits.flush()
    assert (engine.sizes, waiter.told) == ([3, 2], [1, 2, 3, 4, 5])


async def test_an_attempt_that_fails_is_made_again_with_the_same_batch() -> None:
    engine, waiter = ScriptedEngine(FULL, FULL, retries=(0.0, 0.0)), RecordingWaiter()
    engine.append(waiter)
    while engine.commits.healthy:  # noqa: ASYNC110
        await asyncio.sleep(0)
    await engine.commits.flush()
    assert engine.attempts == [engine.attempts[0]] * 3
    assert (waiter.told, engine.commits.healthy) == ([1], True)


async def test_a_batch_that_is_given_up_takes_with_it_what_came_since(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(group_commit, "PROBE_AFTER_S", 0.01)
    engine, waiter = ScriptedEngine(FULL), RecordingWaiter()
    engine.append(waiter)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    engine.append(waiter)
    await engine.commits.flush()
    assert (engine.sizes, waiter.told, waiter.errors) == ([1], [], [FULL])
    assert engine.stream.failed
    with pytest.raises(WriteFailed):
        engine.append(waiter)
    while not engine.commits.healthy:  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    assert engine.sizes == [1, 0], "an empty batch has found out that the disk is well"


async def test_after_a_take_over_nothing_is_written_and_the_server_hears_it_once() -> None:
    engine, waiter = ScriptedEngine(TakenOver()), RecordingWaiter()
    failures: list[StoreError] = []
    engine.commits.on_failure = failures.append
    engine.append(waiter)
    await engine.commits.flush()
    engine.commits.execute(ROW, waiter=waiter)
    await engine.commits.flush()
    assert [type(each) for each in waiter.errors] == [TakenOver, TakenOver]
    assert (len(failures), len(engine.attempts)) == (1, 1)
    assert engine.commits.failure is failures[0]


async def test_rows_in_no_hurry_are_written_before_what_is_given_after_them() -> None:
    engine, waiter = ScriptedEngine(), RecordingWaiter()
    engine.commits.execute_unhurried(ROW, waiter=waiter)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert engine.attempts == []
    later = Statement("DELETE", ())
    engine.commits.execute(later)
    await engine.commits.flush()
    assert [batch.statements for batch in engine.attempts] == [[ROW, later]]
    assert waiter.told == [0]


async def test_what_is_given_after_the_end_is_lost() -> None:
    engine, waiter = ScriptedEngine(), RecordingWaiter()
    engine.append(waiter)
    await engine.commits.close(1.0)
    engine.append(waiter)
    await engine.commits.flush()
    assert (waiter.told, len(waiter.errors), engine.sizes) == ([1], 1, [1])
