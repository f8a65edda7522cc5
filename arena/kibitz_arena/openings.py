"""Random openings for games whose option `opening` lists moves that are placed before play."""

from __future__ import annotations

import random

from kibitz_games.core.game import TERMINAL, Game, GameError, Model
from kibitz_protocol.wire.values import Options

MAX_ATTEMPTS = 1000
"""How many random lines are tried: most games refuse very few."""


def random_opening(
    game: Game, options: Options, seats: int, plies: int, seed: int | str
) -> Options:
    """Return ``{"opening": [...]}``, `plies` random moves that the game takes as an opening.

    The same arguments give the same moves. Raises `GameError` where no line is taken.
    """
    rng = random.Random(seed)
    for _ in range(MAX_ATTEMPTS):
        line = _random_line(game, game.Options.from_wire(options), seats, plies, rng)
        overlay: Options = {"opening": [*line]}
        if len(line) == plies and _is_playable(game, {**options, **overlay}, seats):
            return overlay
    raise GameError(f"expected an opening of {plies} plies that {game.info.name!r} takes")


def _random_line(
    game: Game, options: Model, seats: int, plies: int, rng: random.Random
) -> list[str]:
    """Return random moves from the start; fewer than `plies` where play was over."""
    state = game.start(options, seats, game.deal(options, seats, 0))
    line: list[str] = []
    while len(line) < plies and game.to_act(state) != TERMINAL:
        legal = game.legal(state)
        action = legal[int(rng.random() * len(legal))]
        line.append(game.format_move(game.encode(state, action)))
        game.play(state, action)
    return line


def _is_playable(game: Game, options: Options, seats: int) -> bool:
    try:
        model = game.Options.from_wire(options)
        state = game.start(model, seats, game.deal(model, seats, 0))
    except ValueError:
        return False
    return game.to_act(state) != TERMINAL
