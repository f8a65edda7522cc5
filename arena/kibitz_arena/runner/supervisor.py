"""Keeps one process per entrant running until the tournament is over.

An entrant is registered on the server and its resume secret is saved in the tournament's directory
before its process starts. So if the runner is killed, the entrant's next process is the same player
and continues the same games.

A process that exits during its tournament has crashed: it loses its running games with the cause
`crash`, and the supervisor restarts it. So every entrant plays the planned number of games. The
supervisor raises `EntrantFailedError` for an entrant that cannot start, or whose process exits
`MAX_CRASHES` times in a row without finishing or losing a game.

A `remote` entrant connects from elsewhere, so the supervisor runs no process for it. An entrant
with a `token_file` has an account on the server and needs no secret to reconnect.
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
"""How often in a row a process may exit without finishing or losing a game."""
EXIT_CANNOT_START: Final = 2
"""The exit status of a bot that could not start; restarting it is pointless."""
GONE_SECONDS: Final = 2.0
"""How long the server may take to notice a closed connection, in seconds."""
PAUSE_SECONDS: Final = 0.5
"""The pause before a process is restarted, in seconds."""
Tell = Callable[[str], None]


class EntrantSupervisor:
    """Runs the processes of all entrants.

    `played` returns the number of an entrant's finished games.
    """

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
        """Create the supervisor; `organizer` is the secret of a private server."""
        self._tournament = tournament
        self._directory = directory
        self._services = services
        self._join = join
        self._players = EntrantPlayers(directory, services, join.url, join.at_once, organizer)
        self._played = played
        self._tell = tell
        self._closing = False
        self._checked: set[str] = set()
        """Entrants whose account name has been checked."""
        self.members: set[str] = set()
        """Entrants with a seat in the lobby; the session updates this set."""
        self._connected: set[str] = set()
        """Entrants that are connected to the server."""
        self._connections_changed = asyncio.Condition()
        self._warm = {entrant.name: asyncio.Event() for entrant in tournament.entrants}
        self._all_warm = asyncio.Event()

    async def set_connected(self, connected: set[str]) -> None:
        """Update the set of connected entrants; the session calls this."""
        async with self._connections_changed:
            self._connected = connected
            self._connections_changed.notify_all()

    def close(self) -> None:
        """Treat processes that exit from now on as finished, not as failed."""
        self._closing = True

    async def run(self) -> None:
        """Keep all processes running until they exit after `close`; raises `EntrantFailedError`.

        Canceling ends the processes.
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
        """Let all entrants connect once all have compiled, so that no game waits for a compiler."""
        for entrant in ours:
            if entrant.command is None:
                await self._warm[entrant.name].wait()
        self._all_warm.set()

    async def _wait_until_warm(self, name: str, holder: socket.socket) -> None:
        """Wait until an entrant has compiled its code; let it connect when all have."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):  # it has exited and will be restarted
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
            lost = await self._resign_games(entrant, f"its process {describe_status(status)}")
            has_played = lost or self._played(entrant.name) > before
            crashes = 1 if has_played else crashes + 1
            hopeless = status == EXIT_CANNOT_START and entrant.source != "command"
            if hopeless or crashes >= MAX_CRASHES:
                raise EntrantFailedError(entrant.name, self._failure(entrant.name, status))
            self._tell(f"{entrant.name} {describe_status(status)}; restarting it")
            await asyncio.sleep(PAUSE_SECONDS)

    def _failure(self, name: str, status: int) -> str:
        log, last = self._directory.log_path(name), self._services.log_tail(name)
        return f"{name} {describe_status(status)}; its log is {log}\n{last}".rstrip()

    async def _run_process(self, entrant: Entrant) -> int:
        """Run an entrant's process until it exits, and return its status."""
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

    # Identity and games

    async def _register(self, entrant: Entrant) -> None:
        """Register the entrant as a player; join the lobby on behalf of a `command` entrant."""
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

    async def _resign_games(self, entrant: Entrant, why: str) -> bool:
        """Resign the games of an exited process, and mark the entrant as not ready.

        Return whether there were any games. The server's messages about their end may arrive later.
        First wait until the server has noticed the closed connection, because a second connection
        of the same player would count as a takeover.
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
                return bool(client.welcome.seats)
        return False


def describe_status(status: int) -> str:
    """Describe how a process ended: its status or the signal."""
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-status).name}"
    number = status - 128
    if number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT):
        return f"ended with status {status}, probably by {signal.Signals(number).name}"
    return f"ended with status {status}"
