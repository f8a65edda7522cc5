"""`kibitz demo`: a server, its house bots, and a lobby that plays several games at once.

In a terminal the spectator sees the lobby and is shown around in it. Elsewhere the course of play
is printed as lines until the programme is over.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import click

from kibitz.builtin_games import load_games
from kibitz.lobby_progress import LobbyProgress
from kibitz.options.record import is_screen
from kibitz.output import echo
from kibitz.process.child import run_to_success
from kibitz.process.event_loop import draining, run
from kibitz.process.parent_death import child_command
from kibitz.process.private_server import PrivateServer, private_server
from kibitz.text import result_tables
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import HouseSeat, LobbySettings, ProgrammeItem
from kibitz_protocol.wire.records import Spectating

CLOCK = TimeControl.parse("move=2,bank=30")
PACE_SECONDS = 0.3
"""How long a move takes at least where somebody watches."""
READY_SECONDS = 300.0
"""How long compiling may take on the slowest machine; half a minute is usual."""
AT_ONCE = 8
"""As many matches as it takes until every kind of game runs."""

BOTS = (
    "chinese-checkers/iddfs-hand:time=0.1",
    "chinese-checkers/greedy-hand",
    "chinese-checkers/greedy-euclid",
    "chinese-checkers/greedy-hand",
    "chinese-checkers/random",
    "chinese-checkers/random",
    "tanks/greedy",
    "tanks/random",
    "tanks/random",
    "tanks/random",
    "five-in-a-row/greedy",
    "five-in-a-row/greedy",
    "line-nim/greedy",
    "line-nim/random",
    "number-merge/greedy",
    "number-merge/random",
    "connect-four/greedy",
    "connect-four/random",
)
"""A process each. Those of one game play among themselves."""


def _block_item(game: str, seats: int, **options: str | int | bool) -> ProgrammeItem:
    """Return one match, or one block where the game is played in blocks."""
    return ProgrammeItem(game=game, seats=seats, options=dict(options), time_control=CLOCK)


def _single_item(game: str, seats: int, **options: str | int | bool) -> ProgrammeItem:
    """Return one match, and no block."""
    return _block_item(game, seats, **options).model_copy(update={"games": 1, "rotate": False})


PROGRAMME = (
    _block_item("chinese-checkers", 6, size=2),
    _single_item("tanks", 4, turns=200),
    _single_item("connect-four", 2),
    _block_item("five-in-a-row", 2),
    _block_item("line-nim", 2, free=33),
    _block_item("number-merge", 2, preset="open"),
    _block_item("line-nim", 2, free=30),
    _block_item("five-in-a-row", 2, size=8),
    _block_item("number-merge", 2, preset="long"),
    _block_item("chinese-checkers", 3, size=3),
    _block_item("five-in-a-row", 2, size=9, exact=True),
    _block_item("line-nim", 2),
    _block_item("number-merge", 2),
    _block_item("chinese-checkers", 2, size=3),
)
"""Begun in this order, so that every kind runs at once; small boards, so that it does not last."""


def _bot_names() -> list[str]:
    """Return the names of the bots that play here: only these are warmed."""
    return list(dict.fromkeys(bot.partition(":")[0] for bot in BOTS))


def settings() -> LobbySettings:
    """The lobby of the demo: a seat for each bot, and the programme."""
    return LobbySettings(
        name="demo",
        joinable="closed",
        seats=[HouseSeat(personality=bot) for bot in BOTS],
        programme=list(PROGRAMME),
        at_once=AT_ONCE,
        spectating=Spectating(mode="referee"),  # so that one sees what the players do not
    )


@click.command(short_help="Show the whole thing on one screen.")
@click.option(
    "--records",
    default="demo-records",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the records go.",
)
@click.option("--plain", is_flag=True, help="Print lines, in a terminal too.")
@click.option("--pace", type=click.FloatRange(0, 10), help="Seconds that a move takes at least.")
def demo(records: Path, plain: bool, pace: float | None) -> None:
    """Play several games at once with the house bots, and watch them.

    Where there is no terminal it prints the course of play, ends by itself with a table of
    results, and leaves the records behind.
    """
    screen = is_screen(plain=plain)
    records.mkdir(parents=True, exist_ok=True)
    chosen = pace if pace is not None else PACE_SECONDS if screen else 0.0
    sys.exit(run(_demo(records, screen=screen, pace=chosen)))


async def _demo(records: Path, *, screen: bool, pace: float) -> int:
    """Play the programme to its end, or until the person quits; return the exit status."""
    echo("getting the bots ready; the first time on a machine their rules are compiled")
    await run_to_success(
        child_command("kibitz.process.warmup", *_bot_names()), READY_SECONDS, _indented
    )
    async with (
        private_server(options=["--pace", f"{pace:g}"]) as server,
        Client(server.url, name="demo", kind="human", agent="kibitz demo") as client,
    ):
        opened = await client.host(settings())
        assert opened.lobby is not None
        await client.join(opened.lobby, role="spectator")
        echo(f"the server is {server.url}, and on it the lobby {opened.lobby}")
        course = LobbyProgress(opened.lobby)
        await _watch(server, client, course, screen=screen)
        await course.fetch(server.url, records)
    echo(f"\n{course.tables() if screen else result_tables.standings_table(course.standings)}")
    return _report_end(course, records, quit_early=screen and not course.over)


def _indented(line: str) -> None:
    echo(f"  {line}")


async def _watch(
    server: PrivateServer, client: Client, course: LobbyProgress, *, screen: bool
) -> None:
    """Show the lobby until it is over, or until the person has seen enough.

    Who quits the screen wants no more of it; after Ctrl-C the running matches finish.
    """
    async with asyncio.TaskGroup() as group:
        following = group.create_task(course.wait_until_over(client))
        if screen:
            await _screen(server, course.lobby)
            following.cancel()
        else:
            async with draining(lambda: course.close(client)):
                await _lines(server, course.lobby)


async def _screen(server: PrivateServer, lobby: str) -> None:
    from kibitz.demo_screen import DemoApp

    def connect() -> Client:
        return Client(server.url, name="you", kind="human", agent="kibitz demo", views="every")

    tour = DemoApp(load_games("plain"), connect, lobby=lobby, where=server.url)
    await tour.run_async()
    if tour.failure is not None:
        raise tour.failure


async def _lines(server: PrivateServer, lobby: str) -> None:
    from kibitz_clients.line_output import follow_lines

    client = Client(server.url, name="you", kind="human", agent="kibitz demo", views="none")
    await follow_lines(client, load_games("plain"), echo, lobby=lobby)


def _report_end(course: LobbyProgress, records: Path, *, quit_early: bool) -> int:
    """Say where the records are and what went wrong; return the exit status."""
    if course.records:
        newest = list(course.records.values())[-1]
        echo(f"\n{len(course.records)} records are in {records}/, for example")
        echo(f"  {_command()} replay {newest}")
    trouble = [] if quit_early else result_tables.abnormal_endings(course.matches)
    for sentence in trouble:
        echo(sentence, err=True)
    return 1 if trouble else 0


def _command() -> str:
    """Return how this command is called here, where its directory may not be on the path."""
    beside = Path(sys.executable).parent / "kibitz"
    return "kibitz" if shutil.which("kibitz") else os.path.relpath(beside)
