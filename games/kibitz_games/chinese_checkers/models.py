"""The models of the wire format, and all conversions between them and states."""

from __future__ import annotations

import base64
import binascii
import functools
import re
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules, text
from kibitz_games.compiled.calls import play
from kibitz_games.compiled.kernels import RecordReader, as_array, kernel_array
from kibitz_games.core.game import Features, IllegalAction, InvalidSetup, Model, Notation

Stop = Literal["any", "no-foreign", "no-active"]
Win = Literal["own-or-parked", "full", "any"]
Repetition = Literal["draw", "adjudicate"]
Reason = Literal["goal", "repetition", "stall", "length", "dropped"]


def _boolean(value: object) -> object:
    """Reject numbers, because a `Literal` would accept 1 for True."""
    if value is not True:
        raise ValueError("expected true")
    return value


Yes = Annotated[Literal[True], BeforeValidator(_boolean)]


class Options(Model):
    """The options of a match."""

    board: geo.Board = Field("star", description="The common star, or the rhombus for two players.")
    size: int | None = Field(
        None,
        ge=1,
        le=9,
        description="Side of the star's triangles (1-5, default 4) or of the rhombus (3-9,"
        " default 9).",
    )
    pegs: int | None = Field(
        None,
        ge=1,
        le=geo.MAX_PEGS,
        examples=[10],
        description="Pegs per player on the rhombus; the star's triangles are always full.",
    )
    corners: tuple[int, ...] | None = Field(
        None,
        examples=[[0, 3]],
        min_length=2,
        max_length=6,
        description="Corner of each seat, clockwise from the top: N 0, NE 1, SE 2, S 3, SW 4,"
        " NW 5. By default opposite and evenly spread.",
    )
    stop: Stop = Field(
        "any",
        description="Where a peg may end its move: anywhere (any); in no triangle except its home"
        " and goal (no-foreign); not in the home or goal of another active player (no-active).",
    )
    passing: bool = Field(
        True,
        alias="pass",
        description="Whether chains of jumps may pass through holes forbidden by `stop`.",
    )
    sticky_goal: bool = Field(False, description="Whether pegs in their goal must stay in it.")
    long_jumps: bool = Field(
        False,
        description="Whether a jump may cross a distant peg and land equally far behind it, if all"
        " holes between are empty.",
    )
    win: Win = Field(
        "own-or-parked",
        description="Which pegs can fill a player's goal, including at least one of the player's:"
        " the player's and those that started there (own-or-parked), only the player's (full), or"
        " all (any).",
    )
    repetition: Repetition = Field(
        "draw",
        description="The result of a threefold repetition for players who have not finished: a"
        " draw, or ranks by the remaining distance (adjudicate).",
    )
    opening: tuple[str, ...] | None = Field(
        None,
        max_length=64,
        description="Moves played before the match starts, such as 3-14+117-106; the next seat"
        " moves first.",
        examples=[["3-14", "117-106"]],
    )


class Move(Model):
    """A move of a peg from one hole to another, or a pass, which is legal only if no move is."""

    source: int | None = Field(None, alias="from", ge=0, lt=geo.MAX_HOLES)
    target: int | None = Field(None, alias="to", ge=0, lt=geo.MAX_HOLES)
    passing: Yes | None = Field(None, alias="pass")

    @model_validator(mode="after")
    def _one_kind(self) -> Move:
        holes = (self.source is not None) + (self.target is not None)
        if holes != (0 if self.passing else 2):
            raise ValueError('expected {"from": hole, "to": hole} or {"pass": true}')
        return self


class Last(Model):
    """The last action; `path` lists all holes where the peg landed, including both ends."""

    source: int | None = Field(None, alias="from", ge=0, lt=geo.MAX_HOLES)
    target: int | None = Field(None, alias="to", ge=0, lt=geo.MAX_HOLES)
    path: list[int] | None = None
    passing: Yes | None = Field(None, alias="pass")


_PAST_CHARS = -(-2 * rules.MAX_PLIES // 3) * 4


class View(Model):
    """A position. Nothing is hidden, so all viewers get the same view.

    `options` contains the size and the number of pegs. It omits the corners, which are a separate
    field, and the opening, which no longer matters. `ranks` is 0 for each seat that is still
    playing, `best` is each seat's smallest distance so far, `idle` the number of plies without
    progress, and `repeats` the number of times that the position has occurred.

    `past` contains the moves since a seat last finished or dropped out. Only positions since then
    can recur, so these moves suffice to detect repetitions. The field is absent if there are none.
    """

    options: Options
    ply: int = Field(ge=0, le=rules.MAX_PLIES)
    to_act: int = Field(ge=-1, lt=rules.SEATS)
    turn: int = Field(
        ge=0,
        lt=rules.SEATS,
        description="The seat to move; unlike to_act, also set after the end.",
    )
    over: Reason | None = None
    idle: int = Field(ge=0)
    repeats: int = Field(ge=1)
    past: str | None = Field(
        None,
        max_length=_PAST_CHARS,
        pattern=r"^[A-Za-z0-9+/]*={0,2}$",
        description="Base64 of 16 bits for each move, low byte first: from * holes + to, or"
        " holes * holes for a pass.",
    )
    corners: list[int] = Field(min_length=2, max_length=rules.SEATS)
    ranks: list[int]
    best: list[int]
    pegs: list[list[int]]
    last: Last | None = None


# ------------------------------------------------------------------------------------- options


def start(options: Options, seats: int) -> np.record:
    """Return the first state, or raise `InvalidSetup` with the invalid option."""
    return _start(options, seats).copy()


@functools.lru_cache(maxsize=64)
def _start(options: Options, seats: int) -> np.record:
    """Return the first state for these options; cached, so callers must not modify it."""
    size = _size(options)
    pegs = _pegs(options, size)
    corners = _corners(options, seats)
    shape = geo.geometry(options.board, size)
    homes = tuple(shape.home(corner, pegs) for corner in corners)
    state = _position(options, size, corners, homes)
    return _opened(options, size, corners, state) if options.opening else state


def _opened(options: Options, size: int, corners: tuple[int, ...], state: np.record) -> np.record:
    """Return the first state after an opening; its history does not include the opening's moves."""
    for written in options.opening or ():
        try:
            play(state, decode(state, NOTATION.parse(written)))
        except IllegalAction as error:
            raise InvalidSetup("options.opening", f"{written!r}: {error}") from None
    seen = view(state)
    if seen.over is not None or any(seen.ranks):
        raise InvalidSetup("options.opening", "expected an opening in which no player finishes")
    pegs = tuple(tuple(holes) for holes in seen.pegs)
    return _position(options, size, corners, pegs, seen.turn)


def _position(
    options: Options,
    size: int,
    corners: tuple[int, ...],
    pegs: tuple[tuple[int, ...], ...],
    turn: int = 0,
    out: tuple[int, ...] = (),
) -> np.record:
    return rules.make_state(
        table=geo.ALL.index((options.board, size)),
        stop=rules.STOPS.index(options.stop),
        through=options.passing,
        sticky=options.sticky_goal,
        long_jumps=options.long_jumps,
        win=rules.WINS.index(options.win),
        repetition=rules.REPETITIONS.index(options.repetition),
        corners=corners,
        pegs=pegs,
        turn=turn,
        out=out,
    )


def _size(options: Options) -> int:
    size = geo.COMMON[options.board] if options.size is None else options.size
    offered = geo.SIZES[options.board]
    if size not in offered:
        message = f"a {options.board} has size {offered[0]} to {offered[-1]}, not {size}"
        raise InvalidSetup("options.size", message)
    return size


def _pegs(options: Options, size: int) -> int:
    usual = geo.usual_pegs(options.board, size)
    pegs = usual if options.pegs is None else options.pegs
    if options.board == "star" and pegs != usual:
        raise InvalidSetup("options.pegs", f"a star of size {size} has {usual} pegs, not {pegs}")
    if options.board == "rhombus" and 2 * pegs >= size * size:
        raise InvalidSetup("options.pegs", f"a rhombus of size {size} has no room for {pegs} pegs")
    return pegs


def _corners(options: Options, seats: int) -> tuple[int, ...]:
    if seats not in geo.LAYOUTS:
        raise InvalidSetup("seats", f"expected 2 to 6 players, not {seats}")
    offered = geo.corners_of(options.board)
    if seats > len(offered):
        raise InvalidSetup("seats", f"a {options.board} is for {len(offered)} players, not {seats}")
    corners = options.corners or geo.LAYOUTS[seats]
    fit = len(corners) == len(set(corners)) == seats and set(corners) <= set(offered)
    if not fit:
        message = f"expected {seats} different corners out of {list(offered)}, not {list(corners)}"
        raise InvalidSetup("options.corners", message)
    return tuple(corners)


# ---------------------------------------------------------------------------------------- moves


@functools.cache
def move(source: int, target: int) -> Move:
    """Return the move of a peg. Moves are frozen, so each is created once and shared."""
    return Move(source=source, target=target)


PASS = Move(passing=True)


def encode(holes: int, action: int) -> Move:
    """Convert an action to its wire move."""
    return PASS if action == holes * holes else move(*divmod(action, holes))


def decode(state: Any, move: Move) -> int:
    """Convert a wire move to a legal action, or raise `IllegalAction`."""
    holes = int(state["holes"])
    if move.source is None or move.target is None:
        return _decode_pass(state, holes)
    if move.source >= holes or move.target >= holes:
        raise IllegalAction(f"holes are numbered 0 to {holes - 1}; got {NOTATION.format(move)}")
    action = move.source * holes + move.target
    if not rules.allows_in(as_array(state), action):
        raise IllegalAction(_reason(state, move.source, move.target))
    return action


def _decode_pass(state: Any, holes: int) -> int:
    if not rules.allows_in(as_array(state), holes * holes):
        over = int(state["side"]) < 0
        raise IllegalAction(
            "the game is over" if over else "a pass is legal only if there is no other move"
        )
    return holes * holes


def _reason(state: Any, source: int, target: int) -> str:
    """Return why a move is illegal."""
    seat, board = int(state["side"]), state["board"]
    owner = (int(board[source]) + 15) >> 4
    if seat < 0:
        return "the game is over"
    if owner == 0:
        return f"hole {source} is empty"
    if owner != seat + 1:
        return f"the peg in hole {source} belongs to seat {owner}, not to seat {seat + 1}"
    if board[target] != 0:
        return f"hole {target} is occupied"
    return f"no step or chain of jumps leads from {source} to {target}"


class _Notation(Notation[Move]):
    """Moves written as the numbers of two holes."""

    def format(self, move: Move) -> str:
        """Return a move as a person writes it."""
        return "pass" if move.passing else f"{move.source}-{move.target}"

    def parse(self, text: str) -> Move:
        """Parse a move written by `format`."""
        if text.strip().lower() == "pass":
            return PASS
        match = re.fullmatch(r"\s*([0-9]{1,3})\s*-\s*([0-9]{1,3})\s*", text)
        holes = [int(part) for part in match.groups()] if match else []
        if not holes or max(holes) >= geo.MAX_HOLES:
            raise IllegalAction(f"expected two holes such as 3-14, or pass, not {text!r}")
        return move(*holes)

    def cells(self, move: Move) -> tuple[str, ...]:
        """Return both holes; empty for a pass."""
        return () if move.passing else (str(move.source), str(move.target))


NOTATION: Final = _Notation()


# ---------------------------------------------------------------------------------------- views


_FIELDS = RecordReader(
    rules.STATE,
    *("geometry", "each", "stop", "through", "sticky", "long_jumps", "win", "repetition"),
    *("seats", "holes", "ply", "side", "turn", "end", "since", "history", "corner", "rank"),
    *("best", "pegs"),
)
_SLOTS = rules.STATE["pegs"].shape[1]


def view(state: np.record) -> View:
    """Return the view, which is the same for all seats and the public."""
    *chosen, seats, holes, ply, side, turn, end, since, history, corner, rank, best, pegs = _FIELDS(
        state
    )
    pegs_each = chosen[1]
    fields = {
        "options": _options(*chosen),
        "ply": ply,
        "to_act": side,
        "turn": turn,
        "over": rules.REASONS[end] or None,
        "idle": since,
        "repeats": int(rules.occurrences_in(as_array(state))),
        "past": _encode_past(history[rules.first_recurrable_in(as_array(state)) : ply]),
        "corners": [*corner[:seats]],
        "ranks": [*rank[:seats]],
        "best": [*best[:seats]],
        "pegs": [sorted(pegs[at : at + pegs_each]) for at in range(0, seats * _SLOTS, _SLOTS)],
        "last": _last(state, holes, history[ply - 1]) if ply > 0 else None,
    }
    return View.unchecked(fields)


def _encode_past(actions: Any) -> str | None:
    """Encode actions as 16-bit integers, the format in which a state stores its history."""
    return base64.b64encode(np.asarray(actions, "<u2").tobytes()).decode() or None


def _decode_past(seen: View, holes: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the actions in a view's `past`. Raises `ValueError` if they are invalid."""
    wrong = f"expected the past as base64 of at most {seen.ply} moves on {holes} holes"
    try:
        raw = base64.b64decode(seen.past or "", validate=True)
    except binascii.Error:
        raise ValueError(wrong) from None
    if len(raw) % 2 or len(raw) > 2 * seen.ply:
        raise ValueError(wrong)
    actions = np.frombuffer(raw, "<u2").astype(np.int32)
    if (actions > holes * holes).any():
        raise ValueError(wrong)
    return actions


def _last(state: np.record, holes: int, action: int) -> Last:
    if action == holes * holes:
        return _LAST_PASS
    out = np.empty(rules.CELLS, np.int32)
    length = rules.shortest_path_in(as_array(state), action, kernel_array(out))
    path = out[:length].tolist()
    fields = {"source": path[0], "target": path[-1], "path": path, "passing": None}
    return Last.unchecked(fields)


_LAST_PASS = Last(passing=True)


def legal_json(state: np.record, most: int) -> tuple[bytes, int]:
    """Return the legal moves as JSON and their number; the JSON is empty for more than `most`."""
    out = np.empty(most * text.MOVE_CHARS + len("[]"), np.uint8)
    length, count = text.write_legal(as_array(state), kernel_array(out), most)
    return out[:length].tobytes(), count


@functools.cache
def _options(
    table: int,
    pegs: int,
    stop: int,
    through: int,
    sticky: int,
    long_jumps: int,
    win: int,
    repetition: int,
) -> Options:
    board, size = geo.ALL[table]
    return Options.model_validate(
        {
            "board": board,
            "size": size,
            "pegs": pegs,
            "stop": rules.STOPS[stop],
            "pass": bool(through),
            "sticky_goal": bool(sticky),
            "long_jumps": bool(long_jumps),
            "win": rules.WINS[win],
            "repetition": rules.REPETITIONS[repetition],
        }
    )


def features(seen: View, seat: int) -> Features:
    """Return float32 [2 * seats, holes]: the pegs and the goal of each seat, `seat` first."""
    size, seats = _size(seen.options), len(seen.corners)
    shape = geo.geometry(seen.options.board, size)
    planes = np.zeros((2 * seats, shape.holes), np.float32)
    for i in range(seats):
        other = (seat + i) % seats
        planes[2 * i, seen.pegs[other]] = 1
        planes[2 * i + 1, list(shape.home((seen.corners[other] + 3) % 6, len(seen.pegs[0])))] = 1
    return planes


def state_from_view(seen: View) -> np.record:
    """Return the state that a view shows, without the moves before its `past`."""
    size = _size(seen.options)
    pegs = tuple(tuple(holes) for holes in seen.pegs)
    corners, out = tuple(seen.corners), tuple(seen.ranks)
    st: Any = _position(seen.options, size, corners, pegs, seen.turn, out)
    st.best[: len(corners)] = seen.best
    st.ply = seen.ply
    rules.restore_past_in(as_array(st), kernel_array(_decode_past(seen, int(st.holes))))
    if not seen.past:  # count the current position even if the server sends no past
        st.prior = seen.repeats - 1
        st.seen[int(st.key) % rules.FILTER] = seen.repeats
    st.since, st.side = seen.idle, seen.to_act
    st.end = rules.REASONS.index(seen.over or "")
    st.marks[0] = 0
    st.marks[seen.ply - seen.idle] = rules.DROP
    if seen.last is not None:
        st.history[seen.ply - 1] = _action(seen.last, int(st.holes))
    state: np.record = st
    return state


def _action(last: Last, holes: int) -> int:
    if last.source is None or last.target is None:
        return holes * holes
    return last.source * holes + last.target
