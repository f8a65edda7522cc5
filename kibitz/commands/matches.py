"""`kibitz matches`: the matches of a server."""

from __future__ import annotations

from pathlib import Path

import click

from kibitz.options import connection
from kibitz.options.connection import identity_options, server_option
from kibitz.options.lists import ask, json_option, print_lines
from kibitz_clients.wording import tables


@click.command(short_help="List the matches of a server.")
@server_option
@identity_options
@click.option("--lobby", help="Only those of this lobby.")
@json_option
def matches(
    server: str, name: str | None, token_file: Path | None, lobby: str | None, as_json: bool
) -> None:
    """List the matches that run and may be watched, and the newest finished ones."""
    client = connection.client(server, name, token_file)
    briefs = ask(client, lambda asked: asked.matches(lobby)).matches
    print_lines(tables.match_table(briefs, as_json=as_json), as_json=as_json)
