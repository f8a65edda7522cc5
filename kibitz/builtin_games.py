"""The games of this installation, as the other packages are handed them."""

from __future__ import annotations

from kibitz_games.compiled import kernels
from kibitz_games.core import registry
from kibitz_games.core.game import Game


def load_games(mode: kernels.Mode) -> dict[str, Game]:
    """Return every game by its name; `mode` is how the rules of this process run.

    ``plain`` starts in no time and is fast enough to draw and to check a command line.
    """
    kernels.set_mode(mode)
    return dict(registry.load_all())


def is_balanced(name: str) -> bool:
    """Return whether a game is played in blocks, in which every player takes every seat."""
    kernels.set_mode("plain")
    return name in registry.names() and registry.get(name).info.balanced


def player_counts(name: str) -> tuple[int, ...] | None:
    """Return the numbers of players that a game is for, None for one that is not known here."""
    kernels.set_mode("plain")
    return registry.get(name).info.seats if name in registry.names() else None
