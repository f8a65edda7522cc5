"""The local services of a tournament: a private server, and a process for each entrant.

Untrusted code, that is Python files and programs, runs in isolation (`kibitz.process.isolation`):
it sees neither the other entrants nor the tournament's directory. House bots are trusted; only
their parameters come from users, so resource limits suffice. All entrants receive their secrets
only through an inherited file descriptor.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path

from kibitz.analysis import fault_report
from kibitz.local.player_launch import Place, player_launch, readable_paths
from kibitz.options import connection
from kibitz.options.match import limit_arguments
from kibitz.options.program import Program
from kibitz.process.child import child_process, log_tail
from kibitz.process.isolation.backends import TRUSTED, Isolation, Tool, Wish, choose
from kibitz.process.isolation.launch import Launch
from kibitz.process.limits import MIB
from kibitz.process.private_server import private_server
from kibitz_arena.runner.directory import TournamentDirectory, other_directories
from kibitz_arena.runner.scheduler import programme_item
from kibitz_arena.runner.services import JoinInfo, OwnServer, WaitExit
from kibitz_arena.tournament import Entrant, Tournament
from kibitz_bots.adapters.external_program import ExternalProgram
from kibitz_bots.adapters.launcher import ProcessLimits
from kibitz_clients.matches.fetch import save_record
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.reports import MatchReport
from kibitz_server.housebots.process import secret_descriptor
from kibitz_server.housebots.wait_exit import wait_exit


class LocalServices:
    """The implementation of `kibitz_arena.runner.services` with processes on this machine."""

    def __init__(
        self,
        tournament: Tournament,
        directory: TournamentDirectory,
        isolation: Isolation = TRUSTED,
    ) -> None:
        self._tournament = tournament
        self._directory = directory
        self._isolation = isolation
        self._base = directory.base()

    @property
    def isolation(self) -> Tool | None:
        """The tool that isolates untrusted entrants; None if there are none."""
        foreign = any(is_untrusted(each) for each in self._tournament.entrants)
        return self._isolation.tool if foreign else None

    @property
    def isolation_sentence(self) -> str:
        """A sentence on how entrants are isolated."""
        return self._isolation.sentence

    @property
    def has_strangers(self) -> bool:
        """Whether two entrants are files or programs, so that one may be untrusted."""
        return sum(map(is_untrusted, self._tournament.entrants)) > 1

    @contextlib.asynccontextmanager
    async def server(self, database: Path) -> AsyncIterator[OwnServer]:
        """Run a closed server on `database` for the length of the block."""
        event = ("--event", str(self._directory.live))
        async with private_server(database, options=event, closed=True) as server:
            assert server.organizer is not None
            yield OwnServer(server.url, server.organizer)

    @contextlib.asynccontextmanager
    async def entrant(
        self, entrant: Entrant, join: JoinInfo, *, secret: str, hold: int
    ) -> AsyncIterator[WaitExit]:
        """Run an entrant's process for the length of the block."""
        async with (
            self.launch(entrant, join, secret=secret, hold=hold) as launch,
            child_process(
                launch.command,
                self._directory.log_path(entrant.name),
                env=launch.env,
                cwd=self._base,
                append=True,
                descriptors=launch.descriptors,
            ) as process,
        ):
            yield partial(wait_exit, process)

    @contextlib.asynccontextmanager
    async def launch(
        self, entrant: Entrant, join: JoinInfo, *, secret: str, hold: int
    ) -> AsyncIterator[Launch]:
        """Provide the launch of an entrant; the block must not end before its process has
        exited."""
        with secret_descriptor(secret) as handed:
            kind = "RESUME" if entrant.token_file is None else "TOKEN"
            descriptors = [handed.fileno()]
            if entrant.command is None:
                descriptors.append(hold)
            name = entrant.name if entrant.token_file is None else None
            memory, cpu = limits_of(self._tournament, entrant)
            item = programme_item(self._tournament).model_dump_json()
            async with player_launch(
                player_of(self._tournament, entrant),
                Place(url=join.url, lobby=join.lobby, name=name, at_once=join.at_once),
                base=self._base,
                isolation=self._isolation,
                env={f"KIBITZ_{kind}_FD": str(handed.fileno())},
                descriptors=descriptors,
                words=["--warm", f"[{item}]", "--hold", str(hold)],
                limits=limit_arguments(memory, cpu),
                memory=memory,
            ) as launch:
                yield launch

    def log_tail(self, name: str) -> str:
        """Return the last lines of an entrant's log."""
        return log_tail(self._directory.log_path(name))

    def token(self, entrant: Entrant) -> str | None:
        """Return the token of the entrant's account, None for a guest."""
        path = entrant.token_file
        return None if path is None else connection.token(self._base / path)

    async def record(self, url: str, match: str, directory: Path) -> Path:
        """Fetch the record of a match into `directory`; raises `OSError` if that fails."""
        return await save_record(url, match, directory / f"{match}.jsonl")

    def report(self, record: Record) -> MatchReport:
        """Return the report of a record; raises `ValueError` if it cannot be made."""
        return fault_report.build_report(record)

    def write_report(self, report: MatchReport, record: Path, directory: Path) -> Path | None:
        """Write the report of a record; return its path, None if no seat was at fault."""
        return fault_report.write_report(report, record, directory)


def player_of(tournament: Tournament, entrant: Entrant) -> str | Program:
    """Return the player to start for an entrant that is not remote."""
    if entrant.bot is not None:
        return entrant.bot
    program = ExternalProgram(
        kind="gomocup" if entrant.gomocup is not None else "stdio",
        command=getattr(entrant, entrant.source),
        games=(tournament.game.name,),
        limits=ProcessLimits(*limits_of(tournament, entrant)),
    )
    return Program(program, connects=entrant.command is not None)


def is_untrusted(entrant: Entrant) -> bool:
    """Return whether an entrant is untrusted code that is started here."""
    return not (entrant.remote or entrant.is_house_bot)


def limits_of(tournament: Tournament, entrant: Entrant) -> tuple[int | None, int | None]:
    """Return the memory limit (MiB) and CPU limit (seconds) of each process of an entrant."""
    limits = entrant.limits or tournament.limits
    memory = None if limits.memory is None else limits.memory // MIB
    return memory, limits.cpu


def choose_isolation(
    tournament: Tournament, directory: TournamentDirectory, wish: Wish, tokens: Sequence[Path]
) -> Isolation:
    """Return the isolation that the entrants need and this machine supports; raises `BackendError`.

    The isolation hides the tournament's directory and the token files, including `tokens`, from the
    entrants.
    """
    base = directory.base()
    foreign = [each for each in tournament.entrants if is_untrusted(each)]
    if not foreign:
        return TRUSTED
    players = [player_of(tournament, each) for each in foreign]
    readable = {path for player in players for path in readable_paths(player, base)}
    own = [base / each.token_file for each in tournament.entrants if each.token_file is not None]
    hidden = {directory.path.absolute(), *own, *tokens}
    return choose(wish, sorted(readable), sorted(hidden), [*other_directories(readable)])
