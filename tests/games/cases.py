"""The test data of each game, from the module ``tests.games.<game>.cases``.

The module has OPTIONS, a list of options to test (the first is ``{}``), and ``spellings(game,
state)``, which yields every wire move that a player may send in a state.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from kibitz_games.conformance import laws
from kibitz_games.core import registry
from kibitz_games.core.game import Game, Model


def _module(name: str) -> Any:
    return importlib.import_module(f"tests.games.{name.replace('-', '_')}.cases")


def options(name: str) -> list[Model]:
    """Return the options to test a game with."""
    model = registry.get(name).Options
    return [model.model_validate(raw) for raw in _module(name).OPTIONS]


def spellings(name: str) -> laws.Spellings:
    """Return a game's function that yields every wire move that may be sent in a state."""
    found: laws.Spellings = _module(name).spellings
    return found


def setups(name: str) -> Iterator[tuple[Game, Model, int]]:
    """Yield each of the options with each supported number of seats."""
    game = registry.get(name)
    for chosen in options(name):
        for seats in game.info.seats:
            try:
                game.start(chosen, seats, game.deal(chosen, seats, 0))
            except ValueError:
                continue
            yield game, chosen, seats
