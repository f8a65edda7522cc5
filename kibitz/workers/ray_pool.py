"""Workers as tasks on a Ray cluster (the extra ``kibitz[cluster]``).

Ray runs any code it receives, with the rights of its processes and without authentication. Keep a
cluster on a private network whose machines and users trust each other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from kibitz.options.workers import SCHEME
from kibitz.workers.port import Json, PoolError
from kibitz.workers.process_pool import result_of
from kibitz.workers.tasks import answer
from kibitz_arena.runner.block_task import WorkerLostError
from kibitz_bots.running.threads import in_thread

CONNECT_S: Final = 5.0
"""The timeout in seconds for a connection to the address."""
JOIN_S: Final = 60.0
"""The timeout in seconds for joining or leaving the cluster; Ray's own timeout is longer and cannot
be interrupted."""


def carry_out(task: str, given: str) -> str:
    """Run a task in a Ray process; input and output are JSON texts."""
    return json.dumps(asyncio.run(answer(task, json.loads(given))))


class RayPool:
    """The processors of a cluster, one per task; `ray` is the imported module."""

    def __init__(self, ray: Any, size: int) -> None:
        self.size = size
        self.shared_machine = False
        self._ray = ray
        # Ray would retry lost tasks by default; here the journal decides what to repeat.
        self._remote = ray.remote(num_cpus=1, max_retries=0)(carry_out)

    async def run(self, task: str, given: Json) -> Json:
        """Run a task; see `WorkerPool`."""
        reference = self._remote.remote(task, json.dumps(given))
        try:
            text = await asyncio.wrap_future(reference.future())
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):  # it may have finished meanwhile
                self._ray.cancel(reference, force=True)
            raise
        except self._ray.exceptions.RayError as error:
            raise WorkerLostError(_first_line(error)) from None
        return result_of(json.loads(text))


@contextlib.asynccontextmanager
async def ray_pool(address: str) -> AsyncIterator[RayPool]:
    """Connect to the cluster at ``ray://HOST:PORT`` within the block.

    ``ray://auto`` is the cluster that this machine belongs to. Raises `PoolError`.
    """
    ray = _import_ray()
    where = address.removeprefix(SCHEME)
    options = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    try:
        await _require_listener(where)
        await _in_thread(lambda: ray.init(where, **options))
    except TimeoutError:
        raise PoolError(f"{address}: expected a Ray cluster, but none answered") from None
    except (OSError, RuntimeError, ValueError) as error:
        raise PoolError(f"{address}: expected a Ray cluster: {_first_line(error)}") from None
    try:
        size = int(ray.cluster_resources().get("CPU", 0))
        if size < 1:
            raise PoolError(f"{address}: expected a cluster with a processor, got none")
        yield RayPool(ray, size)
    finally:
        with contextlib.suppress(TimeoutError):  # the end of this process also disconnects
            await asyncio.shield(_in_thread(ray.shutdown))


async def _require_listener(where: str) -> None:
    """Raise `ConnectionError` or `TimeoutError` if nothing listens at ``HOST:PORT``."""
    host, colon, port = where.rpartition(":")
    if not colon or not port.isdecimal():
        return  # Ray finds it by itself
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except TimeoutError:
        raise
    except (OSError, OverflowError) as error:
        raise ConnectionError("nothing is listening there") from error
    writer.close()


async def _in_thread(call: Callable[[], object]) -> None:
    """Call a blocking function in a daemon thread, for at most `JOIN_S` seconds.

    Raises its errors, and `TimeoutError`.
    """
    async with asyncio.timeout(JOIN_S):
        await in_thread(call)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise PoolError("--workers ray://... needs Ray: pip install 'kibitz[cluster]'") from None
    return ray


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
