"""The models of options, moves and views, and their conversion to and from states."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import Field, StringConstraints

from kibitz_games.compiled.kernels import RecordReader
from kibitz_games.core.game import Features, IllegalAction, InvalidSetup, Model, Notation
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import rules

Word = Literal["up", "down", "right", "left", "turn-right", "turn-left", "fire"]
Memory = Literal["last", "report", "also-destroyed"]
Reason = Literal["turns", "dropped"]
Seat = Annotated[int, Field(ge=0, lt=geo.SEATS)]
Coordinate = Annotated[int, Field(ge=1, le=geo.SIDE)]
Slot = Annotated[int, Field(ge=0, le=rules.MAX_TURNS)]
Code = Literal[-3, -2, -1, 0, 11, 22, 33, 44]
Row = Annotated[list[Code], Field(min_length=geo.SIDE, max_length=geo.SIDE)]
Trail = Annotated[str, StringConstraints(pattern=f"^[0-9a-f]{{{geo.SIDE}}}$")]

WORDS: tuple[Word, ...] = ("up", "down", "right", "left", "turn-right", "turn-left", "fire")
"""The words for the actions, starting with `rules.UP`."""
SHORT: dict[str, Word] = {
    "u": "up",
    "d": "down",
    "r": "right",
    "l": "left",
    "tr": "turn-right",
    "tl": "turn-left",
    "f": "fire",
}


class Options(Model):
    """The options of a match."""

    start: geo.Start = Field(
        "corners",
        description="Where the tanks start: in the corners, or one or two steps away from them as"
        " in the report's first table (table1).",
    )
    rocks: geo.Rocks = Field(
        "classic", description="The 29 rocks of the report (classic), or none."
    )
    turns: int = Field(
        rules.MAX_TURNS,
        ge=geo.SEATS,
        le=rules.MAX_TURNS,
        description="Turns of all four players together, including those of destroyed tanks.",
    )
    memory: Memory = Field(
        "last",
        description="Which tanks a local board shows: each living one at its last known place"
        " (last); as in the report, every mark until its place is seen again (report); or each one"
        " at its last known place, destroyed or not (also-destroyed).",
    )


class Move(Model):
    """One of the seven actions; a blocked move has no effect."""

    action: Word


class Shot(Model):
    """A public shot: the seat that fired, its slot and place, and its victim."""

    slot: Slot
    seat: Seat
    row: Coordinate
    column: Coordinate
    victim: Seat | None = None


class Wreck(Model):
    """A wreck: the tank's seat, the seat that destroyed it, the slot and the place."""

    seat: Seat
    by: Seat
    slot: Slot
    row: Coordinate
    column: Coordinate


class Tank(Model):
    """The private facts about a tank, for referees only; `visited` counts places."""

    row: Coordinate
    column: Coordinate
    hull: geo.Hull
    score: int = Field(ge=0)
    visited: int = Field(ge=1)


class View(Model):
    """The position as one viewer sees it.

    The seat to act, the living seats, the seats that dropped out (in order) and the wrecks are
    public. `shots` has each seat's last shot, ordered by time; `events` has the shots of the last
    four slots, which are all shots since a player's previous move. Both are public as well.

    A seat also sees its own place, hull and score, its `local` board and its trail (`visited`, a
    character 0 or 1 for each place). The codes on a board are -1 for unknown, 0 free, -2 rock, -3
    wreck, and 11, 22, 33 and 44 for the tanks of seats 0 to 3.

    A referee also sees the true `board` with the same codes, all `tanks`, and all trails (`trails`,
    a hexadecimal digit for each place with one bit per seat; the bit of seat 0 is 1).
    """

    options: Options
    ply: int = Field(ge=0, le=rules.MAX_TURNS)
    slot: Slot
    left: int = Field(ge=0, le=rules.MAX_TURNS, description="The number of remaining slots.")
    to_act: int = Field(ge=-1, lt=geo.SEATS)
    over: Reason | None = None
    alive: list[bool] = Field(min_length=geo.SEATS, max_length=geo.SEATS)
    dropped: list[Seat]
    events: list[Shot]
    shots: list[Shot]
    wrecks: list[Wreck]
    seat: Seat | None = None
    row: Coordinate | None = None
    column: Coordinate | None = None
    hull: geo.Hull | None = None
    score: int | None = Field(None, ge=0)
    local: list[Row] | None = Field(None, min_length=geo.SIDE, max_length=geo.SIDE)
    visited: list[Trail] | None = Field(None, min_length=geo.SIDE, max_length=geo.SIDE)
    board: list[Row] | None = Field(None, min_length=geo.SIDE, max_length=geo.SIDE)
    trails: list[Trail] | None = Field(None, min_length=geo.SIDE, max_length=geo.SIDE)
    tanks: list[Tank] | None = Field(None, min_length=geo.SEATS, max_length=geo.SEATS)


def start(options: Options, seats: int) -> np.record:
    """Return the first state, or raise `InvalidSetup`."""
    if seats != geo.SEATS:
        raise InvalidSetup("seats", f"expected {geo.SEATS} players, not {seats}")
    marks = rules.MEMORIES.index(options.memory)
    return rules.make_state(options.start, options.rocks, options.turns, marks)


# ---------------------------------------------------------------------------------------- moves

MOVES: tuple[Move, ...] = tuple(Move(action=word) for word in WORDS)
_ACTIONS = {word: rules.UP + at for at, word in enumerate(WORDS)}


def encode(action: int) -> Move:
    """Convert an action to its wire move."""
    return MOVES[action - rules.UP]


def decode(state: Any, move: Move) -> int:
    """Convert a wire move to an action; every action is legal until the match is over."""
    if int(state["side"]) < 0:
        raise IllegalAction("the game is over")
    return _ACTIONS[move.action]


SYNONYMS = {"shoot": "fire"}
"""Alternative words for actions."""


class _Notation(Notation[Move]):
    """Moves written as words."""

    def format(self, move: Move) -> str:
        return move.action

    def parse(self, text: str) -> Move:
        """Parse the word for an action, its short form or a synonym."""
        word = text.strip().lower()
        try:
            return MOVES[WORDS.index((SHORT | SYNONYMS).get(word) or word)]
        except ValueError:
            known = ", ".join(f"{long} ({short})" for short, long in SHORT.items())
            raise IllegalAction(f"expected one of {known}, not {text!r}") from None

    def spellings(self, move: Move) -> tuple[str, ...]:
        """Return the word for an action, its short form and its synonyms."""
        known = (SHORT | SYNONYMS).items()
        return (move.action, *(word for word, action in known if action == move.action))


NOTATION: Final = _Notation()


# ---------------------------------------------------------------------------------------- views


_PUBLIC = RecordReader(
    rules.STATE,
    *("ply", "slot", "side", "end", "turns", "start", "rocks", "marks"),
    *("left", "fell", "fired", "place", "shots"),
)
_OWN = RecordReader(rules.STATE, "place", "hull", "cells", "kills")
_TRUTH = RecordReader(rules.STATE, "board", "visited")
_MEMORY = RecordReader(rules.STATE, "memory", "visited")


def view(state: np.record, viewer: int) -> View:
    """Return the view of a seat, of `rules.PUBLIC` or of `rules.REFEREE`.

    Only this function copies state to views.
    """
    fields = _public(state)
    if viewer == rules.REFEREE:
        board, visited = _TRUTH(state)
        fields["board"], fields["trails"] = _codes(board, 0), _trails(visited, _ALL_TRAILS)
        fields["tanks"] = [_tank(*facts) for facts in zip(*_OWN(state), strict=True)]
    elif viewer != rules.PUBLIC:
        cell, hull, cells, kills = (facts[viewer] for facts in _OWN(state))
        fields["seat"], (fields["row"], fields["column"]) = viewer, geo.place(cell)
        fields["hull"], fields["score"] = geo.HULLS[hull], _points(cells, kills)
        memory, visited = _MEMORY(state)
        fields["local"] = _codes(memory, viewer * geo.CELLS)
        fields["visited"] = _trails(visited, _OWN_TRAIL[viewer])
    return View.unchecked(fields)


_ROWS = tuple(range(geo.STRIDE + 1, geo.CELLS - geo.STRIDE, geo.STRIDE))
"""The number of the first cell of each row, inside the border."""
_ALL_TRAILS = bytes(b"0123456789abcdef" * 16)
"""Maps the bits of the seats that have visited a cell to a hexadecimal digit."""
_OWN_TRAIL = tuple(
    bytes(b"01"[bits >> seat & 1] for bits in range(256)) for seat in range(geo.SEATS)
)
"""For each seat, maps these bits to 0 or 1: whether the seat has visited the cell."""


def _points(cells: int, kills: int) -> int:
    return rules.NEW_CELL * cells + rules.KILL * kills


def _codes(cells: tuple[int, ...], first: int) -> list[list[int]]:
    """Return the rows of a board that starts, with its border, at index `first`."""
    return [[*cells[first + row : first + row + geo.SIDE]] for row in _ROWS]


def _trails(visited: bytes, characters: bytes) -> list[str]:
    drawn = visited.translate(characters).decode()
    return [drawn[row : row + geo.SIDE] for row in _ROWS]


def _public(state: np.record) -> dict[str, Any]:
    """Return the fields of a view, with only the public ones set."""
    ply, slot, side, end, turns, start, rocks, marks, *seats = _PUBLIC(state)
    left, fell, fired, place, shots_at = seats
    wrecks = [_wreck(seat, when - 1, place[seat]) for seat, when in enumerate(fell) if when]
    victims = {wreck.slot: wreck.seat for wreck in wrecks}
    shots = sorted((when - 1, seat) for seat, when in enumerate(fired) if when)
    heard = [_shot(when, seat, shots_at[when], victims.get(when)) for when, seat in shots]
    gone = sorted((when, seat) for seat, when in enumerate(left) if when)
    fields = _EMPTY_FIELDS.copy()
    fields["options"] = _options(start, rocks, turns, marks)
    fields["ply"], fields["slot"], fields["left"] = ply, slot, turns - slot
    fields["to_act"], fields["over"] = side, rules.REASONS[end] or None
    fields["alive"] = [when == 0 for when in fell]
    fields["dropped"] = [seat for _, seat in gone]
    fields["events"] = [shot for shot in heard if shot.slot >= slot - geo.SEATS]
    fields["shots"], fields["wrecks"] = heard, wrecks
    return fields


@functools.lru_cache(maxsize=1 << 12)
def _shot(slot: int, seat: int, cell: int, victim: int | None) -> Shot:
    row, column = geo.place(cell)
    fields = {"slot": slot, "seat": seat, "row": row, "column": column, "victim": victim}
    return Shot.unchecked(fields)


@functools.lru_cache(maxsize=1 << 12)
def _wreck(seat: int, slot: int, cell: int) -> Wreck:
    row, column = geo.place(cell)
    by = slot % geo.SEATS
    return Wreck.unchecked({"seat": seat, "by": by, "slot": slot, "row": row, "column": column})


def _tank(cell: int, hull: int, cells: int, kills: int) -> Tank:
    row, column = geo.place(cell)
    fields = {"row": row, "column": column, "hull": geo.HULLS[hull]}
    return Tank.unchecked(fields | {"score": _points(cells, kills), "visited": cells})


@functools.cache
def _options(start: int, rocks: int, turns: int, marks: int) -> Options:
    return Options.model_validate(
        {
            "start": tuple(geo.STARTS)[start],
            "rocks": tuple(geo.ROCKS)[rocks],
            "turns": turns,
            "memory": rules.MEMORIES[marks],
        }
    )


_EMPTY_FIELDS: dict[str, Any] = dict.fromkeys(View.model_fields)
"""The fields of a view in order, all None."""


def features(seen: View, seat: int) -> Features:
    """Return the view of `seat` as float32 [11, 15, 15] (plane, row, column).

    The first six planes are unknown cells, free cells, rocks and wrecks, other tanks, the seat's
    tank and its trail. Then come four planes for the hull direction (up, right, down, left), one of
    which is filled with 1, and a plane filled with the fraction of slots left.
    """
    assert seen.local is not None, "expected the view of a seat"
    assert seen.visited is not None
    local, own = np.array(seen.local), 11 * (seat + 1)
    planes = np.zeros((11, *local.shape), np.float32)
    planes[:6] = (
        local == -1,
        local == 0,
        local <= -2,
        (local > 0) & (local != own),
        local == own,
        np.array([list(trail) for trail in seen.visited]) == "1",
    )
    if seen.hull is not None:
        planes[6 + geo.HULLS.index(seen.hull)] = 1
    planes[10] = seen.left / seen.options.turns
    return planes
