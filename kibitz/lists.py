"""`kibitz lobbies`, `matches`, `games` and `bots`: what there is, on a server or in the box."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kibitz import box, connection
from kibitz.connection import identity_options, server_option
from kibitz.output import echo, echo_json
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


def _print_lines(lines: Iterable[str], *, as_json: bool = False) -> None:
    for line in lines:
        echo_json(line) if as_json else echo(line)


@click.command(short_help="List the open lobbies of a server.")
@server_option
@identity_options
@json_option
def lobbies(server: str, name: str | None, token_file: Path | None, as_json: bool) -> None:
    """List the lobbies that a server shows."""
    found = _ask(connection.client(server, name, token_file), Client.lobbies).lobbies
    _print_lines(plain.lobbies(found, as_json=as_json), as_json=as_json)


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
    _print_lines(plain.matches(found, as_json=as_json), as_json=as_json)


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
        return _print_lines((json.dumps(_describe(game)) for game in chosen), as_json=True)
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


@click.command(short_help="List the house bots, or explain one.")
@click.argument("name", required=False)
@click.option("--game", metavar="GAME", help="Only those of this game.")
@click.option("--warm", is_flag=True, help="Compile what they need, so that they start at once.")
@json_option
def bots(name: str | None, game: str | None, warm: bool, as_json: bool) -> None:
    """List the house bots, or explain the one called NAME: what it does, and its parameters.

    A parameter follows a bot's name wherever one is written: GAME/BOT:KEY=VALUE,KEY=VALUE.
    """
    if name is not None and game is not None:
        raise click.UsageError("expected either one bot or --game")
    chosen = _of_game(game) if name is None else [_named(name)]
    if warm:
        from kibitz.warmth import warm_up

        return warm_up(echo, chosen)
    lines = _bot_lines(chosen, explain=name is not None, as_json=as_json)
    return _print_lines(lines, as_json=as_json)


def _named(name: str) -> Personality:
    from kibitz_bots.loading import SpecError
    from kibitz_bots.personalities import named

    try:
        return named(name)
    except SpecError as error:
        raise click.UsageError(str(error)) from None


def _of_game(game: str | None) -> Sequence[Personality]:
    from kibitz_bots.personalities import PERSONALITIES
    from kibitz_games import registry

    if game is None:
        return [*PERSONALITIES.values()]
    registry.get(game)
    return [bot for bot in PERSONALITIES.values() if bot.game == game]


def _bot_lines(chosen: Sequence[Personality], *, explain: bool, as_json: bool) -> Iterable[str]:
    from kibitz import lineup

    games = box.games("plain")
    if as_json:
        facts = lineup.explained if explain else lineup.introduced
        return (json.dumps(facts(each, games[each.game])) for each in chosen)
    width = shutil.get_terminal_size().columns
    if explain:
        return lineup.lines(chosen[0], games[chosen[0].game], width)
    return lineup.table(chosen, games, width)
