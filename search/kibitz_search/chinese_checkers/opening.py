"""An opening book: the first moves of short crossings that did well in games.

Until the players meet, their moves are independent, so openings can be searched in advance without
opponents ("Fun With Chinese Checkers", opening book). The book, ``openings.json``, contains lines
for the common star from the view of the player at the top; for the others, the board is rotated. A
line is played while the player's pegs match it and no opponent's peg is closer than
`MIN_FOREIGN_STEPS`. With four or more players, opponents' pegs are closer than that from the start,
so the book is not used.

`kibitz_training.chinese_checkers.write_openings` writes the book.
"""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules
from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.chinese_checkers.indexing import Place, places
from kibitz_search.chinese_checkers.separation import board_of, nearest_foreign, own_pegs

MIN_FOREIGN_STEPS = 3
"""The book is not used if an opponent's peg is closer than this number of steps."""
BOOK = "openings.json"

Line = tuple[tuple[Place, Place], ...]
"""Moves between coordinates: steps from the tip of the goal along both edges."""


@functools.cache
def book() -> Mapping[str, tuple[Line, ...]]:
    """Return the lines by board name, ``star-4-10`` for the common board."""
    read = json.loads(files(__package__).joinpath(BOOK).read_text())
    return {read["board"]: tuple(line_of(line["moves"]) for line in read["lines"])}


def line_of(text: str) -> Line:
    """Return the line of moves such as ``9-17 2-29``."""
    shape = geo.geometry("star", 4)
    seen = places(shape, 3)
    moves = [move.split("-") for move in text.split()]
    return tuple((seen[int(origin)], seen[int(target)]) for origin, target in moves)


def mirrored(line: Line) -> Line:
    """Return a line mirrored left to right."""
    return tuple(((b, a), (d, c)) for (a, b), (c, d) in line)


def _board_name(state: Any) -> str:
    board, size = geo.ALL[int(state["geometry"])]
    return f"{board}-{size}-{int(state['each'])}"


class OpeningBook:
    """The opening book oracle for one match, with other `lines` than the book's if given."""

    def __init__(self, state: np.record, lines: Sequence[Line] | None = None) -> None:
        known = book()[_board_name(state)] if lines is None else lines
        self._lines = (*known, *map(mirrored, known))

    @staticmethod
    def supports(state: np.record) -> str | None:
        """Return why there is no book for a state, or None if there is one."""
        name = _board_name(state)
        return None if name in book() else f"no opening book for {name}"

    def probe(self, state: np.record, limits: SearchLimits) -> SearchResult | None:
        """Return a move from a matching line, chosen by the seed, or None if no line matches."""
        seat = int(op.to_act(state))
        if nearest_foreign(state, seat) < MIN_FOREIGN_STEPS:
            return None
        seen = places(board_of(state), int(state["goal"][seat]))
        pegs = frozenset(seen[hole] for hole in own_pegs(state, seat))
        home = frozenset(_home(state, seat))
        fitting = [rest for line in self._lines if (rest := following(line, home, pegs))]
        if not fitting:
            return None
        line = random.Random(f"book/{limits.seed}").choice(fitting)
        where = {place: hole for hole, place in enumerate(seen)}
        holes = int(state["holes"])
        actions = tuple(where[origin] * holes + where[target] for origin, target in line)
        if not rules.allows(state, np.int64(actions[0])):
            return None
        return SearchResult(actions[0], 0.0, len(actions), 1, actions, own_moves_only=True)


def _home(state: Any, seat: int) -> Sequence[Place]:
    shape, goal = board_of(state), int(state["goal"][seat])
    seen = places(shape, goal)
    return [seen[hole] for hole in shape.home(int(state["corner"][seat]), int(state["each"]))]


def following(line: Line, home: frozenset[Place], pegs: frozenset[Place]) -> Line:
    """Return the rest of a line after the position with `pegs`, or an empty line."""
    for at, (origin, target) in enumerate(line):
        if home == pegs:
            return line[at:]
        home = home - {origin} | {target}
    return ()
