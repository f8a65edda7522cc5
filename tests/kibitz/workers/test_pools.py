"""Worker pools without processes: the option, errors, and code without an event loop."""

from __future__ import annotations

import asyncio
import builtins
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kibitz.options.workers import workers_option
from kibitz.workers import ray_pool, tasks
from kibitz.workers.port import Json, PoolError
from kibitz.workers.process_pool import result_of
from kibitz.workers.thread_bridge import MOST_LOSSES, PoolCompute
from kibitz_arena.runner.block_task import TaskFailedError, WorkerLostError


@click.command()
@workers_option
def shown(workers: str | None) -> None:
    click.echo(workers)


@pytest.mark.parametrize("given", ["0", "-1", "x", "ray://", "ray:auto", "257", "1.5"])
def test_the_option_refuses_what_names_no_pool(given: str) -> None:
    done = CliRunner().invoke(shown, ["--workers", given])
    assert done.exit_code == 2
    assert "expected a number from 1 to 256, or ray://HOST:PORT" in done.output


def test_the_option_takes_numbers_and_clusters() -> None:
    for given in ("1", "16", "ray://auto", "ray://10.0.0.1:6379"):
        assert CliRunner().invoke(shown, ["--workers", given]).output == f"{given}\n"


async def test_ray_that_is_not_installed_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without_ray(name: str, *rest: Any) -> Any:
        if name == "ray":
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    with pytest.raises(PoolError, match=r"pip install 'kibitz\[cluster\]'"):
        async with ray_pool.ray_pool("ray://auto"):
            pass


class StandInRay:
    """A fake of Ray's API for joining a cluster."""

    def __init__(self, init: Callable[[], object]) -> None:
        self._init = init
        self.shutdowns = 0

    def init(self, where: str, **options: object) -> None:
        self._init()

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def remote(self, **options: object) -> Callable[[object], object]:
        return lambda function: function

    def shutdown(self) -> None:
        self.shutdowns += 1


async def join(monkeypatch: pytest.MonkeyPatch, address: str, ray: StandInRay) -> int:
    """Join and leave a cluster; return its number of workers."""
    monkeypatch.setattr(ray_pool, "_import_ray", lambda: ray)
    async with ray_pool.ray_pool(address) as pool:
        return pool.size


async def test_a_cluster_is_joined_and_left(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    ray = StandInRay(lambda: None)
    assert await join(monkeypatch, f"ray://127.0.0.1:{port}", ray) == 2
    assert await join(monkeypatch, "ray://auto", ray) == 2
    assert ray.shutdowns == 2
    listener.close()


async def test_an_address_where_nobody_listens_is_a_sentence_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ray would retry for many minutes and ignore Ctrl-C."""
    ray = StandInRay(threading.Event().wait)
    with pytest.raises(
        PoolError, match=r"1:1: expected a Ray cluster: nothing is listening there$"
    ):
        await join(monkeypatch, "ray://127.0.0.1:1", ray)


async def test_a_cluster_that_does_not_answer_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ray_pool, "JOIN_S", 0.05)
    ray = StandInRay(threading.Event().wait)
    with pytest.raises(PoolError, match="but none answered"):
        await join(monkeypatch, "ray://auto", ray)


async def test_a_cluster_that_refuses_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def init() -> None:
        raise ConnectionError("no cluster here\nand a long story")

    with pytest.raises(PoolError, match=r"expected a Ray cluster: no cluster here$"):
        await join(monkeypatch, "ray://auto", StandInRay(init))


async def test_a_task_that_raises_answers_with_its_sentence() -> None:
    answer = await tasks.answer("dance", {})
    assert answer == {"error": "dance: unknown worker task 'dance'"}
    with pytest.raises(TaskFailedError, match="unknown worker task"):
        result_of(answer)


class FakePool:
    """A pool that answers tasks with `react`."""

    size = 2
    shared_machine = True

    def __init__(self, react: Callable[[Json], Json]) -> None:
        self._react = react

    async def run(self, task: str, given: Json) -> Json:
        await asyncio.sleep(0)
        return self._react(given)


@contextmanager
def compute(react: Callable[[Json], Json]) -> Iterator[PoolCompute]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield PoolCompute(FakePool(react), loop)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_answers_come_in_order_and_lost_tasks_again() -> None:
    lost: set[int] = set()

    def react(given: Json) -> Json:
        if given["n"] % 2 and given["n"] not in lost:
            lost.add(given["n"])
            raise WorkerLostError("killed")
        return {"twice": 2 * given["n"]}

    with compute(react) as pool:
        assert pool.run("any", [{"n": n} for n in range(5)]) == [{"twice": 2 * n} for n in range(5)]
    assert lost == {1, 3}


def test_a_task_that_ends_every_worker_is_given_up() -> None:
    tried: list[Json] = []

    def react(given: Json) -> Json:
        tried.append(given)
        raise WorkerLostError("killed")

    with compute(react) as pool, pytest.raises(PoolError, match="6 workers were lost"):
        pool.run("any", [{}])
    assert len(tried) == MOST_LOSSES + 1
