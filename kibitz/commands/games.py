"""`kibitz game list` and `show`: the installed games."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from kibitz import builtin_games
from kibitz.options.lists import json_option, print_lines
from kibitz_clients.wording import tables

if TYPE_CHECKING:
    from kibitz_games.core.game import Game


@click.command("list", short_help="List the games.")
@json_option
def list_games(as_json: bool) -> None:
    """List the installed games."""
    games = builtin_games.load_games("plain").values()
    if as_json:
        return print_lines((json.dumps(_describe(game)) for game in games), as_json=True)
    rows = [
        (g.info.name, _numbers(g.info.seats), _hidden(g.info.hidden), g.info.summary) for g in games
    ]
    return print_lines(tables.format_table(("game", "players", "hidden", "description"), rows))


@click.command("show", short_help="Explain a game: options, moves, bots.")
@click.argument("name")
@json_option
def show_game(name: str, as_json: bool) -> None:
    """Explain the game NAME: its options, moves and bots."""
    builtin_games.get_game(name)
    game = builtin_games.load_games("plain")[name]
    lines = [json.dumps(_describe(game))] if as_json else _explain_game(game)
    print_lines(lines, as_json=as_json)


def _explain_game(game: Game) -> Iterable[str]:
    from kibitz.text import game_guide
    from kibitz_bots.catalog import PERSONALITIES

    width = shutil.get_terminal_size().columns
    return game_guide.describe_game(game, list(PERSONALITIES.values()), width)


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
