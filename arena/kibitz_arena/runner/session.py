"""One session of a tournament: scheduler, entrants, progress and latency in parallel.

A session ends when the tournament ends, when `stop` is called, or when its server or lobby is lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from typing import Final

from kibitz_arena.runner.concurrency import ConcurrencyLimit
from kibitz_arena.runner.errors import EntrantFailedError, first_error, leaf_errors
from kibitz_arena.runner.hosting import ServerOptions
from kibitz_arena.runner.progress import ProgressDisplay
from kibitz_arena.runner.publication import Publication
from kibitz_arena.runner.scheduler import GameScheduler
from kibitz_arena.runner.supervisor import EntrantSupervisor
from kibitz_arena.tournament_state import TournamentState
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import KibitzError, RefusedError
from kibitz_protocol.wire.lobbies import LobbyView

PROBE_SECONDS: Final = 0.1
"""How often latency is measured on a private server, in seconds."""
REMOTE_PROBE_SECONDS: Final = 1.0
"""How often latency is measured on an external server, in seconds."""
LEAVE_SECONDS: Final = 5.0
"""How long the entrants may take to exit when the tournament is over, in seconds."""
REMINDER_SECONDS: Final = 10.0
"""The time until the first message about missing entrants, in seconds; it doubles each time."""


class NotReadyError(Exception):
    """An entrant did not join in time; a person must decide whether to wait again."""


class Session:
    """Plays the remaining games of a tournament in one lobby."""

    def __init__(
        self,
        client: Client,
        lobby: str,
        scheduler: GameScheduler,
        supervisor: EntrantSupervisor,
        concurrency: ConcurrencyLimit,
        options: ServerOptions,
        display: ProgressDisplay,
        live: Publication,
    ) -> None:
        self._client = client
        self._lobby = lobby
        self._scheduler = scheduler
        self._supervisor = supervisor
        self._concurrency = concurrency
        self._options = options
        self._display = display
        self._live = live
        self._tournament = scheduler.tournament
        self.failure: str | None = None
        """Why an entrant cannot be kept running; None if all can."""

    async def run(self) -> None:
        """Run all parts in parallel until the scheduler is done.

        Raises exception groups with `LobbyGoneError`, `NotReadyError`, and errors that end the
        connection.
        """
        try:
            async with asyncio.TaskGroup() as group:
                running = group.create_task(self._keep_running())
                beside = [
                    group.create_task(self._wait_for_entrants()),
                    group.create_task(self._measure_latency()),
                    group.create_task(self._show()),
                    group.create_task(self._live.run()),
                ]
                await self._scheduler.play()
                for task in beside:
                    task.cancel()
                await self._end(running)
        finally:
            self._display.show(self._scheduler.progress, self._concurrency)
            await self._live.update()

    async def _keep_running(self) -> None:
        """Keep the entrants running; if one fails for good, stop, so that game counts stay
        equal."""
        try:
            await self._supervisor.run()
        except* EntrantFailedError as group:
            error = first_error(group)
            self.failure = str(error)
            names = {
                failure.name
                for failure in leaf_errors(group)
                if isinstance(failure, EntrantFailedError)
            }
            # The task group has ended the other processes too, so no game continues.
            self._scheduler.stop("failed", str(error).splitlines()[0][:200], self._tournament.names)
            self._display.say(f"{', '.join(sorted(names))} cannot be kept running")

    async def _wait_for_entrants(self) -> None:
        """Start the lobby once all entrants are ready; report missing ones until then."""
        clock = asyncio.get_running_loop().time
        began = since = clock()
        pause = REMINDER_SECONDS
        self._tell_remote()
        while True:
            view = self._scheduler.view
            if view is not None:
                await self._tell_supervisor(view)
                missing = self._missing(view)
                if view.state == "gathering":
                    await self._start_lobby(missing, clock() - began)
                idle = view.state == "gathering" or not self._scheduler.progress.outstanding
                if not (missing and idle):
                    since, pause = clock(), REMINDER_SECONDS
                elif clock() >= since + pause:
                    since, pause = clock(), 2 * pause
                    self._display.say(f"waiting for {', '.join(missing)}")
            await asyncio.sleep(0.05)

    async def _tell_supervisor(self, view: LobbyView) -> None:
        names = self._tournament.names
        self._supervisor.members = {names[member.seat] for member in view.members.values()}
        connected = {names[member.seat] for member in view.members.values() if member.connected}
        await self._supervisor.set_connected(connected)

    async def _start_lobby(self, missing: list[str], waited: float) -> None:
        """Start the lobby if no entrant is missing; raise an error after the timeout."""
        if not missing:
            with contextlib.suppress(RefusedError):
                await self._client.hosting.start(self._lobby)
        elif waited > self._options.wait:
            seconds = f"{self._options.wait:g} seconds"
            raise NotReadyError(f"{', '.join(missing)} not ready in {seconds}")

    def _tell_remote(self) -> None:
        """Print the commands with which remote entrants join."""
        for entrant in self._tournament.entrants:
            if entrant.remote:
                where = f"--server {self._client.url} --lobby {self._lobby}"
                name = shlex.quote(entrant.name)
                self._display.say(
                    f"{entrant.name} joins with: kibitz connect BOT {where} --name {name}"
                )

    def _missing(self, view: LobbyView) -> list[str]:
        ready = {
            member.seat for member in view.members.values() if member.ready and member.connected
        }
        return [name for seat, name in enumerate(self._tournament.names) if seat not in ready]

    async def _measure_latency(self) -> None:
        """Repeatedly measure the lateness of timers and of the server's responses."""
        clock = asyncio.get_running_loop().time
        pause = PROBE_SECONDS if self._options.server is None else REMOTE_PROBE_SECONDS
        while True:
            before = clock()
            await asyncio.sleep(pause)
            late = clock() - before - pause
            asked = clock()
            with contextlib.suppress(KibitzError):
                await self._client.hall.lobbies()
            self._concurrency.record_latency(1000 * max(late, clock() - asked))
            self._scheduler.wake()

    async def _show(self) -> None:
        while True:
            self._display.show(self._scheduler.progress, self._concurrency)
            await asyncio.sleep(0.25)

    async def _end(self, running: asyncio.Task[None]) -> None:
        """Close the lobby if the tournament is over; otherwise keep the seats for the next run."""
        self._supervisor.close()
        if not is_unfinished(self._scheduler.progress):
            with contextlib.suppress(RefusedError):
                await self._client.hosting.close_lobby(self._lobby)
            await asyncio.wait({running}, timeout=LEAVE_SECONDS)
        running.cancel()


def is_unfinished(progress: TournamentState) -> bool:
    """Return whether the tournament will continue, now or when it is resumed."""
    if progress.stopped is not None:
        return progress.stopped.reason not in ("decided", "deadline")
    return not progress.finished
