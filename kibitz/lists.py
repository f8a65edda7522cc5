"""`kibitz lobbies`, `matches`, `games` and `bots`: what there is, on a server or in the box."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kibitz import box, connection
from kibitz.connection import identity_options, server_option
from kibitz.running import run
from kibitz_clients import plain
from kibitz_protocol.client import Client

if TYPE_CHECKING:
    from kibitz_bots.personalities import Personality
    from kibitz_games.api import Game

Answer = TypeVar("Answer")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")


def _ask(client: Client, question: Callable[[Client], Awaitable[Answer]]) -> Answer:
    async def ask() -> Answer:
        async with client:
            return await question(client)

    return run(ask())


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


@click.command(short_help="List the open lobbies of a server.")
@server_option
@identity_options
@json_option
def lobbies(server: str, name: str | None, token_file: Path | None, as_json: bool) -> None:
    """List the lobbies that a server shows."""
    found = _ask(connection.client(server, name, token_file), Client.lobbies).lobbies
    _print_lines(plain.lobbies(found, as_json=as_json))


@click.command(short_help="List the matches of a server.")
@server_option
@identity_options
@click.option("--lobby", help="Only those of this lobby.")
@json_option
def matches(
    server: str, name: str | None, token_file: Path | None, lobby: str | None, as_json: bool
) -> None:
    """List the matches that run and may be watched, and the newest finished ones."""
    client = connection.client(server, name, token_file)
    found = _ask(client, lambda asked: asked.matches(lobby)).matches
    _print_lines(plain.matches(found, as_json=as_json))


@click.command(short_help="List the games, or explain one.")
@click.argument("name", required=False)
@json_option
def games(name: str | None, as_json: bool) -> None:
    """List the games in the box, or explain one: its options, its moves, its bots."""
    from kibitz_games import registry

    if name is not None:
        registry.get(name)
    chosen = [game for game in box.games("plain").values() if name in (None, game.info.name)]
    if as_json:
        return _print_lines(json.dumps(_describe(game)) for game in chosen)
    if name is not None:
        return _print_lines(_explain(chosen[0]))
    rows = [
        (g.info.name, _numbers(g.info.seats), _hidden(g.info.hidden), g.info.summary)
        for g in chosen
    ]
    return _print_lines(plain.table(("game", "players", "hidden", "what it is"), rows))


def _explain(game: Game) -> Iterable[str]:
    from kibitz import guide
    from kibitz_bots.personalities import PERSONALITIES

    width = shutil.get_terminal_size().columns
    return guide.lines(game, list(PERSONALITIES.values()), width)


def _describe(game: Game) -> dict[str, Any]:
    facts = dataclasses.asdict(game.info)
    models = {
        "options": game.Options.model_json_schema(by_alias=True),
        "move": game.Move.model_json_schema(by_alias=True),
        "view": game.View.model_json_schema(by_alias=True),
    }
    return facts | models


def _numbers(seats: tuple[int, ...]) -> str:
    return ", ".join(map(str, seats))


def _hidden(hidden: bool) -> str:
    return "yes" if hidden else "no"


@click.command(short_help="List the house bots.")
@click.option("--warm", is_flag=True, help="Compile what they need, so that they start at once.")
@json_option
def bots(warm: bool, as_json: bool) -> None:
    """List the house bots, each with its parameters: GAME/NAME:KEY=VALUE,KEY=VALUE."""
    from kibitz_bots.personalities import PERSONALITIES

    if warm:
        from kibitz.warmth import warm_up

        warm_up(click.echo)
        return None
    if as_json:
        return _print_lines(json.dumps(_introduce(each)) for each in PERSONALITIES.values())
    rows = [
        (each.name, ", ".join(p.name for p in each.parameters) or "-", each.summary)
        for each in PERSONALITIES.values()
    ]
    return _print_lines(plain.table(("bot", "parameters", "what it does"), rows))


def _introduce(personality: Personality) -> dict[str, Any]:
    return {
        "name": personality.name,
        "summary": personality.summary,
        "parameters": {each.name: each.summary for each in personality.parameters},
    }
