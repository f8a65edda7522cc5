"""A series of matches between bots on a private server.

Each bot has its own process, except house bots that need none (`residents`). Each match writes a
record, and each process a log beside them.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kibitz.analysis.match_process import analysis_command
from kibitz.builtin_games import player_counts
from kibitz.local.player_launch import Place, is_foreign, player_launch, readable_paths
from kibitz.options import match as options_match
from kibitz.options.notation import GameChoice
from kibitz.options.program import Program
from kibitz.process.child import child_process, log_tail
from kibitz.process.event_loop import draining
from kibitz.process.isolation.backends import TRUSTED, BackendError, Isolation, Wish, choose
from kibitz.process.isolation.launch import Launch
from kibitz.process.private_server import PrivateServer, server_in_this_process
from kibitz.text import result_tables
from kibitz.text.lobby_progress import LobbyProgress
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import LobbySettings, MatchBrief, ProgrammeItem, ReservedSeat
from kibitz_protocol.wire.records import Cause, Conduct
from kibitz_server.accounts.names import BadName, claim, skeleton
from kibitz_server.housebots.process import secret_descriptor
from kibitz_server.housebots.wait_exit import wait_exit

if TYPE_CHECKING:
    from kibitz_server.net.site import Site

SEAT_GRACE_MS = 5_000
"""How long the server reserves the seat of a disconnected bot, in milliseconds. It is short because
a bot whose process has exited does not reconnect."""
GAMES_ALONE = 10
"""The number of games for a bot without an opponent."""
AT_ONCE = 2
"""The number of simultaneous matches, low so that bots on a small machine do not starve each
other."""

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class MatchSeries:
    """The settings of a series of matches."""

    game: GameChoice
    bots: Sequence[str | Program]
    games: int | None = None
    """The number of games; None for one match, or one block if the game is played in blocks."""
    rotate: bool = True
    strict: bool = False
    seed: int | None = None
    time_control: TimeControl = field(default_factory=TimeControl)
    at_once: int = AT_ONCE
    limits: Sequence[str] = ()
    """The limits of each Python or house bot, as words from `options.match.limit_arguments`."""
    memory: int | None = None
    """The memory limit in MiB, which with cgroups covers all processes of a bot together."""
    isolation: Isolation = TRUSTED
    """The isolation of bots that are files or programs."""

    @property
    def names(self) -> list[str]:
        """A distinct name for each player; repeated names get a number."""
        return distinct_names([*map(player_name, self.bots)])

    def settings(self, keys: Sequence[str]) -> LobbySettings:
        """Return the lobby settings: only a seat for each bot, reserved for its player's key."""
        item = ProgrammeItem(
            game=self.game.name,
            options=self.game.options,
            seats=len(self.names),
            games=self.games,
            rotate=self.rotate,
            time_control=self.time_control,
            seed=self.seed,
        )
        return LobbySettings(
            name="play",
            joinable="closed",
            seats=[
                ReservedSeat(name=name, player=key)
                for name, key in zip(self.names, keys, strict=True)
            ],
            programme=[item],
            at_once=self.at_once,
            conduct=Conduct(
                grace_ms=SEAT_GRACE_MS, max_illegal=options_match.max_illegal(strict=self.strict)
            ),
        )


def player_name(bot: str | Program) -> str:
    """Return ``random`` for ``game/random:seed=1``, ``mybot`` for ``bots/mybot.py``."""
    if isinstance(bot, Program):
        return _unreserved(bot.name)
    stem = Path(bot).stem if bot.endswith(".py") else bot.partition(":")[0].rpartition("/")[2]
    return _unreserved(re.sub(r"[^A-Za-z0-9._-]", "-", stem)[:24].strip("-._") or "bot")


def _unreserved(name: str) -> str:
    """Return a name that the server accepts, since a bot's file may have any name."""
    try:
        return claim(name)
    except BadName:
        return f"my-{name}"


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return the names, with a number appended to each one that looks like an earlier one."""
    taken: set[str] = set()
    answer = []
    for name in names:
        numbered = (f"{name}-{number}" for number in itertools.count(2))
        distinct = next(
            each for each in itertools.chain([name], numbered) if skeleton(each) not in taken
        )
        taken.add(skeleton(distinct))
        answer.append(distinct)
    return answer


@dataclass
class SeriesOutcome:
    """The outcome of a series."""

    course: LobbyProgress
    trouble: list[str] = field(default_factory=list)
    """A sentence for each abnormal end."""
    reports: dict[str, Path] = field(default_factory=dict)
    """The reports of matches in which a seat was at fault."""

    def leave_reports(self) -> None:
        """Write a report beside each record of a match in which a seat was at fault."""
        from kibitz.analysis import fault_report  # rarely needed

        matches, causes = self.course.matches, result_tables.BOT_FAULTS
        for brief in matches:
            record = self.course.records.get(brief.match)
            # Making a report replays the match, so skip those that ended normally.
            if record is None or not result_tables.abnormal_endings([brief], causes=causes):
                continue
            if (written := fault_report.write_beside(Path(record))) is not None:
                self.reports[brief.match] = written
        self.trouble += result_tables.abnormal_endings(matches, self.reports, causes)

    def json(self) -> str:
        """Return the tables as one JSON object."""
        reports = {match: str(path) for match, path in self.reports.items()}
        summary = self.course.summary()
        return json.dumps(summary | {"trouble": self.trouble, "reports": reports})


async def play_series(
    plan: MatchSeries,
    records: Path,
    db: Path | None,
    tell: Tell,
    *,
    web: bool,
    advanced: Callable[[LobbyProgress], None] | None = None,
    opened: Callable[[str], None],
    ended: Callable[[SeriesOutcome], Awaitable[None]],
) -> SeriesOutcome:
    """Play a series on a private server and return its outcome.

    The directory `records` must exist. `tell` receives a line for each event; if `advanced` is
    given, it is called instead, and `tell` receives only problems. `opened` receives the address of
    the lobby's page. `ended` receives the outcome while the server is still running. Pages are
    served only with `web`.
    """
    served = server_in_this_process(
        plan.game.name,
        db,
        site=_pages() if web else None,
        analysis_command=analysis_command() if web else None,
    )
    async with served as server, _client(server) as client:
        players = await _register(plan, server)
        lobby = (await client.hosting.host(plan.settings([each.key for each in players]))).lobby
        assert lobby is not None
        await client.join(lobby, role="spectator")
        opened(server.page(f"/lobby/{lobby}"))
        played = SeriesOutcome(LobbyProgress(lobby))
        async with contextlib.AsyncExitStack() as stack:
            processes = await _start(plan, server, lobby, players, records, stack, played.trouble)
            await stack.enter_async_context(_compiling_rules(plan, server, tell))
            referee = _SeriesMonitor(client, server, played, records, tell, advanced)
            await referee.follow(processes)
            await played.course.close(client)
            played.trouble += await _wait_for_bots(processes)
        played.leave_reports()
        if advanced is not None:
            advanced(played.course)  # the last match may have ended without news
        await ended(played)
        return played


@contextlib.asynccontextmanager
async def _compiling_rules(
    plan: MatchSeries, server: PrivateServer, tell: Tell
) -> AsyncIterator[None]:
    """Compile the rules in the background during the block, unless they are already compiled.

    The machine code is for later series: a foreign bot starts with a copy of the compile cache, and
    what it compiles itself is lost when it ends. House bots that search compile before they play,
    so `tell` then gets the reason for the wait.
    """
    # Imported late: these modules fix the mode of the rules, which the caller sets to plain.
    from kibitz.local.residents import resident_bot
    from kibitz.process import rules_compiler
    from kibitz_games.compiled import mode
    from kibitz_games.core import registry, warmup

    if not mode.can_compile() or warmup.is_compiled(registry.get(plan.game.name)):
        yield
        return
    if not all(is_foreign(bot) or resident_bot(bot) for bot in plan.bots):
        tell("compiling for this machine, which takes up to a minute and happens only once")
    if not any(map(is_foreign, plan.bots)):
        yield
        return
    command = rules_compiler.command(plan.game.name, awaited=False)
    async with child_process(command, server.directory / "compiler.log"):
        yield


def _pages() -> Site:
    """Return the pages for browsers."""
    from kibitz.local.event_site import EventSite
    from kibitz.text import rule_pages
    from kibitz_clients.web.site import web_site

    return EventSite(web_site(rules=rule_pages.fragments())).file


def _client(server: PrivateServer) -> Client:
    # The name contains a space, so no bot can have the same name.
    return Client(
        server.url,
        name="kibitz play",
        organizer=server.organizer,
        kind="human",
        agent="kibitz play",
    )


@dataclass(frozen=True)
class _Player:
    """A bot's player on the server."""

    key: str
    secret: str = field(repr=False)
    """The only credential of the bot's process."""


async def _register(plan: MatchSeries, server: PrivateServer) -> list[_Player]:
    """Register a player for each bot before any bot process starts."""
    players = []
    for name in plan.names:
        async with Client(
            server.url, name=name, organizer=server.organizer, agent="kibitz play"
        ) as client:
            players.append(_Player(client.player, client.resume))
    return players


@dataclass(frozen=True)
class _BotProcess:
    name: str
    process: Process
    log: Path

    @property
    def failure(self) -> str:
        """A sentence about the failed process."""
        return f"{self.name} exited with status {self.process.returncode}; see its log {self.log}"


async def _start(
    plan: MatchSeries,
    server: PrivateServer,
    lobby: str,
    players: Sequence[_Player],
    logs: Path,
    stack: contextlib.AsyncExitStack,
    trouble: list[str],
) -> list[_BotProcess]:
    """Start the bots and return their processes; `trouble` gets failures of resident bots."""

    async def start(bot: str | Program, place: Place, player: _Player) -> _BotProcess:
        secret = stack.enter_context(secret_descriptor(player.secret)).fileno()
        launch = await stack.enter_async_context(_launch(plan, bot, place, secret))
        log = logs / f"{place.name}.log"
        process = await stack.enter_async_context(
            child_process(launch.command, log, env=launch.env, descriptors=launch.descriptors)
        )
        return _BotProcess(str(place.name), process, log)

    places = (
        Place(url=server.url, lobby=lobby, name=name, at_once=plan.at_once) for name in plan.names
    )
    seats = [*zip(plan.bots, places, players, strict=True)]
    # Files and programs take longest to start, so all others follow.
    processes = [await start(*seat) for seat in seats if is_foreign(seat[0])]
    from kibitz.local.residents import Residents

    residents = await stack.enter_async_context(Residents(trouble))
    for bot, place, player in seats:
        resident = not plan.limits and residents.admit(bot, place, player.secret)
        if not resident and not is_foreign(bot):
            processes.append(await start(bot, place, player))
    return processes


def _launch(
    plan: MatchSeries, bot: str | Program, place: Place, secret: int
) -> contextlib.AbstractAsyncContextManager[Launch]:
    """Provide the launch of a player, isolated unless it is a house bot.

    `secret` is the descriptor from which the process reads its player's secret.
    """
    return player_launch(
        bot,
        place,
        base=Path.cwd(),
        isolation=plan.isolation,
        env={"KIBITZ_RESUME_FD": str(secret)},
        descriptors=[secret],
        limits=plan.limits,
        memory=plan.memory,
    )


def has_strangers(plan: MatchSeries) -> bool:
    """Return whether the series may have untrusted bots: at least two are files or programs.

    A single file or program belongs to the user, who tests it against house bots.
    """
    return len({bot for bot in plan.bots if is_foreign(bot)}) > 1


async def _wait_for_bots(players: Sequence[_BotProcess]) -> list[str]:
    """Wait for the bots, which exit when their lobby closes; return a sentence for each failure.

    `child_process` terminates those that do not exit by themselves.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(3):
            await asyncio.gather(*(wait_exit(player.process) for player in players))
    failed = (player for player in players if player.process.returncode not in (0, None))
    return [f"{player.failure}{_last_log_line(player.log)}" for player in failed]


def _last_log_line(log: Path) -> str:
    """Return the last line of a log, which usually says why its process failed."""
    said = log_tail(log).splitlines()[-1:]
    return f": {said[0]}" if said else ""


def failed_to_start(brief: MatchBrief) -> str | None:
    """Return the name of a bot that crashed before its first move, or None if no bot did."""
    if brief.result is None or brief.result.plies >= len(brief.seats):
        return None
    ended = zip(brief.seats, brief.result.seats, strict=True)
    return next((who.name for who, seat in ended if seat.cause is Cause.CRASH), None)


class _SeriesMonitor:
    """Follows a lobby to the end of its programme, and fetches its records."""

    def __init__(
        self,
        client: Client,
        server: PrivateServer,
        played: SeriesOutcome,
        records: Path,
        tell: Tell,
        advanced: Callable[[LobbyProgress], None] | None,
    ) -> None:
        self._advanced = advanced
        self._client = client
        self._server = server
        self._played = played
        self._records = records
        self._tell = tell

    async def follow(self, players: Sequence[_BotProcess]) -> None:
        """Return when the programme is over or cannot continue."""
        async with asyncio.TaskGroup() as group:
            watchers = [group.create_task(self._watch(player)) for player in players]
            async with draining(lambda: self._close("finishing the running matches")):
                await self._listen()
            for watcher in watchers:
                watcher.cancel()

    async def _listen(self) -> None:
        given_up = False
        async for line in self._played.course.follow(self._client):
            if self._advanced is None:
                self._tell(line)
            else:
                self._advanced(self._played.course)
            ended = await self._played.course.fetch(self._server.url, self._records)
            name = next(filter(None, map(failed_to_start, ended)), None)
            if name is not None and not given_up:
                given_up = True
                await self._close(f"{name} crashed at its first turn; starting no new matches")

    async def _watch(self, player: _BotProcess) -> None:
        """Wait for a process to exit; if its lobby is still playing, start no new matches."""
        await wait_exit(player.process)
        if not self._played.course.over:
            self._tell(f"{player.failure}\n{log_tail(player.log)}".rstrip())
            await self._close("starting no new matches")

    async def _close(self, why: str) -> None:
        self._tell(f"{why}; press Ctrl-C to stop at once")
        await self._played.course.close(self._client)


def with_opponents(plan: MatchSeries) -> MatchSeries:
    """Return the plan for a single bot: a series against random players."""
    counts = player_counts(plan.game.name)
    if counts is None or len(plan.bots) != 1 or 1 in counts:
        return plan
    opponents = [f"{plan.game.name}/random"] * (min(counts) - 1)
    games = GAMES_ALONE if plan.games is None else plan.games
    return replace(plan, bots=[*plan.bots, *opponents], games=games)


def climbing_plans(plan: MatchSeries) -> list[MatchSeries]:
    """Return a series of a single bot against each level of its game, weakest first.

    Raises `click.UsageError` if there are several bots, or no levels.
    """
    from kibitz_bots.levels import levels

    counts = player_counts(plan.game.name) or ()
    ladder, seats = next(
        ((each, n) for n in counts if (each := levels(plan.game.name, n))), ((), 0)
    )
    if len(plan.bots) != 1 or not ladder:
        found = f"{len(plan.bots)} bots" if ladder else f"{plan.game.name}, which has none"
        raise click.UsageError(f"--climb needs one bot and a game with levels, not {found}")
    games = GAMES_ALONE if plan.games is None else plan.games
    return [
        replace(plan, bots=[*plan.bots, *[level.bot] * (seats - 1)], games=games)
        for level in ladder
    ]


def with_isolation(plan: MatchSeries, wish: Wish, records: Path, db: Path | None) -> MatchSeries:
    """Return the plan with the isolation that its bots need and this machine supports."""
    readable = [path for bot in plan.bots for path in readable_paths(bot, Path.cwd())]
    if not readable:
        return plan
    hidden = [] if db is None else [db.absolute()]
    covered = [records.absolute()]  # the records of finished games
    try:
        return replace(plan, isolation=choose(wish, readable, hidden, covered))
    except BackendError as error:
        raise click.UsageError(str(error)) from None


def check(plan: MatchSeries) -> None:
    """Refuse a plan that cannot be played, before anything starts."""
    from kibitz_bots.spec import SpecError
    from kibitz_games.core.game import GameError

    try:
        programs = [bot for bot in plan.bots if isinstance(bot, Program)]
        for bot in plan.bots:
            if not isinstance(bot, Program):
                check_bot(bot)
        _check_game(plan)
        for program in programs:
            program.check(plan.game.name, plan.game.options)
    except (SpecError, GameError) as error:
        raise click.UsageError(str(error)) from None


def check_bot(bot: str) -> None:
    """Check that a bot exists; raise `SpecError` if not.

    A file is not loaded, because its code must run only in the bot's process.
    """
    from kibitz_bots.catalog import find
    from kibitz_bots.catalog.local import find_local
    from kibitz_bots.spec import SpecError
    from kibitz_games.compiled import kernels

    if not bot.endswith(".py"):
        kernels.set_mode("plain")  # loading a weights file imports the rules
        _ = find_local(bot) or find(bot)
    elif not Path(bot).is_file():
        raise SpecError(f"{bot}: file not found; expected a Python file that defines a Bot")


def _check_game(plan: MatchSeries) -> None:
    from kibitz_games.compiled import kernels
    from kibitz_games.core import registry
    from kibitz_games.core.game import InvalidSetup

    kernels.set_mode("plain")
    info = registry.get(plan.game.name).info
    players = len(plan.names)
    if players not in info.seats:
        expected = ", ".join(map(str, info.seats))
        raise InvalidSetup("BOTS", f"{info.name} is for {expected} players, not {players}")
