"""Games of `threat` against itself by seed, and training data from their positions.

A game begins with some stones near the middle that are drawn, and goes on until somebody has won
or the search has proved who wins: that is the result of all its positions. The searches look at a
number of positions and at no clock, so the same seed plays the same game on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.core import registry
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.five_in_a_row import pattern_board, threat
from kibitz_search.five_in_a_row import pattern_classes as kinds
from kibitz_search.five_in_a_row.weights_file import CLASSES, GAME, SIZE

TABLE_MB = 2
OPENING = (3, 8)
"""At least and at most so many stones are drawn ..."""
MIDDLE = 6
"""... in the square of so many cells in the middle."""
LAMBDA = 0.85
"""How much what comes later counts in the chance of a position, for each move."""


@dataclass(frozen=True)
class PlayedGame:
    """The moves of a game, as actions, and how it ended."""

    opening: int
    """The number of moves that were drawn at random."""
    moves: tuple[int, ...]
    values: tuple[float, ...]
    """The search's value before each move that was not drawn, for the color that made it."""
    result: float
    """1 where the color that made the first move won, 0 where it lost, 0.5 for a draw."""


def play(seed: int, size: int, nodes: int) -> PlayedGame:
    """Play a game on a board of a size, in which every search looks at `nodes` positions."""
    game = registry.get(GAME)
    options = game.Options(first="seat-0", size=size)
    source = np.random.default_rng(seed)
    state: Any = game.start(options, 2, game.deal(options, 2, 0))
    opening = _open(game, state, source)
    search = threat.Threat(state, table=TABLE_MB)
    ev = kinds.usual(state)
    moves, values = list(opening), list[float]()
    while game.to_act(state) >= 0:
        found = search.search(
            state, ev, SearchLimits(nodes=nodes, seed=int(source.integers(2**62)))
        )
        mover = len(moves) % 2
        if abs(found.value) >= WIN_SCORE:
            won = float((found.value > 0) == (mover == 0))
            return PlayedGame(len(opening), tuple(moves), tuple(values), won)
        values.append(found.value)
        game.play(state, found.action)
        moves.append(found.action)
    outcome = game.outcome(state)
    assert outcome is not None, "a play in which nobody acts is over"
    return PlayedGame(len(opening), tuple(moves), tuple(values), outcome.scores[0])


def _open(game: Any, state: Any, source: np.random.Generator) -> list[int]:
    """Make the first moves of a game, and return them."""
    width = int(state.width)
    low = (width - MIDDLE) // 2
    cells = [geo.cell(low + x, low + y) for x in range(MIDDLE) for y in range(MIDDLE)]
    drawn = source.permutation(cells)[: source.integers(OPENING[0], OPENING[1] + 1)]
    moves = [int(cell) for cell in drawn]
    for move in moves:
        game.play(state, move)
    return moves


def positions(played: PlayedGame, size: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the positions that a leaf may be [n, SIZE], and their chances [n].

    Left out are positions before the first searched move, and those that are decided by threats or
    in which a five has to be stopped: a search never evaluates them. The chance of the color to
    move to win is the return of temporal differences (R. S. Sutton, 1988), TD(`LAMBDA`): the
    values of the searches from here on, `scale` to the logarithm of odds, and the result.
    """
    chances = _returns(played, scale)
    tb = kinds.vocabulary(exact=False)
    fd: Any = pattern_board.empty_board(size, False, tb)
    rows, results = [], []
    for number, move in enumerate(played.moves):
        if number >= played.opening and _is_open(fd):
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
    """Return whether neither side has a win by counts, nor a five to stop."""
    other = 1 - int(fd.side)
    return not threat.won_by_threats(fd) and fd.counts[other, kinds.FIVE] == 0


def numbers(fd: Any) -> np.ndarray:
    """Return what `threat.evaluate` multiplies its weights by [SIZE].

    That is the number of empty cells of each class for the color to move, less those for the
    other, and a 1 for the combination of threats.
    """
    me = int(fd.side)
    found = np.zeros(SIZE)
    found[:CLASSES] = fd.counts[me, :CLASSES]
    found[CLASSES : 2 * CLASSES] = -fd.counts[1 - me, :CLASSES]
    found[2 * CLASSES + int(threat.threats_mask(fd))] = 1
    return found
