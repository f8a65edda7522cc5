"""Self-play games of `threat` by seed, and training data from their positions.

A game begins with some random stones near the middle, and ends when a player has won or the search
has proven who wins. All positions of the game get this result. Searches are limited by positions,
not by time, so the same seed gives the same game on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.core import registry
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.five_in_a_row import pattern_board, threat, weights_file
from kibitz_search.five_in_a_row import pattern_classes as kinds
from kibitz_search.five_in_a_row.weights_file import CLASSES, GAME, SIZE

TABLE_MB = 2
OPENING = (3, 8)
"""The minimum and maximum number of random stones ..."""
MIDDLE = 6
"""... and the side length of the central square that they are placed in."""
LAMBDA = 0.85
"""The decay per move of TD(lambda): how much later values count in the chance of a position."""


@dataclass(frozen=True)
class PlayedGame:
    """The moves of a game, as actions, and its result.

    If the search has proven that the player to move wins, the last move begins this win.
    """

    opening: int
    """The number of random moves."""
    moves: tuple[int, ...]
    values: tuple[float, ...]
    """The search's value before each searched move, for the color that made it, except for proven
    values."""
    result: float
    """1 if the color that moved first won, 0 if it lost, 0.5 for a draw."""


def play(seed: int, size: int, nodes: int) -> PlayedGame:
    """Play a game on a board of the given size, with `nodes` positions per search."""
    game = registry.get(GAME)
    options = game.Options(first="seat-0", size=size)
    source = np.random.default_rng(seed)
    state: Any = game.start(options, 2, game.deal(options, 2, 0))
    opening = _open(game, state, source)
    search = threat.Threat(state, table=TABLE_MB)
    ev = weights_file.fitted(state)
    moves, values = list(opening), list[float]()
    while game.to_act(state) >= 0:
        found = search.search(
            state, ev, SearchLimits(nodes=nodes, seed=int(source.integers(2**62)))
        )
        mover = len(moves) % 2
        if abs(found.value) >= WIN_SCORE:
            won = float((found.value > 0) == (mover == 0))
            if found.value > 0:
                moves.append(found.action)
            return PlayedGame(len(opening), tuple(moves), tuple(values), won)
        values.append(found.value)
        game.play(state, found.action)
        moves.append(found.action)
    outcome = game.outcome(state)
    assert outcome is not None, "a play without a seat to act is over"
    return PlayedGame(len(opening), tuple(moves), tuple(values), outcome.scores[0])


def _open(game: Any, state: Any, source: np.random.Generator) -> list[int]:
    """Play the first moves of a game at random, and return them."""
    width = int(state.width)
    low = (width - MIDDLE) // 2
    cells = [geo.cell(low + x, low + y) for x in range(MIDDLE) for y in range(MIDDLE)]
    drawn = source.permutation(cells)[: source.integers(OPENING[0], OPENING[1] + 1)]
    moves = [int(cell) for cell in drawn]
    for move in moves:
        game.play(state, move)
    return moves


def positions(played: PlayedGame, size: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers [n, SIZE] and chances [n] of a game's positions that can be search leaves.

    Positions before the first searched move are excluded. So are positions that threats decide or
    in which a five must be blocked, because a search never evaluates these. The chance of the color
    to move is the TD(`LAMBDA`) return (R. S. Sutton, 1988) of the later search values, where
    `scale` converts values to log odds, and of the result.
    """
    chances = _returns(played, scale)
    tb = kinds.vocabulary(exact=False)
    fd: Any = pattern_board.empty_board(size, False, tb)
    rows, results = [], []
    for number, move in enumerate(played.moves):
        if 0 <= number - played.opening < len(chances) and _is_open(fd):
            rows.append(numbers(fd))
            first = chances[number - played.opening]
            results.append(first if number % 2 == 0 else 1.0 - first)
        pattern_board.place_stone(fd, tb, np.int64(pattern_board.cell_of(fd, move)))
    return np.array(rows, np.float64).reshape(-1, SIZE), np.array(results, np.float64)


def _returns(played: PlayedGame, scale: float) -> np.ndarray:
    """Return the chance of the first color at each searched move."""
    found = np.zeros(len(played.values))
    after = played.result
    for at in range(len(found) - 1, -1, -1):
        own = 1 / (1 + np.exp(-played.values[at] / scale))
        first = own if (played.opening + at) % 2 == 0 else 1.0 - own
        after = (1 - LAMBDA) * first + LAMBDA * after
        found[at] = after
    return found


def _is_open(fd: Any) -> bool:
    """Return whether the mover neither wins by threats nor has to block a five."""
    other = 1 - int(fd.side)
    return not threat.won_by_threats(fd) and fd.counts[other, kinds.FIVE] == 0


def numbers(fd: Any) -> np.ndarray:
    """Return the numbers [SIZE] that `threat.evaluate` multiplies by its weights.

    They are the number of empty cells of each class for the color to move, minus that for the other
    color, and a 1 for the combination of threats.
    """
    me = int(fd.side)
    found = np.zeros(SIZE)
    found[:CLASSES] = fd.counts[me, :CLASSES]
    found[CLASSES : 2 * CLASSES] = -fd.counts[1 - me, :CLASSES]
    found[2 * CLASSES + int(threat.threats_mask(fd))] = 1
    return found
