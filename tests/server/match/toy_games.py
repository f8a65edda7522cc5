"""Small games for tests of the server, and a minimal driver of matches.

The games are a grid, a race that seats finish one by one, and a game with secrets. None of them is
registered; `variant` changes their properties.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import Field

from kibitz_games.core.game import (
    TERMINAL,
    Game,
    GameInfo,
    IllegalAction,
    Json,
    Model,
    Notation,
    Outcome,
    State,
)
from kibitz_games.core.scene import Cell, Scene
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lag import Lag
from kibitz_protocol.wire.records import Conduct, Entry, Player, Result, Setup
from kibitz_server.match.commands import Append, Command, Effect, MatchOver, Play, Refuse
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import EntryView

_G = TypeVar("_G", bound=Game)
SEED = "00c0ffee00c0ffee"


class ToyNotation(Notation[Model]):
    """Encodes moves as the values of their fields."""

    def format(self, move: Model) -> str:
        return "-".join(str(value) for value in move.to_wire().values())

    def parse(self, text: str) -> Model:
        raise AssertionError("a server reads no text")

    def cells(self, move: Model) -> tuple[str, ...]:
        return tuple(f"{name}{value}" for name, value in move.model_dump().items())


class ToyGame(Game):
    """The base class of the toy games: a record with the turn and the order of drop-outs."""

    dtype: ClassVar[np.dtype[Any]]
    notation = ToyNotation()

    def deal(self, options: Model, seats: int, seed: int) -> dict[str, Json]:
        return {}

    def to_act(self, state: State) -> int:
        return int(state["turn"])

    def referee_view(self, state: State) -> Model:
        view: Model = self.view(state, None)
        return view

    def undo(self, state: State, action: int) -> None:
        raise AssertionError("a server never takes back a move")

    def sample(self, view: Model, seed: int) -> State:
        raise AssertionError("a server never guesses a state")

    def scene(self, view: Model) -> Scene:
        """Draw the complete view as text."""
        lines = (f"{name}: {value}" for name, value in view.model_dump().items())
        return Scene("square", (Cell("a", 0, 0),), text=tuple(lines))

    def blank(self) -> Any:
        return np.zeros(1, self.dtype).view(np.recarray)[0]


def variant(game: type[_G], **facts: Any) -> _G:
    """Return a game of this kind with a changed `info`."""
    made: type[_G] = type(game.__name__, (game,), {"info": replace(game.info, **facts)})
    return made()


# --- m,n,k ----------------------------------------------------------------------------------


class GridOptions(Model):
    columns: int = Field(3, ge=1, le=32)
    rows: int = Field(3, ge=1, le=32)
    row: int = Field(3, ge=1, le=32)


class GridMove(Model):
    x: int = Field(ge=0, le=31)
    y: int = Field(ge=0, le=31)


class GridView(Model):
    cells: list[int]
    turn: int


class Grid(ToyGame):
    """Marks in a row on a grid, for two to four seats."""

    info = GameInfo(
        name="toy-grid",
        title="Grid",
        summary="Marks in a row.",
        rules_version=1,
        seats=(2, 3, 4),
        max_plies=1024,
    )
    Options: type[Model] = GridOptions
    Move: type[Model] = GridMove
    View: type[Model] = GridView
    dtype = np.dtype(
        [
            ("cells", np.int8, (1024,)),
            ("columns", np.int32),
            ("rows", np.int32),
            ("row", np.int32),
            ("seats", np.int32),
            ("turn", np.int32),
            ("empty", np.int32),
            ("winner", np.int32),
            ("out", np.int32, (4,)),
        ]
    )

    def start(self, options: Model, seats: int, deal: Mapping[str, Json]) -> State:
        assert isinstance(options, GridOptions)
        state = self.blank()
        state.columns, state.rows, state.row = options.columns, options.rows, options.row
        state.seats, state.winner = seats, TERMINAL
        state.empty = options.columns * options.rows
        return state  # type: ignore[no-any-return]

    def legal(self, state: State) -> list[int]:
        if self.to_act(state) == TERMINAL:
            return []
        size = int(state["columns"]) * int(state["rows"])
        free: list[int] = np.flatnonzero(state["cells"][:size] == 0).tolist()
        return free

    def skip(self, state: State) -> int:
        return int(state["columns"]) * int(state["rows"])

    def play(self, state: State, action: int) -> None:
        s: Any = state
        seat = int(s["turn"])
        if action == self.skip(state):
            s["turn"] = self._next(s, seat)
            return
        s["cells"][action] = seat + 1
        s["empty"] -= 1
        if self._line(s, action, seat + 1):
            s["winner"], s["turn"] = seat, TERMINAL
        elif s["empty"] == 0:
            s["turn"] = TERMINAL
        else:
            s["turn"] = self._next(s, seat)

    def _line(self, s: Any, action: int, mark: int) -> bool:
        columns, rows, row = int(s["columns"]), int(s["rows"]), int(s["row"])
        cells, (y, x) = s["cells"], divmod(action, columns)
        for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
            length = 1
            for way in (1, -1):
                i, j = x + way * dx, y + way * dy
                while 0 <= i < columns and 0 <= j < rows and cells[j * columns + i] == mark:
                    length += 1
                    i, j = i + way * dx, j + way * dy
            if length >= row:
                return True
        return False

    def _next(self, s: Any, seat: int) -> int:
        seats = int(s["seats"])
        later = [(seat + step) % seats for step in range(1, seats + 1)]
        return next(other for other in later if s["out"][other] == 0)

    def forfeit(self, state: State, seat: int) -> None:
        s: Any = state
        if s["turn"] == TERMINAL or s["out"][seat]:
            return
        s["out"][seat] = int(s["out"].max()) + 1
        left = [other for other in range(int(s["seats"])) if s["out"][other] == 0]
        if len(left) == 1:
            s["winner"], s["turn"] = left[0], TERMINAL
        elif s["turn"] == seat:
            s["turn"] = self._next(s, seat)

    def outcome(self, state: State) -> Outcome | None:
        if self.to_act(state) != TERMINAL:
            return None
        seats, out, winner = int(state["seats"]), state["out"], int(state["winner"])
        # The winner, then the remaining seats, then the drop-outs in reverse order.
        place = [0 if seat == winner else 1 for seat in range(seats)]
        place = [100 - int(out[seat]) if out[seat] else place[seat] for seat in range(seats)]
        return ranked(place, "row" if winner != TERMINAL else "full")

    def view(self, state: State, seat: int | None) -> Model:
        size = int(state["columns"]) * int(state["rows"])
        return GridView.model_construct(
            cells=state["cells"][:size].tolist(), turn=int(state["turn"])
        )

    def decode(self, state: State, move: Model) -> int:
        assert isinstance(move, GridMove)
        columns, rows = int(state["columns"]), int(state["rows"])
        if move.x >= columns or move.y >= rows:
            raise IllegalAction(f"cell {move.x},{move.y} is off the board")
        action = move.y * columns + move.x
        if state["cells"][action]:
            raise IllegalAction(f"cell {move.x},{move.y} is taken")
        return action

    def encode(self, state: State, action: int) -> Model:
        y, x = divmod(action, int(state["columns"]))
        return GridMove(x=x, y=y)


def ranked(place: list[int], reason: str) -> Outcome:
    """Rank seats by place, smaller is better; scores are the shares of seats beaten."""
    ranks = tuple(1 + sum(other < own for other in place) for own in place)
    ties = [sum(other == own for other in place) - 1 for own in place]
    beaten = [sum(other > own for other in place) for own in place]
    others = max(1, len(place) - 1)
    scores = tuple((b + t / 2) / others for b, t in zip(beaten, ties, strict=True))
    return Outcome(ranks, scores, reason)


# --- a race that seats finish one by one ----------------------------------------------------


class RaceOptions(Model):
    goal: int = Field(6, ge=1, le=100)


class RaceMove(Model):
    steps: int = Field(ge=0, le=3)


class RaceView(Model):
    run: list[int]
    turn: int


class Race(ToyGame):
    """Move 0 (a pass) to 3 steps ahead; a seat at the goal finishes, the others continue."""

    info = GameInfo(
        name="toy-race",
        title="Race",
        summary="First to the goal.",
        rules_version=1,
        seats=(2, 3, 4, 5, 6),
        max_plies=10_000,
    )
    Options = RaceOptions
    Move = RaceMove
    View = RaceView
    dtype = np.dtype(
        [
            ("run", np.int32, (6,)),
            ("place", np.int32, (6,)),
            ("goal", np.int32),
            ("seats", np.int32),
            ("turn", np.int32),
        ]
    )

    def start(self, options: Model, seats: int, deal: Mapping[str, Json]) -> State:
        assert isinstance(options, RaceOptions)
        state = self.blank()
        state.goal, state.seats = options.goal, seats
        return state  # type: ignore[no-any-return]

    def legal(self, state: State) -> list[int]:
        return [] if self.to_act(state) == TERMINAL else [0, 1, 2, 3]

    def skip(self, state: State) -> int:
        return 4

    def play(self, state: State, action: int) -> None:
        s: Any = state
        seat = int(s["turn"])
        s["run"][seat] += action if action != self.skip(state) else 0
        if s["run"][seat] >= s["goal"]:
            s["place"][seat] = sum(1 for place in s["place"] if 0 < place < 50) + 1
        self._go_on(s, seat)

    def _go_on(self, s: Any, seat: int) -> None:
        seats = int(s["seats"])
        running = [other for other in range(seats) if s["place"][other] == 0]
        if len(running) > 1:
            later = [(seat + step) % seats for step in range(1, seats + 1)]
            s["turn"] = next(other for other in later if other in running)
        else:
            s["turn"] = TERMINAL

    def forfeit(self, state: State, seat: int) -> None:
        s: Any = state
        if s["turn"] == TERMINAL or s["place"][seat]:
            return
        s["place"][seat] = 100 - sum(1 for place in s["place"] if place > 50)
        if s["turn"] == seat or sum(s["place"][: s["seats"]] == 0) <= 1:
            self._go_on(s, seat)

    def outcome(self, state: State) -> Outcome | None:
        if self.to_act(state) != TERMINAL:
            return None
        places = state["place"][: int(state["seats"])].tolist()
        return ranked([place or 49 for place in places], "goal")

    def view(self, state: State, seat: int | None) -> Model:
        return RaceView(run=state["run"].tolist(), turn=int(state["turn"]))

    def decode(self, state: State, move: Model) -> int:
        assert isinstance(move, RaceMove)
        return move.steps

    def encode(self, state: State, action: int) -> Model:
        return RaceMove(steps=action)


# --- secrets --------------------------------------------------------------------------------


class VeilMove(Model):
    card: int = Field(ge=0, le=7)


class VeilView(Model):
    """A view; `hand` is the viewer's own, `hands` are everyone's and only for a referee."""

    turn: int
    played: list[int]
    hand: list[int] | None = None
    mine: list[int] | None = None
    hands: list[list[int]] | None = None
    order: list[list[int]] | None = None


class Veil(ToyGame):
    """Each seat plays its cards face down; only the owners know the dealt hands.

    A skipped turn plays a blank, which others cannot distinguish from a card.
    """

    cards: ClassVar[int] = 3
    info = GameInfo(
        name="toy-veil",
        title="Veil",
        summary="Cards face down.",
        rules_version=1,
        seats=(2, 3, 4),
        hidden=True,
        max_plies=12,
    )
    Options = Model
    Move = VeilMove
    View = VeilView
    dtype = np.dtype(
        [
            ("hands", np.int64, (4, 3)),
            ("order", np.int8, (4, 3)),
            ("played", np.int32, (4,)),
            ("out", np.int32, (4,)),
            ("seats", np.int32),
            ("turn", np.int32),
        ]
    )

    def deal(self, options: Model, seats: int, seed: int) -> dict[str, Json]:
        source = np.random.Generator(np.random.PCG64(seed))
        hands: list[list[int]] = source.integers(10**11, 10**12, (seats, self.cards)).tolist()
        return {"hands": hands}

    def start(self, options: Model, seats: int, deal: Mapping[str, Json]) -> State:
        state = self.blank()
        state.hands[:seats] = deal["hands"]
        state.order[:] = -1
        state.seats = seats
        return state  # type: ignore[no-any-return]

    def legal(self, state: State) -> list[int]:
        seat = self.to_act(state)
        if seat == TERMINAL:
            return []
        gone = set(state["order"][seat].tolist())
        return [card for card in range(self.cards) if card not in gone]

    def skip(self, state: State) -> int:
        return self.cards

    def play(self, state: State, action: int) -> None:
        s: Any = state
        seat = int(s["turn"])
        s["order"][seat, s["played"][seat]] = action
        s["played"][seat] += 1
        self._go_on(s, seat)

    def _go_on(self, s: Any, seat: int) -> None:
        seats = int(s["seats"])
        left = [other for other in range(seats) if not s["out"][other]]
        busy = [other for other in left if s["played"][other] < self.cards]
        later = [(seat + step) % seats for step in range(1, seats + 1)]
        on = len(left) > 1 and bool(busy)
        s["turn"] = next(other for other in later if other in busy) if on else TERMINAL

    def forfeit(self, state: State, seat: int) -> None:
        s: Any = state
        if s["turn"] == TERMINAL or s["out"][seat]:
            return
        s["out"][seat] = int(s["out"].max()) + 1
        acting = int(s["turn"])
        self._go_on(s, acting if acting == seat else (acting - 1) % int(s["seats"]))

    def outcome(self, state: State) -> Outcome | None:
        if self.to_act(state) != TERMINAL:
            return None
        seats, out = int(state["seats"]), state["out"]
        # The first card played decides: a number that no other seat has wins.
        first = [int(state["order"][seat, 0]) for seat in range(seats)]
        worth = [
            int(state["hands"][seat, card]) if 0 <= card < self.cards else 0
            for seat, card in enumerate(first)
        ]
        place = [2**41 + 9 - int(out[s]) if out[s] else 2**40 - worth[s] for s in range(seats)]
        return ranked(place, "shown")

    def view(self, state: State, seat: int | None) -> Model:
        seats = int(state["seats"])
        facts: dict[str, Any] = {
            "turn": int(state["turn"]),
            "played": state["played"][:seats].tolist(),
        }
        if seat is not None:
            facts["hand"] = state["hands"][seat].tolist()
            facts["mine"] = state["order"][seat].tolist()
        return VeilView(**facts)

    def referee_view(self, state: State) -> Model:
        seats = int(state["seats"])
        return VeilView(
            turn=int(state["turn"]),
            played=state["played"][:seats].tolist(),
            hands=state["hands"][:seats].tolist(),
            order=state["order"][:seats].tolist(),
        )

    def decode(self, state: State, move: Model) -> int:
        assert isinstance(move, VeilMove)
        if move.card not in self.legal(state):
            raise IllegalAction(f"card {move.card} is not in the hand any more")
        return move.card

    def encode(self, state: State, action: int) -> Model:
        return VeilMove(card=action)


# --- setups ---------------------------------------------------------------------------------


def players(count: int) -> list[Player]:
    return [Player(player=f"p{seat}", name=f"Player {seat}", kind="bot") for seat in range(count)]


def setup(
    game: Game,
    seats: int = 2,
    *,
    clock: str = "none",
    conduct: Conduct | None = None,
    deal: Mapping[str, Any] | None = None,
    lag: Lag | None = None,
    **options: Any,
) -> Setup:
    """Return the setup of a match of `game`; `clock` is a time control as text."""
    return Setup(
        match="m1",
        game=game.info.name,
        rules_version=game.info.rules_version,
        options=options,
        seats=players(seats),
        deal=dict(deal) if deal is not None else game.deal(game.Options(), seats, int(SEED, 16)),
        seed=SEED,
        commitment=hashlib.sha256(SEED.encode()).hexdigest(),
        time_control=TimeControl.parse(clock),
        conduct=conduct or Conduct(),
        lag=lag,
        started="2026-01-02T03:04:05Z",
    )


HOUSE = Player(player="h1", name="House", kind="house")
REPLACING = Conduct(on_leave="replace", stand_in="toy-race/walker", grace_ms=1_000)


# --- a driver of matches ----------------------------------------------------------------------


class MatchDriver:
    """Executes effects like a runner: logs entries, stores their views, opens turns."""

    def __init__(
        self,
        game: Game,
        setup: Setup,
        now: int = 1_000_000,
        *,
        drawn: bool = False,
    ) -> None:
        """Create a driver; `drawn` is whether a client may draw, from the first entry on."""
        self.game = game
        self.setup = setup
        self.now = now
        self.match = MatchEngine.new(game, setup)
        self.match.views.drawn = drawn
        self.log: list[Entry] = []
        self.views: list[EntryView] = []
        self.finished: list[Result] = []
        self._request = 0
        self.lag = 0
        """The time that the clock has skipped so far, in milliseconds."""
        self.match.open_turn(now)

    @property
    def state(self) -> MatchState:
        return self.match.state

    def do(self, command: Command, wait: int = 0, request: str | None = None) -> list[Effect]:
        """Submit a command after `wait` milliseconds."""
        self.now += wait
        return self._carry_out(self.match.handle(command, self.now, self.lag, request))

    def tick(self, wait: int = 0) -> list[Effect]:
        self.now += wait
        return self._carry_out(self.match.tick(self.now, self.lag))

    def play(self, wait: int = 0, rtt_ms: int = 0, **action: int) -> list[Effect]:
        """Play `action` for the seat to act, or its first legal action."""
        return self.do(self.move(rtt_ms=rtt_ms, **action), wait)

    def move(self, rtt_ms: int = 0, **action: int) -> Play:
        state = self.state
        chosen = action or self.wire(state.game.legal(state.game_state)[0])
        self._request += 1
        return Play(state.to_act, self._request, state.ply, dict(chosen), None, rtt_ms)

    def wire(self, action: int) -> dict[str, Any]:
        wire: dict[str, Any] = self.game.encode(self.state.game_state, action).to_wire()
        return wire

    def restart(self, downtime: int = 5_000_000) -> None:
        """Discard everything except the log, and restart with a new, unrelated clock."""
        self.match = MatchEngine.restore(self.game, self.setup, self.log)
        self.now = downtime
        self._carry_out(self.match.tick(self.now, self.lag))
        self.match.open_turn(self.now, self.lag)

    def _carry_out(self, effects: list[Effect]) -> list[Effect]:
        for effect in effects:
            if isinstance(effect, Append):
                self.log.append(effect.entry)
                self.views.append(effect.view)
            elif isinstance(effect, MatchOver):
                self.finished.append(effect.result)
        self.match.open_turn(self.now, self.lag)
        return effects


def state_values(state: MatchState) -> tuple[object, ...]:
    """Return all that the log determines about a match."""
    return (state.game_state.tobytes(), state.save(), list(state.departed))


def grid(seats: int = 2, game: Game | None = None, **facts: Any) -> MatchDriver:
    game = game or Grid()
    return MatchDriver(game, setup(game, seats, **facts))


def race(seats: int = 3, **facts: Any) -> MatchDriver:
    return MatchDriver(Race(), setup(Race(), seats, **facts))


def kinds(effects: list[Effect]) -> list[str]:
    return [
        effect.entry.kind if isinstance(effect, Append) else type(effect).__name__
        for effect in effects
    ]


def refusal(effects: list[Effect]) -> Refuse:
    (found,) = [effect for effect in effects if isinstance(effect, Refuse)]
    return found
