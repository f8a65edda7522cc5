"""The race database: the number of moves to a full goal, for all peg sets near it.

It is built backwards from the full goal by increasing distance (retrograde breadth-first search).
Moves are reversible, since a reversed chain of jumps hops over the same pegs. The sets at distance
d + 1 are therefore all sets without a distance that one move reaches from distance d. Moves that
cannot be reversed because pegs may not leave the goal (`sticky_goal`) are excluded. Only paths
inside the triangle are considered.

For the common star, the triangle has the 28 holes nearest the goal, with C(28,10) = 13,123,110 sets
and at most 15 moves: 6.6 MB with half a byte per set. The file is the memory image of a record. It
is memory-mapped, so that all bots on a machine share its pages; changes to a record (the position
of the triangle on the bot's board) are private to the process.

A table is built under a lock when it is first needed, and stored next to the cache of machine code.
The idea comes from "Fun With Chinese Checkers", which mentions a database of precomputed moves on
boards without opponents.
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
"""The largest distance that fits into half a byte."""
PLAIN_MAX_SETS = 1 << 10
"""The largest table that is built in plain mode; existing larger tables are used."""

MOVE = 64
"""The units of an estimate per move."""
PACE = 22
"""The cost of each step of a peg outside to the triangle: three steps are about one move."""


def race_type(triangle: Triangle) -> np.dtype[Any]:
    """Return the record type of the table for a triangle."""
    return _race_type(triangle.side, triangle.pegs)


@functools.cache
def _race_type(side: int, pegs: int) -> np.dtype[Any]:
    triangle = Triangle(side, pegs)
    half, number = triangle.half, triangle.holes
    fields = [
        ("number", np.int64),  # number of holes in the triangle
        ("pegs", np.int64),
        ("half", np.int64),
        ("sticky", np.int64),
        ("through", np.int64),
        ("near", np.int8, (number, 6)),
        ("land", np.int8, (number, 6)),
        ("beside", np.int64, (number,)),  # the neighbors as a mask
        ("ones", np.uint8, (1 << half,)),  # number of set bits in each lower half
        ("lowest", np.uint8, (37,)),  # bit number by mask modulo 37
        ("low", np.int32, (1 << half,)),
        ("high", np.int32, (pegs + 1, 1 << (number - half))),
        ("values", np.uint8, ((triangle.sets + 1) // 2,)),
        # The fields below depend on the board and are set by `for_board`.
        ("bit", np.uint8, (geo.CORNERS, geo.MAX_HOLES + 1)),  # by goal and hole
        ("hole", np.uint8, (geo.CORNERS, number)),  # by goal and bit
        ("turn", np.uint8, (geo.CORNERS, geo.MAX_HOLES + 1)),  # by goal and hole: index row by row
        ("far", np.uint8, (geo.MAX_HOLES + 1, geo.MAX_HOLES + 1)),  # steps between two holes
    ]
    dtype = kernels.record_type("race", fields, source=__file__)
    operations.implement(dtype, evaluate=_evaluate)
    return dtype


# ------------------------------------------------------------------------------ sets and moves


@kernel
def rank(race: Record, mask: Int) -> Int:
    """Return the rank of a peg set among all sets of its size."""
    lower = mask & ((1 << i64(race.half)) - 1)
    return i64(race.low[lower]) + i64(race.high[race.ones[lower], mask >> i64(race.half)])


@kernel
def distance(race: Record, mask: Int) -> Int:
    """Return the number of moves from a peg set to the full goal."""
    place = rank(race, mask)
    return (i64(race.values[place >> 1]) >> (4 * (place & 1))) & 15


@kernel
def targets(race: Record, mask: Int, origin: Int, within: Int) -> Int:
    """Return the mask of holes to which the peg in `origin` can move.

    Jumps only use holes in the mask `within`.
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
    """Return the mask of holes from which the peg in `target` can have come."""
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
    """Return the mask of holes to which the peg in `origin` may move by the table's rules."""
    every = (i64(1) << i64(race.number)) - 1
    goal = (i64(1) << i64(race.pegs)) - 1
    if race.sticky == 0 or (goal >> origin) & 1 == 0:
        return targets(race, mask, origin, every)
    return targets(race, mask, origin, every if race.through != 0 else goal) & goal


# ------------------------------------------------------------------------------------- building


@kernel
def _following(mask: Int) -> Int:
    """Return the next larger mask with the same number of bits (Gosper's hack)."""
    lowest = mask & -mask
    ripple = mask + lowest
    return ripple | (((mask ^ ripple) // lowest) >> 2)


@kernel
def _expand(race: Record, table: Any, depth: Int) -> Int:
    """Find the sets at distance `depth` + 1; return their number."""
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
    """Return the distance of each set by rank, `UNKNOWN` for those that cannot reach the goal.

    Takes about 20 seconds for the common star in compiled mode.
    """
    table = np.full(Triangle(_side(race), int(race.pegs)).sets, UNKNOWN, np.uint8)
    table[0] = depth = 0
    while _expand(race, table, np.int64(depth)):
        depth += 1
    return table


def _side(race: Any) -> int:
    return int((8 * int(race.number) + 1) ** 0.5 - 1) // 2


def histogram(race: Any) -> list[int]:
    """Return the number of sets at each distance from 0."""
    values = np.stack([race.values & 15, race.values >> 4], axis=1).ravel()
    sets = Triangle(_side(race), int(race.pegs)).sets
    counts: list[int] = np.bincount(values[:sets]).tolist()
    return counts


def _blank(triangle: Triangle, sticky: bool, through: bool) -> Any:
    """Return the record for a triangle, without distances and board."""
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
            f"some sets of {triangle} are more than {MAX_DISTANCE} moves from the goal"
        )
    even = np.append(table, np.zeros(len(table) % 2, np.uint8))
    race.values[:] = even[::2] | even[1::2] << 4
    record: np.record = race
    return record


# -------------------------------------------------------------------------------------- storage


class UnsupportedBoardError(ValueError):
    """The board or its rules have no table; `str()` says why."""


def cache_path(triangle: Triangle, sticky: bool, through: bool) -> Path:
    """Return the path of a table, which changes with the source of this module."""
    tag = str((race_type(triangle).names or ("",))[-1]).rpartition("_")[2]
    rules = f"sticky{int(through)}" if sticky else "free"
    name = f"race-{triangle.side}-{triangle.pegs}-{rules}-{tag}.bin"
    return kernels.cache_directory() / name


def load(triangle: Triangle, *, sticky: bool = False, through: bool = True) -> Any:
    """Return a memory-mapped table, building it if necessary. Raises `UnsupportedBoardError`."""
    path = cache_path(triangle, sticky, through)
    if not path.exists():
        _make(path, triangle, sticky, through)
    mapped = np.memmap(path, race_type(triangle), mode="c", shape=(1,))
    return np.asarray(mapped)[0]


def _make(path: Path, triangle: Triangle, sticky: bool, through: bool) -> None:
    """Build and store a table; concurrent processes build it only once."""
    if not kernels.compiled() and triangle.sets > PLAIN_MAX_SETS:
        raise UnsupportedBoardError(f"building a table of {triangle.sets} sets requires numba")
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
    return "long jumps are not supported" if int(state["long_jumps"]) else None


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
    """Return the number of steps between each pair of holes: int64 [holes, holes]."""
    x, y = np.array(shape.points).T
    across, down = abs(x[:, None] - x), abs(y[:, None] - y)
    far: np.ndarray = down + np.maximum(0, (across - down) // 2)
    return far


@kernel
def mask_of(race: Record, st: Record, seat: Int) -> Int:
    """Return the pegs of `seat` as a mask in the triangle at its goal, or -1 if one is outside."""
    mask: Int = i64(0)
    for slot in range(st.each):
        bit = i64(race.bit[st.goal[seat], st.pegs[seat, slot]])
        if bit == OUTSIDE:
            return i64(-1)
        mask |= i64(1) << bit
    return mask


# --------------------------------------------------------------------------------------- estimates


@kernel
def guess(race: Record, st: Record, seat: Int) -> Int:
    """Return an estimate of the moves from the pegs of `seat` to the goal, times `MOVE`.

    It is exact, and a multiple of `MOVE`, if all pegs are in the triangle.
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
    """Return the hole of the seat's next peg outside the triangle after index `last`, or -1.

    The order is row by row from the goal, so that an estimate does not depend on the order of the
    pegs or on the side of the board.
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
    """Return the nearest empty hole in the triangle, or the one furthest from the tip in a tie."""
    best, least = i64(0), i64(1000)
    for bit in range(i64(race.number) - 1, -1, -1):
        if (mask >> bit) & 1 == 0:
            far = i64(race.far[hole, race.hole[goal, bit]])
            if far < least:
                least, best = far, i64(bit)
    return best


@kernel
def _evaluate(race: Record, st: Record, seat: int) -> Any:
    """Return the negated number of moves that `seat` needs without opponents."""
    if 0 < st.rank[seat] <= st.placed:
        return WIN_SCORE
    return -float(guess(race, st, np.int64(seat))) / MOVE
