"""The interface of a worker pool: tasks by name, with JSON in and JSON out.

PoolError            the pool cannot be used; says why
WorkerLostError      (kibitz_arena) the worker ended before it answered
TaskFailedError      (kibitz_arena) the task raised; it would fail on another worker too
"""

from __future__ import annotations

from typing import Any, Final, Protocol, TypeAlias

Json: TypeAlias = dict[str, Any]
BLOCKS: Final = "blocks"
"""The name of the task that plays blocks of games."""


class PoolError(Exception):
    """A worker pool is unusable; the message is for users."""


class WorkerPool(Protocol):
    """A pool of workers."""

    @property
    def size(self) -> int:
        """The number of tasks that run at the same time; further ones wait."""

    @property
    def shared_machine(self) -> bool:
        """Whether all workers are on this machine."""

    async def run(self, task: str, given: Json) -> Json:
        """Run a task of `tasks` and return its answer.

        Raises `WorkerLostError` if the worker exited before it answered, and `TaskFailedError` if
        the task raised. Canceling also stops the task in the worker.
        """
