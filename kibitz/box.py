"""The games in the box, as the parts of the system are handed them."""

from __future__ import annotations

from kibitz_games import kernels, registry
from kibitz_games.api import Game


def games(mode: kernels.Mode) -> dict[str, Game]:
    """Return every game by its name; `mode` is how the rules of this process run.

    ``plain`` starts in no time and is fast enough to draw and to check a command line.
    """
    kernels.choose(mode)
    return {name: registry.get(name) for name in registry.names()}


def players(name: str) -> tuple[int, ...] | None:
    """Return the numbers of players that a game is for, None for one that is not in the box."""
    kernels.choose("plain")
    return registry.get(name).info.seats if name in registry.names() else None
