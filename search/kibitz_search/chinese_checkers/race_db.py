"""The race database: from every set of pegs near the goal, the number of moves to a full goal.

Built backwards from the full goal, one distance after the other (retrograde breadth-first search).
A move can be taken back by a move: a chain of jumps the other way round hops over the same pegs.
So the sets at distance d + 1 are those that a move leads to from distance d and that have none
yet. Only where pegs stick in the goal (`sticky_goal`) some moves have no way back, and these are
left out. Ways are inside the triangle: one that leaves it and comes back is not looked at.

For the common star that is the 28 holes nearest the goal, C(28,10) = 13,123,110 sets, at most 15
moves; half a byte each, 6.6 MB. The file is a record as it lies in memory. It is mapped, so that
all bots of a machine share its pages; what is written into a record (where the triangle lies on the
bot's board) stays its own.

A table is built when it is first needed, under a lock, and kept beside the cache of machine code.
Source of the idea: "Fun With Chinese Checkers", which names a database of pre-computed moves on
boards without the opponents.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import filelock
import numpy as np

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.chinese_checkers import indexing as tri
from kibitz_search.chinese_checkers.indexing import OUTSIDE, Triangle

i64 = kernels.int64_cast()

UNKNOWN = 255
MAX_DISTANCE = 15
"""The largest distance that half a byte holds."""
PLAIN_MAX_SETS = 1 << 10
"""Without a compiler no larger table is built; one that is there is used."""

MOVE = 64
"""A move, in the units of guesses."""
PACE = 22
"""The price of a step from outside into the triangle: three steps are about a move."""


def race_type(triangle: Triangle) -> np.dtype[Any]:
    """Return the record type of the table of a triangle."""
    return _race_type(triangle.side, triangle.pegs)


@functools.cache
def _race_type(side: int, pegs: int) -> np.dtype[Any]:
    triangle = Triangle(side, pegs)
    half, number = triangle.half, triangle.holes
    fields = [
        ("number", np.int64),  # holes of the triangle
        ("pegs", np.int64),
        ("half", np.int64),
        ("sticky", np.int64),
        ("through", np.int64),
        ("near", np.int8, (number, 6)),
        ("land", np.int8, (number, 6)),
        ("beside", np.int64, (number,)),  # the neighbors as a mask
        ("ones", np.uint8, (1 << half,)),  # how many bits of a lower half are set
        ("lowest", np.uint8, (37,)),  # the number of a bit by its mask modulo 37
        ("low", np.int32, (1 << half,)),
        ("high", np.int32, (pegs + 1, 1 << (number - half))),
        ("values", np.uint8, ((triangle.sets + 1) // 2,)),
        # What follows is of a board, and filled in by `for_board`.
        ("bit", np.uint8, (geo.CORNERS, geo.MAX_HOLES + 1)),  # by goal and hole
        ("hole", np.uint8, (geo.CORNERS, number)),  # by goal and bit
        ("turn", np.uint8, (geo.CORNERS, geo.MAX_HOLES + 1)),  # by goal and hole: row by row
        ("far", np.uint8, (geo.MAX_HOLES + 1, geo.MAX_HOLES + 1)),  # steps between two holes
    ]
    dtype = kernels.record_type("race", fields, source=__file__)
    operations.implement(dtype, evaluate=_evaluate)
    return dtype


# ------------------------------------------------------------------------------ sets and moves


@kernel
def rank(race: Record, mask: Int) -> Int:
    """Return the place of a set of pegs among all of its size."""
    lower = mask & ((1 << i64(race.half)) - 1)
    return i64(race.low[lower]) + i64(race.high[race.ones[lower], mask >> i64(race.half)])


@kernel
def distance(race: Record, mask: Int) -> Int:
    """Return the number of moves that a set of pegs is from the full goal."""
    place = rank(race, mask)
    return (i64(race.values[place >> 1]) >> (4 * (place & 1))) & 15


@kernel
def targets(race: Record, mask: Int, origin: Int, within: Int) -> Int:
    """Return the mask of holes that the peg in `origin` may move to.

    Jumps stay in the holes of the mask `within`.
    """
    rest = mask & ~(i64(1) << origin)
    steps = i64(race.beside[origin]) & ~rest
    reached: Int = i64(1) << origin
    waiting: Int = i64(0)
    here: Int = i64(origin)
    while True:
        if i64(race.beside[here]) & rest != 0:
            for way in range(6):
                land = i64(race.land[here, way])
                if land < 0 or ((rest | reached | ~within) >> land) & 1 != 0:
                    continue
                if (rest >> i64(race.near[here, way])) & 1 != 0:
                    reached |= i64(1) << land
                    waiting |= i64(1) << land
        if waiting == 0:
            return (steps | reached) & ~(i64(1) << origin)
        here = i64(race.lowest[(waiting & -waiting) % 37])
        waiting &= waiting - 1


@kernel
def moves_to(race: Record, mask: Int, target: Int) -> Int:
    """Return the mask of holes from which the peg in `target` may have come."""
    every = (i64(1) << i64(race.number)) - 1
    origins = targets(race, mask, target, every)
    if race.sticky == 0:
        return origins
    goal = (i64(1) << i64(race.pegs)) - 1
    inside: Int = i64(0)
    if (goal >> target) & 1 != 0:
        inside = origins if race.through != 0 else targets(race, mask, target, goal)
    return (origins & ~goal) | (inside & goal)


@kernel
def moves_from(race: Record, mask: Int, origin: Int) -> Int:
    """Return the mask of holes that the peg in `origin` may move to by the table's rules."""
    every = (i64(1) << i64(race.number)) - 1
    goal = (i64(1) << i64(race.pegs)) - 1
    if race.sticky == 0 or (goal >> origin) & 1 == 0:
        return targets(race, mask, origin, every)
    return targets(race, mask, origin, every if race.through != 0 else goal) & goal


# ------------------------------------------------------------------------------------- building


@kernel
def _following(mask: Int) -> Int:
    """Return the next larger mask with as many bits (Gosper)."""
    lowest = mask & -mask
    ripple = mask + lowest
    return ripple | (((mask ^ ripple) // lowest) >> 2)


@kernel
def _expand(race: Record, table: Any, depth: Int) -> Int:
    """Find the sets at distance `depth` + 1 and return how many there are."""
    number = i64(race.number)
    mask: Any = (i64(1) << i64(race.pegs)) - 1
    new: Int = i64(0)
    for place in range(len(table)):
        if table[place] == depth:
            for hole in range(number):
                if (mask >> hole) & 1 == 0:
                    continue
                rest = mask & ~(i64(1) << hole)
                origins: Int = moves_to(race, mask, i64(hole))
                while origins != 0:
                    before = rank(race, rest | (origins & -origins))
                    origins &= origins - 1
                    if table[before] == UNKNOWN:
                        table[before] = depth + 1
                        new += 1
        mask = _following(mask)
    return new


def distances(race: Any) -> np.ndarray:
    """Return the distance of every set by its rank, `UNKNOWN` for those that never get there.

    Takes some 20 seconds for the common star, compiled.
    """
    table = np.full(Triangle(_side(race), int(race.pegs)).sets, UNKNOWN, np.uint8)
    table[0] = depth = 0
    while _expand(race, table, np.int64(depth)):
        depth += 1
    return table


def _side(race: Any) -> int:
    return int((8 * int(race.number) + 1) ** 0.5 - 1) // 2


def histogram(race: Any) -> list[int]:
    """Return how many sets are at each distance, from 0."""
    values = np.stack([race.values & 15, race.values >> 4], axis=1).ravel()
    sets = Triangle(_side(race), int(race.pegs)).sets
    counts: list[int] = np.bincount(values[:sets]).tolist()
    return counts


def _blank(triangle: Triangle, sticky: bool, through: bool) -> Any:
    """Return the record of a triangle, distances and board still missing."""
    race: Any = kernels.new(race_type(triangle))
    race.number, race.pegs, race.half = triangle.holes, triangle.pegs, triangle.half
    race.sticky, race.through = sticky, through
    race.near[:], race.land[:] = triangle.neighbours(1), triangle.neighbours(2)
    race.beside[:] = [sum(1 << n for n in row if n >= 0) for row in race.near.tolist()]
    race.ones[:] = [mask.bit_count() for mask in range(1 << triangle.half)]
    race.lowest[[(1 << bit) % 37 for bit in range(36)]] = range(36)
    race.low[:], race.high[:] = triangle.low(), triangle.high()
    return race


def build(triangle: Triangle, *, sticky: bool = False, through: bool = True) -> np.record:
    """Return a new table, or raise `UnsupportedBoardError`."""
    race = _blank(triangle, sticky, through)
    table = distances(race)
    if table.max() > MAX_DISTANCE:
        raise UnsupportedBoardError(
            f"some sets of {triangle} are further than {MAX_DISTANCE} moves from the goal"
        )
    even = np.append(table, np.zeros(len(table) % 2, np.uint8))
    race.values[:] = even[::2] | even[1::2] << 4
    record: np.record = race
    return record


# -------------------------------------------------------------------------------------- keeping


class UnsupportedBoardError(ValueError):
    """There is no table for a board and its rules; `str()` says why."""


def cache_path(triangle: Triangle, sticky: bool, through: bool) -> Path:
    """Return the file that keeps a table; its name changes with this module."""
    tag = str((race_type(triangle).names or ("",))[-1]).rpartition("_")[2]
    rules = f"sticky{int(through)}" if sticky else "free"
    name = f"race-{triangle.side}-{triangle.pegs}-{rules}-{tag}.bin"
    return kernels.cache_directory() / name


def load(triangle: Triangle, *, sticky: bool = False, through: bool = True) -> Any:
    """Return a table, mapped; build it where there is none. Raises `UnsupportedBoardError`."""
    path = cache_path(triangle, sticky, through)
    if not path.exists():
        _make(path, triangle, sticky, through)
    mapped = np.memmap(path, race_type(triangle), mode="c", shape=(1,))
    return np.asarray(mapped)[0]


def _make(path: Path, triangle: Triangle, sticky: bool, through: bool) -> None:
    """Build a table and keep it, once for all who ask at the same time."""
    if not kernels.compiled() and triangle.sets > PLAIN_MAX_SETS:
        raise UnsupportedBoardError(
            f"a table of {triangle.sets} sets is built only with a compiler"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(path.parent / "race.lock"):
        if path.exists():
            return
        race = build(triangle, sticky=sticky, through=through)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(race.tobytes())
        fresh.replace(path)
        stem = path.stem.rpartition("-")[0]
        for stale in path.parent.glob(f"{stem}-*.bin"):
            if stale != path:
                stale.unlink(missing_ok=True)


def unsupported(state: Any) -> str | None:
    """Return why there is no table for the board and the rules of a state, or None."""
    return "long jumps hop over pegs far away" if int(state["long_jumps"]) else None


def for_board(state: Any) -> Any:
    """Return the table for the board and the rules of a state; raises `UnsupportedBoardError`."""
    if (reason := unsupported(state)) is not None:
        raise UnsupportedBoardError(reason)
    shape = geo.geometry(*geo.ALL[int(state["geometry"])])
    triangle = tri.largest(shape, int(state["each"]))
    sticky = bool(state["sticky"])
    race = load(triangle, sticky=sticky, through=bool(state["through"]) or not sticky)
    race.bit[:] = OUTSIDE
    race.far[: shape.holes, : shape.holes] = steps_between(shape)
    for goal in geo.corners_of(shape.board):
        holes = tri.holes(shape, triangle, goal)
        race.hole[goal] = holes
        race.bit[goal, list(holes)] = range(triangle.holes)
        race.turn[goal, tri.in_order(shape, goal)] = range(shape.holes)
    return race


def steps_between(shape: geo.Geometry) -> np.ndarray:
    """Return the steps between any two holes: int64 [holes, holes]."""
    x, y = np.array(shape.points).T
    across, down = abs(x[:, None] - x), abs(y[:, None] - y)
    far: np.ndarray = down + np.maximum(0, (across - down) // 2)
    return far


@kernel
def mask_of(race: Record, st: Record, seat: Int) -> Int:
    """Return the pegs of `seat` as a set in the triangle at its goal, -1 if one is outside."""
    mask: Int = i64(0)
    for slot in range(st.each):
        bit = i64(race.bit[st.goal[seat], st.pegs[seat, slot]])
        if bit == OUTSIDE:
            return i64(-1)
        mask |= i64(1) << bit
    return mask


# --------------------------------------------------------------------------------------- guesses


@kernel
def guess(race: Record, st: Record, seat: Int) -> Int:
    """Return about how many moves the pegs of `seat` are from the goal, in units of `MOVE`.

    Exact, and a multiple of `MOVE`, where all pegs are in the triangle.
    """
    goal = i64(st.goal[seat])
    mask: Int = i64(0)
    for slot in range(st.each):
        bit: Int = i64(race.bit[goal, st.pegs[seat, slot]])
        if bit != OUTSIDE:
            mask |= i64(1) << bit
    way: Int = i64(0)
    hole: Int = _next_outside(race, st, seat, i64(-1))
    while hole >= 0:
        bit = _nearest(race, goal, hole, mask)
        mask |= i64(1) << bit
        way += i64(race.far[hole, race.hole[goal, bit]])
        hole = _next_outside(race, st, seat, i64(race.turn[goal, hole]))
    return MOVE * distance(race, mask) + PACE * way


@kernel
def _next_outside(race: Record, st: Record, seat: Int, last: Int) -> Int:
    """Return the hole of the next own peg outside the triangle after the turn `last`, or -1.

    Row by row from the goal, so that a guess depends on the pegs as a set, and is the same from
    every side of the board.
    """
    goal = i64(st.goal[seat])
    chosen, least = i64(-1), i64(256)
    for slot in range(st.each):
        hole = i64(st.pegs[seat, slot])
        turn = i64(race.turn[goal, hole])
        if race.bit[goal, hole] == OUTSIDE and last < turn < least:
            chosen, least = hole, turn
    return chosen


@kernel
def _nearest(race: Record, goal: Int, hole: Int, mask: Int) -> Int:
    """Return the nearest empty hole of the triangle, of equals the one furthest from the tip."""
    best, least = i64(0), i64(1000)
    for bit in range(i64(race.number) - 1, -1, -1):
        if (mask >> bit) & 1 == 0:
            far = i64(race.far[hole, race.hole[goal, bit]])
            if far < least:
                least, best = far, i64(bit)
    return best


@kernel
def _evaluate(race: Record, st: Record, seat: int) -> Any:
    """Return the moves that `seat` still needs if it were alone, with a minus."""
    if 0 < st.rank[seat] <= st.placed:
        return WIN_SCORE
    return -float(guess(race, st, np.int64(seat))) / MOVE
