"""Connections for interactive commands: with the saved session or as a new player."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import click

from kibitz.builtin_games import load_games
from kibitz.options import connection
from kibitz.options import saved_sessions as sessions
from kibitz.options.record import is_screen
from kibitz.options.saved_sessions import SavedSession, Tell
from kibitz_games.core import rulebook
from kibitz_protocol.client.client import Client, Connector
from kibitz_protocol.wire.visibility import WantedViews


def client_factory(
    saved: SavedSession | None,
    server: str,
    name: str | None,
    token_file: Path | None,
    tell: Tell,
    *,
    seated: bool = False,
    views: WantedViews = "every",
) -> Connector:
    """Return a connector that uses the saved session, or connects as a new player.

    Screens draw the view after each entry, so they need `every` view; line output needs none.
    """

    def make(resume: str | None) -> Client:
        return connection.client(
            server, name, token_file, resume=resume, seated=seated, views=views
        )

    def connect() -> AbstractAsyncContextManager[Client]:
        if saved is None:
            return make(None)
        known = connection.account(token_file, server) is not None
        return sessions.connect_saved(saved, make, tell, account=known)

    return connect


def play_in_terminal(
    server: str,
    name: str | None,
    token_file: Path | None,
    *,
    fresh: bool,
    instead: str,
    take_seat: Callable[[Connector, Tell], tuple[Connector, str]],
    invite: str | None = None,
) -> None:
    """Play in the terminal with the saved session; fail without a terminal.

    `take_seat` receives a connector and returns the connector for the screen and the lobby's key.
    """
    if not is_screen(plain=False):
        raise click.UsageError(f"expected a terminal to play in; {instead}")
    from kibitz_clients.tui.kibitz_app import KibitzApp

    name = name or connection.login()
    known = connection.account(token_file, server)
    who = f"name {name}" if known is None else sessions.account(known)
    lines: list[str] = []
    with SavedSession(server, who, lines.append, fresh=fresh) as saved:
        connect, lobby = take_seat(
            client_factory(saved, server, name, token_file, lines.append, seated=True),
            lines.append,
        )
        app = KibitzApp(
            load_games("plain"),
            connect,
            lobby=lobby,
            invite=invite,
            play=True,
            follow=True,
            server_label=server,
            greetings=lambda: lines,
            rules=rulebook.page,
        )
        exit_with(app.run())


def exit_with(sentence: str | None) -> None:
    """Exit with the error that a screen ended with, if any; there is none if the user quit."""
    if sentence is not None:
        raise click.ClickException(sentence)
