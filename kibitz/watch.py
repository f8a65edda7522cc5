"""`kibitz watch` and `kibitz join`: the terminal clients, as spectator and as player."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kibitz import connection
from kibitz.box import games
from kibitz.connection import identity_options, server_option
from kibitz.replay import is_screen, show
from kibitz.running import run
from kibitz_protocol.client import Client


@click.command(short_help="Follow matches, live or from a file.")
@click.argument("what", required=False, metavar="[MATCH|LOBBY|FILE]")
@click.option("--plain", is_flag=True, help="Print lines, in a terminal too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@server_option
@identity_options
def watch(
    what: str | None,
    plain: bool,
    as_json: bool,
    server: str,
    name: str | None,
    token_file: Path | None,
) -> None:
    """Follow a match, all matches of a lobby, a record file, or look around in the hall.

    Without a terminal it prints what happens as lines until what it follows is over.
    """
    if what is not None and Path(what).is_file():
        show(Path(what), plain=plain, as_json=as_json)
        return
    screen = is_screen(plain=plain or as_json)
    if what is None and not screen:
        raise click.UsageError("expected a MATCH, a LOBBY or a FILE where there is no terminal")

    def connect() -> Client:
        return connection.client(server, name, token_file)

    match, lobby = _which(connect(), what) if what else (None, None)
    if screen:
        from kibitz_clients.terminal import KibitzApp

        app = KibitzApp(
            games("plain"), connect, match=match, lobby=lobby, follow=True, where=server
        )
        _leave(app.run())
        return
    from kibitz_clients.plain import follow

    follows = follow(
        connect(), games("plain"), click.echo, match=match, lobby=lobby, as_json=as_json
    )
    sys.exit(0 if run(follows) else 1)


def _which(client: Client, what: str) -> tuple[str | None, str | None]:
    """Return a match or a lobby: what is no match that the server tells of is a lobby."""

    async def ask() -> bool:
        async with client:
            return any(brief.match == what for brief in (await client.matches()).matches)

    return (what, None) if run(ask()) else (None, what)


def _leave(sentence: str | None) -> None:
    """End with the sentence that a screen ended with; there is none when the person quit."""
    if sentence is not None:
        raise click.ClickException(sentence)


@click.command(short_help="Sit down at a lobby and play in the terminal.")
@click.argument("lobby")
@click.option("--invite", help="The lobby's invite code, where it has one.")
@server_option
@identity_options
def join(
    lobby: str, invite: str | None, server: str, name: str | None, token_file: Path | None
) -> None:
    """Take a seat in LOBBY and play in the terminal; ? shows the keys."""
    if not is_screen(plain=False):
        raise click.UsageError("expected a terminal to play in; bots connect with kibitz bot")
    from kibitz_clients.terminal import KibitzApp

    def connect() -> Client:
        return connection.client(server, name or connection.login(), token_file)

    app = KibitzApp(
        games("plain"), connect, lobby=lobby, invite=invite, play=True, follow=True, where=server
    )
    _leave(app.run())
