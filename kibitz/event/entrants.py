"""The entrants of an event as processes: one each for the whole event, kept alive.

An entrant is a player of the server from before its process starts until after it ends: the
secret for coming back is in the event's directory first. So whatever is killed, what is started
next is the same player and goes on with the same games.

A process that ends while its event runs has crashed: its running games are lost, with the cause
`crash`, and it is started again. So everybody plays as many games as planned. Who ends `LIVES`
times in a row without a game that ended meanwhile, or cannot even begin, cannot be kept alive,
and `EntrantFailed` says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kibitz.children import child, ended, tail
from kibitz.event.director import item
from kibitz.event.folder import EventFolder, safe
from kibitz.leash import leashed
from kibitz_clients.arena.event import Entrant, Event
from kibitz_protocol.client import Client
from kibitz_protocol.errors import KibitzError, RefusedError, UnansweredError
from kibitz_protocol.messages import Capabilities

LIVES: Final = 3
"""How often in a row a process may end without a game that ended meanwhile."""
CANNOT_BEGIN: Final = 2
"""The exit status of a bot that could not begin: starting it again changes nothing."""
LOOK_SECONDS: Final = 0.05
"""How often to look whether all are warm."""
PAUSE_SECONDS: Final = 0.5
"""What is waited before a process is started again."""
OURS: Final = frozenset(f"KIBITZ_{word}" for word in ("TOKEN", "RESUME", "SERVER", "LOBBY", "NAME"))
"""What of this process's environment would speak for another player."""

Tell = Callable[[str], None]


class EntrantFailed(Exception):
    """An entrant that cannot be kept alive; the message ends with what it said last."""

    def __init__(self, name: str, sentence: str) -> None:
        super().__init__(sentence)
        self.name = name


@dataclass(frozen=True)
class Seat:
    """Where an entrant plays: what its process has to be told."""

    url: str
    lobby: str
    at_once: int


class Team:
    """The processes of all entrants. `played` says how many games of an entrant have ended."""

    def __init__(
        self,
        event: Event,
        folder: EventFolder,
        seat: Seat,
        *,
        played: Callable[[str], int],
        tell: Tell,
    ) -> None:
        self._event = event
        self._folder = folder
        self._seat = seat
        self._played = played
        self._tell = tell
        self._base = folder.base()
        self._closing = False
        self.members: set[str] = set()
        """Entrants that have a seat in the lobby; whoever knows better says so."""

    def close(self) -> None:
        """From now on a process that ends has not failed."""
        self._closing = True

    async def run(self) -> None:
        """Keep all processes alive until they end after `close`; raises `EntrantFailed`.

        Cancelling it ends them.
        """
        shutil.rmtree(self._folder.start, ignore_errors=True)
        self._folder.start.mkdir()
        async with asyncio.TaskGroup() as group:
            lives = [group.create_task(self._keep(each)) for each in self._event.entrants]
            starter = group.create_task(self._start_together())
            await asyncio.wait(lives)
            starter.cancel()

    async def _start_together(self) -> None:
        """Let them connect once all are warm: a game that goes on waits for nobody's compiler."""
        waiting = [self._warm(each.name) for each in self._event.entrants if each.command is None]
        while waiting:
            waiting = [path for path in waiting if not path.exists()]
            await asyncio.sleep(LOOK_SECONDS)
        (self._folder.start / "go").touch()

    def _warm(self, name: str) -> Path:
        """Return the file that an entrant makes when it is warm."""
        return self._folder.start / f"{safe(name)}.warm"

    async def _keep(self, entrant: Entrant) -> None:
        deaths = 0
        while not self._closing:
            before = self._played(entrant.name)
            status = await self._live(entrant)
            if self._closing:
                return
            await self._give_up(entrant.name, f"its process ended with status {status}")
            deaths = 1 if self._played(entrant.name) > before else deaths + 1
            hopeless = status == CANNOT_BEGIN and entrant.source != "command"
            if hopeless or deaths >= LIVES:
                raise EntrantFailed(entrant.name, self._failure(entrant.name, status))
            self._tell(f"{entrant.name} ended with status {status} and is started again")
            await asyncio.sleep(PAUSE_SECONDS)

    def _failure(self, name: str, status: int) -> str:
        log = self._folder.log(name)
        return f"{name} ended with status {status}; its log is {log}\n{tail(log)}".rstrip()

    async def _live(self, entrant: Entrant) -> int:
        """Run an entrant's process to its end, and return its status."""
        await self._enrol(entrant)
        command, env = self._started(entrant)
        log = self._folder.log(entrant.name)
        async with child(command, log, env=env, cwd=self._base, append=True) as process:
            return await ended(process)

    # Who it is

    async def _enrol(self, entrant: Entrant) -> None:
        """Make the entrant a player; who connects by itself is given its seat in the lobby too."""
        known = self._folder.known(entrant.name)
        walks_in = entrant.source == "command" and entrant.name not in self.members
        if known and not walks_in:
            return
        async with self._as(entrant.name) as client:
            if not known:
                self._folder.keep_secret(entrant.name, client.resume)
            if walks_in:
                await client.join(self._seat.lobby)

    async def _give_up(self, name: str, why: str) -> None:
        """Resign the games of a process that is gone, and begin none until the next is ready."""
        with contextlib.suppress(KibitzError):
            async with self._as(name) as client:
                with contextlib.suppress(RefusedError):
                    await client.ready(self._seat.lobby, False)
                for match in client.welcome.seats:
                    with contextlib.suppress(RefusedError, UnansweredError):
                        await client.resign(match, fault="crash", detail=why)

    @contextlib.asynccontextmanager
    async def _as(self, name: str) -> AsyncIterator[Client]:
        """Connect as an entrant, for a moment."""
        resume = self._folder.known(name)
        can = Capabilities(at_once=self._seat.at_once)
        client = Client(
            self._seat.url, name=name, resume=resume, capabilities=can, agent="kibitz arena"
        )
        async with client:
            yield client

    # How it is started

    def _started(self, entrant: Entrant) -> tuple[list[str], Mapping[str, str]]:
        """Return the command line of an entrant's process, and its environment."""
        env = {key: value for key, value in os.environ.items() if key not in OURS}
        if entrant.command is not None:
            return self._walking_in(entrant.name, entrant.command), env | self._told(entrant.name)
        place = ["--url", self._seat.url, "--lobby", self._seat.lobby, "--name", entrant.name]
        most = ["--at-once", str(self._seat.at_once)]
        secret = ["--resume-file", str(self._folder.secret(entrant.name).resolve())]
        warm = ["--warm", f"[{item(self._event).model_dump_json()}]"]
        hold = ["--hold", str(self._warm(entrant.name).resolve())]
        words = [*place, *most, *secret, *warm, *hold, *self._spec(entrant)]
        return leashed("kibitz_bots", *words), env

    def _spec(self, entrant: Entrant) -> list[str]:
        """Return what says which bot it is; it comes last."""
        from kibitz_bots.bridges.foreign import Foreign

        if entrant.bot is not None:
            is_file = entrant.bot.endswith(".py")
            return [str(self._base / entrant.bot) if is_file else entrant.bot]
        games = (self._event.game.name,)
        if entrant.stdio is not None:
            return Foreign(kind="stdio", command=entrant.stdio, games=games).words()
        return Foreign(kind="gomocup", command=entrant.gomocup or [], games=games).words()

    def _walking_in(self, name: str, command: list[str]) -> list[str]:
        from kibitz_bots.bridges.launch import Limits, launched

        return launched(command, Limits())

    def _told(self, name: str) -> dict[str, str]:
        return {
            "KIBITZ_SERVER": self._seat.url,
            "KIBITZ_LOBBY": self._seat.lobby,
            "KIBITZ_NAME": name,
            "KIBITZ_RESUME": self._folder.known(name) or "",
        }
