"""The games of this installation, as the other packages are handed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kibitz_games.compiled import mode as kernel_mode
from kibitz_games.core import registry

if TYPE_CHECKING:
    from kibitz_games.core.game import Game


def load_games(mode: kernel_mode.Mode) -> dict[str, Game]:
    """Return every game by its name; `mode` is how the rules of this process run.

    ``plain`` starts in no time and is fast enough to draw and to check a command line.
    """
    kernel_mode.set_mode(mode)
    return dict(registry.load_all())


def find_game(name: str) -> Game | None:
    """Return one game with plain rules, None for one that is not installed here."""
    kernel_mode.set_mode("plain")
    return registry.get(name) if registry.can_load(name) else None


def is_balanced(name: str) -> bool:
    """Return whether a game is played in blocks, in which every player takes every seat."""
    kernel_mode.set_mode("plain")
    return registry.can_load(name) and registry.get(name).info.balanced


def player_counts(name: str) -> tuple[int, ...] | None:
    """Return the numbers of players that a game is for, None for one that is not known here."""
    kernel_mode.set_mode("plain")
    return registry.get(name).info.seats if registry.can_load(name) else None
