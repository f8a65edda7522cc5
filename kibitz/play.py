"""`kibitz play`: some bots, some games, one command, one table.

A private server, one process a bot, a lobby with a reserved seat for each. What the matches
leave behind: a record each, and the log of each bot beside them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from kibitz import forensic, notation, report, terms
from kibitz.children import child, tail
from kibitz.course import Course
from kibitz.foreign import Program, WithProgram, entrant, program, program_options
from kibitz.isolation.backends import TRUSTED, BackendError, Isolation, Wish, choose
from kibitz.isolation.launch import AT_HOME, Launch, environment, isolated
from kibitz.isolation.sandbox import around, of_command
from kibitz.leash import leashed
from kibitz.notation import GameChoice
from kibitz.output import echo, echo_json
from kibitz.private import PrivateServer, private_server
from kibitz.running import draining, run
from kibitz_protocol.client import Client
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.records import Cause, Conduct
from kibitz_protocol.rooms import LobbySettings, ProgrammeItem, ReservedSeat
from kibitz_server.ending import ended

GRACE_MS = 5_000
"""How long the seat of a bot whose process is gone is kept: here nobody will come back."""
FAULTS = report.ABNORMAL | {Cause.TIME}
"""What is nobody's play: an engine that says nothing more loses on time."""
AT_ONCE = 2
"""Matches at the same time, so that the bots of a small machine do not starve each other."""

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What is to be played."""

    game: GameChoice
    bots: Sequence[str | Program]
    program: Program | None = None
    """One more player."""
    games: int | None = None
    """How many; None for one match, or one block where the game is played in blocks."""
    rotate: bool = True
    strict: bool = False
    seed: int | None = None
    time_control: TimeControl = field(default_factory=TimeControl)
    at_once: int = AT_ONCE
    limits: Sequence[str] = ()
    """What each bot of ours may use, as `terms.limits` says it."""
    memory: int | None = None
    """Of `limits`: MiB of all processes of a bot together, where there are cgroups."""
    isolation: Isolation = TRUSTED
    """How bots that are files or programs are kept apart."""

    @property
    def names(self) -> list[str]:
        """A name for each player, from what it is, told apart by numbers where that is the same."""
        foreign = [] if self.program is None else [_free(self.program.name)]
        return distinct([*map(name_of, self.bots), *foreign])

    def settings(self) -> LobbySettings:
        """The lobby where it is played: a seat for each bot and for nobody else."""
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
            seats=[ReservedSeat(name=name) for name in self.names],
            programme=[item],
            at_once=self.at_once,
            conduct=Conduct(grace_ms=GRACE_MS, max_illegal=terms.most_illegal(strict=self.strict)),
        )


def name_of(bot: str | Program) -> str:
    """Return ``random`` for ``game/random:seed=1``, ``mybot`` for ``bots/mybot.py``."""
    if isinstance(bot, Program):
        return _free(bot.name)
    stem = Path(bot).stem if bot.endswith(".py") else bot.partition(":")[0].rpartition("/")[2]
    return _free(re.sub(r"[^A-Za-z0-9._-]", "-", stem)[:24].strip("-._") or "bot")


def _free(name: str) -> str:
    return f"my-{name}" if name.lower().startswith("house") else name  # kept for house bots


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names with a number behind those that were there before, whatever their case."""
    seen: dict[str, int] = {}
    answer = []
    for name in names:
        key = name.lower()
        seen[key] = seen.get(key, 0) + 1
        answer.append(name if seen[key] == 1 else f"{name}-{seen[key]}")
    return answer


@dataclass
class Played:
    """What came of a contest."""

    course: Course
    trouble: list[str] = field(default_factory=list)
    """A sentence for everything that ended in another way than it should."""
    reports: dict[str, Path] = field(default_factory=dict)
    """The forensic reports of matches in which a seat was at fault."""

    def leave_reports(self) -> None:
        """Write a report beside each record of a match in which a seat was at fault."""
        for match, record in self.course.records.items():
            if (written := forensic.leave(Path(record))) is not None:
                self.reports[match] = written
        self.trouble += report.abnormal(self.course.matches, self.reports, FAULTS)

    def json(self) -> str:
        """The tables for a program: one JSON object."""
        reports = {match: str(path) for match, path in self.reports.items()}
        summary = self.course.summary()
        return json.dumps(summary | {"trouble": self.trouble, "reports": reports})


async def contest(plan: Contest, records: Path, db: Path | None, tell: Tell) -> Played:
    """Play it on a private server; `records` exists; `tell` is given the lines."""
    async with private_server(db) as server, _client(server) as client:
        lobby = (await client.host(plan.settings())).lobby
        assert lobby is not None
        await client.join(lobby, role="spectator")
        played = Played(Course(lobby))
        async with contextlib.AsyncExitStack() as stack:
            processes = await _start(plan, server, lobby, records, stack)
            referee = _Referee(client, server, played, records, tell)
            await referee.follow(processes)
            await played.course.close(client)
            played.trouble += await _let_go(processes)
        played.leave_reports()
        return played


def _client(server: PrivateServer) -> Client:
    return Client(server.url, name="kibitz play", kind="human", agent="kibitz play")


@dataclass(frozen=True)
class _Player:
    name: str
    process: Process
    log: Path

    @property
    def failure(self) -> str:
        """What to tell of a process that has failed."""
        return f"{self.name} ended with status {self.process.returncode}; its log is {self.log}"


async def _start(
    plan: Contest,
    server: PrivateServer,
    lobby: str,
    logs: Path,
    stack: contextlib.AsyncExitStack,
) -> list[_Player]:
    players = []
    for name, launching in zip(plan.names, _launches(plan, server.url, lobby), strict=True):
        log = logs / f"{name}.log"
        launch = await stack.enter_async_context(launching)
        process = await stack.enter_async_context(
            child(launch.command, log, env=launch.env, descriptors=launch.descriptors)
        )
        players.append(_Player(name, process, log))
    return players


def _launches(
    plan: Contest, url: str, lobby: str
) -> Iterator[contextlib.AbstractAsyncContextManager[Launch]]:
    """Yield how each player is started: in isolation where it is not one of ours."""
    for name, bot in zip(plan.names, plan.bots, strict=False):
        if isinstance(bot, Program):
            yield _program_launch(plan, bot, url, lobby, name)
            continue
        place = ("--url", url, "--lobby", lobby, "--name", name, "--at-once", str(plan.at_once))
        foreign = bot.endswith(".py")
        command = leashed("kibitz_bots", bot, *place, limits=plan.limits, supervised=foreign)
        if foreign:
            seen = around(Path(bot))
            yield isolated(plan.isolation, command, url=url, seen=seen, env={}, memory=plan.memory)
        else:
            ours = Launch(command=command, env=environment(AT_HOME))
            yield contextlib.nullcontext(ours)
    if plan.program is not None:
        yield _program_launch(plan, plan.program, url, lobby, plan.names[-1])


def _program_launch(
    plan: Contest, program: Program, url: str, lobby: str, name: str
) -> contextlib.AbstractAsyncContextManager[Launch]:
    words, env = program.started(url, lobby, name, plan.at_once)
    return isolated(plan.isolation, words, url=url, seen=_read_by(program), env=env)


def strangers(plan: Contest) -> list[Path]:
    """Return what bots that are not ours have to read; nothing where there are none."""
    readable = [] if plan.program is None else _read_by(plan.program)
    for bot in plan.bots:
        if isinstance(bot, Program):
            readable += _read_by(bot)
        elif bot.endswith(".py"):
            readable += around(Path(bot))
    return readable


def _read_by(program: Program) -> list[Path]:
    """Return what a program of others has to read: itself, and where it was started."""
    return [Path.cwd(), *of_command(program.foreign.command, Path.cwd())]


async def _let_go(players: Sequence[_Player]) -> list[str]:
    """Wait for the bots, which end when their lobby is gone; return a sentence for each failure.

    Those that do not end by themselves are ended by `child`.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(3):
            await asyncio.gather(*(ended(player.process) for player in players))
    failed = (player for player in players if player.process.returncode not in (0, None))
    return [f"{player.failure}{_last_words(player.log)}" for player in failed]


def _last_words(log: Path) -> str:
    """Return the last line of a log, which says why its process has failed."""
    said = tail(log).splitlines()[-1:]
    return f": {said[0]}" if said else ""


class _Referee:
    """Follows a lobby to the end of its programme, and fetches what it leaves."""

    def __init__(
        self, client: Client, server: PrivateServer, played: Played, records: Path, tell: Tell
    ) -> None:
        self._client = client
        self._server = server
        self._played = played
        self._records = records
        self._tell = tell

    async def follow(self, players: Sequence[_Player]) -> None:
        """Return when the programme is over, or cannot go on."""
        async with asyncio.TaskGroup() as group:
            watchers = [group.create_task(self._watch(player)) for player in players]
            async with draining(lambda: self._close("finishing the running matches")):
                await self._listen()
            for watcher in watchers:
                watcher.cancel()

    async def _listen(self) -> None:
        async for line in self._played.course.follow(self._client):
            self._tell(line)
            await self._played.course.fetch(self._server.url, self._records)

    async def _watch(self, player: _Player) -> None:
        """A process that ends while its lobby plays on has failed: nothing new is begun then."""
        await ended(player.process)
        if not self._played.course.over:
            self._tell(f"{player.failure}\n{tail(player.log)}".rstrip())
            await self._close("no new matches begin")

    async def _close(self, why: str) -> None:
        self._tell(f"{why}; Ctrl-C ends at once")
        await self._played.course.close(self._client)


def _tell(line: str) -> None:
    echo(line, err=True)


@click.command(cls=WithProgram, short_help="Let bots play each other, here and now.")
@click.argument("game", type=notation.GAME)
@click.argument("bots", nargs=-1)
@terms.games_option
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="Seed of the first match.")
@terms.clock_option
@click.option("--option", "pairs", multiple=True, metavar="KEY=VALUE", help="Option of the game.")
@terms.rotate_option
@terms.strict_option
@click.option("--at-once", default=AT_ONCE, show_default=True, type=click.IntRange(1, 1000))
@click.option("--records", default="records", show_default=True, type=click.Path(path_type=Path))
@click.option("--db", type=click.Path(path_type=Path), help="Keep the server's database here.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@program_options
@terms.isolation_option
@click.option("-q", "--quiet", is_flag=True, help="Do not tell what happens meanwhile.")
def play(
    game: GameChoice,
    bots: tuple[str, ...],
    pairs: tuple[str, ...],
    records: Path,
    db: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Play GAME between BOTS: house bots like chinese-checkers/random, or files like mybot.py.

    Every bot is a process of its own on a private server. Prints who won and why, and where the
    records are. The status is 1 when a bot crashed, lost on time, or anything else ended as it
    should not.

    A program in any language takes part as "stdio:COMMAND" or "gomocup:COMMAND". One PROGRAM more
    may come after --: spoken to as --stdio or --gomocup says, otherwise one that connects by itself
    to KIBITZ_SERVER, joins KIBITZ_LOBBY, and is called KIBITZ_NAME.

    \b
    kibitz play chinese-checkers mybot.py chinese-checkers/greedy-hand --games 10
    kibitz play line-nim line-nim/random --stdio -- node bot.js
    kibitz play five-in-a-row "gomocup:./one" "gomocup:./two --fast"
    kibitz play chinese-checkers:size=3 chinese-checkers/random mybot.py mybot.py --tc 10+0.1
    """
    try:
        merged = GameChoice(game.name, game.options | notation.options(pairs, game.name))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--option") from None
    entrants = [entrant(bot, given) or bot for bot in bots]
    programs = [each for each in entrants if isinstance(each, Program)]
    plan = Contest(
        game=merged,
        bots=entrants,
        program=program(given, programs),
        games=given["each"],
        rotate=given["rotate"],
        strict=given["strict"],
        seed=given["seed"],
        time_control=given["tc"],
        at_once=given["at_once"],
        limits=terms.limits(given["memory"], given["cpu"]),
        memory=given["memory"],
    )
    check(plan)
    plan = isolating(plan, given["isolation"], records, db)
    if strangers(plan) and not quiet:
        _tell(plan.isolation.sentence)
    records.mkdir(parents=True, exist_ok=True)
    played = run(contest(plan, records, db, _silent if quiet else _tell))
    if as_json:
        echo_json(played.json())
    else:
        echo(played.course.tables())
    for path in played.reports.values():
        echo(f"a seat was at fault: {path}", err=True)
    for sentence in played.trouble:
        echo(sentence, err=True)
    sys.exit(1 if played.trouble else 0)


def isolating(plan: Contest, wish: Wish, records: Path, db: Path | None) -> Contest:
    """Return the plan with the isolation that its bots need and that works here."""
    readable = strangers(plan)
    if not readable:
        return plan
    hidden = [] if db is None else [db.absolute()]
    covered = [records.absolute()]  # of games that are over
    try:
        return replace(plan, isolation=choose(wish, readable, hidden, covered))
    except BackendError as error:
        raise click.UsageError(str(error)) from None


def _silent(line: str) -> None:
    pass


def check(plan: Contest) -> None:
    """Refuse what cannot be played before anything is started, with what was expected."""
    from kibitz_bots.loading import SpecError
    from kibitz_games.api import GameError

    try:
        programs = [bot for bot in (*plan.bots, plan.program) if isinstance(bot, Program)]
        for bot in plan.bots:
            if not isinstance(bot, Program):
                check_bot(bot)
        _check_game(plan)
        for each in programs:
            each.check(plan.game.name, plan.game.options)
    except (SpecError, GameError) as error:
        raise click.UsageError(str(error)) from None


def check_bot(bot: str) -> None:
    """Files are only looked for: their code runs in the process of the bot and nowhere else."""
    from kibitz_bots.loading import SpecError
    from kibitz_bots.personalities import find

    if not bot.endswith(".py"):
        find(bot)
    elif not Path(bot).is_file():
        raise SpecError(f"{bot}: no such file; expected a Python file with a Bot in it")


def _check_game(plan: Contest) -> None:
    from kibitz_games import kernels, registry
    from kibitz_games.api import InvalidSetup

    kernels.choose("plain")
    info = registry.get(plan.game.name).info
    players = len(plan.names)
    if players not in info.seats:
        expected = ", ".join(map(str, info.seats))
        raise InvalidSetup("BOTS", f"{info.name} is for {expected} players, not {players}")
