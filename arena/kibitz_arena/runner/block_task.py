"""Tasks for workers: the blocks of games to play, and their outcome.

Both are plain data, sent as JSON. Each task includes the entrants' files, so that a worker only
needs kibitz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, Protocol

from pydantic import Field

from kibitz_arena.entries import GameEnded
from kibitz_arena.schedule import ScheduledGame
from kibitz_arena.tournament import Tournament
from kibitz_protocol.wire.values import Strict

BLOCKS: Final = "blocks"
"""The name of the task that plays a `BlockTask` and answers with its `BlockOutcome`."""
_OF_THE_WHOLE = {"stop", "claims", "deadline"}
"""Tournament settings that apply to the whole tournament and not to a single block."""


class TaskFile(Strict):
    """A file of an entrant: its path relative to the tournament's base, and its content."""

    path: str
    content: str = Field(repr=False)
    """The content in base64."""
    executable: bool = False


class BlockTask(Strict):
    """Games that one worker plays, with its own server and bots."""

    tournament: dict[str, Any]
    """The tournament with only the entrants of these games."""
    games: list[ScheduledGame] = Field(min_length=1)
    files: list[TaskFile] = Field(default_factory=list)
    isolation: Literal["auto", "bwrap", "setpriv", "none"] = "auto"
    """The tool that must isolate untrusted entrants."""
    wait: float = Field(gt=0)
    """The timeout for entrants to become ready, in seconds."""


class PlayedGame(Strict):
    """A game played by a worker. Paths in `ended` are paths on the worker."""

    ended: GameEnded
    record: str | None = None
    """The record as text. It includes the bots' notes, from which reports are created."""


class BlockOutcome(Strict):
    """The result of a task."""

    games: list[PlayedGame] = Field(default_factory=list)
    failure: str | None = None
    """Why some games could not be played; None if all were played."""


class WorkerLostError(Exception):
    """A worker exited before it answered; its task can be given to another worker."""


class TaskFailedError(Exception):
    """No worker can complete the task; the message says why."""


class WorkerPool(Protocol):
    """A pool of workers that run tasks by name, with JSON in and JSON out."""

    @property
    def size(self) -> int:
        """The number of tasks that run at the same time; further ones wait."""

    @property
    def shared_machine(self) -> bool:
        """Whether all workers are on this machine."""

    async def run(self, task: str, given: dict[str, Any]) -> dict[str, Any]:
        """Run a task and return its answer.

        Raises `WorkerLostError` if the worker exited before it answered, and `TaskFailedError` if
        the task raised. Canceling also stops the task in the worker.
        """


def task_tournament(
    tournament: Tournament, games: Sequence[ScheduledGame], concurrency: int
) -> dict[str, Any]:
    """Return the tournament for a task, with only the entrants of `games`."""
    playing = {name for game in games for name in game.players}
    config = {key: value for key, value in tournament.dump().items() if key not in _OF_THE_WHOLE}
    entrants = [entrant for entrant in config["entrants"] if entrant["name"] in playing]
    return config | {"entrants": entrants, "concurrency": concurrency}
