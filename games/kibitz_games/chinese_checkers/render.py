"""The drawing of a view: rows of holes, tinted home triangles, and the path of the last move."""

from __future__ import annotations

import functools

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers.models import View
from kibitz_games.core.scene import Cell, CellKind, Mark, Scene, seat_name

NAMES = ("N", "NE", "SE", "S", "SW", "NW")


def scene(view: View) -> Scene:
    """Return the scene of a view; cell names are hole numbers."""
    shape = _shape(view)
    board, size = shape.board, shape.size
    owners = {hole: seat for seat, holes in enumerate(view.pegs) for hole in holes}
    tints = _tints(view)
    cells = tuple(_cell(board, size, h, owners.get(h), tints.get(h)) for h in range(shape.holes))
    return Scene("hex", cells, _marks(view, owners), _text(view))


def _shape(view: View) -> geo.Geometry:
    size = view.options.size
    return geo.geometry(
        view.options.board, geo.COMMON[view.options.board] if size is None else size
    )


def _tints(view: View) -> dict[int, int]:
    """Return the seat for each hole that is in a home."""
    shape, each = _shape(view), len(view.pegs[0])
    return {h: seat for seat, corner in enumerate(view.corners) for h in shape.home(corner, each)}


@functools.lru_cache(maxsize=1 << 14)
def _cell(board: geo.Board, size: int, hole: int, owner: int | None, tint: int | None) -> Cell:
    x, y = geo.geometry(board, size).lattice(hole)
    ground: CellKind = "hole" if tint is None else "home"
    return Cell(str(hole), x, y, kind=ground, owner=owner, tint=tint)


def _marks(view: View, owners: dict[int, int]) -> tuple[Mark, ...]:
    if view.last is None or not view.last.path:
        return ()
    path = tuple(str(hole) for hole in view.last.path)
    seat = owners.get(view.last.path[-1])
    ends = (Mark("from", path[:1], seat), Mark("to", path[-1:], seat))
    return (Mark("path", path, seat), *ends)


def _text(view: View) -> tuple[str, ...]:
    return tuple(_line(view, seat) for seat in range(len(view.corners)))


def _line(view: View, seat: int) -> str:
    rank = view.ranks[seat]
    # Parked pegs may fill a goal, so a seat can finish before all of its own pegs arrive.
    done = rank > 0 and _fills_goal(view, seat)
    way = 0 if done else _distance(view, seat)
    start = f"{seat_name(seat)} {NAMES[view.corners[seat]]}: {way} to go"
    if not rank:
        return f"{start}, to move" if view.to_act == seat else start
    word = "finished, " if done else "" if rank <= _finished(view) else "out, "
    return f"{start}, {word}rank {rank}"


def _fills_goal(view: View, seat: int) -> bool:
    """Return whether a seat's goal is full of pegs, with at least one of its own."""
    goal = {*_shape(view).home((view.corners[seat] + 3) % 6, len(view.pegs[seat]))}
    return goal <= {hole for pegs in view.pegs for hole in pegs} and not goal.isdisjoint(
        view.pegs[seat]
    )


def _finished(view: View) -> int:
    """Return how many seats have finished; they hold the ranks 1, 2, ... without a gap."""
    count = 0
    while count + 1 in view.ranks:
        count += 1
    return count


def _distance(view: View, seat: int) -> int:
    """Return how many steps a seat's pegs still need to fill its goal."""
    shape, pegs = _shape(view), view.pegs[seat]
    goal = (view.corners[seat] + 3) % 6
    full = shape.remaining(goal, shape.home(goal, len(pegs)))
    return shape.remaining(goal, tuple(pegs)) - full
