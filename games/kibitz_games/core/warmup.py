"""Compiling a whole game before it is needed."""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled.warmup import warm_up_operations
from kibitz_games.core.game import Game, Model


def warm_up(game: Game, options: Model | None = None, seats: int | None = None) -> None:
    """Compile or load all kernels of a game, by using each once on a real start state.

    A bot does this, and the same with its own kernels, before it says that it is ready. A server
    loads what it needs when a game is first played, and compiles what nobody has compiled before.
    """
    chosen = game.Options() if options is None else options
    players = game.info.seats[0] if seats is None else seats
    state = game.start(chosen, players, game.deal(chosen, players, 0))
    warm_up_operations(state)
    _exercise(game, state, players)


def warm_up_writing(game: Game) -> None:
    """Compile or load what a server writes of a game with every turn."""
    options, seats = game.Options(), game.info.seats[0]
    _write(game, game.start(options, seats, game.deal(options, seats, 0)))


def _write(game: Game, state: np.record) -> None:
    game.view_json(state, None)
    game.legal_json(state, len(game.legal(state)))


def _exercise(game: Game, state: np.record, players: int) -> None:
    """Use everything of a game that its interface offers on a state, which is spoilt by it."""
    action = game.decode(state, game.encode(state, game.legal(state)[0]))
    game.play(state, action)
    game.view(state, None)
    _write(game, state)
    game.undo(state, action)
    for seat in range(players):
        game.forfeit(state, seat)
    game.outcome(state)
