"""The first moves, from a book: beginnings of the shortest ways across that were found.

Until the players meet, their moves have nothing to do with each other, so an opening can be
searched out in advance, alone on the board ("Fun With Chinese Checkers", opening book). The book,
``openings.json``, has lines for the common star as seen by the player at the top; everybody else
turns the board. It is played as long as the own pegs stand as a line says and no foreign peg is
nearer than `MIN_FOREIGN_STEPS` to one of them. With four players or more it is closed.

The book is written by ``python -m kibitz_search.chinese_checkers.opening``, which says in
it how it was called.
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
"""The book is closed when a foreign peg is nearer than so many steps."""
BOOK = "openings.json"

Line = tuple[tuple[Place, Place], ...]
"""Moves from place to place, in steps from the tip of the goal along its two edges."""


@functools.cache
def book() -> Mapping[str, tuple[Line, ...]]:
    """Return the lines by the name of the board, ``star-4-10`` for the common one."""
    read = json.loads(files(__package__).joinpath(BOOK).read_text())
    lines = tuple(_line(text) for text in read["lines"])
    return {read["board"]: lines, f"{read['board']}-mirrored": tuple(map(_mirrored, lines))}


def _line(text: str) -> Line:
    shape = geo.geometry("star", 4)
    seen = places(shape, 3)
    moves = [move.split("-") for move in text.split()]
    return tuple((seen[int(origin)], seen[int(target)]) for origin, target in moves)


def _mirrored(line: Line) -> Line:
    """Return a line with left and right exchanged."""
    return tuple(((b, a), (d, c)) for (a, b), (c, d) in line)


def _board_name(state: Any) -> str:
    board, size = geo.ALL[int(state["geometry"])]
    return f"{board}-{size}-{int(state['each'])}"


class OpeningBook:
    """The book for one match."""

    def __init__(self, state: np.record) -> None:
        name = _board_name(state)
        self._lines = book()[name] + book()[f"{name}-mirrored"]

    @staticmethod
    def supports(state: np.record) -> str | None:
        """Return why there is no book for a state, or None if there is one."""
        name = _board_name(state)
        return None if name in book() else f"there is no book for {name}"

    def probe(self, state: np.record, limits: SearchLimits) -> SearchResult | None:
        """Return a move of a line that fits, chosen by the seed, None where there is none."""
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
    """Return what of a line follows where these pegs stand, empty if they do not stand on it."""
    for at, (origin, target) in enumerate(line):
        if home == pegs:
            return line[at:]
        home = home - {origin} | {target}
    return ()


# --------------------------------------------------------------------------- writing the book


def crossings(widths: Sequence[int], moves: int) -> list[tuple[int, tuple[str, ...]]]:
    """Return for each width of a beam how long its way across is, and its first moves."""
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
    parser.add_argument("--moves", type=int, default=8, help="moves of a line")
    parser.add_argument("--lines", type=int, default=6, help="at most so many lines")
    parser.add_argument("--widths", type=int, nargs="+", default=[256, 512, 768, 1024])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name(BOOK))
    chosen = parser.parse_args()
    lines = list(dict.fromkeys(line for _, line in crossings(chosen.widths, chosen.moves)))
    widths = " ".join(map(str, chosen.widths))
    written = {
        "board": "star-4-10",
        "what": "first moves of the shortest ways across that beams of these widths found",
        "made by": f"python -m kibitz_search.chinese_checkers.opening --moves {chosen.moves}"
        f" --lines {chosen.lines} --widths {widths}",
        "lines": [" ".join(line) for line in lines[: chosen.lines]],
    }
    chosen.out.write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
