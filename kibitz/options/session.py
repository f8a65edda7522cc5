"""The connection of the clients for people: as who was saved on this machine, or as a newcomer."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import click

from kibitz.options import connection
from kibitz.options import saved_sessions as sessions
from kibitz.options.saved_sessions import SavedSession, Tell
from kibitz_clients.matches.connector import Connector
from kibitz_protocol.client.client import Client
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
    """Return what connects as who was saved, and as a newcomer where nobody was.

    Screens draw the view after each entry, so they want `every` one; lines of text have none.
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


def exit_with(sentence: str | None) -> None:
    """End with the sentence that a screen ended with; there is none when the person quit."""
    if sentence is not None:
        raise click.ClickException(sentence)
