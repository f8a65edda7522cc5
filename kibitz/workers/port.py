"""The port of a pool of workers: tasks by name, with JSON in and JSON out.

PoolError            the pool cannot be used; says why
WorkerLostError      (kibitz_arena) the worker ended before it answered
TaskFailedError      (kibitz_arena) the task raised; another worker would do no better
"""

from __future__ import annotations

from typing import Any, Final, Protocol, TypeAlias

Json: TypeAlias = dict[str, Any]
BLOCKS: Final = "blocks"
"""The name of the task that plays blocks of games."""


class PoolError(Exception):
    """A pool of workers that cannot be used; the message is fit for a person."""


class WorkerPool(Protocol):
    """A pool of workers."""

    @property
    def size(self) -> int:
        """How many tasks run at the same time; more wait for a worker."""

    @property
    def shared_machine(self) -> bool:
        """Whether all workers are on this machine."""

    async def run(self, task: str, given: Json) -> Json:
        """Carry out a task of `tasks` and return its answer.

        Raises `WorkerLostError` if the worker ended before it answered, and `TaskFailedError`
        where the task raised. Cancelling ends the worker's part in it.
        """
