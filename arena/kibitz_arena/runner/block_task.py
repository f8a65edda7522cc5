"""A task of blocks: what a worker needs to play them, and what it returns. Plain data, as JSON.

The files of entrants travel with each task, so that a worker needs nothing but kibitz.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from pydantic import Field

from kibitz_arena.entries import GameEnded
from kibitz_arena.schedule import ScheduledGame
from kibitz_arena.tournament import Tournament
from kibitz_protocol.wire.values import Strict

_OF_THE_WHOLE = {"stop", "claims", "deadline"}
"""Keys of a tournament that concern all of its games together, not those of a block."""


class TaskFile(Strict):
    """A file that an entrant needs: its path from the tournament's base, and its content."""

    path: str
    content: str = Field(repr=False)
    """In base64."""
    executable: bool = False


class BlockTask(Strict):
    """Games that one worker plays on a server of its own, beside its own bots."""

    tournament: dict[str, Any]
    """The tournament with the entrants of these games only."""
    games: list[ScheduledGame] = Field(min_length=1)
    files: list[TaskFile] = Field(default_factory=list)
    isolation: Literal["auto", "bwrap", "setpriv", "none"] = "auto"
    """The tool that must isolate entrants of foreign code."""
    wait: float = Field(gt=0)
    """Seconds that the entrants may take to be ready."""


class PlayedGame(Strict):
    """A game that a worker played. Paths in `ended` are those of the worker."""

    ended: GameEnded
    record: str | None = None
    """The text of the record, with the notes of bots; reports are made from it."""


class BlockOutcome(Strict):
    """The outcome of a task."""

    games: list[PlayedGame] = Field(default_factory=list)
    failure: str | None = None
    """Why the missing games could not be played."""


class WorkerLostError(Exception):
    """A worker ended before it answered; its task may be given to another one."""


class TaskFailedError(Exception):
    """A task cannot be carried out by any worker; the message says why."""


class BlockWorkers(Protocol):
    """A pool of workers that play blocks."""

    @property
    def size(self) -> int:
        """The number of tasks that may run at the same time."""

    async def play(self, task: BlockTask) -> BlockOutcome:
        """Play a task; raises `WorkerLostError`, `TaskFailedError`. Cancelling ends the worker's
        part in it."""


def task_tournament(
    tournament: Tournament, games: Sequence[ScheduledGame], concurrency: int
) -> dict[str, Any]:
    """Return the tournament of a task: its entrants, and as many games at once as it may play."""
    playing = {name for game in games for name in game.players}
    config = {key: value for key, value in tournament.dump().items() if key not in _OF_THE_WHOLE}
    entrants = [entrant for entrant in config["entrants"] if entrant["name"] in playing]
    return config | {"entrants": entrants, "concurrency": concurrency}
