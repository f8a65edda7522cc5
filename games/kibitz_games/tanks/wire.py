"""What travels: the models, and the only door between them and states."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field, StringConstraints

from kibitz_games.api import OVER, Features, IllegalAction, InvalidSetup, Model
from kibitz_games.kernels import box, lay
from kibitz_games.tanks import geometry as geo
from kibitz_games.tanks import rules

Word = Literal["up", "down", "right", "left", "turn-right", "turn-left", "fire"]
Reason = Literal["turns", "dropped"]
Seat = Annotated[int, Field(ge=0, lt=geo.SEATS)]
Coordinate = Annotated[int, Field(ge=1, le=geo.SIDE)]
Slot = Annotated[int, Field(ge=0, le=rules.MAX_TURNS)]
Code = Literal[-3, -2, -1, 0, 11, 22, 33, 44]
Row = Annotated[list[Code], Field(min_length=geo.SIDE, max_length=geo.SIDE)]
Trail = Annotated[str, StringConstraints(pattern=f"^[0-9a-f]{{{geo.SIDE}}}$")]
_T = TypeVar("_T")

WORDS: tuple[Word, ...] = ("up", "down", "right", "left", "turn-right", "turn-left", "fire")
"""The actions from `rules.UP` on."""
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
    """What a host may choose."""

    start: geo.Start = Field(
        "corners",
        description="Where the tanks start: in the corners, or a step or two out of them as in"
        " the report's first table.",
    )
    rocks: geo.Rocks = Field("classic", description="The 29 rocks of the report, or none.")
    turns: int = Field(
        rules.MAX_TURNS,
        ge=geo.SEATS,
        le=rules.MAX_TURNS,
        description="Turns of all four together; those of the dead count too.",
    )


class Move(Model):
    """One of the seven actions; one that the board forbids does nothing."""

    action: Word


class Shot(Model):
    """A shot, which everybody hears: who fired from where, and whom it destroyed."""

    slot: Slot
    seat: Seat
    row: Coordinate
    column: Coordinate
    victim: Seat | None = None


class Wreck(Model):
    """What is left of a tank: whose it was, who destroyed it when, and where it is."""

    seat: Seat
    by: Seat
    slot: Slot
    row: Coordinate
    column: Coordinate


class Tank(Model):
    """What only a referee may know of each tank; `visited` counts places."""

    row: Coordinate
    column: Coordinate
    hull: geo.Hull
    score: int = Field(ge=0)
    visited: int = Field(ge=1)


class View(Model):
    """What a viewer may know.

    Everybody knows whose turn it is, who lives and who dropped out (in that order), each seat's
    last shot (`shots`, by time), those of them that fell in the last four slots (`events`: for
    a player everything since the own last move), and the wrecks.

    A seat knows also its own place, hull and score, its `local` board (-1 unknown, 0 free, -2
    rock, -3 wreck, 11, 22, 33 and 44 the tanks of seats 0 to 3) and where it has been
    (`visited`, a character 0 or 1 for each place).

    A referee knows also the true `board`, with the same codes, all `tanks`, and who has been
    where (`trails`, a hexadecimal digit for each place with a bit for each seat, 1 for seat 0).
    """

    options: Options
    ply: int = Field(ge=0, le=rules.MAX_TURNS)
    slot: Slot
    left: int = Field(ge=0, le=rules.MAX_TURNS, description="Slots that are left.")
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
    return rules.begin(options.start, options.rocks, options.turns)


# ---------------------------------------------------------------------------------------- moves

MOVES: tuple[Move, ...] = tuple(Move(action=word) for word in WORDS)
_ACTIONS = {word: rules.UP + at for at, word in enumerate(WORDS)}


def encode(action: int) -> Move:
    """Turn an action into its wire move."""
    return MOVES[action - rules.UP]


def decode(state: Any, move: Move) -> int:
    """Turn a wire move into an action; only the end of the play forbids any."""
    if int(state["side"]) < 0:
        raise IllegalAction("the play is over")
    return _ACTIONS[move.action]


def parse(written: str) -> Move:
    """Read an action by its word or by its short form."""
    word = written.strip().lower()
    try:
        return MOVES[WORDS.index(SHORT.get(word) or word)]
    except ValueError:
        known = ", ".join(f"{long} ({short})" for short, long in SHORT.items())
        raise IllegalAction(f"expected one of {known}, not {written!r}") from None


# ---------------------------------------------------------------------------------------- views


def view(state: np.record, viewer: int) -> View:
    """Return the view of a seat, of `rules.PUBLIC` or of `rules.REFEREE`.

    This is the only place where something of a state becomes part of a view.
    """
    facts, codes, trail = _portrait(state, viewer)
    seats = [facts[at : at + rules.OF_SEAT] for at in _SEATS_AT]
    fields = _public(facts, seats)
    if viewer == rules.REFEREE:
        fields["board"], fields["trails"] = _codes(codes), _trails(trail)
        fields["tanks"] = [_tank(each) for each in seats]
    elif viewer != rules.PUBLIC:
        cell, hull, score = seats[viewer][4:7]
        row, column = divmod(cell, geo.STRIDE)
        fields["seat"], fields["row"], fields["column"] = viewer, row, column
        fields["hull"], fields["score"] = geo.HULLS[hull], score
        fields["local"], fields["visited"] = _codes(codes), _trails(trail)
    seen: View = _trusted(View, fields)
    return seen


def _portrait(state: np.record, viewer: int) -> tuple[list[int], list[int], str]:
    facts = np.zeros(rules.PORTRAIT, np.int32)
    codes, trail = np.zeros(_PLACES, np.int8), np.zeros(_PLACES, np.uint8)
    rules.portrait_in(box(state), viewer, lay(facts), lay(codes), lay(trail))
    return facts.tolist(), codes.tolist(), trail.tobytes().decode("ascii")


_PLACES = geo.SIDE * geo.SIDE


_SEATS_AT = tuple(rules.FACTS + rules.OF_SEAT * seat for seat in range(geo.SEATS))


def _codes(codes: list[int]) -> list[list[int]]:
    return [codes[at : at + geo.SIDE] for at in range(0, _PLACES, geo.SIDE)]


def _trails(trail: str) -> list[str]:
    return [trail[at : at + geo.SIDE] for at in range(0, _PLACES, geo.SIDE)]


def _public(facts: list[int], seats: list[list[int]]) -> dict[str, Any]:
    """Return what everybody may know, and all else as unknown."""
    ply, slot, side, end, turns, start, rocks, _ = facts[: rules.FACTS]
    wrecks = [_wreck(seat, each) for seat, each in enumerate(seats) if each[1]]
    victims = {wreck.slot: wreck.seat for wreck in wrecks}
    shots = sorted((each[2] - 1, seat, each[3]) for seat, each in enumerate(seats) if each[2])
    heard = [_shot(slot, seat, cell, victims.get(slot)) for slot, seat, cell in shots]
    gone = sorted((each[0], seat) for seat, each in enumerate(seats) if each[0])
    fields = _NOTHING.copy()
    fields["options"] = _options(start, rocks, turns)
    fields["ply"], fields["slot"], fields["left"] = ply, slot, turns - slot
    fields["to_act"], fields["over"] = side, rules.REASONS[end] or None
    fields["alive"] = [each[1] == 0 for each in seats]
    fields["dropped"] = [seat for _, seat in gone]
    fields["events"] = [shot for shot in heard if shot.slot >= slot - geo.SEATS]
    fields["shots"], fields["wrecks"] = heard, wrecks
    return fields


def _shot(slot: int, seat: int, cell: int, victim: int | None) -> Shot:
    row, column = geo.place(cell)
    fields = {"slot": slot, "seat": seat, "row": row, "column": column, "victim": victim}
    made: Shot = _trusted(Shot, fields)
    return made


def _wreck(seat: int, facts: list[int]) -> Wreck:
    (row, column), slot = geo.place(facts[4]), facts[1] - 1
    by = slot % geo.SEATS
    fields = {"seat": seat, "by": by, "slot": slot, "row": row, "column": column}
    made: Wreck = _trusted(Wreck, fields)
    return made


def _tank(facts: list[int]) -> Tank:
    row, column = geo.place(facts[4])
    fields = {"row": row, "column": column, "hull": geo.HULLS[facts[5]]}
    made: Tank = _trusted(Tank, fields | {"score": facts[6], "visited": facts[7]})
    return made


@functools.cache
def _options(start: int, rocks: int, turns: int) -> Options:
    return Options(start=tuple(geo.STARTS)[start], rocks=tuple(geo.ROCKS)[rocks], turns=turns)


def _trusted(model: Any, fields: dict[str, Any]) -> Any:
    """Build a model from fields that need no validation; every field must be given.

    A law test validates what comes out; validating each view would double its cost.
    """
    made = model.__new__(model)
    _set(made, "__dict__", fields)
    _set(made, "__pydantic_fields_set__", _names(model))
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


_set = object.__setattr__


@functools.cache
def _names(model: type[Model]) -> set[str]:
    return set(model.model_fields)


_NOTHING: dict[str, Any] = dict.fromkeys(View.model_fields)
"""The order of the fields, and what a viewer knows who may know nothing."""


def dump(seen: View) -> dict[str, Any]:
    """Return what `model_dump` would, in a fraction of the time; the lists are the view's own."""
    fields = {name: value for name, value in seen.__dict__.items() if value is not None}
    fields["options"] = _dumped(seen.options)
    for name in ("events", "shots", "wrecks", "tanks"):
        if name in fields:
            fields[name] = [_present(each) for each in fields[name]]
    return fields


@functools.lru_cache(maxsize=256)
def _dumped(options: Options) -> dict[str, Any]:
    return options.model_dump(mode="json")


def _present(model: Model) -> dict[str, Any]:
    return {name: value for name, value in model.__dict__.items() if value is not None}


# -------------------------------------------------------------------------------------- samples


def features(seen: View, seat: int) -> Features:
    """Return float32 [11, 15, 15], rows before columns, of what `seat` knows.

    Unknown, free, rock or wreck, tanks of others, itself, where it has been; four planes that
    are 1 all over for the hull that it has (up, right, down, left); and the share of slots left.
    """
    assert seen.local is not None, "only a seat's own view has something to learn from"
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


def sample(seen: View, seed: int) -> np.record:
    """Return a state that a view may be of; what the view does not say is drawn from `seed`.

    Living tanks that the viewer cannot place stand where they were last known to be, if they may
    still be there, else anywhere that they can have come to. Nothing stands on a place that the
    viewer sees to be empty.
    """
    st, chance = _empty(seen), random.Random(seed)
    if seen.tanks is not None:
        _settle_all(st, seen)
    else:
        _remember(st, seen)
        for seat, cell in _stand(st, seen, chance).items():
            rules.settle(st, seat, cell, chance.randrange(4))
        for seat in range(geo.SEATS):
            if seat != seen.seat:
                _invent_trail(st, seen, seat, chance)
    _inform(st, seen)
    rules.finish(st)
    state: np.record = st
    return state


def _empty(seen: View) -> Any:
    """Return the state without its tanks, with everything that everybody may know."""
    st: Any = rules.begin(seen.options.start, seen.options.rocks, seen.options.turns)
    st.board[st.board > 0] = rules.FREE
    st.visited[:], st.memory[:], st.known[:] = 0, rules.UNKNOWN, 0
    st.ply, st.slot, st.side = seen.ply, seen.slot, seen.to_act
    st.end, st.gone = rules.REASONS.index(seen.over or ""), len(seen.dropped)
    st.left[seen.dropped] = range(1, 1 + len(seen.dropped))
    for shot in seen.shots:
        st.fired[shot.seat] = shot.slot + 1
        st.shots[shot.slot] = geo.number((shot.row, shot.column))
    for wreck in seen.wrecks:
        st.fell[wreck.seat] = wreck.slot + 1
        st.kills[wreck.by] += 1
        rules.settle(st, wreck.seat, geo.number((wreck.row, wreck.column)), 0)
    return st


def _settle_all(st: Any, seen: View) -> None:
    """Put every tank and every trail where a referee sees it."""
    assert seen.tanks is not None
    assert seen.trails is not None
    for seat, tank in enumerate(seen.tanks):
        cell, hull = geo.number((tank.row, tank.column)), geo.HULLS.index(tank.hull)
        rules.settle(st, seat, cell, hull)
        st.cells[seat] = tank.visited
    st.visited[list(geo.NUMBERS)] = [int(bits, 16) for bits in "".join(seen.trails)]


def _remember(st: Any, seen: View) -> None:
    """Put the viewer's own tank, trail and memory where they are."""
    if seen.seat is None:
        return
    row, column, hull = _given(seen.row), _given(seen.column), _given(seen.hull)
    rules.settle(st, seen.seat, geo.number((row, column)), geo.HULLS.index(hull))
    trail = [int(bit) for bit in "".join(_given(seen.visited))]
    st.visited[list(geo.NUMBERS)] = np.array(trail, np.uint8) << seen.seat
    st.cells[seen.seat] = sum(trail)
    st.memory[seen.seat, list(geo.NUMBERS)] = list(itertools.chain(*_given(seen.local)))
    for tank in range(geo.SEATS):
        here = np.flatnonzero(st.memory[seen.seat] == rules.TANK * (tank + 1))
        st.known[seen.seat, tank] = here[0] if len(here) else 0


def _given(value: _T | None) -> _T:
    """Return a part of a view that the view of a seat always has."""
    if value is None:
        raise ValueError("the view of a seat has its place, hull, local board and visited places")
    return value


def _stand(st: Any, seen: View, chance: random.Random) -> dict[int, int]:
    """Choose a place for every living tank that is not the viewer's."""
    hidden = [seat for seat in range(geo.SEATS) if seen.alive[seat] and seat != seen.seat]
    possible = [_possible(st, seen, seat) for seat in hidden]
    likely = [_likely(st, seen, *each) for each in zip(hidden, possible, strict=True)]
    for places in possible:
        chance.shuffle(places)
    for choice in itertools.chain(itertools.product(*likely), itertools.product(*possible)):
        if len(set(choice)) == len(choice):
            return dict(zip(hidden, choice, strict=True))
    raise ValueError("this view fits no state: the tanks have no room")


def _possible(st: Any, seen: View, seat: int) -> list[int]:
    """Return where a tank may be: as far as it can have come, on no place that is known empty."""
    origin, moves = _last_certain(seen, seat)
    near = (_ways(st, origin) <= moves) & (st.board == rules.FREE)
    if seen.seat is not None and seen.to_act == seen.seat:
        visible = _visible(st, seen.seat)
        mark = int(st.known[seen.seat, seat])
        if mark and visible[mark]:
            return [mark]
        near &= visible == 0
    cells: list[int] = np.flatnonzero(near).tolist()
    return cells


def _ways(st: Any, origin: int) -> np.ndarray:
    """Return how many moves every place is from `origin`."""
    out = np.empty(geo.CELLS, np.int32)
    rules.ways_in(box(st), origin, lay(out))
    return out


def _last_certain(seen: View, seat: int) -> tuple[int, int]:
    """Return where everybody last knew a tank to be, and how often it has moved since at most."""
    for shot in seen.shots:
        if shot.seat == seat:
            since = (seen.slot - 1 - shot.slot) // geo.SEATS
            return geo.number((shot.row, shot.column)), since
    return geo.number(geo.STARTS[seen.options.start][seat]), (seen.slot - seat + 3) // geo.SEATS


def _visible(st: Any, seat: int) -> Any:
    """Return what a seat sees on its own turn: its memory of all that is in sight is fresh."""
    known = st.memory[seat].copy()
    known[st.board == rules.EDGE] = rules.EDGE
    known[known == rules.UNKNOWN] = rules.FREE
    visible = np.zeros(geo.CELLS, np.uint8)
    rules.look(lay(known), int(st.place[seat]), int(st.hull[seat]), lay(visible))
    return visible


def _likely(st: Any, seen: View, seat: int, possible: list[int]) -> list[int]:
    """Return where the viewer remembers a tank, if it may still be there."""
    mark = int(st.known[seen.seat, seat]) if seen.seat is not None else _last_certain(seen, seat)[0]
    return [mark] if mark in possible else possible


def _invent_trail(st: Any, seen: View, seat: int, chance: random.Random) -> None:
    """Give a tank a trail that it has had the time for.

    Places that are no detour on the way from its start come first, both ends before all.
    """
    origin, cell = geo.number(geo.STARTS[seen.options.start][seat]), int(st.place[seat])
    detour = _ways(st, origin) + _ways(st, cell)
    direct = int(detour[cell])
    detour[[origin, cell]] = -1
    moves = (_last_slot(seen, seat) - seat + 3) // geo.SEATS
    count = 1 + chance.randint(direct, max(direct, moves))
    trail = np.argsort(detour, kind="stable")[: min(count, int((detour < geo.CELLS).sum()))]
    st.visited[trail] |= 1 << seat
    st.cells[seat] = len(trail)


def _last_slot(seen: View, seat: int) -> int:
    """Return the slot up to which a tank may have moved."""
    fatal = (wreck.slot for wreck in seen.wrecks if wreck.seat == seat)
    return min(seen.slot, *fatal, rules.MAX_TURNS)


def _inform(st: Any, seen: View) -> None:
    """Let the others know what they must know: themselves, what was public, what they see now."""
    for seat in range(geo.SEATS):
        if seat == seen.seat:
            continue
        for cell, code in _common(st, seen, seat):
            rules.learn_in(box(st), seat, cell, code)
    if seen.to_act not in (OVER, seen.seat):
        rules.refresh_in(box(st), seen.to_act)


def _common(st: Any, seen: View, seat: int) -> Iterator[tuple[int, int]]:
    """Yield what a seat knows for certain in any state of a view."""
    own = int(st.place[seat])
    yield own, int(st.board[own])
    heard: Shot | Wreck
    for heard in (*seen.shots, *seen.wrecks):
        cell = geo.number((heard.row, heard.column))
        if st.board[cell] in (rules.WRECK, rules.TANK * (heard.seat + 1)):
            yield cell, int(st.board[cell])
