"""Creation of the pool for the option ``--workers``."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from kibitz.options.workers import SCHEME
from kibitz.workers.process_pool import process_pool
from kibitz.workers.ray_pool import ray_pool
from kibitz_arena.runner.block_task import WorkerPool


def worker_pool(workers: str) -> AbstractAsyncContextManager[WorkerPool]:
    """Provide the pool for the value of ``--workers`` within the block; raises `PoolError`."""
    return ray_pool(workers) if workers.startswith(SCHEME) else process_pool(int(workers))
