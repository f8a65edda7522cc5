"""`kibitz join`: the terminal client, as a player."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import click

from kibitz.options.connection import fresh_option, identity_options, server_option
from kibitz.options.saved_sessions import Tell
from kibitz.options.session import play_in_terminal
from kibitz_protocol.client.client import Client, Connector


@click.command(short_help="Take a seat in a lobby and play in the terminal.")
@click.argument("lobby")
@click.option("--invite", help="The lobby's invite code, if it has one.")
@fresh_option
@server_option
@identity_options
def join(
    lobby: str,
    invite: str | None,
    fresh: bool,
    server: str,
    name: str | None,
    token_file: Path | None,
) -> None:
    """Take a seat in LOBBY and play in the terminal; press ? for the keys.

    The session is saved: if the terminal closes, the same command takes the seat back if the server
    still reserves it.
    """
    play_in_terminal(
        server,
        name,
        token_file,
        fresh=fresh,
        instead="use `kibitz connect` for bots",
        take_seat=lambda connect, tell: (_announcing(connect, tell), lobby),
        invite=invite,
    )


def _announcing(connect: Connector, tell: Tell) -> Connector:
    """Return a connector that also reports the matches and lobbies to resume."""

    @contextlib.asynccontextmanager
    async def welcoming() -> AsyncIterator[Client]:
        async with connect() as client:
            if client.seats:
                matches = ", ".join(client.seats)
                tell(f"welcome back, {client.name}: you have your seat in match {matches} again")
            elif client.welcome.lobbies:
                lobbies = ", ".join(client.welcome.lobbies)
                tell(f"welcome back, {client.name}: you are still a member of lobby {lobbies}")
            yield client

    return welcoming
