"""The models of the wire format, and all conversions between them and states."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import numpy as np
from pydantic import Field, model_validator

from kibitz_games.compiled.calls import play
from kibitz_games.compiled.kernels import RecordReader, as_array, kernel_array
from kibitz_games.core.game import Features, IllegalAction, InvalidSetup, Json, Model, Notation
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row import rules

Colour = Literal["black", "white"]
First = Literal["random", "seat-0", "seat-1"]
Reason = Literal["five", "full", "dead", "dropped"]
COLOURS: tuple[Colour, Colour] = ("black", "white")
FIRSTS = cast("tuple[First, ...]", rules.FIRSTS)


class Options(Model):
    """The options of a match."""

    size: int = Field(
        10,
        ge=geo.SMALLEST,
        le=geo.LARGEST,
        description="Number of columns and rows of the board, 5 to 20.",
    )
    exact: bool = Field(
        False,
        description="Only exactly five in a row win; otherwise longer rows win, too.",
    )
    first: First = Field(
        "random",
        description="The seat that moves first, with black: random, or always the same seat.",
    )
    dead_board_draw: bool = Field(
        False,
        description="Whether the game is a draw once no player can make five in a row any more;"
        " otherwise only a full board is a draw.",
    )
    opening: tuple[str, ...] = Field(
        (),
        examples=[["h8", "g7"]],
        description="Cells of stones to place before play, such as h8+g7: black, white, black"
        " and so on.",
    )
    swap: bool = Field(
        False,
        description="The first player places black, white and black; the other then chooses a"
        " color, and white moves next.",
    )


class Move(Model):
    """A stone on an empty cell, or a color if a player has to choose one after a swap opening."""

    x: int | None = Field(None, ge=0, lt=geo.LARGEST, description="Column, from 0 at the left.")
    y: int | None = Field(None, ge=0, lt=geo.LARGEST, description="Row, from 0 at the top.")
    colour: Colour | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Move:
        coordinates = (self.x is not None) + (self.y is not None)
        if coordinates != (0 if self.colour else 2):
            raise ValueError('expected {"x": column, "y": row} or {"colour": "black" or "white"}')
        return self


class View(Model):
    """A position. Nothing is hidden, so all viewers get the same view.

    ``board[y][x]`` is ``.`` for an empty cell, ``x`` for black and ``o`` for white. `moves` are
    the cells of all stones as [x, y] in playing order; the first `opening` of them were placed
    before play.
    """

    options: Options
    ply: int = Field(ge=0, le=rules.MAX_PLIES)
    to_act: int = Field(ge=-1, le=1)
    over: Reason | None = None
    winner: int | None = Field(None, ge=0, le=1)
    opener: int = Field(ge=0, le=1, description="The seat that moved first.")
    colours: list[Colour] | None = Field(
        None, description="The color of each seat; absent before the choice in a swap opening."
    )
    board: list[str]
    moves: list[tuple[int, int]]
    opening: int = Field(ge=0, description="The number of `moves` placed before play.")
    last: Move | None = None
    line: list[tuple[int, int]] | None = Field(
        None, description="The cells of the winning row, as [x, y] from one end to the other."
    )


# ------------------------------------------------------------------------------------- options


def start(options: Options, seats: int, deal: Mapping[str, Json]) -> np.record:
    """Return the first state, or raise `InvalidSetup` with the invalid option."""
    if seats != 2:
        raise InvalidSetup("seats", f"expected 2 players, not {seats}")
    if options.swap and options.opening:
        raise InvalidSetup("options.opening", "an opening and a swap cannot be combined")
    return _start(options, _opener(options, deal))


def _opener(options: Options, deal: Mapping[str, Json]) -> int:
    """Return the seat that moves first, from the option or the deal."""
    return int(deal["first"] == 1) if options.first == "random" else FIRSTS.index(options.first) - 1


def _start(options: Options, opener: int) -> np.record:
    state = rules.make_state(
        size=options.size,
        exact=options.exact,
        dead_draw=options.dead_board_draw,
        swap=options.swap,
        first=FIRSTS.index(options.first),
        opener=opener,
    )
    for text in options.opening:
        _place(state, text)
    if options.opening and not (_room(state) and rules.any_window_open(state)):
        raise InvalidSetup(
            "options.opening", "expected an opening after which a player can still win"
        )
    return state


def _room(state: Any) -> bool:
    return int(state["stones"]) < int(state["width"]) ** 2


def _place(state: Any, text: str) -> None:
    """Place a stone of the opening, or raise `InvalidSetup`."""
    at, size = geo.read(text), int(state["width"])
    if at is None or max(at) >= size:
        message = f"expected cells a1 to {geo.name(size - 1, size - 1)}, not {text!r}"
        raise InvalidSetup("options.opening", message)
    cell = geo.cell(*at)
    if state["board"][cell] != rules.EMPTY:
        raise InvalidSetup(
            "options.opening", f"expected different cells, but {text!r} occurs twice"
        )
    rules.place_opening_stone(state, cell)
    if rules.winning_step(state, cell):
        raise InvalidSetup("options.opening", f"expected no five, but {text!r} makes one")


# ---------------------------------------------------------------------------------------- moves


CHOICES = tuple(Move(colour=colour) for colour in COLOURS)


@functools.cache
def move(x: int, y: int) -> Move:
    """Return the move that places a stone. Moves are frozen, so each is created once and shared."""
    return Move(x=x, y=y)


def encode(action: int) -> Move:
    """Convert an action to its wire move."""
    return CHOICES[action] if action < rules.CHOICES else move(*geo.place(action))


def decode(state: Any, move: Move) -> int:
    """Convert a wire move to a legal action, or raise `IllegalAction`."""
    action = _action(move)
    if not rules.allows_in(as_array(state), action):
        raise IllegalAction(_reason(state, move))
    return action


def _action(wire: Move) -> int:
    x, y = wire.x, wire.y
    if x is None or y is None:
        return rules.TAKE_BLACK if wire.colour == "black" else rules.TAKE_WHITE
    return geo.cell(x, y)


def _reason(state: Any, wire: Move) -> str:
    """Return why a move is illegal."""
    size = int(state["width"])
    if int(state["side"]) < 0:
        return "the game is over"
    if rules.choosing(state):
        return f"expected a color, black or white, not {NOTATION.format(wire)}"
    if wire.x is None or wire.y is None:
        return f"expected an empty cell, not {NOTATION.format(wire)}"
    if max(wire.x, wire.y) >= size:
        last = geo.name(size - 1, size - 1)
        return f"expected a cell from a1 to {last}, not {NOTATION.format(wire)}"
    return f"expected an empty cell, but there is a stone on {NOTATION.format(wire)}"


class _Notation(Notation[Move]):
    """Moves written as cells or colors."""

    def format(self, move: Move) -> str:
        """Return a move as a person writes it."""
        return str(move.colour) if move.x is None or move.y is None else geo.name(move.x, move.y)

    def parse(self, text: str) -> Move:
        """Parse a move written by `format`."""
        word = text.strip().lower()
        if word in COLOURS:
            return CHOICES[COLOURS.index(word)]
        if (at := geo.read(word)) is None:
            raise IllegalAction(f"expected a cell such as h8, or black or white, not {text!r}")
        return move(*at)


NOTATION: Final = _Notation()


# ---------------------------------------------------------------------------------------- views


PAIRS = tuple(geo.place(cell) for cell in range(geo.CELLS))
"""The column and row of each cell."""


_FIELDS = RecordReader(
    rules.STATE,
    *("width", "exact", "first", "dead_draw", "swap", "placed", "stones", "ply", "side", "end"),
    *("winner", "opener", "black", "unsettled", "history", "board"),
)
_CORNERS = range(geo.ORIGIN, geo.ORIGIN + geo.LARGEST * geo.PITCH, geo.PITCH)
_ROWS = tuple(
    tuple(slice(corner, corner + size) for corner in _CORNERS[:size])
    for size in range(geo.LARGEST + 1)
)
"""The slice of `board` for each row, indexed by board size."""
_STONES = bytes.maketrans(bytes([rules.EMPTY, rules.BLACK, rules.WHITE, rules.WALL]), b".xo#")


def view(state: np.record) -> View:
    """Return the view, which is the same for all seats and the public."""
    size, exact, first, dead_draw, swap, placed, stones, ply, side, end, *rest = _FIELDS(state)
    winner, opener, black, unsettled, history, board = rest
    cells = tuple(history[:stones])
    drawn = board.translate(_STONES).decode("ascii", "replace")
    fields = {
        "options": _options(size, exact, first, dead_draw, swap, cells[:placed]),
        "ply": ply,
        "to_act": side,
        "over": rules.REASONS[end] or None,
        "winner": None if winner < 0 else winner,
        "opener": opener,
        "colours": None if unsettled else [*COLOURS] if black == 0 else [*COLOURS[::-1]],
        "board": [drawn[row] for row in _ROWS[size]],
        "moves": [PAIRS[cell] for cell in cells],
        "opening": placed,
        "last": None,
        "line": _winning_row(state) if end == rules.END_FIVE else None,
    }
    if swap and not unsettled and stones == rules.SWAP_STONES:
        fields["last"] = CHOICES[rules.TAKE_BLACK if black != opener else rules.TAKE_WHITE]
    elif ply > 0:
        fields["last"] = encode(cells[-1])
    return View.unchecked(fields)


def _winning_row(state: np.record) -> list[tuple[int, int]]:
    """Return the cells of the winning row, from one end to the other."""
    out = np.empty(geo.LARGEST, np.int32)
    length = rules.winning_row_in(as_array(state), kernel_array(out))
    return [PAIRS[cell] for cell in out[:length].tolist()]


@functools.lru_cache(maxsize=1024)
def _options(
    size: int, exact: int, first: int, dead_draw: int, swap: int, opening: tuple[int, ...]
) -> Options:
    return Options(
        size=size,
        exact=bool(exact),
        first=FIRSTS[first],
        dead_board_draw=bool(dead_draw),
        swap=bool(swap),
        opening=tuple(geo.name(*geo.place(cell)) for cell in opening),
    )


def features(seen: View, seat: int) -> Features:
    """Return float32 [3, size, size]; black's plane is first until colors are chosen."""
    own = "o" if seen.colours is not None and seen.colours[seat] == "white" else "x"
    cells = np.array([list(row) for row in seen.board])
    planes = np.full((3, *cells.shape), seen.colours is not None, np.float32)
    planes[0] = cells == own
    planes[1] = (cells != own) & (cells != ".")
    return planes


def state_from_view(seen: View) -> np.record:
    """Return the state that a view shows, byte for byte, by replaying its moves."""
    state = _start(seen.options, seen.opener)
    for i in range(seen.opening, len(seen.moves)):
        if i == rules.SWAP_STONES:
            _choose(state, seen)
        play(state, geo.cell(*seen.moves[i]))
    _choose(state, seen)
    if seen.over == "dropped" and seen.winner is not None:
        rules.forfeit(state, 1 - seen.winner)
    return state


def _choose(state: np.record, seen: View) -> None:
    """Play the view's choice of color, if that is the next action."""
    if rules.choosing(state) and seen.colours is not None:
        chooser = 1 - seen.opener
        play(state, COLOURS.index(seen.colours[chooser]))
