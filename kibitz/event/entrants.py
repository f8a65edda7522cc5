"""The entrants of an event as processes: one each for the whole event, kept alive.

An entrant is a player of the server from before its process starts until after it ends: the
secret for coming back is in the event's directory first. So whatever is killed, what is started
next is the same player and goes on with the same games.

A process that ends while its event runs has crashed: its running games are lost, with the cause
`crash`, and it is started again. So everybody plays as many games as planned. Who ends `LIVES`
times in a row without a game that ended meanwhile, or cannot even begin, cannot be kept alive,
and `EntrantFailed` says so.

Code of others, a Python file or a program, runs in isolation (`kibitz.isolation`): it sees neither
the other entrants nor the event's directory. House bots are our own code, and only their parameters
come from strangers, so limits are enough for them. Secrets are handed to all of them over an
inherited descriptor and in no other way.

Who is `remote` has no process here: it connects from elsewhere, and what becomes of it is the
lobby's business. An entrant with a `token_file` is an account of the server, which needs no
secret to come back.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kibitz import bounds, connection, terms
from kibitz.children import child, tail
from kibitz.event.director import item
from kibitz.event.folder import EventFolder
from kibitz.isolation.backends import TRUSTED, Isolation
from kibitz.isolation.launch import AT_HOME, Launch, environment, handed, isolated
from kibitz.isolation.sandbox import around, of_command
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
GONE_SECONDS: Final = 2.0
"""How long the server may take to see that the connection of a process is gone."""
PAUSE_SECONDS: Final = 0.5
"""What is waited before a process is started again."""
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
        isolation: Isolation = TRUSTED,
    ) -> None:
        self._event = event
        self._isolation = isolation
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
        self._connected: set[str] = set()
        """Entrants that the server sees connected."""
        self._seen = asyncio.Condition()
        self._warm = {each.name: asyncio.Event() for each in event.entrants}
        self._go = asyncio.Event()

    async def see(self, connected: set[str]) -> None:
        """Hear who is connected, from whoever follows the lobby."""
        async with self._seen:
            self._connected = connected
            self._seen.notify_all()

    def close(self) -> None:
        """From now on a process that ends has not failed."""
        self._closing = True

    async def run(self) -> None:
        """Keep all processes alive until they end after `close`; raises `EntrantFailed`.

        Cancelling it ends them.
        """
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
        for each in ours:
            if each.command is None:
                await self._warm[each.name].wait()
        self._go.set()

    async def _hold(self, name: str, holder: socket.socket) -> None:
        """Wait until an entrant is warm, and tell it when all are."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):  # it has ended, and is started again
            if await loop.sock_recv(holder, 1):
                self._warm[name].set()
                await self._go.wait()
                await loop.sock_sendall(holder, b"g")

    async def _keep(self, entrant: Entrant) -> None:
        deaths = 0
        while not self._closing:
            before = self._played(entrant.name)
            status = await self._live(entrant)
            if self._closing:
                return
            await self._give_up(entrant, f"its process {how(status)}")
            deaths = 1 if self._played(entrant.name) > before else deaths + 1
            hopeless = status == CANNOT_BEGIN and entrant.source != "command"
            if hopeless or deaths >= LIVES:
                raise EntrantFailed(entrant.name, self._failure(entrant.name, status))
            self._tell(f"{entrant.name} {how(status)} and is started again")
            await asyncio.sleep(PAUSE_SECONDS)

    def _failure(self, name: str, status: int) -> str:
        log = self._folder.log(name)
        return f"{name} {how(status)}; its log is {log}\n{tail(log)}".rstrip()

    async def _live(self, entrant: Entrant) -> int:
        """Run an entrant's process to its end, and return its status."""
        await self._enrol(entrant)
        log = self._folder.log(entrant.name)
        async with (
            self.started(entrant) as start,
            child(
                start.command,
                log,
                env=start.env,
                cwd=self._base,
                append=True,
                descriptors=start.descriptors,
            ) as process,
        ):
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
        """Resign the games of a process that is gone, and begin none until the next is ready.

        Not before the server supports that it is gone: who takes a seat that somebody still sits in
        is somebody else.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GONE_SECONDS), self._seen:
                await self._seen.wait_for(lambda: entrant.name not in self._connected)
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

    @contextlib.asynccontextmanager
    async def started(self, entrant: Entrant) -> AsyncIterator[Launch]:
        """Give what starts an entrant's process; the block is left when it has ended."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with ours, theirs, handed(self._secret(entrant)) as secret:
            held = asyncio.create_task(self._hold(entrant.name, ours))
            try:
                async with self._started(entrant, secret.fileno(), theirs.fileno()) as start:
                    yield start
            finally:
                held.cancel()
                await asyncio.gather(held, return_exceptions=True)

    @contextlib.asynccontextmanager
    async def _started(self, entrant: Entrant, secret: int, hold: int) -> AsyncIterator[Launch]:
        env = self._told(entrant, secret)
        descriptors = [secret] if entrant.command is not None else [secret, hold]
        if not untrusted(entrant):
            command = leashed(
                "kibitz_bots", *self._words(entrant, hold), limits=self._limits(entrant)
            )
            yield Launch(command=command, env=environment(AT_HOME) | env, descriptors=descriptors)
            return
        if entrant.command is not None:
            command = self._walking_in(entrant, entrant.command)
        else:
            # A program is limited by its bridge, which is no bot itself.
            limits = self._limits(entrant) if entrant.bot is not None else []
            command = leashed(
                "kibitz_bots", *self._words(entrant, hold), limits=limits, supervised=True
            )
        async with isolated(
            self._isolation,
            command,
            url=self._seat.url,
            seen=seen(self._event, entrant, self._base),
            env=env,
            descriptors=descriptors,
            memory=allowed(self._event, entrant)[0] if entrant.bot is not None else None,
        ) as start:
            yield start

    def _words(self, entrant: Entrant, hold: int) -> list[str]:
        """Return the command line of `kibitz_bots`."""
        place = ["--url", self._seat.url, "--lobby", self._seat.lobby]
        most = ["--at-once", str(self._seat.at_once)]
        name = [] if entrant.token_file is not None else ["--name", entrant.name]
        warm = ["--warm", f"[{item(self._event).model_dump_json()}]", "--hold", str(hold)]
        return [*place, *most, *name, *warm, *self._spec(entrant)]

    def _secret(self, entrant: Entrant) -> str:
        return self._token(entrant) or self._folder.known(entrant.name) or ""

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

        limits = launch.Limits(*allowed(self._event, entrant))
        return launch.launched(command, limits, supervised=True)

    def _told(self, entrant: Entrant, secret: int) -> dict[str, str]:
        """Return what the environment says of who the entrant is, and where it plays."""
        kind = "RESUME" if entrant.token_file is None else "TOKEN"
        told = {f"KIBITZ_{kind}_FD": str(secret)}
        if entrant.command is None:
            return told
        name = {"KIBITZ_NAME": entrant.name} if entrant.token_file is None else {}
        place = {"KIBITZ_SERVER": self._seat.url, "KIBITZ_LOBBY": self._seat.lobby}
        return told | place | name


def untrusted(entrant: Entrant) -> bool:
    """Whether an entrant is code that is not ours, and is started here."""
    return not entrant.remote and (entrant.bot is None or entrant.bot.endswith(".py"))


def seen(event: Event, entrant: Entrant, base: Path) -> list[Path]:
    """Return what an entrant of foreign code may read besides the system and Python."""
    if entrant.bot is not None:
        return around(base / entrant.bot)
    return [base, *of_command(getattr(entrant, entrant.source), base)]


def how(status: int) -> str:
    """Say how a process ended: of itself, or by which signal."""
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-status).name}"
    number = status - 128
    if number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT):
        return f"ended with status {status}, as by {signal.Signals(number).name}"
    return f"ended with status {status}"


def allowed(event: Event, entrant: Entrant) -> tuple[int | None, int | None]:
    """Return the MiB of memory and the seconds of CPU of each process of an entrant."""
    limits: Limits = entrant.limits or event.limits
    memory = None if limits.memory is None else limits.memory // bounds.MIB
    return memory, limits.cpu
