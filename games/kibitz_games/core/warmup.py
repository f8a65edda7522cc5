"""Ahead-of-time compilation of a game's kernels."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np

from kibitz_games.compiled import cache
from kibitz_games.compiled.mode import compiled
from kibitz_games.core.game import Game, Model

MOST_PLIES = 300
"""The limit on the plies of a warm-up, enough for a game to call all of its kernels."""


def warm_up(game: Game, options: Model | None = None, seats: int | None = None) -> None:
    """Compile or load the kernels that the game's methods call, by calling each once.

    Before a bot reports that it is ready, it warms up the game and its own kernels in this way.
    """
    chosen = game.Options() if options is None else options
    players = game.info.seats[0] if seats is None else seats
    state = game.start(chosen, players, game.deal(chosen, players, 0))
    _exercise(game, state, players)


def warm_up_for_server(game: Game) -> None:
    """Compile or load every kernel of a game that a server calls.

    Takes a fraction of a second if the machine code is cached, otherwise up to a minute. Then
    creates the marker file that `is_compiled` looks for.
    """
    for values in game.warm_up_options:
        options, seats = game.Options.from_wire(values), game.info.seats[0]
        state = game.start(options, seats, game.deal(options, seats, 0))
        _serve(game, state, seats)
    if compiled():
        _mark(game).touch()


def is_compiled(game: Game) -> bool:
    """Return whether a server can load all kernels of a game without compiling any."""
    return _mark(game).exists()


def _mark(game: Game) -> Path:
    """Return the path of the file that marks the machine code of a game's rules as complete."""
    rules = Path(inspect.getfile(type(game))).resolve()
    key = cache.fingerprint(Path(__file__).resolve())  # changes when the calls below do
    return cache.module_directory(rules) / f"{game.info.name}-{key[:16]}.server"


def _serve(game: Game, start: np.record, seats: int) -> None:
    """Call everything that a server calls: at the start, after a move, and at the end."""
    _show(game, start, seats)
    if game.info.on_flag == "skip":
        game.play_turn(start.copy(), game.skip(start))
    state = start.copy()
    for ply in range(min(game.info.max_plies, MOST_PLIES)):
        legal = game.legal(state)
        if not legal:
            break
        game.play_turn(state, game.decode(state, game.encode(state, legal[0])))
        if ply == 0:
            _show(game, state, seats)
    _show(game, state, seats)
    for seat in range(seats):
        game.forfeit(start, seat)
    _show(game, start, seats)


def _show(game: Game, state: np.record, seats: int) -> None:
    """Build the messages to players and spectators for a state."""
    for seat in (None, *range(seats)):
        view = game.view(state, seat)
        view.to_wire()
        game.scene(view)
        game.view_json(state, seat)
    game.scene(game.referee_view(state))
    game.count_legal(state)
    _write(game, state)
    game.outcome(state)


def _write(game: Game, state: np.record) -> None:
    game.view_json(state, None)
    game.legal_json(state, len(game.legal(state)))


def _exercise(game: Game, state: np.record, players: int) -> None:
    """Call all methods of a game's interface on a state; this modifies the state."""
    action = game.decode(state, game.encode(state, game.legal(state)[0]))
    game.play(state, action)
    game.view(state, None)
    _write(game, state)
    game.undo(state, action)
    for seat in range(players):
        game.forfeit(state, seat)
    game.outcome(state)
