"""Self-play games of `threat` by seed, and training data from their positions.

A game begins with some random stones near the middle, and ends when a player has won or the search
has proven who wins. All positions of the game get this result. Searches are limited by positions,
not by time, so the same seed gives the same game on every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz_games.core import registry
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.five_in_a_row import pattern_board, threat, weights_file
from kibitz_search.five_in_a_row import pattern_classes as kinds
from kibitz_search.five_in_a_row.pattern_board import SHAPES
from kibitz_search.five_in_a_row.weights_file import GAME

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
        if abs(found.value) > threat.DECIDED:
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


@dataclass(frozen=True)
class Leaves:
    """The evaluated numbers of positions that can be search leaves, sparse.

    The worth of the entry's shape counts `count` times in the value of its position: positive for
    a shape of the color to move, negative for `SHAPES` plus a shape of the other color.
    """

    position: np.ndarray
    column: np.ndarray
    count: np.ndarray
    threats: np.ndarray
    """The combination of threats of each position."""
    chances: np.ndarray
    """The chance of the color to move in each position."""
    share: np.ndarray
    """The weight of each position; those of a game add up to 1."""


@dataclass(frozen=True)
class Choices:
    """The moves that a search considered in positions, and the one that it chose."""

    attack: np.ndarray
    """The shape of each move for the color to move."""
    defend: np.ndarray
    """The shape of each move for the other color."""
    starts: np.ndarray
    """The index of the first move of each position."""
    chosen: np.ndarray
    """The index of the chosen move of each position."""


def studied(played: PlayedGame, size: int, scale: float) -> tuple[Leaves, Choices]:
    """Return the positions of a game after its opening.

    Leaves exclude positions that threats decide or in which a five must be blocked, because a
    search never evaluates these; choices exclude positions with one move. The chance of the color
    to move is the TD(`LAMBDA`) return (R. S. Sutton, 1988) of the later search values, where
    `scale` converts values to log odds, and of the result.
    """
    chances = _returns(played, scale)
    tb = kinds.vocabulary(exact=False)
    fd: Any = pattern_board.empty_board(size, False, tb)
    ws, ev = _workspace(size)
    leaves, choices = list[tuple[np.ndarray, int, float]](), list[tuple[np.ndarray, int]]()
    for number, move in enumerate(played.moves):
        cell, at = pattern_board.cell_of(fd, move), number - played.opening
        if at >= 0 and not threat.won_by_threats(fd):
            if at < len(chances) and fd.counts[1 - int(fd.side), kinds.FIVE] == 0:
                chance = chances[at] if number % 2 == 0 else 1.0 - chances[at]
                leaves.append((numbers(fd, tb), int(threat.threats_mask(fd)), chance))
            count = threat.generate_moves(fd, tb, ws, ev, np.int64(0), np.int64(0))
            cells = ws.moves[0, :count]
            if count > 1 and cell in cells:
                shapes = pattern_board.shapes_of(fd, tb, cells)
                choices.append((shapes, int(np.flatnonzero(cells == cell)[0])))
        pattern_board.place_stone(fd, tb, np.int64(cell))
    return _leaves(leaves), _choices(choices)


def _leaves(found: list[tuple[np.ndarray, int, float]]) -> Leaves:
    rows = np.array([row for row, _, _ in found], np.int16).reshape(-1, 2 * SHAPES)
    position, column = np.nonzero(rows)
    return Leaves(
        position,
        column,
        rows[position, column],
        np.array([mask for _, mask, _ in found], np.int64),
        np.array([chance for _, _, chance in found], np.float64),
        np.full(len(found), 1 / max(1, len(found))),
    )


def _choices(found: list[tuple[np.ndarray, int]]) -> Choices:
    shapes = np.concatenate([np.zeros((2, 0), np.int16), *(each for each, _ in found)], axis=1)
    lengths = np.array([each.shape[1] for each, _ in found], np.int64)
    starts = np.cumsum(lengths) - lengths
    chosen = starts + np.array([at for _, at in found], np.int64)
    return Choices(shapes[0], shapes[1], starts, chosen)


def joined_leaves(parts: Sequence[Leaves]) -> Leaves:
    """Return the positions of all parts."""
    before = np.cumsum([0, *(len(part.threats) for part in parts)])
    moved = [part.position + first for part, first in zip(parts, before, strict=False)]
    return Leaves(
        np.concatenate(moved),
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("column", "count", "threats", "chances", "share")
        ),
    )


def joined_choices(parts: Sequence[Choices]) -> Choices:
    """Return the positions of all parts."""
    before = np.cumsum([0, *(len(part.attack) for part in parts)])
    moved = [
        (part.starts + first, part.chosen + first)
        for part, first in zip(parts, before, strict=False)
    ]
    return Choices(
        np.concatenate([part.attack for part in parts]),
        np.concatenate([part.defend for part in parts]),
        *(np.concatenate(each) for each in zip(*moved, strict=True)),
    )


@functools.cache
def _workspace(size: int) -> tuple[Any, Any]:
    """Return a workspace and weights for generating moves."""
    game = registry.get(GAME)
    state = game.start(game.Options(first="seat-0", size=size), 2, {})
    return threat.workspace(state), kinds.usual(state)


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


def numbers(fd: Any, tb: np.record) -> np.ndarray:
    """Return the numbers [2 * SHAPES] that the worth of shapes is multiplied by.

    They are the number of empty cells of each shape for the color to move, and minus that for the
    other color.
    """
    cells = fd.cells[: int(fd.area)]
    empty = cells[fd.board[cells] == pattern_board.EMPTY]
    shapes = pattern_board.shapes_of(fd, tb, empty)
    own, other = (np.bincount(each, minlength=SHAPES) for each in shapes)
    return np.concatenate([own, -other])
