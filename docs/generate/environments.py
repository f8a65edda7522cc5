"""Generate the table of the games' reinforcement learning environments from the games."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from docs.generate.markdown import between, table
from kibitz_games.core import learning
from kibitz_games.core.game import Game
from kibitz_games.core.position import Position

BEGIN = "<!-- games: `python -m docs.generate` writes what is between the marks -->"
END = "<!-- games end -->"


def page(text: str, games: Mapping[str, Game]) -> str:
    """Return the page with the table of the games; raises `NoMarkersError`."""
    rows = [_row(game) for game in games.values()]
    heads = ("game", "observation shape", "actions", "contents of the observation")
    return between(text, BEGIN, END, table(heads, rows))


def _row(game: Game) -> list[str]:
    """Return a game's row, for the default options and the smallest number of seats."""
    position = Position(game)
    shape = learning.observation_shape(game, position.state)
    text = (inspect.getdoc(game.features) or "").partition("\n")[0]
    return [
        f"`{game.info.name}`",
        " x ".join(map(str, shape)),
        f"{learning.num_dense_actions(game, position.state):,}",
        text.partition(";")[0].removeprefix("Return ").rstrip("."),
    ]
