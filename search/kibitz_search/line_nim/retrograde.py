"""Retrograde analysis of all subsets of a set of cells, 64 positions at once.

A position is *lost* if the player to move loses. The empty position is not lost, because the player
who took the last cell loses. Any other position is lost if and only if no line leads to a lost
position. Subsets are numbered by their bits, so lines always lead to smaller numbers, and one pass
in ascending order decides all positions.

The lowest six bits are the bit index within a word, so one load covers 64 positions:

- A line without cells among these six leads from word `h` to word ``h ^ line`` for all 64 bits.
- For a line with some cells among them, the bits without these cells are kept and shifted by the
  sum of the cells' bits.
- Lines within the six are resolved within the word, starting with its lowest undecided bit: each
  lost position marks the positions that win by moving to it.

Words are grouped into blocks of ``2 ** MIDDLE``. Lines that lead out of a block are processed for
the whole block at once, which the compiler vectorizes. For the others, a precomputed list contains
the lines that fit at each index in a block. `n` cells need ``2 ** n`` bits: 2 MiB for 24 cells, 32
MiB for 28.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record

WORD = 6
MIDDLE = 8
PRIME = 67
"""A modulus for which all powers of 2 below 2**64 have different remainders."""

Words = np.ndarray[Any, np.dtype[np.uint64]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]

ALL = np.uint64(2**64 - 1)


def _places() -> np.ndarray[Any, np.dtype[np.uint64]]:
    places = np.zeros(PRIME, np.uint64)
    for place in range(64):
        places[(1 << place) % PRIME] = place
    return places


PLACE = _places()
"""The index of a bit, by the bit's remainder."""
LACKING = np.array(
    [sum(1 << place for place in range(64) if not place & low) for low in range(64)], np.uint64
)
"""For each set of low bits, a mask of the indices in a word that contain none of them."""


class LineMasks:
    """The lines among `size` cells in the format for `fill`."""

    def __init__(self, lines: Sequence[int], size: int) -> None:
        self.words = 1 << max(0, size - WORD)
        self.middle = min(MIDDLE, max(0, size - WORD))
        high = [line for line in lines if line >> (WORD + self.middle)]
        inner = [line for line in lines if not line >> (WORD + self.middle) and line >> WORD]
        # The explicit dtype also makes empty arrays integers, so that numba compiles only once.
        self.far: Numbers = np.array([self._split(line) for line in high], np.int64)
        self.far = self.far.reshape(-1, 3)
        fitting = [
            [self._split(line)[1:] for line in inner if (line >> WORD) & ~place == 0]
            for place in range(1 << self.middle)
        ]
        self.start: Numbers = np.cumsum([0, *map(len, fitting)], dtype=np.int64)
        self.near: Numbers = np.array([number for row in fitting for number in row], np.int64)
        self.near = self.near.reshape(-1, 2)
        low = [line for line in lines if not line >> WORD]
        self.push = np.array([_push(place, low) for place in range(64)], np.uint64)

    def _split(self, line: int) -> tuple[int, int, int]:
        """Return a line's bits above a block, within a block, and within a word."""
        middle = (1 << self.middle) - 1
        return line >> (WORD + self.middle), (line >> WORD) & middle, line & 63


def _push(place: int, lines: Sequence[int]) -> int:
    """Return the mask of indices from which lines within a word lead to `place`."""
    return sum({1 << (place | line) for line in lines if not place & line})


@kernel
def _mark_won(lost: Words, at: Int, source: Int, size: Int, middle: Int, low: Int) -> None:
    """Mark as won all positions in a block from which a line leads to a lost one elsewhere."""
    keep, shift = LACKING[low], np.uint64(low)
    if middle == 0:
        for i in range(size):
            lost[at + i] |= (lost[source + i] & keep) << shift
    else:
        fit: Int = np.int64(middle)
        while fit < size:
            lost[at + fit] |= (lost[source + (fit ^ middle)] & keep) << shift
            fit = (fit + 1) | middle


@kernel
def _resolve_word(won: Any, push: Words) -> Any:
    """Return the lost positions of a word, given those that win by leaving the word."""
    lost = np.uint64(0)
    left = ~won
    while left != np.uint64(0):
        bit = left & (~left + np.uint64(1))
        lost |= bit
        won |= push[np.int64(PLACE[np.int64(bit % np.uint64(PRIME))])]
        left = ~(won | bit | (bit - np.uint64(1)))
    return lost


@kernel
def fill(
    lost: Words, far: Numbers, start: Numbers, near: Numbers, push: Words, middle: Int, ws: Record
) -> Int:
    """Write a bit for each subset, 1 if it is lost; return the number of words completed."""
    size = np.int64(1) << middle
    blocks = np.int64(lost.shape[0]) >> middle
    for block in range(blocks):
        if ws.stop != 0:
            return np.int64(block << middle)
        base = np.int64(block << middle)
        for i in range(size):
            lost[base + i] = np.uint64(0)
        for k in range(far.shape[0]):
            high = np.int64(far[k, 0])
            if high & ~block == 0:
                source = np.int64((block ^ high) << middle)
                _mark_won(lost, base, source, size, np.int64(far[k, 1]), np.int64(far[k, 2]))
        for i in range(size):
            won = lost[base + i]
            if base + i == 0:
                won |= np.uint64(1)
            for k in range(start[i], start[i + 1]):
                low = np.int64(near[k, 1])
                word = lost[base + (i ^ np.int64(near[k, 0]))]
                won |= (word & LACKING[low]) << np.uint64(low)
            lost[base + i] = _resolve_word(won, push)
    return np.int64(lost.shape[0])


@kernel
def is_lost(lost: Words, mask: Int) -> Int:
    """Return 1 if a position is lost for the player to move, otherwise 0."""
    return np.int64((lost[mask >> WORD] >> np.uint64(mask & 63)) & np.uint64(1))


@kernel
def answers(lost: Words, lines: Numbers, mask: Int, good: Numbers) -> None:
    """Count the winning replies and all replies to each line, adding one to each count.

    ``good[i, 0]`` is 0 if line `i` leads to a lost position.
    """
    for i in range(lines.shape[0]):
        after = mask ^ lines[i]
        good[i, 0] = 1 - is_lost(lost, after)
        good[i, 1] = 1
        for j in range(lines.shape[0]):
            line = lines[j]
            if line & ~after == 0:
                good[i, 1] += 1
                good[i, 0] += is_lost(lost, after ^ line)
