"""`kibitz watch`: the terminal client, as a spectator."""

from __future__ import annotations

import sys
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

import click

from kibitz.builtin_games import load_games
from kibitz.options import connection
from kibitz.options.connection import identity_options, server_option
from kibitz.options.record import RecordName, is_screen, show
from kibitz.options.saved_sessions import SavedSession, Tell
from kibitz.options.session import client_factory, exit_with
from kibitz.output import echo, echo_json
from kibitz.process.event_loop import run
from kibitz_games.core import rulebook
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.visibility import WantedViews


@click.command(short_help="Follow matches, live or from a file.")
@click.argument("what", required=False, metavar="[MATCH|LOBBY|FILE]", type=RecordName())
@click.option("--plain", is_flag=True, help="Print lines even in a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@click.option("--wall", is_flag=True, help="Show all matches at once, as small boards.")
@server_option
@identity_options
def watch(
    what: str | None,
    plain: bool,
    as_json: bool,
    wall: bool,
    server: str,
    name: str | None,
    token_file: Path | None,
) -> None:
    """Follow a match, all matches of a lobby or a record file, or browse the server.

    With --wall, show all matches of a lobby or of the server side by side. Without a terminal, the
    command prints events as lines until the match, lobby or record ends.
    """
    if what is not None and Path(what).is_file():
        show(Path(what), plain=plain, as_json=as_json)
        return None
    screen = is_screen(plain=plain or as_json)
    if wall and not screen:
        raise click.UsageError("--wall needs a terminal, and no --plain or --json")
    if what is None and not screen:
        raise click.UsageError("expected a MATCH, a LOBBY or a FILE because this is not a terminal")

    lines: list[str] = []
    with _guest_session(server, name, token_file, lines.append) as saved:
        views: WantedViews = "every" if screen else "none"
        connect = client_factory(saved, server, name, token_file, lines.append, views=views)
        match, lobby = _match_or_lobby(connect(), what) if what else (None, None)
        if screen:
            from kibitz_clients.tui.kibitz_app import KibitzApp
            from kibitz_clients.tui.screens.wall import WallPlan

            if wall and match is not None:
                raise click.UsageError("--wall takes a LOBBY or nothing, not a MATCH")
            app = KibitzApp(
                load_games("plain"),
                connect,
                match=match,
                lobby=lobby,
                follow=True,
                wall=WallPlan() if wall else None,
                server_label=server,
                greetings=lambda: lines,
                rules=rulebook.page,
            )
            return exit_with(app.run())
        from kibitz_clients.wording.line_output import follow_lines

        for sentence in lines:
            echo(sentence, err=True)
        follows = follow_lines(
            connect(),
            load_games("plain"),
            echo_json if as_json else echo,
            match=match,
            lobby=lobby,
            as_json=as_json,
        )
        sys.exit(0 if run(follows) else 1)


def _guest_session(
    server: str, name: str | None, token_file: Path | None, tell: Tell
) -> SavedSession | nullcontext[None]:
    """Return the saved session of a named guest; spectators without a name need none."""
    if name is None or connection.account(token_file, server) is not None:
        return nullcontext()
    return SavedSession(server, f"name {name}", tell)


def _match_or_lobby(
    client: AbstractAsyncContextManager[Client], what: str
) -> tuple[str | None, str | None]:
    """Return `what` as a match if the server lists such a match, else as a lobby."""

    async def ask() -> bool:
        async with client as link:
            return any(brief.match == what for brief in (await link.hall.matches()).matches)

    return (what, None) if run(ask()) else (None, what)
