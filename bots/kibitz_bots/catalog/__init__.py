"""The house bots by name.

A spec is ``game/name`` with parameters after a colon: ``chinese-checkers/iddfs-hand:time=0.2``. A
bot named after its search, such as ``chinese-checkers/alphabeta``, can use any evaluation of its
game: ``chinese-checkers/alphabeta:evaluation=race``.

    parameters   the parameters after the colon
    personality  named bots and how they are built
    searches     the searches for all games and the bots built from them
    any_game     the bots of games without a module here
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from kibitz_bots.catalog import (
    any_game,
    chinese_checkers,
    five_in_a_row,
    line_nim,
    number_merge,
    tanks,
)
from kibitz_bots.catalog.parameters import AnyParameter, Parameter, read_parameter
from kibitz_bots.catalog.personality import Personality
from kibitz_bots.spec import BotFactory, SpecError
from kibitz_games.core import registry

__all__ = ["PERSONALITIES", "AnyParameter", "Parameter", "Personality", "find", "named"]

_OF_GAME = {
    "chinese-checkers": chinese_checkers.PERSONALITIES,
    "tanks": tanks.PERSONALITIES,
    "five-in-a-row": five_in_a_row.PERSONALITIES,
    "line-nim": line_nim.PERSONALITIES,
    "number-merge": number_merge.PERSONALITIES,
    "connect-four": tuple(any_game.bots("connect-four", any_game.FOR_TWO)),
    "tic-tac-toe": tuple(any_game.bots("tic-tac-toe", any_game.FOR_TWO)),
}
"""The bots of the games with a module here; all other games have the bots of `any_game`."""


def _bots() -> Iterator[Personality]:
    for game in registry.names():
        yield from _OF_GAME.get(game) or any_game.bots(game)


PERSONALITIES: dict[str, Personality] = {bot.name: bot for bot in _bots()}
"""Every personality by its full name."""


def named(name: str) -> Personality:
    """Return the personality with a full name; raise `SpecError` with suggestions if unknown."""
    if name not in PERSONALITIES:
        raise SpecError(_unknown(name))
    return PERSONALITIES[name]


def find(spec: str) -> BotFactory:
    """Return the bot factory for a spec with parameters; raise `SpecError` if it is invalid."""
    name, _, text = spec.partition(":")
    personality = named(name)
    values = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        values[key] = read_parameter(personality.parameters, name, key, value)
    return lambda: personality.make(**values)


def _unknown(name: str) -> str:
    game = name.partition("/")[0]
    own = [known for known in PERSONALITIES if known.startswith(f"{game}/")]
    near = difflib.get_close_matches(name, own or PERSONALITIES, n=3, cutoff=0.5)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    listed = f"kibitz bot list --game {game}" if own else "kibitz bot list"
    expected = f"a path to a .py file, or game/name as `{listed}` lists them"
    return f"unknown bot {name!r}; expected {expected}{meant}"
