"""The drawing of a view: the board as the viewer sees it, and a pad of buttons for players.

A cell is named by row and column, ``8,3``; a button by the word for its action. Cells unknown to a
player are fog, cells on its trail are ``seen``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np

from kibitz_games.compiled.kernels import kernel_array
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.scene import Cell, CellKind, Label, Mark, Scene, seat_name
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import rules
from kibitz_games.tanks.models import WORDS, Shot, View, Word

Board = dict[geo.Place, int]
"""The code of every place, as in a view's board."""

PAD_X = geo.SIDE + 1
PAD: dict[Word, tuple[int, str]] = {
    "up": (1, "↑"),
    "left": (2, "←"),
    "right": (3, "→"),
    "down": (4, "↓"),
    "turn-left": (6, "↺"),
    "turn-right": (7, "↻"),
    "fire": (9, "*"),
}
"""The row and the glyph of each button."""
CELL_KINDS: dict[int, CellKind] = {rules.UNKNOWN: "fog", rules.ROCK: "rock", rules.WRECK: "wreck"}


def scene(view: View) -> Scene:
    """Return the scene of a view; a player has buttons until the tank is destroyed."""
    board = _board(view)
    cells = [_cell(view, place, code) for place, code in board.items()]
    if _can_act(view):
        cells += [_button(word) for word in WORDS]
    return Scene("square", tuple(cells), tuple(_marks(view, board)), _text(view), _labels())


def _board(view: View) -> Board:
    """Return the code of every place as the viewer knows it, including public facts."""
    rows: Sequence[Sequence[int]] = view.board or view.local or _public(view)
    board = {
        (row, column): code
        for row, codes in enumerate(rows, 1)
        for column, code in enumerate(codes, 1)
    }
    return board | {(wreck.row, wreck.column): rules.WRECK for wreck in view.wrecks}


def _public(view: View) -> list[list[int]]:
    """Return the board with the rocks and each living tank at the place where it last fired."""
    codes = dict.fromkeys(geo.ROCKS[view.options.rocks], rules.ROCK)
    for shot in view.shots:
        if view.alive[shot.seat]:
            codes[shot.row, shot.column] = rules.TANK * (shot.seat + 1)
    span = range(1, geo.SIDE + 1)
    return [[codes.get((row, column), rules.FREE) for column in span] for row in span]


def _can_act(view: View) -> bool:
    """Return whether this is the view of a seat that can still act."""
    if view.seat is None or view.to_act == TERMINAL:
        return False
    return view.alive[view.seat] and view.seat not in view.dropped


def name(place: geo.Place) -> str:
    """Return the name of the cell at a place."""
    return f"{place[0]},{place[1]}"


def _cell(view: View, place: geo.Place, code: int) -> Cell:
    owner = code // rules.TANK - 1 if code > 0 else None
    trail = _trail(view, place)
    ground = CELL_KINDS.get(code) or ("seen" if view.visited and trail else "floor")
    tint = _tint(trail) if view.trails and ground == "floor" else None
    return _cached_cell(
        place, ground, owner, tint, None if owner is None else _heading(view, owner)
    )


@functools.lru_cache(maxsize=1 << 14)
def _cached_cell(
    place: geo.Place, ground: CellKind, owner: int | None, tint: int | None, heading: int | None
) -> Cell:
    row, column = place
    x, y = column - 1, row - 1
    return Cell(name(place), x, y, kind=ground, owner=owner, tint=tint, heading=heading)


def _trail(view: View, place: geo.Place) -> int:
    """Return the bits of the seats whose trails, if visible, include a place."""
    rows = view.trails or view.visited
    return 0 if rows is None else int(rows[place[0] - 1][place[1] - 1], 16)


def _tint(trail: int) -> int | None:
    """Return the seat of a trail if it is the only one at a place."""
    return trail.bit_length() - 1 if trail.bit_count() == 1 else None


def _heading(view: View, seat: int) -> int | None:
    """Return the direction of a tank in degrees, or None if it is hidden from the viewer."""
    hull = view.tanks[seat].hull if view.tanks else view.hull if seat == view.seat else None
    return None if hull is None else 90 * geo.HULLS.index(hull)


@functools.cache
def _button(word: Word) -> Cell:
    row, glyph = PAD[word]
    return Cell(word, PAD_X, row, kind="button", glyph=glyph)


@functools.cache
def _labels() -> tuple[Label, ...]:
    """Return row numbers on the left and column numbers above."""
    span = range(1, geo.SIDE + 1)
    rows = tuple(Label(str(row), -1, row - 1) for row in span)
    return rows + tuple(Label(str(column), column - 1, -1) for column in span)


def _marks(view: View, board: Board) -> Iterator[Mark]:
    """Yield marks for the visible cells, the tank that acted last, and the last round's shots."""
    if _can_act(view):
        yield Mark("vision", tuple(_visible_cells(view, board)), view.seat)
    if (place := _last_to_act(view)) is not None:
        yield Mark("to", (name(place),), (view.slot - 1) % geo.SEATS)
    wrecks = {wreck.seat: (wreck.row, wreck.column) for wreck in view.wrecks}
    for shot in view.events:
        place = (shot.row, shot.column)
        if shot.victim is not None:
            target = wrecks[shot.victim]
            yield Mark("path", tuple(map(name, _between(place, target))), shot.seat)
            yield Mark("to", (name(target),), shot.seat)
        elif miss := _line_of_fire(view, shot):
            yield Mark("path", tuple(map(name, miss)), shot.seat)
        yield Mark("from", (name(place),), shot.seat)


def _last_to_act(view: View) -> geo.Place | None:
    """Return the place of the tank that acted last, if the viewer may see it."""
    seat = (view.slot - 1) % geo.SEATS
    if view.slot == 0 or not view.alive[seat] or seat in view.dropped:
        return None
    if view.tanks:
        return view.tanks[seat].row, view.tanks[seat].column
    if seat != view.seat or view.row is None or view.column is None:
        return None
    return view.row, view.column


def _line_of_fire(view: View, shot: Shot) -> list[geo.Place]:
    """Return the places crossed by a shot without a victim; empty if the hull is unknown.

    The current hull direction is that of the shot, since a shot of the last round was the tank's
    last action. Tanks and wrecks that appeared on the line later do not block the shot.
    """
    heading = _heading(view, shot.seat)
    if heading is None:
        return []
    blocked = set(geo.ROCKS[view.options.rocks])
    blocked |= {(wreck.row, wreck.column) for wreck in view.wrecks if wreck.slot < shot.slot}
    down, right = ((-1, 0), (0, 1), (1, 0), (0, -1))[heading // 90]
    row, column = shot.row + down, shot.column + right
    crossed = []
    while 1 <= row <= geo.SIDE and 1 <= column <= geo.SIDE and (row, column) not in blocked:
        crossed.append((row, column))
        row, column = row + down, column + right
    return crossed


def _visible_cells(view: View, board: Board) -> Iterator[str]:
    """Yield the cells in the viewer's cone of vision; unknown cells do not block it."""
    assert view.seat is not None
    assert view.row is not None
    assert view.column is not None
    assert view.hull is not None
    codes = np.full(geo.CELLS, rules.EDGE, np.int8)
    for place, code in board.items():
        codes[geo.number(place)] = rules.FREE if code == rules.UNKNOWN else code
    seen = np.zeros(geo.CELLS, np.uint8)
    own = geo.number((view.row, view.column))
    rules.mark_visible(kernel_array(codes), own, geo.HULLS.index(view.hull), kernel_array(seen))
    return (name(geo.place(cell)) for cell in np.flatnonzero(seen).tolist())


def _between(here: geo.Place, there: geo.Place) -> list[geo.Place]:
    """Return the places strictly between two places in the same row or column."""
    (row, column), (last_row, last_column) = here, there
    steps = max(abs(last_row - row), abs(last_column - column))
    down, right = (last_row - row) // steps, (last_column - column) // steps
    return [(row + k * down, column + k * right) for k in range(1, steps)]


def _text(view: View) -> tuple[str, ...]:
    head = f"slot {view.slot} of {view.options.turns}, "
    head += "over" if view.over else f"{seat_name(view.to_act)} to act"
    return (head, *(_seat_line(view, seat) for seat in range(geo.SEATS)))


def _seat_line(view: View, seat: int) -> str:
    """Return the line for a seat, with facts that are not on the board: ``seat 1: 340``."""
    score = view.tanks[seat].score if view.tanks else view.score if seat == view.seat else None
    parts = [] if score is None else [f"{score:,}"]
    parts += [f"destroyed by {seat_name(wreck.by)}" for wreck in view.wrecks if wreck.seat == seat]
    parts += ["dropped out"] if seat in view.dropped else []
    if view.alive[seat] and score is None:
        parts += [
            f"fired from {shot.row},{shot.column}" for shot in view.shots if shot.seat == seat
        ]
    return f"{seat_name(seat)}: {', '.join(parts) or 'alive'}"
