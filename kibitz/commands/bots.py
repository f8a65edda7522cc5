"""`kibitz bot list`, `show` and `warm`: the house bots."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from kibitz import builtin_games
from kibitz.options.lists import json_option, print_lines
from kibitz.output import echo

if TYPE_CHECKING:
    from kibitz_bots.catalog import Personality


game_option = click.option("--game", metavar="GAME", help="Only the bots of this game.")


@click.command("list", short_help="List the house bots.")
@game_option
@json_option
def list_bots(game: str | None, as_json: bool) -> None:
    """List the house bots by their full names, one per line."""
    print_lines(_bot_lines(_bots_of_game(game), explain=False, as_json=as_json), as_json=as_json)


@click.command("show", short_help="Explain a house bot and its parameters.")
@click.argument("name")
@json_option
def show_bot(name: str, as_json: bool) -> None:
    """Explain the house bot NAME: what it does, and its parameters.

    Add parameters to a bot's name in any command: GAME/BOT:KEY=VALUE,KEY=VALUE.
    """
    print_lines(_bot_lines([_bot_named(name)], explain=True, as_json=as_json), as_json=as_json)


@click.command(short_help="Compile house bots so that they start at once.")
@click.argument("name", required=False)
@game_option
def warm(name: str | None, game: str | None) -> None:
    """Compile the house bot NAME, all bots of a game, or all house bots, and cache the result."""
    from kibitz.process.warmup import warm_up

    if name is not None and game is not None:
        raise click.UsageError("expected either one bot or --game")
    warm_up(echo, _bots_of_game(game) if name is None else [_bot_named(name)])


def _bot_named(name: str) -> Personality:
    from kibitz_bots.catalog import named

    return named(name)


def _bots_of_game(game: str | None) -> Sequence[Personality]:
    from kibitz_bots.catalog import PERSONALITIES

    if game is None:
        return [*PERSONALITIES.values()]
    builtin_games.get_game(game)
    return [bot for bot in PERSONALITIES.values() if bot.game == game]


def _bot_lines(chosen: Sequence[Personality], *, explain: bool, as_json: bool) -> Iterable[str]:
    from kibitz.text import bot_catalog

    games = builtin_games.load_games("plain")
    chosen = [bot for bot in chosen if bot.game in games]  # some packages may not load
    if as_json:
        facts = bot_catalog.details_json if explain else bot_catalog.summary_json
        return (json.dumps(facts(bot, games[bot.game])) for bot in chosen)
    width = shutil.get_terminal_size().columns
    if explain:
        return bot_catalog.lines(chosen[0], games[chosen[0].game], width)
    from kibitz_clients.wording.tables import terminal_width

    return bot_catalog.table(chosen, games, terminal_width())
