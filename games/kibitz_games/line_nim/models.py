"""The models of options, moves and views, and their conversion to and from states."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import numpy as np
from pydantic import Field, model_validator

from kibitz_games.compiled.kernels import RecordReader, as_array
from kibitz_games.core.game import Features, IllegalAction, InvalidSetup, Json, Model, Notation
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import maps, rules

Reason = Literal["last cell", "dropped"]


class Options(Model):
    """The options of a match."""

    free: int | None = Field(
        None,
        ge=maps.FEWEST,
        le=maps.MOST,
        description="Number of free cells of a generated map; by default drawn uniformly.",
        examples=[20],
    )
    map: tuple[str, ...] | None = Field(
        None,
        min_length=1,
        max_length=geo.CELLS,
        description="The free cells, instead of a generated map: single cells and straight rows"
        " of cells, such as e5-h5 and f6, which must be connected.",
        examples=[["e5-h5", "f6"]],
    )


class Move(Model):
    """A line of one to three free cells in a direction from a start cell.

    Directions: 1 up-left, 2 up-right, 3 left, 4 right, 5 down-left, 6 down-right. A single cell
    needs no direction. A line may start at either end.
    """

    x: int = Field(ge=0, lt=geo.SIDE, description="The column of the start cell.")
    y: int = Field(ge=0, lt=geo.SIDE, description="The row of the start cell.")
    length: int = Field(ge=1, le=geo.LONGEST)
    direction: int | None = Field(None, ge=1, le=6)

    @model_validator(mode="after")
    def _directed(self) -> Move:
        if self.length > 1 and self.direction is None:
            raise ValueError(f"a line of {self.length} cells needs a direction from 1 to 6")
        return self


class View(Model):
    """A position. Nothing is hidden, so all viewers get the same view.

    If the map was generated, `options` contains ``free``. ``rows[y][x]`` is ``.`` for a free cell,
    ``#`` for an obstacle, and ``0`` or ``1`` for a cell crossed out by that seat. `last` is the
    last line, in the form that `Game.encode` returns: from its topmost, leftmost cell.
    """

    options: Options
    ply: int = Field(ge=0, le=rules.MAX_PLIES)
    to_act: int = Field(ge=-1, lt=rules.SEATS)
    over: Reason | None = None
    loser: int | None = Field(None, ge=0, lt=rules.SEATS)
    free: int = Field(ge=0, le=geo.CELLS, description="The number of free cells.")
    rows: list[str] = Field(min_length=geo.SIDE, max_length=geo.SIDE)
    last: Move | None = None


# ------------------------------------------------------------------------------------- options


def deal(options: Options, seed: int) -> dict[str, Json]:
    """Generate the map, or return an empty deal if the host has written one."""
    if options.map is not None:
        return {}
    n = maps.size(seed) if options.free is None else options.free
    return {"rows": maps.rows(maps.grow(seed, n))}


def start(options: Options, seats: int, deal: Mapping[str, Json]) -> np.record:
    """Return the first state, or raise `InvalidSetup` with the invalid option."""
    if seats != rules.SEATS:
        raise InvalidSetup("seats", f"expected 2 players, not {seats}")
    if options.map is None:
        return rules.make_state(maps.read_rows([str(row) for row in _list(deal["rows"])]))
    if options.free is not None:
        message = f"the map determines the number of free cells; leave out {options.free}"
        raise InvalidSetup("options.free", message)
    try:
        return rules.make_state(maps.read(options.map), given=True)
    except ValueError as error:
        raise InvalidSetup("options.map", str(error)) from None


def _list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise TypeError(f"expected the rows of a map, not {value!r}")
    return value


# ---------------------------------------------------------------------------------------- moves


def encode(action: int) -> Move:
    """Convert an action to its canonical wire move, which starts at the head of the line."""
    return _CANONICAL[action]


def _canonical_spelling(line: tuple[int, ...], heading: int | None) -> Move:
    y, x = divmod(line[0], geo.SIDE)
    return Move(x=x, y=y, length=len(line), direction=heading)


_CANONICAL = tuple(map(_canonical_spelling, geo.LINES, geo.DIRECTION_OF))


@functools.cache
def move_json(action: int) -> bytes:
    """Return a move as JSON; cached, because every turn lists many moves."""
    return _CANONICAL[action].to_json()


def _spellings() -> Iterator[tuple[tuple[int, int, int | None], int | None]]:
    for cell in range(geo.CELLS):
        yield (cell, 1, None), geo.LINE_OF[frozenset((cell,))]
        for d in geo.DIRECTIONS:
            for length in range(1, geo.LONGEST + 1):
                way = geo.walk(cell, length, d)
                yield (cell, length, d), None if way is None else geo.LINE_OF[frozenset(way)]


_LINES = dict(_spellings())
"""The line for each start cell, length and direction; None if it leaves the board."""


def line_of_move(wire: Move) -> int | None:
    """Return the line for a move, or None if it leaves the board."""
    return _LINES[geo.SIDE * wire.y + wire.x, wire.length, wire.direction]


def decode(state: np.record, move: Move) -> int:
    """Convert any form of a legal line to its action, or raise `IllegalAction`."""
    action = line_of_move(move)
    if action is None or not rules.allows_in(as_array(state), action):
        raise IllegalAction(_reason(state, move, action))
    return action


_DIRECTIONS = ("", "up-left", "up-right", "left", "right", "down-left", "down-right")


def _reason(state: Any, wire: Move, action: int | None) -> str:
    """Return why a move is illegal."""
    if int(state.side) < 0:
        return "the game is over"
    if action is None:
        return f"the line leaves the board: {NOTATION.format(wire)}"
    for cell in geo.LINES[action]:
        value = int(state.board[cell])
        if value == rules.OBSTACLE:
            return f"cell {geo.NAMES[cell]} is an obstacle"
        if value >= rules.GONE:
            return f"cell {geo.NAMES[cell]} is already crossed out"
    raise AssertionError(f"a line of free cells was refused: {NOTATION.format(wire)}")


class _Notation(Notation[Move]):
    """Moves written as both ends of a line."""

    def format(self, move: Move) -> str:
        """Return a move as a person writes it: a cell, or the ends of a line, ``f7-h7``."""
        action = line_of_move(move)
        if action is not None:
            return "-".join(geo.NAMES[cell] for cell in ends(action))
        start = geo.NAMES[geo.SIDE * move.y + move.x]
        return f"{move.length} cells from {start} {_DIRECTIONS[move.direction or 0]}"

    def parse(self, text: str) -> Move:
        """Parse a line written by `format`, from either end."""
        cells = geo.parse_row(text)
        if cells is None or len(cells) > geo.LONGEST:
            raise IllegalAction(
                f"expected a cell such as f7, or the ends of a line of two or three such as f7-h7,"
                f" not {text!r}"
            )
        return encode(geo.LINE_OF[frozenset(cells)])

    def spellings(self, move: Move) -> tuple[str, ...]:
        """Return the spellings of a line: its ends in either order, and all of its cells."""
        action = line_of_move(move)
        if action is None:
            return (self.format(move),)
        cells = [geo.NAMES[cell] for cell in geo.LINES[action]]
        ways = ([cells[0], cells[-1]], [cells[-1], cells[0]], cells, cells[::-1])
        return tuple(dict.fromkeys([self.format(move), *("-".join(way) for way in ways)]))

    def cells(self, move: Move) -> tuple[str, ...]:
        """Return the two ends of a line.

        A single cell is repeated, so that no move is a prefix of another.
        """
        action = line_of_move(move)
        if action is None:
            raise IllegalAction(f"the line leaves the board: {self.format(move)}")
        cells = geo.LINES[action]
        return geo.NAMES[cells[0]], geo.NAMES[cells[-1]]


NOTATION: Final = _Notation()


def ends(action: int) -> tuple[int, ...]:
    """Return the ends of a line, or the only cell of a line of one."""
    cells = geo.LINES[action]
    return cells if len(cells) == 1 else (cells[0], cells[-1])


# ---------------------------------------------------------------------------------------- views


_FIELDS = RecordReader(
    rules.STATE, "ply", "side", "end", "loser", "free", "given", "history", "board"
)
_MARKS = bytes.maketrans(bytes([rules.OBSTACLE, rules.FREE, rules.GONE, rules.GONE + 1]), b"#.01")
"""The characters of a view: obstacles, free cells, and cells crossed out by each seat."""


def view(state: np.record) -> View:
    """Return the view, which is the same for all seats and the public."""
    ply, side, end, loser, free, given, history, board = _FIELDS(state)
    drawn = board[: geo.CELLS].translate(_MARKS).decode()
    fields = {
        "options": _options(drawn.translate(_AREA), bool(given)),
        "ply": ply,
        "to_act": side,
        "over": rules.REASONS[end] or None,
        "loser": None if loser < 0 else loser,
        "free": free,
        "rows": [drawn[at : at + geo.SIDE] for at in range(0, geo.CELLS, geo.SIDE)],
        "last": encode(history[ply - 1]) if ply > 0 else None,
    }
    return View.unchecked(fields)


_AREA = str.maketrans("01", "..")
"""Maps crossed out cells to free ones, for the map at the start."""


@functools.lru_cache(maxsize=4096)
def _options(area: str, given: bool) -> Options:
    if given:
        return Options(map=maps.write(maps.read_rows([area])))
    return Options(free=area.count(maps.FREE))


def features(seen: View, seat: int) -> Features:
    """Return float32 [2, 12, 12]: free cells, and cells crossed out by either seat."""
    cells = np.array([list(row) for row in seen.rows])
    return np.stack([cells == ".", (cells != ".") & (cells != "#")]).astype(np.float32)


def state_from_view(seen: View) -> np.record:
    """Return the state that a view shows; its history contains only the last line."""
    drawn = "".join(seen.rows)
    free, *gone = ([c for c, mark in enumerate(drawn) if mark == kind] for kind in ".01")
    given = seen.options.map is not None
    st: Any = rules.make_state(free, gone=(gone[0], gone[1]), ply=seen.ply, given=given)
    if seen.last is not None:
        st.history[seen.ply - 1] = line_of_move(seen.last)
    if seen.loser is not None:
        st.side, st.end, st.loser = -1, rules.REASONS.index(seen.over or ""), seen.loser
    state: np.record = st
    return state
