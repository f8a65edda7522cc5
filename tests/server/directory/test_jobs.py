"""Expensive requests: one at a time per player, with bounded queues."""

from __future__ import annotations

import asyncio

import pytest

from kibitz_server.directory.jobs import JobLimits, JobQueue, QueueFull


class Scenario:
    """Jobs that run until the test ends them, with the order in which they started."""

    def __init__(self, **limits: int) -> None:
        self.jobs = JobQueue(JobLimits(**limits))
        self.begun: list[str] = []
        self.running = self.most = 0
        self._go_on = asyncio.Semaphore(0)

    def ask(
        self, player: str, name: str = "", address: str | None = None, people: int = 0
    ) -> asyncio.Task[None]:
        return asyncio.create_task(self._work(player, name or player, address, people))

    async def _work(self, player: str, name: str, address: str | None, people: int) -> None:
        async with self.jobs.turn(player, address, people):
            self.begun.append(name)
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await self._go_on.acquire()
            finally:
                self.running -= 1

    async def settle(self, ended: int = 0) -> list[str]:
        """Let some jobs end, and return those that have started."""
        for _ in range(ended):
            self._go_on.release()
        for _ in range(20):
            await asyncio.sleep(0)
        return self.begun


async def test_one_job_of_a_player_runs_at_a_time_and_players_take_turns() -> None:
    scenario = Scenario(at_once=2)
    tasks = [scenario.ask("ada", f"ada {n}") for n in range(3)] + [
        scenario.ask("bob"),
        scenario.ask("cyd"),
    ]
    assert await scenario.settle() == ["ada 0", "bob"]
    assert await scenario.settle(1) == ["ada 0", "bob", "cyd"]
    assert await scenario.settle(1) == ["ada 0", "bob", "cyd", "ada 1"]
    assert (await scenario.settle(3))[4:] == ["ada 2"]
    await asyncio.gather(*tasks)
    assert (scenario.most, scenario.running, scenario.jobs._waiting) == (2, 0, [])


async def test_a_line_that_is_full_refuses_with_a_time() -> None:
    scenario = Scenario(waiting_a_player=2, waiting=3, retry_after_ms=7)
    tasks = [scenario.ask("ada") for _ in range(3)]
    await scenario.settle()
    with pytest.raises(QueueFull, match="2 of your requests are waiting") as busy:
        await scenario.ask("ada")
    assert busy.value.retry_after_ms == 7
    tasks.append(scenario.ask("bob"))
    await scenario.settle()
    with pytest.raises(QueueFull, match="too many requests are waiting"):
        await scenario.ask("cyd")
    await scenario.settle(4)
    await asyncio.gather(*tasks)
    assert not scenario.jobs._waiting


async def test_an_address_has_no_more_lines_than_its_share() -> None:
    scenario = Scenario(waiting_an_address=2)
    far = [scenario.ask(f"eve {n}", address="192.0.2.1") for n in range(3)]
    here = [scenario.ask(f"ada {n}") for n in range(3)]
    await scenario.settle()
    with pytest.raises(QueueFull, match="from your address"):
        await scenario.ask("eve 4", address="192.0.2.1")
    await scenario.settle(6)
    await asyncio.gather(*far, *here)
    assert (len(scenario.begun), scenario.jobs._waiting) == (6, [])


async def test_an_address_of_many_people_has_a_line_for_each() -> None:
    scenario = Scenario(waiting_an_address=2)
    far = [scenario.ask(f"eve {n}", address="192.0.2.1", people=3) for n in range(4)]
    await scenario.settle()
    with pytest.raises(QueueFull, match="from your address"):
        await scenario.ask("eve 5", address="192.0.2.1", people=3)
    await scenario.settle(4)
    await asyncio.gather(*far)
    assert (len(scenario.begun), scenario.jobs._waiting) == (4, [])


async def test_who_is_cancelled_gives_its_place_and_its_turn_away() -> None:
    scenario = Scenario()
    first, waits, last = scenario.ask("ada"), scenario.ask("bob"), scenario.ask("cyd")
    await scenario.settle()
    waits.cancel()
    await scenario.settle(1)
    assert scenario.begun == ["ada", "cyd"]
    also = scenario.ask("dan")
    await scenario.settle()
    last.cancel()
    also.cancel()  # it would start at the moment of its cancellation
    await scenario.settle()
    assert (scenario.running, scenario.jobs._waiting) == (0, [])
    await asyncio.gather(first, waits, last, also, return_exceptions=True)


async def test_a_job_that_raises_makes_room() -> None:
    jobs = JobQueue()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with jobs.turn("ada"):
                raise ZeroDivisionError


async def test_the_limits_hold_while_a_turn_passes_to_the_next() -> None:
    """Between the end of a turn and the start of the next, the player's lock is not locked."""
    jobs = JobQueue(JobLimits(waiting_a_player=1))

    async def wait_for_turn() -> None:
        async with jobs.turn("ada"):
            pass

    async with jobs.turn("ada"):
        waiting = asyncio.create_task(wait_for_turn())
        await asyncio.sleep(0)
    with pytest.raises(QueueFull):
        await wait_for_turn()
    await waiting
