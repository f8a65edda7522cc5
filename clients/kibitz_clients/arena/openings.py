"""Random openings for games whose option `opening` lists moves that are placed before play."""

from __future__ import annotations

import random

from kibitz_games.api import OVER, Game, GameError, Model
from kibitz_protocol.values import Options

ATTEMPTS = 1000
"""How many random lines are tried: most games refuse very few."""


def random_opening(game: Game, options: Options, seats: int, plies: int, seed: int) -> Options:
    """Return ``{"opening": [...]}``, `plies` random moves that the game takes as an opening.

    The same arguments give the same moves. Raises `GameError` where no line is taken.
    """
    rng = random.Random(seed)
    for _ in range(ATTEMPTS):
        line = _line(game, game.Options.read(options), seats, plies, rng)
        overlay: Options = {"opening": [*line]}
        if len(line) == plies and _playable(game, {**options, **overlay}, seats):
            return overlay
    raise GameError(f"expected an opening of {plies} plies that {game.info.name!r} takes")


def _line(game: Game, options: Model, seats: int, plies: int, rng: random.Random) -> list[str]:
    """Return random moves from the start; fewer than `plies` where play was over."""
    state = game.start(options, seats, game.deal(options, seats, 0))
    line: list[str] = []
    while len(line) < plies and game.to_act(state) != OVER:
        legal = game.legal(state)
        action = legal[int(rng.random() * len(legal))]
        line.append(game.text(game.encode(state, action)))
        game.play(state, action)
    return line


def _playable(game: Game, options: Options, seats: int) -> bool:
    try:
        model = game.Options.read(options)
        state = game.start(model, seats, game.deal(model, seats, 0))
    except ValueError:
        return False
    return game.to_act(state) != OVER
