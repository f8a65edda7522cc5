"""`kibitz games`: the games that are built in."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from kibitz import builtin_games
from kibitz_clients.wording import tables

if TYPE_CHECKING:
    from kibitz_games.core.game import Game

from kibitz.options.lists import json_option, print_lines


@click.command(short_help="List the games, or explain one.")
@click.argument("name", required=False)
@json_option
def games(name: str | None, as_json: bool) -> None:
    """List the games in the box, or explain one: its options, its moves, its bots."""
    from kibitz_games.core import registry

    if name is not None:
        registry.get(name)
    chosen = [
        game
        for game in builtin_games.load_games("plain").values()
        if name in (None, game.info.name)
    ]
    if as_json:
        return print_lines((json.dumps(_describe(game)) for game in chosen), as_json=True)
    if name is not None:
        return print_lines(_explain_game(chosen[0]))
    rows = [
        (g.info.name, _numbers(g.info.seats), _hidden(g.info.hidden), g.info.summary)
        for g in chosen
    ]
    return print_lines(tables.format_table(("game", "players", "hidden", "what it is"), rows))


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
