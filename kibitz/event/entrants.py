"""The entrants of an event as processes: one each for the whole event, kept alive.

An entrant is a player of the server from before its process starts until after it ends: the
secret for coming back is in the event's directory first. So whatever is killed, what is started
next is the same player and goes on with the same games.

A process that ends while its event runs has crashed: its running games are lost, with the cause
`crash`, and it is started again. So everybody plays as many games as planned. Who ends `LIVES`
times in a row without a game that ended meanwhile, or cannot even begin, cannot be kept alive,
and `EntrantFailed` says so.

Who is `remote` has no process here: it connects from elsewhere, and what becomes of it is the
lobby's business. An entrant with a `token_file` is an account of the server, which needs no
secret to come back.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kibitz import bounds, connection, terms
from kibitz.children import child, tail
from kibitz.event.director import item
from kibitz.event.folder import EventFolder, safe
from kibitz.leash import leashed
from kibitz_clients.arena.event import Entrant, Event, Limits
from kibitz_protocol.client import Client
from kibitz_protocol.errors import KibitzError, RefusedError, UnansweredError
from kibitz_protocol.messages import Capabilities
from kibitz_server.ending import ended

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
        self._checked: set[str] = set()
        """Entrants whose account is known to have their name."""
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
        ours = [each for each in self._event.entrants if not each.remote]
        if not ours:
            return
        async with asyncio.TaskGroup() as group:
            lives = [group.create_task(self._keep(each)) for each in ours]
            starter = group.create_task(self._start_together(ours))
            await asyncio.wait(lives)
            starter.cancel()

    async def _start_together(self, ours: Sequence[Entrant]) -> None:
        """Let them connect once all are warm: a game that goes on waits for nobody's compiler."""
        waiting = [self._warm(each.name) for each in ours if each.command is None]
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
            await self._give_up(entrant, f"its process ended with status {status}")
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
        command, env = self.started(entrant)
        log = self._folder.log(entrant.name)
        async with child(command, log, env=env, cwd=self._base, append=True) as process:
            return await ended(process)

    # Who it is

    async def _enrol(self, entrant: Entrant) -> None:
        """Make the entrant a player; who connects by itself is given its seat in the lobby too."""
        known = self._folder.known(entrant.name) is not None or entrant.name in self._checked
        walks_in = entrant.source == "command" and entrant.name not in self.members
        if known and not walks_in:
            return
        async with self._as(entrant) as client:
            if entrant.token_file is not None:
                self._require_own_name(entrant, client)
            elif not known:
                self._folder.keep_secret(entrant.name, client.resume)
            if walks_in:
                await client.join(self._seat.lobby)

    def _require_own_name(self, entrant: Entrant, client: Client) -> None:
        """Its seat in the lobby is kept under the entrant's name, so its account has that too."""
        name = client.welcome.name
        if name != entrant.name:
            text = f"{entrant.name}: {entrant.token_file} holds the token of {name}"
            raise EntrantFailed(entrant.name, f"{text}; expected the entrant's own name")
        self._checked.add(entrant.name)

    async def _give_up(self, entrant: Entrant, why: str) -> None:
        """Resign the games of a process that is gone, and begin none until the next is ready."""
        with contextlib.suppress(KibitzError):
            async with self._as(entrant) as client:
                with contextlib.suppress(RefusedError):
                    await client.ready(self._seat.lobby, False)
                for match in client.welcome.seats:
                    with contextlib.suppress(RefusedError, UnansweredError):
                        await client.resign(match, fault="crash", detail=why)

    @contextlib.asynccontextmanager
    async def _as(self, entrant: Entrant) -> AsyncIterator[Client]:
        """Connect as an entrant, for a moment."""
        token = self._token(entrant)
        client = Client(
            self._seat.url,
            name=entrant.name if token is None else None,
            token=token,
            resume=self._folder.known(entrant.name) if token is None else None,
            capabilities=Capabilities(at_once=self._seat.at_once),
            agent="kibitz arena",
        )
        async with client:
            yield client

    def _token(self, entrant: Entrant) -> str | None:
        path = self._token_file(entrant)
        return None if path is None else connection.token(path, None)

    def _token_file(self, entrant: Entrant) -> Path | None:
        return None if entrant.token_file is None else self._base / entrant.token_file

    # How it is started

    def started(self, entrant: Entrant) -> tuple[list[str], Mapping[str, str]]:
        """Return the command line of an entrant's process, and its environment."""
        env = {key: value for key, value in os.environ.items() if key not in OURS}
        if entrant.command is not None:
            return self._walking_in(entrant, entrant.command), env | self._told(entrant)
        place = ["--url", self._seat.url, "--lobby", self._seat.lobby]
        most = ["--at-once", str(self._seat.at_once)]
        warm = ["--warm", f"[{item(self._event).model_dump_json()}]"]
        hold = ["--hold", str(self._warm(entrant.name).resolve())]
        words = [*place, *most, *self._identity(entrant), *warm, *hold, *self._spec(entrant)]
        # A program is limited by its bridge, which is no bot itself.
        limits = self._limits(entrant) if entrant.bot is not None else []
        return leashed("kibitz_bots", *words, limits=limits), env

    def _identity(self, entrant: Entrant) -> list[str]:
        token = self._token_file(entrant)
        if token is not None:
            return ["--token-file", str(token)]
        secret = str(self._folder.secret(entrant.name).resolve())
        return ["--name", entrant.name, "--resume-file", secret]

    def _limits(self, entrant: Entrant) -> list[str]:
        memory, cpu = allowed(self._event, entrant)
        return terms.limits(memory, cpu)

    def _spec(self, entrant: Entrant) -> list[str]:
        """Return what says which bot it is; it comes last."""
        from kibitz_bots.bridges import launch
        from kibitz_bots.bridges.foreign import Foreign

        if entrant.bot is not None:
            is_file = entrant.bot.endswith(".py")
            return [str(self._base / entrant.bot) if is_file else entrant.bot]
        games, limits = (self._event.game.name,), launch.Limits(*allowed(self._event, entrant))
        if entrant.stdio is not None:
            return Foreign(kind="stdio", command=entrant.stdio, games=games, limits=limits).words()
        command = entrant.gomocup or []
        return Foreign(kind="gomocup", command=command, games=games, limits=limits).words()

    def _walking_in(self, entrant: Entrant, command: list[str]) -> list[str]:
        from kibitz_bots.bridges import launch

        return launch.launched(command, launch.Limits(*allowed(self._event, entrant)))

    def _told(self, entrant: Entrant) -> dict[str, str]:
        token = self._token(entrant)
        place = {"KIBITZ_SERVER": self._seat.url, "KIBITZ_LOBBY": self._seat.lobby}
        if token is not None:
            return place | {"KIBITZ_TOKEN": token}
        known = self._folder.known(entrant.name) or ""
        return place | {"KIBITZ_NAME": entrant.name, "KIBITZ_RESUME": known}


def allowed(event: Event, entrant: Entrant) -> tuple[int | None, int | None]:
    """Return the MiB of memory and the seconds of CPU of each process of an entrant."""
    limits: Limits = entrant.limits or event.limits
    memory = None if limits.memory is None else limits.memory // bounds.MIB
    return memory, limits.cpu
