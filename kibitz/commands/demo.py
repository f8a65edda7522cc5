"""`kibitz demo`: a server, its house bots, and a wall that shows all games at once.

The wall is drawn in the terminal and also served to browsers. With ``--web`` only browsers show it,
and the terminal prints lines. The server and the bots run the rules as plain Python without
compilation, so the first game starts within seconds. Without a terminal, the command prints lines
until every programme is over.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kibitz.browser import show_page
from kibitz.builtin_games import load_games
from kibitz.local.demo_host import DemoHost
from kibitz.local.demo_programme import DEMO
from kibitz.options.output_path import OutputPath
from kibitz.options.record import is_screen
from kibitz.output import echo, ignore
from kibitz.process.event_loop import draining, interrupted, run
from kibitz.process.private_server import PrivateServer, private_server
from kibitz.text import result_tables
from kibitz_bots.number_types import FiniteRange
from kibitz_clients.tui.screens.wall import Preparation, WallPlan
from kibitz_games.core import rulebook
from kibitz_protocol.client.client import Client

if TYPE_CHECKING:
    from kibitz_clients.tui.kibitz_app import KibitzApp

PACE_SECONDS = 1.2
"""The minimum time per move while somebody watches, in seconds."""


@click.command(short_help="Show a server, bots and a wall of games on one screen.")
@click.option(
    "--records",
    default="demo-records",
    show_default=True,
    type=OutputPath(directory=True),
    help="Directory for the records.",
)
@click.option("--plain", is_flag=True, help="Print lines even in a terminal.")
@click.option("--web", is_flag=True, help="Show the wall in a browser until Ctrl-C.")
@click.option("--pace", type=FiniteRange(0, 10), help="Minimum seconds per move.")
def demo(records: Path, plain: bool, web: bool, pace: float | None) -> None:
    """Play all games at once with the house bots, and show them on a wall until you quit.

    Without a terminal it prints the moves as lines, ends with tables of results, and keeps the
    records.
    """
    screen = not web and is_screen(plain=plain)
    records.mkdir(parents=True, exist_ok=True)
    chosen = pace if pace is not None else PACE_SECONDS if screen or web else 0.0
    sys.exit(run(_demo(records, screen=screen, web=web, pace=chosen)))


async def _demo(records: Path, *, screen: bool, web: bool, pace: float) -> int:
    """Play the programmes until they end or the user quits; return the exit status."""
    echo("starting a server; the first game starts in a few seconds")
    preparation = Preparation()
    async with (
        private_server(options=["--pace", f"{pace:g}"], env={"KIBITZ_PLAIN": "1"}) as server,
        Client(server.url, name="demo", kind="human", agent="kibitz demo") as client,
    ):
        tell = ignore if screen else echo
        host = DemoHost(client, DEMO, preparation, tell, endless=screen or web)
        if screen:
            echo(f"in a browser: {server.page('/wall')}")
            await _watch(server, host, preparation)
        elif web:
            await _show(server, host)
        else:
            async with draining(host.close):
                await host.run()
        stored = await host.fetch(server.url, records)
    echo(f"\n{host.tables()}")
    return _report_end(host, stored, records, quit_early=screen or web)


async def _watch(server: PrivateServer, host: DemoHost, preparation: Preparation) -> None:
    """Show the wall until the user quits."""
    app = wall_app(server.url, preparation)
    async with asyncio.TaskGroup() as group:
        hosting = group.create_task(host.run())
        await app.run_async()
        hosting.cancel()
    if app.failure is not None:
        raise app.failure


def wall_app(url: str, preparation: Preparation) -> KibitzApp:
    """Return the terminal wall of the demo on the server at `url`."""
    from kibitz_clients.tui.kibitz_app import KibitzApp

    def connect() -> Client:
        return Client(url, name="you", kind="human", agent="kibitz demo", views="every")

    wall = WallPlan([game.name for game in DEMO], preparation)
    return KibitzApp(
        load_games("plain"), connect, wall=wall, follow=True, server_label=url, rules=rulebook.page
    )


async def _show(server: PrivateServer, host: DemoHost) -> None:
    """Play for the wall in the browser until Ctrl-C."""
    show_page(server.page("/wall"))
    echo("press Ctrl-C to stop")
    async with asyncio.TaskGroup() as group:
        hosting = group.create_task(host.run())
        await interrupted()
        hosting.cancel()


def _report_end(host: DemoHost, stored: list[str], records: Path, *, quit_early: bool) -> int:
    """Print where the records are and what went wrong; return the exit status."""
    if stored:
        echo(f"\n{len(stored)} records are in {records}/, for example")
        echo(f"  {_command()} record replay {stored[-1]}")
    matches = [brief for course in host.courses.values() for brief in course.matches]
    trouble = [] if quit_early else result_tables.abnormal_endings(matches)
    for sentence in trouble:
        echo(sentence, err=True)
    return 1 if trouble else 0


def _command() -> str:
    """Return the name of this command, with its path if its directory is not on PATH."""
    beside = Path(sys.executable).parent / "kibitz"
    return "kibitz" if shutil.which("kibitz") else os.path.relpath(beside)
