"""`kibitz lobbies`: the open lobbies of a server."""

from __future__ import annotations

from pathlib import Path

import click

from kibitz.options import connection
from kibitz.options.connection import identity_options, server_option
from kibitz.options.lists import ask, json_option, print_lines
from kibitz_clients.wording import tables
from kibitz_protocol.client.client import Client


@click.command(short_help="List the open lobbies of a server.")
@server_option
@identity_options
@json_option
def lobbies(server: str, name: str | None, token_file: Path | None, as_json: bool) -> None:
    """List the lobbies that a server shows."""
    briefs = ask(connection.client(server, name, token_file), Client.lobbies).lobbies
    print_lines(tables.lobby_table(briefs, as_json=as_json), as_json=as_json)
