"""Where an event takes place: a server, a lobby, the processes of the entrants, the director.

`hold` plays what is left of an event, in as many *sittings* as it takes. A sitting ends when the
event does, when it is told to stop, or when its server or its lobby is gone; then another one
goes on with what the journal says, a few times.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from kibitz.event.archive import Archive
from kibitz.event.director import Director, LobbyGone, item
from kibitz.event.entrants import EntrantFailed, Seat, Team, untrusted
from kibitz.event.folder import EventFolder, Place
from kibitz.event.ticker import Ticker
from kibitz.event.width import Width
from kibitz.isolation.backends import TRUSTED, Isolation, Tool
from kibitz.private import private_server
from kibitz_clients.arena.event import Event
from kibitz_clients.arena.journal import Began, Journal, Progress
from kibitz_protocol.client import Client
from kibitz_protocol.errors import HelloRefusedError, KibitzError, RefusedError, SessionError
from kibitz_protocol.records import Conduct
from kibitz_protocol.refusals import Code
from kibitz_protocol.rooms import LobbySettings, LobbyView, ReservedSeat

SITTINGS: Final = 3
"""How many sittings may fail in a row without a game that ended in any of them."""
START_SECONDS: Final = 600.0
"""How long entrants may take to be ready: what they need may have to be compiled first."""
TELL_SECONDS: Final = 10.0
"""After how long to say for the first time who is waited for; then ever more rarely."""
FREE_SECONDS: Final = 20.0
"""How long the server of a run that was killed may take to go: it drains for ten."""
GRACE_MS: Final = 300_000
"""How long a seat is kept for who has lost the connection: who was killed has to warm up again."""
MOST_AT_ONCE: Final = 1000
"""The director says how many games there are at the same time; the lobby need not."""
PROBE_SECONDS: Final = 0.1
"""How often the lateness of everything is measured, on a server of one's own."""
FAR_PROBE_SECONDS: Final = 1.0
"""The same on somebody else's."""
LEAVE_SECONDS: Final = 5.0
"""How long the entrants may take to go home when the event is over."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where to play: a server of the event's own, or the one at `server`."""

    server: str | None = None
    token: str | None = None
    wait: float = START_SECONDS
    """Seconds that the entrants may take to be ready."""


class NotReady(Exception):
    """An entrant that has not come in time; waiting once more is for a person to decide."""


@dataclass
class House:
    """An event that is being held. `drain` may be called at any time."""

    event: Event
    folder: EventFolder
    site: Site
    ticker: Ticker
    isolation: Isolation = TRUSTED
    """How entrants that are code of others are kept apart."""
    width: Width = field(init=False)
    asked: bool = False
    """Whether somebody asked to stop."""
    failure: str | None = None
    """Why it could not go on."""
    _director: Director | None = None

    def __post_init__(self) -> None:
        self.width = Width.of(self.event.concurrency, self.event.clock)

    async def drain(self) -> None:
        """Begin no more games, and end when those that run have ended."""
        self.asked = True
        if self._director is not None:
            self._director.stop("asked")

    async def hold(self) -> Progress:
        """Play what is left, and return how far the event is then."""
        with Journal(self.folder.journal, self.event) as journal:
            if journal.torn:
                self.ticker.say(
                    f"the journal ended in half a line, which was cut off: {journal.torn!r}"
                )
            if not journal.progress.finished:
                journal.append(Began(at_ms=_now(), isolation=self.isolated))
                await self._sit_until_done(journal)
            return journal.progress

    @property
    def isolated(self) -> Tool | None:
        """Return by which tool entrants are isolated, None where none is code of others."""
        strangers = any(untrusted(each) for each in self.event.entrants)
        return self.isolation.tool if strangers else None

    async def _sit_until_done(self, journal: Journal) -> None:
        failed = 0
        while not self.asked and self.failure is None and unfinished(journal.progress):
            before = journal.progress.played
            try:
                await self._sit(journal)
            except* (KibitzError, LobbyGone, NotReady, OSError) as group:
                failed = 1 if journal.progress.played > before else failed + 1
                self._fail(group, failed)

    def _fail(self, group: BaseExceptionGroup[Exception], failed: int) -> None:
        error = _first(group)
        if failed >= SITTINGS or isinstance(error, RefusedError | NotReady):
            self.failure = str(error)
        else:
            self.ticker.say(f"{error}; going on")

    async def _sit(self, journal: Journal) -> None:
        async with contextlib.AsyncExitStack() as stack:
            url = await stack.enter_async_context(self._server())
            client = await stack.enter_async_context(self._host(url))
            lobby = await self._lobby(client, url)
            await client.join(lobby, role="spectator")
            own = self.site.server is None
            archive = Archive(url, client, self.folder, own, self.ticker.say)
            director = Director(
                client,
                lobby,
                journal,
                self.width,
                now=_now,
                fetch=archive.keep,
                tell=self.ticker.game,
            )
            await self._direct(director, client, Seat(url, lobby, MOST_AT_ONCE))

    async def _direct(self, director: Director, client: Client, seat: Seat) -> None:
        """Run everything of a sitting side by side, until the director is done."""
        self._director = director
        if self.asked:
            director.stop("asked")
        team = Team(
            self.event,
            self.folder,
            seat,
            played=_counter(director.progress),
            tell=self.ticker.say,
            isolation=self.isolation,
        )
        try:
            async with asyncio.TaskGroup() as group:
                running = group.create_task(self._keep_running(team, director))
                aside = [
                    group.create_task(self._gather(director, team, client, seat.lobby)),
                    group.create_task(self._probe(client, director)),
                    group.create_task(self._show(director)),
                ]
                await director.play()
                for task in aside:
                    task.cancel()
                await self._part(director, team, client, running, seat.lobby)
        finally:
            self._director = None
            self.ticker.show(director.progress, self.width)

    async def _keep_running(self, team: Team, director: Director) -> None:
        """An entrant that cannot be kept alive ends the event, for counts stay equal then."""
        try:
            await team.run()
        except* EntrantFailed as group:
            error = _first(group)
            assert isinstance(error, EntrantFailed)
            self.failure = str(error)
            names = {each.name for each in _all(group) if isinstance(each, EntrantFailed)}
            # The group has ended the other processes too, so nobody's game goes on.
            director.stop("failed", str(error).splitlines()[0][:200], self.event.names)
            self.ticker.say(f"{', '.join(sorted(names))} cannot be kept running")

    async def _gather(self, director: Director, team: Team, client: Client, lobby: str) -> None:
        """Begin once everybody is ready; say who is waited for, then and later."""
        clock = asyncio.get_running_loop().time
        began, tell = clock(), Seldom(clock())
        self._invite(client.url, lobby)
        while True:
            view = director.view
            if view is not None:
                names = self.event.names
                team.members = {names[member.seat] for member in view.members}
                await team.see({names[each.seat] for each in view.members if each.connected})
                missing = self._missing(view)
                if view.state == "gathering":
                    await self._begin(client, lobby, missing, clock() - began)
                idle = view.state == "gathering" or not director.progress.outstanding
                if tell.due(clock(), bool(missing) and idle):
                    self.ticker.say(f"waiting for {', '.join(missing)}")
            await asyncio.sleep(0.05)

    async def _begin(self, client: Client, lobby: str, missing: list[str], waited: float) -> None:
        """Start the lobby if nobody is missing any more; give up when it took too long."""
        if not missing:
            with contextlib.suppress(RefusedError):
                await client.start(lobby)
        elif waited > self.site.wait:
            raise NotReady(f"{', '.join(missing)} not ready in {self.site.wait:g} seconds")

    def _invite(self, url: str, lobby: str) -> None:
        """Say how those come in who connect from elsewhere."""
        for entrant in self.event.entrants:
            if entrant.remote:
                where = f"--server {url} --lobby {lobby} --name {shlex.quote(entrant.name)}"
                self.ticker.say(f"{entrant.name} joins with: kibitz bot BOT {where}")

    def _missing(self, view: LobbyView) -> list[str]:
        ready = {member.seat for member in view.members if member.ready and member.connected}
        return [name for seat, name in enumerate(self.event.names) if seat not in ready]

    async def _probe(self, client: Client, director: Director) -> None:
        """Measure how late a pause ends and how late the server answers, again and again."""
        clock = asyncio.get_running_loop().time
        pause = PROBE_SECONDS if self.site.server is None else FAR_PROBE_SECONDS
        while True:
            before = clock()
            await asyncio.sleep(pause)
            late = clock() - before - pause
            asked = clock()
            with contextlib.suppress(KibitzError):
                await client.lobbies()
            self.width.heed(1000 * max(late, clock() - asked))
            director.look()

    async def _show(self, director: Director) -> None:
        while True:
            self.ticker.show(director.progress, self.width)
            await asyncio.sleep(0.25)

    async def _part(
        self,
        director: Director,
        team: Team,
        client: Client,
        running: asyncio.Task[None],
        lobby: str,
    ) -> None:
        """Close the lobby if the event is over; else keep everybody's seat for the next time."""
        team.close()
        if not unfinished(director.progress):
            with contextlib.suppress(RefusedError):
                await client.close_lobby(lobby)
            await asyncio.wait({running}, timeout=LEAVE_SECONDS)
        running.cancel()

    # The server and the lobby

    @contextlib.asynccontextmanager
    async def _server(self) -> AsyncIterator[str]:
        if self.site.server is not None:
            yield self.site.server
            return
        await _freed(self.folder.database)
        async with private_server(self.folder.database) as server:
            yield server.url

    @contextlib.asynccontextmanager
    async def _host(self, url: str) -> AsyncIterator[Client]:
        """Connect as whoever hosted before; a server that does not know that begins anew."""
        place = self._place()
        resume = None if place is None or self.site.token is not None else place.resume
        stack = contextlib.AsyncExitStack()
        try:
            client = await stack.enter_async_context(self._client(url, resume))
        except HelloRefusedError as error:
            if resume is None or error.code != Code.UNAUTHORIZED:
                raise
            self.folder.forget()
            client = await stack.enter_async_context(self._client(url, None))
        async with stack:
            yield client

    def _client(self, url: str, resume: str | None) -> Client:
        return Client(
            url,
            name=f"arena-{self.event.hash[:8]}" if self.site.token is None else None,
            kind="human",
            token=self.site.token,
            resume=resume,
            agent="kibitz arena",
            patience=120.0 if self.site.server else 10.0,
        )

    def _place(self) -> Place | None:
        """Return where the event was played before, if that is here."""
        place = self.folder.place()
        if place is None or place.server == self.site.server:
            return place
        self.folder.forget()  # secrets are worth nothing on another server
        return None

    async def _lobby(self, client: Client, url: str) -> str:
        """Return the event's lobby, the one from before if it is still there."""
        place = self._place()
        if place is not None and place.lobby is not None:
            with contextlib.suppress(RefusedError):
                await client.join(place.lobby, role="spectator")
                return place.lobby
        lobby = (await client.host(self._settings())).lobby
        assert lobby is not None
        self.folder.keep_place(Place(resume=client.resume, lobby=lobby, server=self.site.server))
        return lobby

    def _settings(self) -> LobbySettings:
        return LobbySettings(
            name=self.event.name,
            joinable="closed",
            seats=[ReservedSeat(name=name) for name in self.event.names],
            programme=[item(self.event)],
            arranged=True,
            rated=self.event.rated,
            at_once=MOST_AT_ONCE,
            conduct=Conduct(grace_ms=GRACE_MS),
        )


class Seldom:
    """When to say something once more that goes on: after twice as long each time."""

    def __init__(self, now: float) -> None:
        self._since = now
        self._pause = TELL_SECONDS

    def due(self, now: float, so: bool) -> bool:
        """Whether it is time to say it; where it is not `so`, all begins anew."""
        if not so:
            self._since, self._pause = now, TELL_SECONDS
            return False
        if now < self._since + self._pause:
            return False
        self._since, self._pause = now, 2 * self._pause
        return True


def unfinished(progress: Progress) -> bool:
    """Whether the event is to go on, now or when it is begun again."""
    if progress.stopped is not None:
        return progress.stopped.reason not in ("decided", "deadline")
    return not progress.finished


def _counter(progress: Progress) -> Callable[[str], int]:
    """Return what counts an entrant's games that have ended, without counting twice."""
    seen = 0
    counts: Counter[str] = Counter()

    def played(name: str) -> int:
        nonlocal seen
        ended = list(progress.ended.values())
        for each in ended[seen:]:
            counts.update(each.players)
        seen = len(ended)
        return counts[name]

    return played


async def _freed(database: Path) -> None:
    """Wait until the server of a run that was killed lets go of the database."""
    deadline = time.monotonic() + FREE_SECONDS
    while True:
        try:
            with FileLock(f"{database}.lock", timeout=0):
                return
        except Timeout:
            if time.monotonic() > deadline:
                raise OSError(f"{database}: another server has it open") from None
        await asyncio.sleep(0.1)


def _first(group: BaseExceptionGroup[Exception]) -> BaseException:
    """Return the first exception in a group that is no group; what ends a session comes first."""
    found = _all(group)
    return next((each for each in found if isinstance(each, SessionError)), found[0])


def _all(group: BaseExceptionGroup[Exception]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _all(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


def _now() -> int:
    return int(time.time() * 1000)
