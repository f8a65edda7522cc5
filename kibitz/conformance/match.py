"""One match on the server: the bot in one seat, random players in the others, and scripted
incidents.

The match runs on the server's own engine. Its time is the event loop's time plus an offset. Scripts
increase the offset to make a clock run short at any turn.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from kibitz.conformance.results import FailedError
from kibitz.conformance.server import LOBBY, ConformanceServer
from kibitz_games.core.game import TERMINAL, Game
from kibitz_protocol.wire import messages
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.messages import Done, EventList
from kibitz_protocol.wire.recordfile import seed_commitment
from kibitz_protocol.wire.records import Cause, Conduct, Flagged, Player, Setup
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.visibility import REFEREE
from kibitz_server.match import commands
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.history import read_page
from kibitz_server.match.state import MatchState

Incident: TypeAlias = "Callable[[ConformanceMatch], Awaitable[None]]"
"""A scripted incident; it may wait, and may fail the check."""
FAULT_CODES = frozenset({Code.ILLEGAL, Code.MALFORMED})


class ConformanceMatch:
    """A match of one bot on the scripted server."""

    def __init__(
        self,
        server: ConformanceServer,
        game: Game,
        *,
        key: str,
        seats: int,
        seat: int,
        seed: int,
        options: dict[str, Any] | None = None,
        control: TimeControl | None = None,
        played: Sequence[int] = (),
        timeout_s: float = 30.0,
    ) -> None:
        self.server = server
        self.game = game
        self.key = key
        self.seat = seat
        self.timeout_s = timeout_s
        """Seconds for the bot to answer, unless a clock allows less, and to reconnect."""
        self.on_own_turn: Incident | None = None
        """Called once, right after turn number `at_turn` was sent to the bot."""
        self.on_other_turn: Incident | None = None
        """Called once, after the bot's turn number `at_turn` and just before another seat moves."""
        self.at_turn = 1
        self.stop_after: int | None = None
        """The number of turns of the bot after which all others resign."""
        self.turns = 0
        """The number of turns sent to the bot, without repetitions."""
        self.accepted: dict[int, int] = {}
        """The id of the bot's move request, by ply."""
        self.intercept_move: Callable[[messages.Move], bool] | None = None
        """Called for every move before it is played; returns whether the script has answered it."""
        self.answers_to_lose = 0
        """The number of upcoming moves that are played but never acknowledged."""
        self.flags: list[int] = []
        """The times in milliseconds after which the bot's flag fell."""
        self.dropped = False
        """Whether the script forfeited the bot's seat."""
        self.excused: set[int] = set()
        """Plies at which a late answer is not a fault."""
        self._chance = random.Random(f"doctor/{seed}/{seat}")
        self._entered = False
        self._shift = 0
        self._awaits_rejoin = False
        # Whether the match waits for the bot to rejoin.
        self._changed = asyncio.Event()
        self._fault: FailedError | None = None
        self._lines: list[bytes] = []
        self._request = 0
        self._asked_ply: int | None = None
        self.engine = MatchEngine.new(game, self._setup(seats, seed, options or {}, control))
        self.engine.views.drawn = server.views == "drawn"
        for action in played:
            self._act(action)
        server.matches[key] = self

    def _setup(
        self, seats: int, seed: int, options: dict[str, Any], control: TimeControl | None
    ) -> Setup:
        chosen = self.game.Options.from_wire(options)
        hexadecimal, nonce = f"{seed:064x}", f"{seed:064x}"
        players = [Player(player=f"o{n}", name=f"scripted {n}", kind="bot") for n in range(seats)]
        players[self.seat] = self.server.player
        return Setup(
            match=self.key,
            lobby=LOBBY,
            game=self.game.info.name,
            rules_version=self.game.info.rules_version,
            options=chosen.to_wire(),
            seats=players,
            deal=dict(self.game.deal(chosen, seats, seed)),
            seed=hexadecimal,
            nonce=nonce,
            commitment=seed_commitment(hexadecimal, nonce),
            time_control=control or TimeControl(),
            conduct=Conduct(max_illegal=2),
            started="2000-01-01T00:00:00.000+00:00",
            server="kibitz bot check",
        )

    # --- playing ---------------------------------------------------------------------------------

    async def play(self) -> None:
        """Play to the end; raise `FailedError` at the first fault."""
        self._send_snapshot("started")
        while self.running:
            self._raise_fault()
            if self._awaits_rejoin:
                self._awaits_rejoin = False
                await self.wait_for_rejoin()
            if self.engine.state.to_act == self.seat:
                await self._play_bot_turn()
            else:
                await self._play_other_turn()
        await self.server.flush()
        self._raise_fault()

    @property
    def running(self) -> bool:
        """Whether the match is still running."""
        return self.engine.state.result is None

    async def _play_bot_turn(self) -> None:
        """Send the bot its turn, and wait until the turn is over."""
        turn, ply = self.engine.state.turn, self.engine.state.ply
        if self.stop_after is not None and self.turns >= self.stop_after:
            self.others_resign()
            return
        self._send_turn()
        self.turns += 1
        if self.on_own_turn is not None and self.turns >= self.at_turn:
            incident, self.on_own_turn = self.on_own_turn, None
            await incident(self)
        state = self.engine.state
        await self._until(lambda: state.turn != turn, f"an answer to the turn at ply {ply}")

    async def _play_other_turn(self) -> None:
        """Play a random move for another seat."""
        if self.on_other_turn is not None and self.turns >= self.at_turn:
            incident, self.on_other_turn = self.on_other_turn, None
            await incident(self)
        if self.running and self.engine.state.to_act not in (self.seat, TERMINAL):
            self._act(self._chance.choice(self.game.legal(self.engine.state.game_state)))
        await asyncio.sleep(0)

    async def _until(self, over: Callable[[], bool], awaited: str) -> None:
        """Wait until `over` is true; fail after the bot's clock or the timeout."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self.timeout_s
        while self.running and not over():
            self._raise_fault()
            self._changed.clear()
            due = self.engine.deadline
            wake = give_up if due is None else min(give_up, (due - self._shift) / 1000)
            try:
                async with asyncio.timeout_at(wake):
                    await self._changed.wait()
            except TimeoutError:
                self.tick()
                if loop.time() >= give_up and self.running and not over():
                    raise FailedError(awaited, f"none within {self.timeout_s:g} s") from None

    def _raise_fault(self) -> None:
        """Raise the first fault, if any."""
        if self.server.violations:
            raise FailedError("valid protocol messages", self.server.violations.pop(0))
        if self._fault is not None:
            raise self._fault
        cause = self.engine.state.departed.get(self.seat)
        if cause is not None and not self.dropped:
            detail = f": {cause.detail}" if cause.detail else ""
            raise FailedError(
                "the bot to play to the end", f"it dropped out ({cause.cause}{detail})"
            )

    # --- scripted incidents ----------------------------------------------------------------------

    def now(self) -> int:
        """Return the time of this match, in milliseconds."""
        return int(asyncio.get_running_loop().time() * 1000) + self._shift

    def advance_time(self, milliseconds: int) -> None:
        """Advance the time of this match."""
        self._shift += milliseconds
        self.tick()

    def tick(self) -> None:
        """Fire the due timers of the match."""
        self._carry_out(self.engine.tick(self.now()))

    async def break_connection(self) -> None:
        """Break the connection and wait until the bot has rejoined."""
        self.server.abort_connection()
        await self.wait_for_rejoin()

    async def wait_for_rejoin(self) -> None:
        """Wait until the bot has rejoined this match."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self.timeout_s
        while not self._entered:
            self._raise_fault()
            self._changed.clear()
            try:
                async with asyncio.timeout_at(give_up):
                    await self._changed.wait()
            except TimeoutError:
                where = (
                    "it connected but did not rejoin"
                    if self.server.connected.is_set()
                    else ("it did not connect")
                )
                came = f"{where} within {self.timeout_s:g} s"
                raise FailedError("the bot to reconnect and rejoin its match", came) from None

    def others_resign(self, *, but: int | None = None) -> None:
        """Resign for every other seat except `but`; without `but`, this ends the match."""
        state = self.engine.state
        for seat in range(len(state.players)):
            if self.running and seat not in (self.seat, but) and seat not in state.departed:
                self._carry_out(self.engine.handle(commands.Resign(seat), self.now()))

    def forfeit_bot(self, cause: Cause) -> None:
        """Forfeit the bot's seat, as a server does after the grace period."""
        self.dropped = True
        self._carry_out(
            self.engine.handle(commands.Forfeit(self.seat, cause, "scripted"), self.now())
        )

    # --- requests of the bot ----------------------------------------------------------------------

    def handle(self, message: object) -> None:
        """Handle a request of the bot."""
        match message:
            case messages.Move():
                self._move(message)
            case messages.Rejoin():
                self._rejoin(message)
            case messages.Resign():
                self._resigned(message)
            case messages.LeaveMatch():
                self._fail("the bot to play to the end", "it left the match")
                self.server.send(Done(re=message.id))
            case messages.Note():
                self.server.send(Done(re=message.id))
            case messages.History():
                self._history(message)
        self._changed.set()

    def connection_lost(self) -> None:
        """Handle the loss of the bot's connection."""
        self._entered = False
        if self.running:
            self._carry_out(self.engine.handle(commands.Leave(self.seat, "disconnect"), self.now()))
        self._changed.set()

    def _move(self, move: messages.Move) -> None:
        if self.intercept_move is not None and self.intercept_move(move):
            return
        before = self.accepted.get(move.ply)
        if before is not None and before != move.id:
            shown = f"{move.action} with id {move.id} after the one with id {before}"
            self._fail("one answer per turn", f"a second one at ply {move.ply}: {shown}")
        play = commands.Play(self.seat, move.id, move.ply, move.action, move.comment)
        self._carry_out(self.engine.handle(play, self.now()), move)

    def _refused(self, move: messages.Move, code: Code, message: str) -> None:
        """Record a refused move as a fault, unless it was only late."""
        sent = f"{move.action} at ply {move.ply}"
        if code in FAULT_CODES:
            self._fail("a legal move", f"{sent} was refused as {code}: {message}")
        elif move.ply not in self.excused and move.ply != self._asked_ply:
            self._fail("moves only at its own turns", f"{sent} was refused as {code}: {message}")

    def _resigned(self, request: messages.Resign) -> None:
        why = f"{request.fault}: {request.detail}" if request.fault else "voluntarily"
        if self.running and request.fault:
            self._fail("the bot to play to the end", f"it resigned, {why}")
        command: commands.Command = commands.Resign(self.seat)
        self.dropped = True
        self._carry_out(self.engine.handle(command, self.now()))
        self.server.send(Done(re=request.id))

    def _rejoin(self, request: messages.Rejoin) -> None:
        if self.running and self.seat in self.engine.state.away:
            self._carry_out(self.engine.handle(commands.Return(self.seat), self.now()))
        self.server.send(Done(re=request.id))
        self._send_snapshot("rejoined")
        if self.running and self.engine.state.to_act == self.seat:
            left = self.engine.left_ms(self.now())
            self.server.send(self.engine.views.your_turn(left, self.server.views))

    def _history(self, request: messages.History) -> None:
        state = self.engine.state
        page = read_page(
            MatchState(state.game, state.setup),
            self._lines,
            self.seat if self.running else REFEREE,
            max(1, request.first),
            request.count,
            own=self.seat,
            wanted=self.server.views,
        )
        self.server.send(
            EventList(
                re=request.id,
                match=self.key,
                view=page.view,
                stage=page.stage,
                events=page.events,
                more=page.more,
            )
        )

    # --- messages to the bot --------------------------------------------------------------------

    def _send_snapshot(self, why: str) -> None:
        assert why in ("started", "rejoined")
        self._entered = True
        left = self.engine.left_ms(self.now())
        wanted = self.server.views
        self.server.send(self.engine.views.snapshot(self.seat, why, self.seat, left, wanted))  # type: ignore[arg-type]
        if self.engine.state.result is not None:
            self._send_finished()

    def _send_turn(self) -> None:
        self._asked_ply = self.engine.state.ply
        self._send(self.engine.views.your_turn(wanted=self.server.views))
        self.engine.open_turn(self.now())

    def _send_finished(self) -> None:
        self._send(self.engine.views.finished(f"/records/{self.key}.jsonl", self.server.views))

    def _send(self, message: messages.ServerMessage) -> None:
        if self._entered:
            self.server.send(message)

    def _act(self, action: int) -> None:
        """Play an action for a scripted seat, or for the bot's own seat before it joined."""
        self._request += 1
        wire = self.game.encode(self.engine.state.game_state, action).to_wire()
        play = commands.Play(self.engine.state.to_act, self._request, self.engine.state.ply, wire)
        self._carry_out(self.engine.handle(play, self.now()))

    def _carry_out(self, effects: list[commands.Effect], move: messages.Move | None = None) -> None:
        for effect in effects:
            match effect:
                case commands.Append(entry, view, answered):
                    if isinstance(entry, Flagged) and entry.seat == self.seat:
                        self.flags.append(entry.elapsed_ms)
                    self._lines.append(encode(entry))
                    self._send(view.event(self.seat, self.server.views))
                    if answered is not None and move is not None:
                        self._answer_move(move, entry.seq)
                case commands.Accepted(_, _, seq) if move is not None:
                    self._answer_move(move, seq)
                case commands.Refuse(_, id, code, message, ply) if (
                    move is not None and id is not None
                ):
                    self._refused(move, code, message)
                    shown_ply = ply if code is Code.STALE else None
                    self.server.refuse(move.id, code, message, ply=shown_ply)
                case commands.MatchOver():
                    self._send_finished()
                case _:
                    pass
        if effects:
            self._changed.set()

    def _answer_move(self, move: messages.Move, seq: int) -> None:
        """Acknowledge a move as entry `seq`, unless the script drops the answer."""
        self.accepted.setdefault(move.ply, move.id)
        if self.answers_to_lose:
            self.answers_to_lose -= 1
            self.server.abort_connection()
            self._awaits_rejoin = True
        self.server.send(Done(re=move.id, seq=seq))

    def _fail(self, expected: str, came: str) -> None:
        self._fault = self._fault or FailedError(expected, came)
