"""`kibitz match list` and `abort`: the matches of a server."""

from __future__ import annotations

from pathlib import Path

import click

from kibitz.options import connection
from kibitz.options.connection import identity_options, server_option
from kibitz.options.lists import ask, json_option, print_lines
from kibitz.output import echo
from kibitz_clients.wording import tables


@click.command("list", short_help="List the matches of a server.")
@server_option
@identity_options
@click.option("--lobby", help="Only matches of this lobby.")
@json_option
def list_matches(
    server: str, name: str | None, token_file: Path | None, lobby: str | None, as_json: bool
) -> None:
    """List the running matches that you may watch, and the latest finished ones."""
    client = connection.client(server, name, token_file)
    briefs = ask(client, lambda asked: asked.hall.matches(lobby)).matches
    print_lines(tables.match_table(briefs, as_json=as_json), as_json=as_json)


@click.command(short_help="End a match without a result, as the operator.")
@click.argument("match", metavar="MATCH")
@click.option("--reason", default="", metavar="TEXT", help="Reason to write into the record.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File with the token of an operator account (or KIBITZ_TOKEN).",
)
@server_option
def abort(match: str, reason: str, token_file: Path | None, server: str) -> None:
    """End MATCH without a result; it is neither rated nor replayed.

    The server must have been started with --operator NAME, where NAME is the token's account.
    """
    client = connection.client(server, None, token_file)
    ask(client, lambda asked: asked.hosting.abort(match, reason))
    echo(f"match {match} was aborted")
