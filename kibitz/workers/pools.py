"""The pool that the option ``--workers`` names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kibitz.options.workers import SCHEME
from kibitz.workers.port import WorkerPool
from kibitz.workers.process_pool import process_pool
from kibitz.workers.ray_pool import ray_pool


@asynccontextmanager
async def worker_pool(workers: str) -> AsyncIterator[WorkerPool]:
    """Give the pool that an option names for the length of the block; raises `PoolError`."""
    if workers.startswith(SCHEME):
        async with ray_pool(workers) as cluster:
            yield cluster
    else:
        async with process_pool(int(workers)) as processes:
            yield processes
