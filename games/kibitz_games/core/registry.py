"""The games in the box: an explicit table, filled when the first game is asked for.

Importing this module imports no game: the first `get` settles the mode of the process's
kernels (see `kernels`), so whoever wants another mode than the default chooses it before.
"""

from __future__ import annotations

import importlib

from kibitz_games.core.game import Game, GameError

MODULES: dict[str, str] = {
    "chinese-checkers": "kibitz_games.chinese_checkers",
    "tanks": "kibitz_games.tanks",
    "five-in-a-row": "kibitz_games.five_in_a_row",
    "line-nim": "kibitz_games.line_nim",
    "number-merge": "kibitz_games.number_merge",
    "connect-four": "kibitz_games.connect_four",
}
"""The module of each game, whose `GAME` is the game."""


def names() -> tuple[str, ...]:
    """Return the names of all games."""
    return tuple(MODULES)


def get(name: str, version: int | None = None) -> Game:
    """Return the game of this name, with the rules of a version or with the present ones.

    Raises a `GameError` that tells the known ones.
    """
    try:
        module = MODULES[name]
    except KeyError:
        raise GameError(f"unknown game {name!r}; known are {', '.join(MODULES)}") from None
    game = importlib.import_module(module).GAME
    assert isinstance(game, Game)
    return game if version is None else game.at_version(version)
