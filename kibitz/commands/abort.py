"""`kibitz abort`: the operator ends a match, and it does not count."""

from __future__ import annotations

from pathlib import Path

import click

from kibitz.options import connection
from kibitz.options.connection import server_option
from kibitz.options.lists import ask
from kibitz.output import echo


@click.command(short_help="End a match without a result, as the operator.")
@click.argument("match", metavar="MATCH")
@click.option("--reason", default="", metavar="TEXT", help="Why, for the record of the match.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="The token of an operator's account; KIBITZ_TOKEN has one too.",
)
@server_option
def abort(match: str, reason: str, token_file: Path | None, server: str) -> None:
    """End MATCH without a result that counts: it is not rated, and not played again.

    The server has to be started with --operator NAME, and the token has to be that account's.
    """
    client = connection.client(server, None, token_file)
    ask(client, lambda asked: asked.abort(match, reason))
    echo(f"match {match} is aborted")
