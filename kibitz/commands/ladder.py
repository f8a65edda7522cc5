"""`kibitz ladder`: how strong the players of a server are, by their rated matches."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from kibitz.options import connection
from kibitz.options.connection import identity_options, server_option
from kibitz.options.lists import ask, json_option, print_lines
from kibitz_clients import line_output
from kibitz_protocol.wire.lobbies import LadderTable


@click.command(short_help="Show how strong the rated players of a server are.")
@click.argument("game", required=False)
@click.option("--first", default=1, show_default=True, type=click.IntRange(1), help="First place.")
@click.option(
    "--count", default=20, show_default=True, type=click.IntRange(1, 200), help="Places to show."
)
@server_option
@identity_options
@json_option
def ladder(
    game: str | None,
    first: int,
    count: int,
    server: str,
    name: str | None,
    token_file: Path | None,
    as_json: bool,
) -> None:
    """Show the ladder of GAME, or of every game where a rated match was played.

    A new player has 1500; with 400 points more one wins ten times for each loss. Behind the
    rating stands one standard deviation of it.
    """
    client = connection.client(server, name, token_file)
    found = ask(client, lambda asked: asked.ladder(game, first, count)).games
    if as_json:
        return print_lines((table.model_dump_json() for table in found), as_json=True)
    rows = [line for table in found for line in shown(table)]
    return print_lines(rows or ["no rated match was played yet"])


def shown(table: LadderTable) -> Iterator[str]:
    """Yield a game's ladder as lines; what was left off is said."""
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
    heads = ("place", "name", "kind", "rating", "sure to", "matches", "last played")
    yield from (f"  {line}" for line in line_output.format_table(heads, rows))
    left = table.players - len(rows)
    if left:
        yield f"  and {left} more players; see --first and --count"
