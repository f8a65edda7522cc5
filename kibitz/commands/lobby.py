"""`kibitz lobby`: list the lobbies of a server, and manage your own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import click

from kibitz.options import connection
from kibitz.options import saved_sessions as sessions
from kibitz.options.connection import identity_options, server_option
from kibitz.options.lists import Answer, ask, json_option, print_lines
from kibitz.output import echo
from kibitz_clients.wording import tables
from kibitz_clients.wording.short_names import shown_name
from kibitz_protocol import printable
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import LobbyView, Member
from kibitz_protocol.wire.messages import LobbyClosed, LobbyNews

token_option = click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File with the token of the account that opened the lobby (or KIBITZ_TOKEN, for"
    " KIBITZ_SERVER).",
)


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the lobby argument and the options that identify its host."""
    return click.argument("lobby", metavar="CODE")(server_option(token_option(command)))


@click.group(short_help="List lobbies; start, change or close your own.")
def lobby() -> None:
    """List the lobbies of a server; start, change or close one that you opened.

    You are its host if you opened it on this machine with `kibitz host`, or with the account of the
    token.
    """


@lobby.command("list")
@server_option
@identity_options
@json_option
def list_lobbies(server: str, name: str | None, token_file: Path | None, as_json: bool) -> None:
    """List the public lobbies of a server."""
    briefs = ask(
        connection.client(server, name, token_file), lambda client: client.hall.lobbies()
    ).lobbies
    print_lines(tables.lobby_table(briefs, as_json=as_json), as_json=as_json)


@lobby.command()
@host_options
def start(lobby: str, server: str, token_file: Path | None) -> None:
    """Start the programme of CODE. All seats must be taken and all players ready."""

    _ask_as_host(lobby, server, token_file, lambda client: client.hosting.start(lobby))
    echo(f"the programme of lobby {lobby} has begun")


@lobby.command()
@host_options
@click.argument("player")
def kick(lobby: str, player: str, server: str, token_file: Path | None) -> None:
    """Remove PLAYER, a name or a seat number, from CODE permanently."""

    async def remove(client: Client) -> str:
        member = find_member(await _look(client, lobby), player)
        await client.hosting.kick(lobby, member.player)
        return member.name

    removed = _ask_as_host(lobby, server, token_file, remove)
    echo(f"{printable.line(removed)} was removed from lobby {lobby}")


@lobby.command()
@host_options
def close(lobby: str, server: str, token_file: Path | None) -> None:
    """Close CODE after its running matches have finished."""

    _ask_as_host(lobby, server, token_file, lambda client: client.hosting.close_lobby(lobby))
    echo(f"lobby {lobby} was closed")


@lobby.command()
@host_options
def rematch(lobby: str, server: str, token_file: Path | None) -> None:
    """Play the finished programme of CODE again, with the seats rotated by one."""

    _ask_as_host(lobby, server, token_file, lambda client: client.hosting.rematch(lobby))
    echo(f"lobby {lobby} is playing its programme again")


def find_member(view: LobbyView, text: str) -> Member:
    """Return the member with this name or seat number (from 1).

    Names take precedence over numbers. Raises `click.UsageError` if there is no such member.
    """
    members = view.by_seat()
    for member in members:
        names = (member.name, shown_name(member.name, member.kind))
        if text.casefold() in map(str.casefold, names):
            return member
    for member in members:
        if text == str(member.seat + 1):
            return member
    there = ", ".join(
        f"{member.seat + 1} {shown_name(member.name, member.kind)}" for member in members
    )
    raise click.UsageError(
        f"expected a member of lobby {view.lobby} ({there or 'there are none'}), not {text!r}"
    )


async def _look(client: Client, lobby: str) -> LobbyView:
    """Return the host's view of the lobby."""
    await client.join(lobby, role="spectator")
    async for news in client.news():
        if isinstance(news, LobbyNews) and news.lobby.lobby == lobby:
            return news.lobby
        if isinstance(news, LobbyClosed) and news.lobby == lobby:
            break
    raise click.ClickException(f"lobby {lobby} is closed")


def _ask_as_host(
    lobby: str,
    server: str,
    token_file: Path | None,
    question: Callable[[Client], Awaitable[Answer]],
) -> Answer:
    """Send a request as the host of a lobby, and return the answer."""
    if connection.account(token_file, server) is not None:
        client = connection.client(server, None, token_file)
    else:
        saved = sessions.host_of(server, lobby)
        if saved is None:
            raise click.ClickException(
                f"no host of lobby {lobby} on {server} is known on this machine: open lobbies"
                " with `kibitz host`, or pass the token of the host's account with --token-file"
            )
        client = connection.client(server, saved.name, None, resume=saved.resume)
    return ask(client, question)
