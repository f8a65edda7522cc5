"""The installed games, which this package passes to the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kibitz_games.compiled import mode as kernel_mode
from kibitz_games.core import registry

if TYPE_CHECKING:
    from kibitz_games.core.game import Game


def load_games(mode: kernel_mode.Mode) -> dict[str, Game]:
    """Return all games by name; `mode` selects how this process runs the rules. ``plain`` starts at
    once and is fast enough for drawing and for checking a command line.
    """
    kernel_mode.set_mode(mode)
    return dict(registry.load_all())


def find_game(name: str) -> Game | None:
    """Return a game with plain rules, None if it is not installed here."""
    kernel_mode.set_mode("plain")
    return registry.get(name) if registry.can_load(name) else None


def get_game(name: str) -> Game:
    """Return a game with plain rules; raise `GameError` if it is unknown or does not load."""
    kernel_mode.set_mode("plain")
    return registry.get(name)


def is_balanced(name: str) -> bool:
    """Return whether a game is played in blocks, in which every player takes every seat."""
    kernel_mode.set_mode("plain")
    return registry.can_load(name) and registry.get(name).info.balanced


def player_counts(name: str) -> tuple[int, ...] | None:
    """Return the possible numbers of players of a game, None if the game is unknown here."""
    kernel_mode.set_mode("plain")
    return registry.get(name).info.seats if registry.can_load(name) else None
