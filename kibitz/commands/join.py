"""`kibitz join`: the terminal client, as a player."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import click

from kibitz.builtin_games import load_games
from kibitz.options import connection
from kibitz.options import saved_sessions as sessions
from kibitz.options.connection import fresh_option, identity_options, server_option
from kibitz.options.record import is_screen
from kibitz.options.saved_sessions import SavedSession, Tell
from kibitz.options.session import client_factory, exit_with
from kibitz_clients.matches.connector import Connector
from kibitz_games.core import rulebook
from kibitz_protocol.client.client import Client


@click.command(short_help="Take a seat in a lobby and play in the terminal.")
@click.argument("lobby")
@click.option("--invite", help="The lobby's invite code, where it has one.")
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
    """Take a seat in LOBBY and play in the terminal; ? shows the keys.

    Who you are there is saved: after the terminal was closed, the same command takes the seat
    back, as long as the server keeps it.
    """
    if not is_screen(plain=False):
        raise click.UsageError("expected a terminal to play in; bots connect with kibitz bot")
    from kibitz_clients.tui.kibitz_app import KibitzApp

    name = name or connection.login()
    known = connection.account(token_file, server)
    who = f"name {name}" if known is None else sessions.account(known)
    lines: list[str] = []
    with SavedSession(server, who, lines.append, fresh=fresh) as saved:
        connect = client_factory(saved, server, name, token_file, lines.append, seated=True)
        app = KibitzApp(
            load_games("plain"),
            _announcing(connect, lines.append),
            lobby=lobby,
            invite=invite,
            play=True,
            follow=True,
            where=server,
            greetings=lambda: lines,
            rules=rulebook.page,
        )
        exit_with(app.run())


def _announcing(connect: Connector, tell: Tell) -> Connector:
    """Return what connects and tells what there is to come back to."""

    @contextlib.asynccontextmanager
    async def welcoming() -> AsyncIterator[Client]:
        async with connect() as client:
            if client.seats:
                matches = ", ".join(client.seats)
                tell(f"welcome back, {client.name}: your seat in match {matches} is yours again")
            elif client.welcome.lobbies:
                lobbies = ", ".join(client.welcome.lobbies)
                tell(f"welcome back, {client.name}: you are still a member of lobby {lobbies}")
            yield client

    return welcoming
