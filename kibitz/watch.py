"""`kibitz watch` and `kibitz join`: the terminal clients, as spectator and as player."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import click

from kibitz import connection, rules, sessions
from kibitz.box import games
from kibitz.connection import fresh_option, identity_options, server_option
from kibitz.output import echo, echo_json
from kibitz.replay import is_screen, show
from kibitz.running import run
from kibitz.sessions import SavedSession, Tell
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
        return None
    screen = is_screen(plain=plain or as_json)
    if what is None and not screen:
        raise click.UsageError("expected a MATCH, a LOBBY or a FILE where there is no terminal")

    told: list[str] = []
    with _named(server, name, token_file, told.append) as saved:
        connect = _connecting(saved, server, name, token_file, told.append)
        match, lobby = _which(connect(), what) if what else (None, None)
        if screen:
            from kibitz_clients.terminal import KibitzApp

            app = KibitzApp(
                games("plain"),
                connect,
                match=match,
                lobby=lobby,
                follow=True,
                where=server,
                greetings=lambda: told,
                rules=rules.page,
            )
            return _leave(app.run())
        from kibitz_clients.plain import follow

        for sentence in told:
            echo(sentence, err=True)
        follows = follow(
            connect(),
            games("plain"),
            echo_json if as_json else echo,
            match=match,
            lobby=lobby,
            as_json=as_json,
        )
        sys.exit(0 if run(follows) else 1)


Connecting = Callable[[], AbstractAsyncContextManager[Client]]


def _named(
    server: str, name: str | None, token_file: Path | None, tell: Tell
) -> SavedSession | nullcontext[None]:
    """Return the saved session of a guest who says a name; nobody else has one to lose here."""
    if name is None or connection.account(token_file) is not None:
        return nullcontext()
    return SavedSession(server, f"name {name}", tell)


def _connecting(
    saved: SavedSession | None,
    server: str,
    name: str | None,
    token_file: Path | None,
    tell: Tell,
    *,
    seated: bool = False,
) -> Connecting:
    """Return what connects as who was saved, and as a newcomer where nobody was."""

    def make(resume: str | None) -> Client:
        return connection.client(server, name, token_file, resume=resume, seated=seated)

    def connect() -> AbstractAsyncContextManager[Client]:
        if saved is None:
            return make(None)
        known = connection.account(token_file) is not None
        return sessions.returning(saved, make, tell, account=known)

    return connect


def _which(client: AbstractAsyncContextManager[Client], what: str) -> tuple[str | None, str | None]:
    """Return a match or a lobby: what is no match that the server tells of is a lobby."""

    async def ask() -> bool:
        async with client as link:
            return any(brief.match == what for brief in (await link.matches()).matches)

    return (what, None) if run(ask()) else (None, what)


def _leave(sentence: str | None) -> None:
    """End with the sentence that a screen ended with; there is none when the person quit."""
    if sentence is not None:
        raise click.ClickException(sentence)


@click.command(short_help="Sit down at a lobby and play in the terminal.")
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
    from kibitz_clients.terminal import KibitzApp

    name = name or connection.login()
    known = connection.account(token_file)
    who = f"name {name}" if known is None else sessions.account(known)
    told: list[str] = []
    with SavedSession(server, who, told.append, fresh=fresh) as saved:
        connect = _connecting(saved, server, name, token_file, told.append, seated=True)
        app = KibitzApp(
            games("plain"),
            _welcoming(connect, told.append),
            lobby=lobby,
            invite=invite,
            play=True,
            follow=True,
            where=server,
            greetings=lambda: told,
            rules=rules.page,
        )
        _leave(app.run())


def _welcoming(connect: Connecting, tell: Tell) -> Connecting:
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
