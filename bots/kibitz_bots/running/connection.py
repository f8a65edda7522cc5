"""A bot's connection: its lobbies, its matches, and when the run ends.

`run` connects, takes a seat in a lobby, warms the bot up, reports ready, and plays the lobby's
matches, including rematches. It ends

- after `matches` matches, or when it has neither a lobby nor a running match left;
- on the first `Shutdown.interrupt`: the bot reports not ready to hosts that arrange matches,
  finishes its running matches, and leaves any match that still starts;
- on the second `interrupt`, on `Shutdown.immediate` or on `Shutdown.detach`: at once.

A bot that seeks opponents requests a rematch after each round, until it has played its rounds. When
a lobby closes before that, it seeks again. A bot on a standing ladder waits until the ladder has a
lobby, and joins the ladder's next lobby when that one closes.

A bot that crashes or answers illegally loses only that match, and `RunStats.faults` counts it. With
``on_fault="exit"`` the first fault ends the whole run.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from kibitz_bots.budget import ClockFunction
from kibitz_bots.running.log_capture import captured_stderr
from kibitz_bots.running.match_session import MatchSession, SessionContext
from kibitz_bots.running.memory_trim import release_llvm_pages
from kibitz_bots.running.seek_rounds import SeekRounds
from kibitz_bots.running.source_digest import source_version
from kibitz_bots.running.threads import in_thread
from kibitz_bots.sdk import Bot, Match
from kibitz_bots.spec import BotFactory
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError, UnansweredError
from kibitz_protocol.client.events import MatchLost
from kibitz_protocol.wire.lobbies import LobbyView, ProgrammeItem, SeekTerms
from kibitz_protocol.wire.messages import (
    Capabilities,
    Event,
    Farewell,
    Finished,
    GameClaim,
    LobbyClosed,
    LobbyNews,
    Refused,
    Snapshot,
    YourTurn,
)
from kibitz_protocol.wire.records import Engine, Result
from kibitz_protocol.wire.refusals import Code

log = logging.getLogger("kibitz_bots")

OnFault = Literal["resign", "exit"]

PATIENCE = 120.0
"""How long to retry an unreachable server, in seconds; bots on a ladder retry indefinitely."""
LADDER_SECONDS = 5.0
"""How often to look for a ladder lobby with a free seat, in seconds."""
ENTER_LATER = frozenset(
    {Code.FULL, Code.NO_SUCH_LOBBY, Code.WRONG_STATE, Code.UNAVAILABLE, Code.RATE_LIMITED}
)
"""Refusals after which a bot tries again to join its ladder or to seek opponents."""
MAX_ENGINE_TEXT = 200
"""The maximum length of a bot's name and version in a record."""


@dataclass(frozen=True)
class Sought:
    """The terms of a seek for opponents."""

    terms: SeekTerms
    wait_s: int = 300
    """How long a seek stays open, in seconds."""
    rounds: int | None = None
    """End after this many rounds, including rematches; None for no limit."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """The settings of a run."""

    lobby: str | None = None
    """The lobby to join; None to continue in the lobbies of a resumed player."""
    invite: str | None = None
    ladder: str | None = None
    """The standing ladder to play on."""
    seek: Sought | None = None
    matches: int | None = None
    """End after this many matches; None for no limit."""
    on_fault: OnFault = "resign"
    pace_s: float = 0.0
    """The minimum time from the arrival of a turn to its answer."""


@dataclass
class RunStats:
    """The results of a run."""

    played: int = 0
    """The number of finished matches."""
    faults: int = 0
    """The number of matches lost by a crash or by illegal answers."""
    failure: str = ""
    """Why the run ended early; empty if it completed."""

    @property
    def clean(self) -> bool:
        """Whether the run completed without faults."""
        return not self.faults and not self.failure


class NothingToPlay(ValueError):
    """No lobby was given, and the player has no seat."""


class Shutdown:
    """A handle with which other code ends a run, even before the run has started."""

    def __init__(self) -> None:
        self.draining = asyncio.Event()
        self.leaving = asyncio.Event()
        # Whether to disconnect without leaving the lobbies, so that another process can take over.
        self.detached = False
        # Whether a person pressed Ctrl-C.
        self.interrupted = False

    def immediate(self) -> None:
        """End now and leave matches and lobbies, so that they do not wait for this bot."""
        self.draining.set()
        self.leaving.set()

    def detach(self) -> None:
        """End now and keep the seats: the player can reconnect with its resume secret."""
        self.detached = True
        self.immediate()

    def interrupt(self) -> None:
        """Drain on the first call, leave on the second, as for repeated Ctrl-C."""
        self.interrupted = True
        if self.draining.is_set():
            self.leaving.set()
        self.draining.set()


def capabilities(bot: Bot, at_once: int | None = None, source: str | None = None) -> Capabilities:
    """Return the capabilities that a bot announces; `source` distinguishes its versions."""
    claims = [GameClaim(game=game, seats=list(bot.seats)) for game in bot.games]
    engine = engine_of(bot)
    if source is not None:
        engine = engine.model_copy(update={"version": source_version(engine, source)})
    return Capabilities(games=claims, at_once=at_once or bot.at_once, engine=engine)


def engine_of(bot: Bot) -> Engine:
    """Return the engine description that records show for a bot."""
    name = bot.name or type(bot).__name__
    return bot.engine or Engine(name=name[:MAX_ENGINE_TEXT], version=bot.version[:MAX_ENGINE_TEXT])


def _warm_up(bot: Bot, programme: Sequence[ProgrammeItem]) -> None:
    """Warm a bot up and free the memory that its turns do not need.

    The new objects become permanent, so that garbage collections skip them during turns.
    """
    if not bot.jit:
        from kibitz_games.compiled import mode

        mode.set_mode("plain")
    from kibitz_bots.running import warmup as bots_warmup

    bots_warmup.warm_up(bot, programme)
    gc.freeze()
    release_llvm_pages()


async def run(
    make: BotFactory,
    url: str,
    *,
    lobby: str | None = None,
    invite: str | None = None,
    ladder: str | None = None,
    seek: Sought | None = None,
    source: str | None = None,
    name: str | None = None,
    token: str | None = None,
    resume: str | None = None,
    matches: int | None = None,
    at_once: int | None = None,
    on_fault: OnFault = "resign",
    pace_s: float = 0.0,
    stop: Shutdown | None = None,
    keep: Callable[[str], None] | None = None,
    warm: Sequence[ProgrammeItem] | None = None,
    hold: Callable[[], Awaitable[None]] | None = None,
) -> RunStats:
    """Connect, play, and return the statistics.

    `make` creates a bot for every match, and one more for the attributes and the warm-up. `keep`
    receives the secret with which another process can reconnect as this player. With `ladder`, the
    bot retries an unreachable server indefinitely, and each `source`, a digest of the bot's code,
    is a separate entrant. With `warm`, the bot warms up for these items before it connects, because
    the clock of a resumed seat may already be running. It also awaits `hold` before it connects.
    Raises `RefusedError` when the server refuses the connection or the lobby, `SessionError` when
    it cannot be reached or ends the session.
    """
    probe_bot = make()
    config = RunConfig(
        lobby=lobby,
        invite=invite,
        ladder=ladder,
        seek=seek,
        matches=matches,
        on_fault=on_fault,
        pace_s=pace_s,
    )
    client = Client(
        url,
        name=name or probe_bot.name or type(probe_bot).__name__,
        kind="bot",
        token=token,
        resume=resume,
        capabilities=capabilities(probe_bot, at_once, source),
        agent=f"kibitz_bots ({type(probe_bot).__name__})",
        patience=PATIENCE if ladder is None else None,
    )
    with captured_stderr() as terminal:
        await _get_ready(probe_bot, warm, hold)
        async with client:
            if keep is not None:
                keep(client.resume)
            play = BotConnection(client, make, config, probe_bot, terminal, warmed=warm)
            return await play.until(stop or Shutdown())


async def _get_ready(
    bot: Bot, warm: Sequence[ProgrammeItem] | None, hold: Callable[[], Awaitable[None]] | None
) -> None:
    """Warm up, and wait until the bot may connect."""
    if warm is not None:
        await in_thread(lambda: _warm_up(bot, warm))
    if hold is not None:
        await hold()


class BotConnection:
    """The state of a run. All methods must be called on the event loop."""

    def __init__(
        self,
        client: Client,
        make: BotFactory,
        config: RunConfig,
        probe_bot: Bot,
        terminal: TextIO,
        clock: ClockFunction | None = None,
        warmed: Sequence[ProgrammeItem] | None = None,
    ) -> None:
        self._client = client
        self._make = make
        self._config = config
        # The bot for attributes and the warm-up; it plays no match.
        self._probe_bot = probe_bot
        self._stats = RunStats()
        self._context = SessionContext(
            connection=client,
            clock=clock or asyncio.get_running_loop().time,
            terminal=terminal,
            on_fault=self._count_fault,
            pace_s=config.pace_s,
        )
        # Running matches, and matches named in the welcome that have not sent a snapshot yet.
        self._sessions: dict[str, MatchSession] = {}
        self._expected: set[str] = set()
        # Matches that are over or were left; late messages about them are ignored.
        self._ended_matches: set[str] = set()
        self._lobbies: set[str] = set()
        self._readying: set[str] = set()
        self._warmed = None if warmed is None else [*warmed]
        # Draining: start nothing new. Stood down: the hosts know, so leave matches that still
        # start.
        self._draining = False
        self._stood_down = False
        # Lobbies whose hosts arrange matches.
        self._arranged: set[str] = set()
        self._rounds = SeekRounds()
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        # The first exception in a task of this run; it ends the run.
        self._failure: BaseException | None = None

    async def until(self, stop: Shutdown) -> RunStats:
        """Play until the run is complete or `stop` requests its end."""
        self._spawn(self._watch_shutdown(stop))
        self._spawn(self._begin())
        try:
            await self._ended.wait()
            if self._failure is None and not stop.detached:
                await self._leave_lobbies()
        finally:
            await self._end_tasks()
        if self._failure is not None:
            raise self._failure
        return self._stats

    # --- the beginning and the end ------------------------------------------------------------

    async def _begin(self) -> None:
        welcome = self._client.welcome
        self._expected = set(welcome.seats)
        self._lobbies = set(welcome.lobbies)
        if self._expected and self._warmed is None:
            await self._warm_up([])
        if self._config.lobby is not None:
            await self._join(self._config.lobby)
        if self._config.ladder is not None:
            self._spawn(self._enter_ladder(self._config.ladder))
        elif self._config.seek is not None:
            self._spawn(self._seek(self._config.seek))
        elif not self._lobbies and not self._expected:
            raise NothingToPlay("name a lobby to join; this player has no seat anywhere")
        async for message in self._client.news():
            self._dispatch(message)
        self._fail("the connection has ended")

    async def _join(self, lobby: str) -> None:
        await self._client.join(lobby, invite=self._config.invite)
        self._lobbies.add(lobby)

    async def _enter_ladder(self, ladder: str) -> None:
        """Join a ladder's lobby as soon as one has a free seat."""
        while not self._draining:
            lobby = await self._find_ladder(ladder)
            if lobby is None:
                log.info("ladder %s: no lobby with that name yet", ladder)
            else:
                try:
                    if lobby in self._lobbies and not self._expected:
                        # The lobby lists an earlier version of this bot; join as the new one.
                        await self._client.leave(lobby)
                    return await self._join(lobby)
                except RefusedError as error:
                    if error.code not in ENTER_LATER:
                        raise
                    log.info("ladder %s: %s", ladder, error)
            await asyncio.sleep(LADDER_SECONDS)
        return None

    async def _seek(self, sought: Sought) -> None:
        """Seek opponents; retry if the server is too busy."""
        while not self._draining:
            try:
                done = await self._client.seek(sought.terms, wait_s=sought.wait_s)
            except RefusedError as error:
                if error.code not in ENTER_LATER:
                    raise
                log.info("seek: %s", error)
                await asyncio.sleep(LADDER_SECONDS)
            else:
                if done.lobby is not None:
                    self._lobbies.add(done.lobby)
                return

    async def _ask_rematch(self, lobby: str) -> None:
        try:
            await self._client.hosting.rematch(lobby)
        except (RefusedError, UnansweredError) as error:  # they have left, or it has closed
            log.debug("lobby %s: %s", lobby, error)

    async def _find_ladder(self, ladder: str) -> str | None:
        """Return a ladder's oldest lobby that has started."""
        for brief in (await self._client.hall.lobbies()).lobbies:
            if brief.name == f"ladder {ladder}" and brief.state in ("gathering", "running"):
                return brief.lobby
        return None

    async def _watch_shutdown(self, stop: Shutdown) -> None:
        await stop.draining.wait()
        self._draining = True
        self._spawn(self._stand_down())
        await stop.leaving.wait()
        self._ended.set()

    async def _stand_down(self) -> None:
        """Report not ready to hosts that arrange matches, then end the run if possible.

        The server announces all matches that have already started before it answers, so the bot
        still plays these.
        """
        for lobby in sorted(self._arranged & self._lobbies):
            try:
                await self._client.ready(lobby, False)
            except (RefusedError, UnansweredError) as error:  # already closed or closing
                log.debug("lobby %s: %s", lobby, error)
        self._stood_down = True
        self._end_if_done()

    async def _leave_lobbies(self) -> None:
        """Leave the remaining lobbies, so that they do not wait for this bot."""
        for lobby in sorted(self._lobbies):
            try:
                await self._client.leave(lobby)
            except (RefusedError, UnansweredError) as error:  # already closed or closing
                log.debug("lobby %s: %s", lobby, error)

    async def _end_tasks(self) -> None:
        for session in self._sessions.values():
            session.end(None)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _end_if_done(self) -> None:
        """End the run if nothing is left to do."""
        wanted, played = self._config.matches, self._stats.played
        if wanted is not None and played >= wanted:
            self._draining = self._stood_down = True
        busy = self._sessions or self._expected
        finds_another = self._config.ladder is not None or self._config.seek is not None
        homeless = not self._lobbies and not finds_another
        if not busy and (self._stood_down or homeless):
            self._ended.set()

    def _fail(self, text: str) -> None:
        self._stats.failure = self._stats.failure or text
        self._ended.set()

    def _count_fault(self) -> None:
        self._stats.faults += 1
        if self._config.on_fault == "exit":
            self._ended.set()

    def _spawn(self, work: Awaitable[object]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failure = self._failure or error
            self._ended.set()

    # --- news ---------------------------------------------------------------------------------

    def _dispatch(self, message: object) -> None:
        match message:
            case Snapshot():
                self._on_snapshot(message)
            case YourTurn():
                if session := self._sessions.get(message.match):
                    session.on_turn(message)
            case Event():
                if session := self._sessions.get(message.match):
                    session.on_progress(message)
            case Finished():
                self._on_finished(message.match, message.result)
            case LobbyNews():
                self._on_lobby(message.lobby)
            case LobbyClosed():
                self._on_lobby_closed(message)
            case Farewell():
                log.warning("server: %s: %s", message.code, message.message)
            case MatchLost():
                self._on_gone(message)
            case Refused():
                log.warning("server: %s: %s", message.code, message.message)
            case _:
                pass  # only for spectators

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        """Start a match, or continue it after a reconnect."""
        match = snapshot.match
        self._expected.discard(match)
        if snapshot.you is None or match in self._ended_matches:
            return self._end_if_done()
        if session := self._sessions.get(match):
            session.on_progress(snapshot)
        elif snapshot.result is None:
            self._start_match(snapshot)
        if snapshot.result is not None:
            self._on_finished(match, snapshot.result)
        return None

    def _start_match(self, snapshot: Snapshot) -> None:
        if self._stood_down:
            self._ended_matches.add(snapshot.match)
            return self._spawn(self._leave_match(snapshot.match))
        if snapshot.lobby is not None:
            self._rounds.match_begun(snapshot.lobby)
        session = MatchSession(Match.of(snapshot), self._make(), self._context)
        self._sessions[snapshot.match] = session
        log.info("match %s: %s, seat %s", snapshot.match, snapshot.game, snapshot.you)
        return self._spawn(self._run_match(session))

    async def _run_match(self, session: MatchSession) -> None:
        await session.run()
        self._sessions.pop(session.match.id, None)
        self._ended_matches.add(session.match.id)
        self._stats.played += 1
        self._end_if_done()

    def _on_finished(self, match: str, result: Result) -> None:
        self._expected.discard(match)
        if session := self._sessions.get(match):
            session.end(result)
            log.info("match %s: over, %s", match, result.reason or result.cause)
        else:
            self._end_if_done()

    def _on_gone(self, message: MatchLost) -> None:
        """Give up a match that could not be resumed after a reconnect."""
        log.warning("match %s: %s: %s", message.match, message.code, message.message)
        self._expected.discard(message.match)
        if session := self._sessions.get(message.match):
            session.end(None)
        else:
            self._end_if_done()

    async def _leave_match(self, match: str) -> None:
        try:
            await self._client.leave_match(match)
        except (RefusedError, UnansweredError) as error:  # already over or ending
            log.debug("match %s: %s", match, error)

    # --- lobbies ------------------------------------------------------------------------------

    def _on_lobby(self, view: LobbyView) -> None:
        """Report ready when the lobby waits for it: at the start and for every rematch.

        An arranged lobby also waits for players who join while it runs.
        """
        if view.settings.arranged:
            self._arranged.add(view.lobby)
        me = view.members.get(self._client.player)
        open_ = view.state == "gathering" or (view.settings.arranged and view.state == "running")
        ended = view.seek and self._rounds.count(view)
        self._end_after_rounds()
        if ended and self._config.seek is not None and not self._draining:
            self._spawn(self._ask_rematch(view.lobby))
        waits = open_ and me is not None and not me.ready
        if waits and not self._draining and view.lobby not in self._readying:
            self._readying.add(view.lobby)
            self._spawn(self._get_ready(view))

    def _end_after_rounds(self) -> None:
        """End the run when the requested number of rounds has been played."""
        sought = self._config.seek
        most = None if sought is None else sought.rounds
        if most is not None and self._rounds.played >= most and not self._draining:
            self._draining = self._stood_down = True
            self._end_if_done()

    async def _get_ready(self, view: LobbyView) -> None:
        await self._warm_up(view.settings.programme)
        try:
            await self._client.ready(view.lobby)
        except (RefusedError, UnansweredError) as error:  # retried at the lobby's next update
            log.warning("lobby %s: %s", view.lobby, error)
        self._readying.discard(view.lobby)

    async def _warm_up(self, programme: list[ProgrammeItem]) -> None:
        idle = type(self._probe_bot).prepare is Bot.prepare
        if not idle and self._warmed != programme:
            self._warmed = programme
            await in_thread(lambda: _warm_up(self._probe_bot, programme))

    def _on_lobby_closed(self, message: LobbyClosed) -> None:
        self._lobbies.discard(message.lobby)
        self._rounds.close(message.lobby)
        self._end_after_rounds()
        ladder, sought = self._config.ladder, self._config.seek
        if message.reason == "kicked" and sought is None:
            self._stats.failure = f"removed from lobby {message.lobby}"
            self._draining = self._stood_down = self._draining or ladder is not None
        elif ladder is not None and not self._draining:
            self._spawn(self._enter_ladder(ladder))
        elif sought is not None and not self._draining:
            self._spawn(self._seek(sought))
        self._end_if_done()
