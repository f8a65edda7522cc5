"""The games by name: those of kibitz and those of installed packages.

A package provides a game as an entry point in the group ``kibitz.games``, under the game's name::

    [project.entry-points."kibitz.games"]
    avoid-three = "avoid_three:GAME"

Importing this module imports no game. The first `get` fixes the process's kernel mode (see
`kernels`), so choose a mode other than the default before it.
"""

from __future__ import annotations

import difflib
import functools
import importlib.util
import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from kibitz_games.core.model import GameError

if TYPE_CHECKING:
    from kibitz_games.core.game import Game

GROUP = "kibitz.games"
BUILT_IN: Mapping[str, str] = {
    "chinese-checkers": "kibitz_games.chinese_checkers:GAME",
    "tanks": "kibitz_games.tanks:GAME",
    "five-in-a-row": "kibitz_games.five_in_a_row:GAME",
    "line-nim": "kibitz_games.line_nim:GAME",
    "number-merge": "kibitz_games.number_merge:GAME",
    "connect-four": "kibitz_games.connect_four:GAME",
    "tic-tac-toe": "kibitz_games.tic_tac_toe:GAME",
}
"""The games of kibitz as entry point references, so that they are found without installation."""

_LOG = logging.getLogger("kibitz.games")


def names() -> tuple[str, ...]:
    """Return the names of all games, including those that fail to load."""
    return tuple(_entries())


def can_load(name: str) -> bool:
    """Return whether games can be loaded here: all rules need numpy."""
    return name in names() and importlib.util.find_spec("numpy") is not None


def get(name: str, version: int | None = None) -> Game:
    """Return the game with this name, with the rules of `version` or the current ones.

    Raises `GameError` for an unknown name, for a name that several packages use, and for a package
    that fails to load; `ModuleNotFoundError` if numpy is not installed.
    """
    game = _load(name)
    return game if version is None else game.at_version(version)


@functools.cache
def load_all() -> Mapping[str, Game]:
    """Return every game by name, and log a warning for each that fails to load."""
    games = {}
    for name in names():
        try:
            games[name] = get(name)
        except GameError as error:
            _LOG.warning("%s", error)
    return games


@functools.cache
def _entries() -> Mapping[str, Sequence[EntryPoint]]:
    entries: dict[str, list[EntryPoint]] = defaultdict(list)
    for name, value in BUILT_IN.items():
        entries[name].append(EntryPoint(name, value, GROUP))
    for entry in entry_points(group=GROUP):
        entries[entry.name].append(entry)
    return dict(entries)


@functools.cache
def _load(name: str) -> Game:
    entries = _entries().get(name)
    if entries is None:
        near = difflib.get_close_matches(name, names(), n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise GameError(f"unknown game {name!r}; available: {', '.join(names())}{meant}")
    if len(entries) > 1:
        packages = " and ".join(sorted(map(_package, entries)))
        raise GameError(
            f"the packages {packages} each provide a game {name!r}; uninstall all but one"
        )
    (entry,) = entries
    try:
        return _checked(entry.load(), name)
    except Exception as error:  # third-party code may raise anything
        if isinstance(error, ModuleNotFoundError) and error.name == "numpy":
            raise
        reason = f"{type(error).__name__}: {error}"
        message = f"cannot load the game {name!r} from the package {_package(entry)}: {reason}"
        raise GameError(message) from error


def _checked(game: Any, name: str) -> Game:
    from kibitz_games.core.game import Game

    if not isinstance(game, Game):
        raise TypeError(f"expected a game, not {game!r}")
    if game.info.name != name:
        raise ValueError(f"its info has the name {game.info.name!r}")
    return game


def _package(entry: EntryPoint) -> str:
    return "kibitz" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
