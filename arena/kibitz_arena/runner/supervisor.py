"""The processes of a tournament's entrants: one each, kept running until the tournament is over.

An entrant is a player of the server from before its process starts until after it ends: its resume
secret is in the tournament's directory first. So after any kill the next process is the same player
and continues the same games.

A process that ends while its tournament runs has crashed: its running games are lost, with the
cause `crash`, and it is started again. So every entrant plays as many games as planned. The
supervisor raises `EntrantFailedError` for an entrant that cannot start, or whose process ends
`MAX_CRASHES` times in a row without a game that ended meanwhile.

A `remote` entrant has no process here: it connects from elsewhere, and only the lobby tracks it.
An entrant with a `token_file` is an account of the server, which needs no secret to reconnect.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Sequence
from typing import Final

from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.errors import EntrantFailedError as EntrantFailedError
from kibitz_arena.runner.players import EntrantPlayers
from kibitz_arena.runner.services import JoinInfo, Services
from kibitz_arena.tournament import Entrant, Tournament
from kibitz_protocol.client.errors import KibitzError, RefusedError, UnansweredError

MAX_CRASHES: Final = 3
"""How often in a row a process may end without a game that ended meanwhile."""
EXIT_CANNOT_START: Final = 2
"""The exit status of a bot that could not begin: starting it again changes nothing."""
GONE_SECONDS: Final = 2.0
"""How long the server may take to see that the connection of a process is gone."""
PAUSE_SECONDS: Final = 0.5
"""The pause before a process is restarted."""
Tell = Callable[[str], None]


class EntrantSupervisor:
    """The processes of all entrants. `played` says how many games of an entrant have ended."""

    def __init__(
        self,
        tournament: Tournament,
        directory: TournamentDirectory,
        services: Services,
        join: JoinInfo,
        *,
        played: Callable[[str], int],
        tell: Tell,
        organizer: str | None = None,
    ) -> None:
        """`organizer` is the secret of the server, where that is the tournament's own."""
        self._tournament = tournament
        self._directory = directory
        self._services = services
        self._join = join
        self._players = EntrantPlayers(directory, services, join.url, join.at_once, organizer)
        self._played = played
        self._tell = tell
        self._closing = False
        self._checked: set[str] = set()
        """Entrants whose account is known to have their name."""
        self.members: set[str] = set()
        """Entrants that have a seat in the lobby, set by the follower of the lobby."""
        self._connected: set[str] = set()
        """Entrants that the server sees connected."""
        self._connections_changed = asyncio.Condition()
        self._warm = {entrant.name: asyncio.Event() for entrant in tournament.entrants}
        self._all_warm = asyncio.Event()

    async def set_connected(self, connected: set[str]) -> None:
        """Take in the connected entrants, from the follower of the lobby."""
        async with self._connections_changed:
            self._connected = connected
            self._connections_changed.notify_all()

    def close(self) -> None:
        """From now on a process that ends has not failed."""
        self._closing = True

    async def run(self) -> None:
        """Keep all processes running until they end after `close`; raises `EntrantFailedError`.

        Cancelling it ends them.
        """
        ours = [entrant for entrant in self._tournament.entrants if not entrant.remote]
        if not ours:
            return
        async with asyncio.TaskGroup() as group:
            keeping = [group.create_task(self._keep_running(entrant)) for entrant in ours]
            starter = group.create_task(self._start_together(ours))
            await asyncio.wait(keeping)
            starter.cancel()

    async def _start_together(self, ours: Sequence[Entrant]) -> None:
        """Let all connect once all have compiled, so that no game waits for a compiler."""
        for entrant in ours:
            if entrant.command is None:
                await self._warm[entrant.name].wait()
        self._all_warm.set()

    async def _wait_until_warm(self, name: str, holder: socket.socket) -> None:
        """Wait until an entrant is warm, and tell it when all are."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):  # it has ended, and is started again
            if await loop.sock_recv(holder, 1):
                self._warm[name].set()
                await self._all_warm.wait()
                await loop.sock_sendall(holder, b"g")

    async def _keep_running(self, entrant: Entrant) -> None:
        crashes = 0
        while not self._closing:
            before = self._played(entrant.name)
            status = await self._run_process(entrant)
            if self._closing:
                return
            await self._resign_games(entrant, f"its process {describe_status(status)}")
            crashes = 1 if self._played(entrant.name) > before else crashes + 1
            hopeless = status == EXIT_CANNOT_START and entrant.source != "command"
            if hopeless or crashes >= MAX_CRASHES:
                raise EntrantFailedError(entrant.name, self._failure(entrant.name, status))
            self._tell(f"{entrant.name} {describe_status(status)} and is started again")
            await asyncio.sleep(PAUSE_SECONDS)

    def _failure(self, name: str, status: int) -> str:
        log, last = self._directory.log_path(name), self._services.log_tail(name)
        return f"{name} {describe_status(status)}; its log is {log}\n{last}".rstrip()

    async def _run_process(self, entrant: Entrant) -> int:
        """Run an entrant's process to its end, and return its status."""
        await self._register(entrant)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with ours, theirs:
            holding = asyncio.create_task(self._wait_until_warm(entrant.name, ours))
            try:
                async with self._services.entrant(
                    entrant, self._join, secret=self._secret(entrant), hold=theirs.fileno()
                ) as wait_exit:
                    return await wait_exit()
            finally:
                holding.cancel()
                await asyncio.gather(holding, return_exceptions=True)

    def _secret(self, entrant: Entrant) -> str:
        return self._services.token(entrant) or self._directory.load_secret(entrant.name) or ""

    # Who it is

    async def _register(self, entrant: Entrant) -> None:
        """Make the entrant a player; if it connects by itself, also give it its seat."""
        known = (
            self._directory.load_secret(entrant.name) is not None or entrant.name in self._checked
        )
        needs_seat = entrant.source == "command" and entrant.name not in self.members
        if known and not needs_seat:
            return
        async with self._players.connect(entrant) as client:
            self._checked.add(entrant.name)
            if needs_seat:
                await client.join(self._join.lobby)

    async def _resign_games(self, entrant: Entrant, why: str) -> None:
        """Resign the games of a process that is gone, and begin none until the next is ready.

        Not before the server has seen its connection end: while a seat is taken, another connection
        of the same player counts as a takeover.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GONE_SECONDS), self._connections_changed:
                await self._connections_changed.wait_for(
                    lambda: entrant.name not in self._connected
                )
        with contextlib.suppress(KibitzError):
            async with self._players.connect(entrant) as client:
                with contextlib.suppress(RefusedError):
                    await client.ready(self._join.lobby, False)
                for match in client.welcome.seats:
                    with contextlib.suppress(RefusedError, UnansweredError):
                        await client.resign(match, fault="crash", detail=why)


def describe_status(status: int) -> str:
    """Say how a process ended: of itself, or by which signal."""
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-status).name}"
    number = status - 128
    if number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT):
        return f"ended with status {status}, as by {signal.Signals(number).name}"
    return f"ended with status {status}"
