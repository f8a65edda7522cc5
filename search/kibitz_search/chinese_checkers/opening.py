"""An opening book: the first moves of the shortest known ways across the board.

Until the players meet, their moves are independent, so openings can be searched in advance without
opponents ("Fun With Chinese Checkers", opening book). The book, ``openings.json``, contains lines
for the common star from the view of the player at the top; for the others, the board is rotated. A
line is played while the player's pegs match it and no opponent's peg is closer than
`MIN_FOREIGN_STEPS`. With four or more players, opponents' pegs are closer than that from the start,
so the book is not used.

``python -m kibitz_search.chinese_checkers.opening`` writes the book, including its own command
line.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from kibitz_games.chinese_checkers import GAME, rules
from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.indexing import Place, places
from kibitz_search.chinese_checkers.race_beam import RaceBeam
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
    lines = tuple(_line(text) for text in read["lines"])
    return {read["board"]: lines, f"{read['board']}-mirrored": tuple(map(_mirrored, lines))}


def _line(text: str) -> Line:
    shape = geo.geometry("star", 4)
    seen = places(shape, 3)
    moves = [move.split("-") for move in text.split()]
    return tuple((seen[int(origin)], seen[int(target)]) for origin, target in moves)


def _mirrored(line: Line) -> Line:
    """Return a line mirrored left to right."""
    return tuple(((b, a), (d, c)) for (a, b), (c, d) in line)


def _board_name(state: Any) -> str:
    board, size = geo.ALL[int(state["geometry"])]
    return f"{board}-{size}-{int(state['each'])}"


class OpeningBook:
    """The opening book oracle for one match."""

    def __init__(self, state: np.record) -> None:
        name = _board_name(state)
        self._lines = book()[name] + book()[f"{name}-mirrored"]

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


# --------------------------------------------------------------------------- writing the book


def crossings(widths: Sequence[int], moves: int) -> list[tuple[int, tuple[str, ...]]]:
    """Return the length and the first moves of the crossing found with each beam width."""
    state = GAME.start(GAME.Options(), 2, {})
    solo, found = RaceBeam(race_db.for_board(state)), []
    for width in widths:
        course = solo.find(state, 0, width)
        if course is not None:
            line = [GAME.encode(state, action) for action in course.actions[:moves]]
            found.append((len(course.actions), tuple(map(GAME.notation.format, line))))
    return sorted(found)


def main() -> None:
    """Write the book."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=8, help="number of moves per line")
    parser.add_argument("--lines", type=int, default=6, help="maximum number of lines")
    parser.add_argument("--widths", type=int, nargs="+", default=[256, 512, 768, 1024])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name(BOOK))
    chosen = parser.parse_args()
    lines = list(dict.fromkeys(line for _, line in crossings(chosen.widths, chosen.moves)))
    widths = " ".join(map(str, chosen.widths))
    written = {
        "board": "star-4-10",
        "what": "first moves of the shortest crossings found by beams of these widths",
        "made by": f"python -m kibitz_search.chinese_checkers.opening --moves {chosen.moves}"
        f" --lines {chosen.lines} --widths {widths}",
        "lines": [" ".join(line) for line in lines[: chosen.lines]],
    }
    chosen.out.write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
