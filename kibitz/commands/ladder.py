"""`kibitz ladder`: ratings from a server's rated matches or from a standing ladder."""

from __future__ import annotations

import signal
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic import ValidationError

from kibitz.analysis import fault_report
from kibitz.options import connection
from kibitz.options.connection import identity_options, server_option
from kibitz.options.lists import ask, json_option, print_lines
from kibitz.options.output_path import OutputPath
from kibitz.output import echo
from kibitz.process.event_loop import draining, run
from kibitz.process.interrupts import TERMINATION
from kibitz.text import standing_ladder
from kibitz_arena.ladder.directory import LadderDirectory
from kibitz_arena.ladder.feed import Feed, FeedLine
from kibitz_bots.number_types import COUNT
from kibitz_clients.wording import tables
from kibitz_protocol import printable
from kibitz_protocol.wire.lobbies import LadderTable
from kibitz_protocol.wire.server_address import websocket_url

if TYPE_CHECKING:
    from kibitz_arena.ladder.runner import LadderRunner

FEED_SECONDS = 10.0
MAX_FEED = 64 << 20
"""The maximum number of bytes to read from a feed's URL."""


@click.group(short_help="Show ratings, or run a standing ladder.")
def ladder() -> None:
    """Show the ratings on a server, or run a standing ladder of your own."""


@ladder.command()
@click.argument("game", required=False)
@click.option("--first", default=1, show_default=True, type=COUNT, help="First place to show.")
@click.option(
    "--count",
    default=20,
    show_default=True,
    type=click.IntRange(1, 200),
    help="Number of places to show.",
)
@server_option
@identity_options
@json_option
def rated(
    game: str | None,
    first: int,
    count: int,
    server: str,
    name: str | None,
    token_file: Path | None,
    as_json: bool,
) -> None:
    """Show the ladder of GAME, or of every game with rated matches.

    New players start at 1500. A lead of 400 points means ten expected wins per loss. Each rating is
    followed by its standard deviation.
    """
    client = connection.client(server, name, token_file)
    games = ask(client, lambda asked: asked.hall.ladder(game, first, count)).games
    if as_json:
        return print_lines((table.model_dump_json() for table in games), as_json=True)
    rows = [line for table in games for line in shown(table)]
    return print_lines(rows or ["no rated matches yet"])


@ladder.command()
@click.argument(
    "file", metavar="LADDER.yaml", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@server_option
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File with the token of the hosting account (or KIBITZ_TOKEN, for KIBITZ_SERVER)."
    " Without a token,"
    " a guest hosts.",
)
@click.option(
    "--dir",
    "directory",
    type=OutputPath(directory=True),
    help="The ladder's directory.  [default: NAME.ladder beside its file]",
)
def keep(file: Path, server: str, token_file: Path | None, directory: Path | None) -> None:
    """Run the standing ladder of LADDER.yaml until you stop it.

    Bots join with `kibitz connect BOT --ladder NAME` and are paired whenever they are free. The
    first Ctrl-C finishes the running games; a second one stops at once. After any interruption, the
    same command continues without losing or repeating a game.
    """
    from kibitz_arena.ladder import config
    from kibitz_arena.ladder.runner import LadderRunner

    try:
        ladder_config = config.load(file.read_text(encoding="utf-8"), str(file))
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None
    place = LadderDirectory(directory or file.parent / f"{ladder_config.name}.ladder")
    place.create()
    token = connection.account(token_file, server)
    runner = LadderRunner(
        ladder_config, place, websocket_url(server), token, fault_report.write_text, _tell
    )
    _tell(f"page: {place.page}")
    _tell(f"connect bots with: kibitz connect BOT --server {server} --ladder {ladder_config.name}")
    run(_keep(runner))


async def _keep(runner: LadderRunner) -> None:
    """Run a ladder; the first Ctrl-C, SIGTERM or SIGHUP drains it."""

    async def drain() -> None:
        _tell("finishing the running games; press Ctrl-C again to stop at once")
        await runner.stop()

    async with draining(drain, (signal.SIGINT, *TERMINATION)):
        await runner.run()


def _tell(line: str) -> None:
    echo(printable.line(line), err=True)


@ladder.command()
@click.argument("where", metavar="DIRECTORY|FEED")
@click.argument("entrant", required=False)
@json_option
def show(where: str, entrant: str | None, as_json: bool) -> None:
    """Show the standing ladder in DIRECTORY, or from a FEED: a file or a URL.

    With ENTRANT, show its opponents and its latest losses.
    """
    feed = _read_feed(where)
    if entrant is None:
        lines = [feed.model_dump_json()] if as_json else standing_ladder.ladder_lines(feed)
        return print_lines(lines, as_json=as_json)
    line = _find(feed, entrant)
    lines = [line.model_dump_json()] if as_json else standing_ladder.entrant_lines(feed, line)
    return print_lines(lines, as_json=as_json)


def _read_feed(where: str) -> Feed:
    """Read a feed; raises `click.ClickException`."""
    try:
        if where.startswith(("http://", "https://")):
            with urllib.request.urlopen(where, timeout=FEED_SECONDS) as answer:
                data = answer.read(MAX_FEED)
        else:
            path = Path(where)
            data = (LadderDirectory(path).feed if path.is_dir() else path).read_bytes()
        return Feed.model_validate_json(data)
    except ValidationError:
        raise click.ClickException(f"{where}: not a ladder feed") from None
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{where}: {error}") from None


def _find(feed: Feed, name: str) -> FeedLine:
    """Return an entrant's line; for a name without a version, prefer a version that is current."""
    of_name = sorted(
        (line for line in feed.lines if line.name == name),
        key=lambda line: line.status == "retired",
    )
    exact = [line for line in feed.lines if line.entrant == name]
    for line in (*exact, *of_name):
        return line
    raise click.ClickException(f"no entrant {name!r} on the ladder {feed.name}")


def shown(table: LadderTable) -> Iterator[str]:
    """Yield a game's ladder as lines; the last one counts omitted players."""
    yield f"{table.game}: {table.players} players, {table.matches} rated matches"
    rows = [
        (
            str(line.place),
            line.name,
            line.kind,
            f"{line.rating:.0f}",
            f"+-{line.deviation:.0f}",
            str(line.matches),
            datetime.fromtimestamp(line.last_played, UTC).date().isoformat(),
        )
        for line in table.lines
    ]
    heads = ("place", "name", "kind", "rating", "std dev", "matches", "last played")
    yield from (f"  {line}" for line in tables.format_table(heads, rows))
    left = table.players - len(rows)
    if left:
        yield f"  {left} more players; see --first and --count"
