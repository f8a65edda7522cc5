"""One match on the stage: the bot in one seat, chance in the others, and what the script does.

The match itself is the server's own core. Time is the event loop's plus what a script has moved
it on by, so that a clock can be made short at any turn.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from kibitz.clinic.findings import FailedError
from kibitz.clinic.stage import LOBBY, Stage
from kibitz_games.api import OVER, Game
from kibitz_protocol import messages
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.messages import Done, EventList
from kibitz_protocol.records import Cause, Conduct, Flagged, Player, Setup
from kibitz_protocol.refusals import Code
from kibitz_server import acts, record
from kibitz_server.match import Match
from kibitz_server.view import Sight

Incident: TypeAlias = "Callable[[Visit], Awaitable[None]]"
"""Something that a script does; it may wait, and fail the check."""
WRONG = frozenset({Code.ILLEGAL, Code.MALFORMED})


class Visit:
    """A match that one bot plays on a stage."""

    def __init__(
        self,
        stage: Stage,
        game: Game,
        *,
        key: str,
        seats: int,
        seat: int,
        seed: int,
        options: dict[str, Any] | None = None,
        control: TimeControl | None = None,
        played: Sequence[int] = (),
        patience: float = 30.0,
    ) -> None:
        self.stage = stage
        self.game = game
        self.key = key
        self.seat = seat
        self.patience = patience
        """Seconds that the bot has for an answer where no clock says less, and to come back."""
        self.own_turn: Incident | None = None
        """Done once, when the bot has just been told of its turn `at_turn`."""
        self.others_turn: Incident | None = None
        """Done once, before another seat moves for the first time after `at_turn`."""
        self.at_turn = 1
        self.stop_after: int | None = None
        """After so many turns of the bot everybody else gives up."""
        self.turns = 0
        """How often the bot has been told that it is its turn, repetitions left out."""
        self.accepted: dict[int, int] = {}
        """By ply the request with the bot's move."""
        self.held_back: Callable[[messages.Move], bool] | None = None
        """Asked of every move before it is carried out: whether the script answers it itself."""
        self.answers_to_lose = 0
        """How many of the next moves are carried out, but their answer is lost on the way."""
        self.flags: list[int] = []
        """After how many milliseconds the bot's flag fell."""
        self.dropped = False
        """Whether the script took the bot's seat away."""
        self.excused: set[int] = set()
        """Plies for which a late answer is no fault."""
        self._chance = random.Random(f"doctor/{seed}/{seat}")
        self._entered = False
        self._shift = 0
        self._comes_back = False
        # Whether the play waits until the bot has its seat again.
        self._changed = asyncio.Event()
        self._fault: FailedError | None = None
        self._sights: list[Sight] = []
        self._request = 0
        self._asked_ply: int | None = None
        self.match = Match.new(game, self._setup(seats, seed, options or {}, control))
        for action in played:
            self._act(action)
        stage.matches[key] = self

    def _setup(
        self, seats: int, seed: int, options: dict[str, Any], control: TimeControl | None
    ) -> Setup:
        chosen = self.game.Options.read(options)
        hexadecimal = f"{seed:016x}"
        players = [Player(player=f"o{n}", name=f"scripted {n}", kind="bot") for n in range(seats)]
        players[self.seat] = self.stage.player
        return Setup(
            match=self.key,
            lobby=LOBBY,
            game=self.game.info.name,
            rules_version=self.game.info.rules_version,
            options=self.game.dump(chosen),
            seats=players,
            deal=dict(self.game.deal(chosen, seats, seed)),
            seed=hexadecimal,
            commitment=record.commitment(hexadecimal),
            time_control=control or TimeControl(),
            conduct=Conduct(max_illegal=2),
            started="2000-01-01T00:00:00.000+00:00",
            server="kibitz doctor",
        )

    # --- the course of it ------------------------------------------------------------------------

    async def play(self) -> None:
        """Play to the end, or raise `FailedError` at the first fault."""
        self._enter("started")
        while self.running:
            self._look()
            if self._comes_back:
                self._comes_back = False
                await self.back()
            if self.match.to_act == self.seat:
                await self._own()
            else:
                await self._other()
        await self.stage.heard()
        self._look()

    @property
    def running(self) -> bool:
        """Whether the match goes on."""
        return self.match.result is None

    async def _own(self) -> None:
        """Tell the bot of its turn and wait until it has passed."""
        turn, ply = self.match.turn, self.match.ply
        if self.stop_after is not None and self.turns >= self.stop_after:
            self.others_resign()
            return
        self._tell_turn()
        self.turns += 1
        if self.own_turn is not None and self.turns >= self.at_turn:
            incident, self.own_turn = self.own_turn, None
            await incident(self)
        await self._until(lambda: self.match.turn != turn, f"an answer to the turn at ply {ply}")

    async def _other(self) -> None:
        """Let chance move for another seat."""
        if self.others_turn is not None and self.turns >= self.at_turn:
            incident, self.others_turn = self.others_turn, None
            await incident(self)
        if self.running and self.match.to_act not in (self.seat, OVER):
            self._act(self._chance.choice(self.game.legal(self.match.state)))
        await asyncio.sleep(0)

    async def _until(self, over: Callable[[], bool], awaited: str) -> None:
        """Wait while the match stands still; the bot's clock or the patience ends that."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self.patience
        while self.running and not over():
            self._look()
            self._changed.clear()
            due = self.match.deadline()
            wake = give_up if due is None else min(give_up, (due - self._shift) / 1000)
            try:
                async with asyncio.timeout_at(wake):
                    await self._changed.wait()
            except TimeoutError:
                self.tick()
                if loop.time() >= give_up and self.running and not over():
                    raise FailedError(awaited, f"none within {self.patience:g} s") from None

    def _look(self) -> None:
        """Raise what was found to be wrong."""
        if self.stage.trouble:
            raise FailedError("messages as the protocol has them", self.stage.trouble.pop(0))
        if self._fault is not None:
            raise self._fault
        cause = self.match.out.get(self.seat)
        if cause is not None and not self.dropped:
            detail = f": {cause.detail}" if cause.detail else ""
            raise FailedError("that it plays to the end", f"it dropped out, {cause.cause}{detail}")

    # --- what scripts do -------------------------------------------------------------------------

    def now(self) -> int:
        """Return the time of the match's caller, in milliseconds."""
        return int(asyncio.get_running_loop().time() * 1000) + self._shift

    def pass_time(self, milliseconds: int) -> None:
        """Let this match's time run ahead."""
        self._shift += milliseconds
        self.tick()

    def tick(self) -> None:
        """Let the timers of the match fire."""
        self._carry_out(self.match.tick(self.now()))

    async def away(self) -> None:
        """Break the connection and wait until the bot has its seat again."""
        self.stage.drop()
        await self.back()

    async def back(self) -> None:
        """Wait until the bot is at this match again."""
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self.patience
        while not self._entered:
            self._look()
            self._changed.clear()
            try:
                async with asyncio.timeout_at(give_up):
                    await self._changed.wait()
            except TimeoutError:
                where = (
                    "it connected but did not rejoin"
                    if self.stage.arrived.is_set()
                    else ("it did not connect")
                )
                came = f"{where} within {self.patience:g} s"
                raise FailedError("that it comes back and rejoins its match", came) from None

    def others_resign(self, *, but: int | None = None) -> None:
        """Let every other seat give up, or all except one; in games of two that is the end."""
        for seat in range(len(self.match.players)):
            if self.running and seat not in (self.seat, but) and seat not in self.match.out:
                self._carry_out(self.match.handle(acts.Resign(seat), self.now()))

    def drop_bot(self, cause: Cause) -> None:
        """Take the bot's seat out of the play, as a server does whose grace is over."""
        self.dropped = True
        self._carry_out(self.match.handle(acts.Forfeit(self.seat, cause, "scripted"), self.now()))

    # --- what the bot sends ----------------------------------------------------------------------

    def hear(self, message: object) -> None:
        """Take a request of the bot."""
        match message:
            case messages.Move():
                self._move(message)
            case messages.Rejoin():
                self._rejoin(message)
            case messages.Resign():
                self._resigned(message)
            case messages.LeaveMatch():
                self._fail("that it plays to the end", "it left the match")
                self.stage.say(Done(re=message.id))
            case messages.Note():
                self.stage.say(Done(re=message.id))
            case messages.History():
                self._history(message)
        self._changed.set()

    def deserted(self) -> None:
        """The bot's connection is gone."""
        self._entered = False
        if self.running:
            self._carry_out(self.match.handle(acts.Leave(self.seat, "disconnect"), self.now()))
        self._changed.set()

    def _move(self, move: messages.Move) -> None:
        if self.held_back is not None and self.held_back(move):
            return
        before = self.accepted.get(move.ply)
        if before is not None and before != move.id:
            shown = f"{move.action} with id {move.id} after the one with id {before}"
            self._fail("one answer to a turn", f"a second one at ply {move.ply}: {shown}")
        play = acts.Play(self.seat, move.id, move.ply, move.action, move.comment)
        self._carry_out(self.match.handle(play, self.now()), move)

    def _refused(self, move: messages.Move, code: Code, message: str) -> None:
        """Judge a refused move: being late is no fault, everything else is."""
        sent = f"{move.action} at ply {move.ply}"
        if code in WRONG:
            self._fail("a legal move", f"{sent}, which was refused as {code}: {message}")
        elif move.ply not in self.excused and move.ply != self._asked_ply:
            self._fail("moves at its own turns only", f"{sent}, refused as {code}: {message}")

    def _resigned(self, request: messages.Resign) -> None:
        why = f"{request.fault}: {request.detail}" if request.fault else "of its own will"
        if self.running and request.fault:
            self._fail("that it plays to the end", f"it gave up, {why}")
        command: acts.Command = acts.Resign(self.seat)
        self.dropped = True
        self._carry_out(self.match.handle(command, self.now()))
        self.stage.say(Done(re=request.id))

    def _rejoin(self, request: messages.Rejoin) -> None:
        if self.running and self.seat in self.match.away:
            self._carry_out(self.match.handle(acts.Return(self.seat), self.now()))
        self.stage.say(Done(re=request.id))
        self._enter("rejoined")
        if self.running and self.match.to_act == self.seat:
            self.stage.say(self.match.your_turn(self.now()))

    def _history(self, request: messages.History) -> None:
        chosen = self._sights[request.first - 1 :][: request.count]
        more = len(self._sights) >= request.first + request.count
        events = [sight.event(self.seat) for sight in chosen]
        self.stage.say(EventList(re=request.id, match=self.key, events=events, more=more))

    # --- what the bot is told --------------------------------------------------------------------

    def _enter(self, why: str) -> None:
        assert why in ("started", "rejoined")
        self._entered = True
        self.stage.say(self.match.snapshot(self.seat, why, self.seat, self.now()))  # type: ignore[arg-type]
        if self.match.result is not None:
            self._say(self.match.finished(f"/records/{self.key}.jsonl"))

    def _tell_turn(self) -> None:
        self._asked_ply = self.match.ply
        self._say(self.match.your_turn())
        self.match.open_turn(self.now())

    def _say(self, message: messages.ServerMessage) -> None:
        if self._entered:
            self.stage.say(message)

    def _act(self, action: int) -> None:
        """Let a scripted seat, or the bot's own before the bot came, play an action."""
        self._request += 1
        wire = self.game.moves(self.match.state, (action,))[0]
        play = acts.Play(self.match.to_act, self._request, self.match.ply, wire)
        self._carry_out(self.match.handle(play, self.now()))

    def _carry_out(self, effects: list[acts.Effect], move: messages.Move | None = None) -> None:
        for effect in effects:
            match effect:
                case acts.Append(entry, sight):
                    if isinstance(entry, Flagged) and entry.seat == self.seat:
                        self.flags.append(entry.elapsed_ms)
                    self._sights.append(sight)
                    self._say(sight.event(self.seat))
                case acts.Accepted(_, id, seq) if move is not None:
                    self.accepted.setdefault(move.ply, id)
                    if self.answers_to_lose:
                        self.answers_to_lose -= 1
                        self.stage.drop()
                        self._comes_back = True
                    self.stage.say(Done(re=id, seq=seq))
                case acts.Refuse(_, id, code, message, ply) if move is not None and id is not None:
                    self._refused(move, code, message)
                    told = ply if code is Code.STALE else None
                    self.stage.refuse(move.id, code, message, ply=told)
                case acts.Finished():
                    self._say(self.match.finished(f"/records/{self.key}.jsonl"))
                case _:
                    pass
        if effects:
            self._changed.set()

    def _fail(self, expected: str, came: str) -> None:
        self._fault = self._fault or FailedError(expected, came)
