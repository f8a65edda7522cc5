"""States that are consistent with a view, with random hidden parts.

Living tanks that the viewer does not see are placed where it remembers them, if they may still be
there, otherwise on any cell within reach. No tank is placed on a cell that the viewer sees to be
empty. A tank whose last action was a shot is placed where it fired.
"""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any, TypeVar

import numpy as np

from kibitz_games.compiled.kernels import as_array, kernel_array
from kibitz_games.core.game import TERMINAL
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import rules
from kibitz_games.tanks.models import View

_T = TypeVar("_T")
_NUMBERS = np.array(geo.NUMBERS)
_BY_SEAT = ("left", "fell", "fired", "place", "hull", "cells", "kills", "known")
_ARRAYS = (*_BY_SEAT, "board", "visited", "memory", "shots")


def sample(seen: View, seed: int) -> np.record:
    """Return a state that is consistent with a view; hidden parts are drawn from `seed`."""
    sketch, chance = _StateBuilder(seen), random.Random(seed)
    sketch.add_public()
    if seen.tanks is not None:
        sketch.add_referee_facts()
    else:
        sketch.add_own()
        for seat, cell in _place_hidden_tanks(sketch, chance).items():
            sketch.put_tank(seat, cell, chance.randrange(4))
        for seat in range(geo.SEATS):
            if seat != seen.seat:
                _sample_trail(sketch, seat, chance)
    sketch.inform_others()
    return sketch.build()


class _StateBuilder:
    """A state under construction: its record, and its arrays, looked up only once."""

    def __init__(self, seen: View) -> None:
        options = seen.options
        self.seen = seen
        self.state = _empty_state(options.start, options.rocks, options.turns).copy()
        self.reported = options.memory == "report"
        home: Any = self.state.base
        self.record_array = home
        self.arrays: dict[str, Any] = {name: home[name][0] for name in _ARRAYS}
        home["marks"] = rules.MEMORIES.index(options.memory)

    def put_tank(self, seat: int, cell: int, hull: int) -> None:
        """Put a tank on the board, or its wreck if it was destroyed."""
        a = self.arrays
        a["board"][cell] = rules.WRECK if a["fell"][seat] else rules.TANK * (seat + 1)
        a["place"][seat], a["hull"][seat] = cell, hull

    def add_public(self) -> None:
        """Add all public facts."""
        seen, a, home = self.seen, self.arrays, self.record_array
        home["ply"], home["slot"], home["side"] = seen.ply, seen.slot, seen.to_act
        home["end"], home["gone"] = rules.REASONS.index(seen.over or ""), len(seen.dropped)
        for order, seat in enumerate(seen.dropped, 1):
            a["left"][seat] = order
        for shot in seen.shots:
            a["fired"][shot.seat] = shot.slot + 1
            a["shots"][shot.slot] = geo.number((shot.row, shot.column))
        for wreck in seen.wrecks:
            a["fell"][wreck.seat] = wreck.slot + 1
            a["kills"][wreck.by] += 1
            self.put_tank(wreck.seat, geo.number((wreck.row, wreck.column)), 0)

    def add_referee_facts(self) -> None:
        """Add all tanks and trails, as a referee sees them."""
        for seat, tank in enumerate(_required(self.seen.tanks)):
            cell, hull = geo.number((tank.row, tank.column)), geo.HULLS.index(tank.hull)
            self.put_tank(seat, cell, hull)
            self.arrays["cells"][seat] = tank.visited
        trails = [int(bits, 16) for bits in "".join(_required(self.seen.trails))]
        self.arrays["visited"][_NUMBERS] = trails

    def add_own(self) -> None:
        """Add the viewer's own tank, its trail and its local board."""
        seen, a = self.seen, self.arrays
        if seen.seat is None:
            return
        place = (_required(seen.row), _required(seen.column))
        self.put_tank(seen.seat, geo.number(place), geo.HULLS.index(_required(seen.hull)))
        trail = np.frombuffer("".join(_required(seen.visited)).encode(), np.uint8) - ord("0")
        a["visited"][_NUMBERS] = trail << seen.seat
        a["cells"][seen.seat] = trail.sum()
        codes = itertools.chain.from_iterable(_required(seen.local))
        memory = a["memory"][seen.seat]
        memory[_NUMBERS] = np.fromiter(codes, np.int8, len(_NUMBERS))
        for cell in np.flatnonzero(memory > 0).tolist():
            tank = memory[cell] // rules.TANK - 1
            if tank == seen.seat or not self.reported:
                a["known"][seen.seat, tank] = cell

    def inform_others(self) -> None:
        """Put own tanks, public events and visible cells on the other seats' local boards."""
        seen, a = self.seen, self.arrays
        others = [seat for seat in range(geo.SEATS) if seat != seen.seat]
        for seat in range(geo.SEATS):
            cell = int(a["place"][seat])
            alive = a["fell"][seat] == 0
            heard = alive and a["fired"][seat] and a["shots"][a["fired"][seat] - 1] == cell
            knowing = others if heard or not alive else [seat] if seat != seen.seat else []
            a["memory"][knowing, cell] = a["board"][cell]
            noting = [observer for observer in knowing if observer == seat or not self.reported]
            a["known"][noting, seat] = cell if alive else 0
        if seen.to_act not in (TERMINAL, seen.seat):
            rules.update_vision_in(as_array(self.state), seen.to_act)

    def build(self) -> np.record:
        """Return the state, with its key and an empty undo stack."""
        rules.finalize(self.state)
        return self.state


@functools.cache
def _empty_state(start: geo.Start, rocks: geo.Rocks, turns: int) -> np.record:
    """Return the first state without tanks, trails and marks on local boards."""
    st: Any = rules.make_state(start, rocks, turns)
    st.board[st.board > 0] = rules.FREE
    st.visited[:], st.memory[:], st.known[:], st.cells[:] = 0, rules.UNKNOWN, 0, 0
    state: np.record = st
    return state


def _required(value: _T | None) -> _T:
    """Return a field that must be set in this kind of view."""
    if value is None:
        raise ValueError(
            "expected a seat's place, hull, local board and visited places in its view"
        )
    return value


def _place_hidden_tanks(sketch: _StateBuilder, chance: random.Random) -> dict[int, int]:
    """Choose a cell for each living tank except the viewer's.

    Three candidates per tank are enough, since the other hidden tanks occupy at most two of them.
    The true cells are among the possible ones, so a valid choice always exists.
    """
    seen = sketch.seen
    hidden = [seat for seat in range(geo.SEATS) if seen.alive[seat] and seat != seen.seat]
    visible = _visible(sketch)
    possible = [_possible_cells(sketch, seat, visible) for seat in hidden]
    drawn = [chance.sample(places, min(3, len(places))) for places in possible]
    likely = [
        [mark for mark in _remembered_cells(sketch, seat, chance) if mark in places] or some
        for seat, places, some in zip(hidden, possible, drawn, strict=True)
    ]
    for choice in itertools.chain(itertools.product(*likely), itertools.product(*drawn)):
        if len(set(choice)) == len(choice):
            return dict(zip(hidden, choice, strict=True))
    raise ValueError("no state fits this view: not enough cells for the tanks")


def _possible_cells(sketch: _StateBuilder, seat: int, visible: Any) -> list[int]:
    """Return the possible cells of a tank: within its reach and not known to be empty."""
    seen, a = sketch.seen, sketch.arrays
    in_sight = [mark for mark in _marked_cells(sketch, seat) if visible[mark]]
    if in_sight:
        return in_sight
    origin, moves = _last_known(seen, seat)
    near = (_distances(seen.options.rocks, origin) <= moves) & (a["board"] == rules.FREE)
    cells: list[int] = np.flatnonzero(near & (visible == 0)).tolist()
    return cells


def _last_known(seen: View, seat: int) -> tuple[int, int]:
    """Return the last public cell of a tank, and the maximum number of moves it made since."""
    for shot in seen.shots:
        if shot.seat == seat:
            since = (seen.slot - 1 - shot.slot) // geo.SEATS
            return geo.number((shot.row, shot.column)), since
    return geo.number(geo.STARTS[seen.options.start][seat]), _turns_before(seen.slot, seat)


def _turns_before(slot: int, seat: int) -> int:
    """Return the number of slots of a seat before `slot`."""
    return (slot - seat + geo.SEATS - 1) // geo.SEATS


def _visible(sketch: _StateBuilder) -> Any:
    """Mark the cells that the viewer sees; none unless it is the viewer's turn."""
    seen, a = sketch.seen, sketch.arrays
    visible = np.zeros(geo.CELLS, np.uint8)
    if seen.seat is not None and seen.to_act == seen.seat:
        codes = a["memory"][seen.seat].copy()
        codes[codes == rules.UNKNOWN] = rules.FREE
        codes[a["board"] == rules.EDGE] = rules.EDGE
        place, hull = int(a["place"][seen.seat]), int(a["hull"][seen.seat])
        rules.mark_visible(kernel_array(codes), place, hull, kernel_array(visible))
    return visible


def _remembered_cells(sketch: _StateBuilder, seat: int, chance: random.Random) -> list[int]:
    """Return the remembered cells of a tank, in the order to try them."""
    a = sketch.arrays
    if sketch.seen.seat is None:
        return [int(a["shots"][a["fired"][seat] - 1])] if a["fired"][seat] else []
    marks = _marked_cells(sketch, seat)
    return chance.sample(marks, len(marks)) if len(marks) > 1 else marks


def _marked_cells(sketch: _StateBuilder, seat: int) -> list[int]:
    """Return the cells where the viewer's local board shows a tank."""
    if sketch.seen.seat is None:
        return []
    memory = sketch.arrays["memory"][sketch.seen.seat]
    cells: list[int] = np.flatnonzero(memory == rules.TANK * (seat + 1)).tolist()
    return cells


@functools.cache
def _distances(rocks: geo.Rocks, origin: int) -> np.ndarray:
    """Return the number of moves from `origin` to each cell, with only rocks as obstacles."""
    out = np.empty(geo.CELLS, np.int32)
    rules.bfs_distances_in(
        as_array(_empty_state("corners", rocks, rules.MAX_TURNS)), origin, kernel_array(out)
    )
    return out


def _sample_trail(sketch: _StateBuilder, seat: int, chance: random.Random) -> None:
    """Draw a trail that a tank can have covered so far.

    The start and the current cell come first, then the cells with the shortest detour.
    """
    seen, a = sketch.seen, sketch.arrays
    origin, cell = geo.number(geo.STARTS[seen.options.start][seat]), int(a["place"][seat])
    detour = _distances(seen.options.rocks, origin) + _distances(seen.options.rocks, cell)
    direct = int(detour[cell])
    detour[[origin, cell]] = -1
    last = int(a["fell"][seat]) - 1 if a["fell"][seat] else seen.slot
    count = 1 + chance.randint(direct, max(direct, _turns_before(last, seat)))
    near = int((detour < geo.CELLS).sum())
    trail = np.argsort(detour, kind="stable")[: min(count, near)]
    a["visited"][trail] |= 1 << seat
    a["cells"][seat] = len(trail)
