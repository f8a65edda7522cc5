"""A bot's session in one match: one task, one inbox, one turn at a time.

Outcomes of a turn
------------------
- A legal move: it is sent with the bot's comment. Parts of a comment that the protocol does not
  accept are dropped and noted; a comment never costs a game.
- An illegal move: the refusal is logged and noted, and the bot is asked again with the reason in
  `Turn.refusal`. After a second refusal the bot resigns.
- An exception: the traceback is printed and added to the record as a note, and the bot resigns,
  because a loss on time would hide the cause.
- No answer: the flag fell or the match ended while the bot was thinking. `Turn.cancelled` is set,
  an ``async`` `choose` is canceled, and a late answer is dropped.

After a reconnect the server announces the turn again. The session recognizes it by its ply: a
running search continues and its answer is used, and no second search is started.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TextIO, TypeAlias, cast

from pydantic import ValidationError

from kibitz_bots.budget import ClockFunction, Overhead, plan
from kibitz_bots.running.log_capture import LogBuffer, captured_by
from kibitz_bots.running.threads import TurnCancelled, in_thread
from kibitz_bots.sdk import Answer, BadAnswer, Bot, Match, Move, Turn, parse_answer
from kibitz_protocol import printable
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import KibitzError, RefusedError, UnansweredError
from kibitz_protocol.wire.explain import first_problem
from kibitz_protocol.wire.messages import Event, Snapshot, YourTurn
from kibitz_protocol.wire.records import Comment, Replaced, Result
from kibitz_protocol.wire.refusals import Code

log = logging.getLogger("kibitz_bots")

Fault: TypeAlias = Literal["crash", "illegal"]
"""The reason that a failing bot gives when it resigns a match."""
MAX_ATTEMPTS = 2
"""The number of attempts per turn before a bot resigns."""
FLUSH_INTERVAL_S = 1.0
"""How often to record the output of a thinking bot, in seconds."""
TIMING_FORMAT = "match %s: ply %d: budget %d ms, sent %.1f ms after its end, accepted in %.1f ms"
"""The log line for an accepted move; "sent" is negative if the bot met its deadline."""
BAD_ANSWERS = frozenset({Code.ILLEGAL, Code.MALFORMED, Code.TOO_LARGE})
"""Refusals caused by the bot's answer."""
RETRY_LATER = frozenset({Code.RATE_LIMITED, Code.UNAVAILABLE})
"""Refusals that permit a retry after a delay."""


@dataclass
class SessionContext:
    """The state shared by the match sessions of one process."""

    connection: Client
    clock: ClockFunction
    """The event loop's clock; budgets are read from it too."""
    terminal: TextIO
    """The destination of tracebacks."""
    on_fault: Callable[[], None]
    """Called if a bot crashed or gave only illegal answers."""
    pace_s: float = 0.0
    """The minimum time from the arrival of a turn to its answer, so that people can follow."""
    overhead: Overhead = field(default_factory=Overhead)


class MatchSession:
    """One match, from the first snapshot to the result. `run` is its task."""

    def __init__(self, match: Match, bot: Bot, context: SessionContext) -> None:
        self.match = match
        self.notes = LogBuffer()
        self._bot = bot
        self._context = context
        self._is_async = inspect.iscoroutinefunction(bot.choose)
        # Turns to answer; None wakes `run` when the match is over.
        self._inbox: asyncio.Queue[YourTurn | None] = asyncio.Queue()
        # The ply of the last turn that was started, so that none is started twice.
        self._accepted_ply: int | None = None
        # The match's current ply; turns at earlier plies need no answer.
        self._ply = 0
        # The turn that the bot is thinking about, and the task of an ``async`` `choose`.
        self._turn: Turn | None = None
        self._thinking: asyncio.Future[Any] | None = None
        # Set when the bot's part in the match is over: to the result, or to None if it gets none.
        self._over: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()
        self._resigned = False
        self._comment_faults_noted = False
        # Notes being sent; moves never wait for them.
        self._pending_notes: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Play until the match is over."""
        with captured_by(self.notes):
            await self._call_hook("on_match_start", lambda: self._bot.on_match_start(self.match))
            while (message := await self._next_turn()) is not None:
                await self._handle_turn(message)
            if (result := self._over.result()) is not None:
                await self._call_hook(
                    "on_match_end", lambda: self._bot.on_match_end(self.match, result)
                )
        await asyncio.gather(*self._pending_notes)

    # --- messages from the server -----------------------------------------------------------

    def on_turn(self, message: YourTurn) -> None:
        """Start a turn unless it has already been started."""
        if message.ply != self._accepted_ply and not self._resigned:
            self._accepted_ply = message.ply
            self._inbox.put_nowait(message)

    def on_progress(self, message: Event | Snapshot) -> None:
        """Cancel a turn that is over; end the session if another player has taken the seat."""
        entry = message.entry if isinstance(message, Event) else None
        if isinstance(entry, Replaced) and entry.seat == self.match.seat:
            log.warning("match %s: seat taken over, cause %s", self.match.id, entry.cause)
            self.end(None)
        turn, self._ply = self._turn, message.ply
        if turn is not None and (message.ply > turn.ply or message.to_act != turn.seat):
            turn.cancelled.set()
            if self._thinking is not None:
                self._thinking.cancel()

    def end(self, result: Result | None) -> None:
        """End the session; pass None if the bot will not receive the result."""
        if not self._over.done():
            self._over.set_result(result)
            self._inbox.put_nowait(None)
        if self._turn is not None:
            self._turn.cancelled.set()

    # --- turns ------------------------------------------------------------------------------

    async def _next_turn(self) -> YourTurn | None:
        message = await self._inbox.get()
        return None if self._over.done() else message

    async def _handle_turn(self, message: YourTurn) -> None:
        if message.ply < self._ply:
            return
        control, seat, context = self.match.time_control, message.seat, self._context
        own = message.clocks[seat] if message.clocks else None
        budget = plan(control, own, message.left_ms, overhead=context.overhead, clock=context.clock)
        self._turn = Turn.of(message, self.match, budget)
        await self._answer(self._turn)
        self._turn = None

    async def _answer(self, turn: Turn) -> None:
        for _ in range(MAX_ATTEMPTS):
            try:
                answer = await self._think(turn)
            except Exception as error:  # noqa: BLE001 - a bot may raise anything
                if isinstance(error, TurnCancelled) and turn.cancelled.is_set():
                    return None
                return await self._on_crash(error)
            self._flush_notes()
            if turn.cancelled.is_set():
                return None
            try:
                action, comment = parse_answer(answer, turn)
                self._note_comment_faults(turn)
                return await self._send(turn, action, comment)
            except BadAnswer as error:
                self._report(f"refused: {error} (ply {turn.ply}, answer {answer!r:.300})")
                turn = self._turn = replace(turn, refusal=str(error))
        self._report(f"resigns: {MAX_ATTEMPTS} illegal answers at ply {turn.ply}")
        return await self._resign(
            "illegal", f"{MAX_ATTEMPTS} illegal answers, the last: {turn.refusal}"
        )

    async def _think(self, turn: Turn) -> Answer | None:
        """Run the bot and return its answer, or None if the turn ended in the meantime."""
        thinking = asyncio.ensure_future(self._choose(turn))
        if self._is_async:
            self._thinking = thinking
        both = {thinking, cast("asyncio.Future[Any]", self._over)}
        try:
            while not thinking.done() and not self._over.done():
                await asyncio.wait(
                    both, timeout=FLUSH_INTERVAL_S, return_when=asyncio.FIRST_COMPLETED
                )
                self._flush_notes()
            if thinking.done() and not thinking.cancelled():
                return thinking.result()
            return None
        finally:
            thinking.cancel()
            self._thinking = None

    async def _choose(self, turn: Turn) -> Answer:
        """Call `choose` in a thread, or await it if it is ``async``."""
        if self._is_async:
            answer = self._bot.choose(turn)
        else:
            answer = await in_thread(lambda: self._choose_at_pace(turn))
        if isinstance(answer, Awaitable):
            return await answer
        return answer

    def _choose_at_pace(self, turn: Turn) -> Answer | Awaitable[Answer]:
        """Call `choose`; return early answers at the minimum time, or once the turn is canceled."""
        answer = self._bot.choose(turn)
        early_s = turn.budget.arrived + self._context.pace_s - turn.budget.clock()
        turn.cancelled.wait(max(0.0, early_s))
        return answer

    async def _send(self, turn: Turn, action: Move, comment: Comment | None) -> None:
        while not self._over.done():
            sent = self._context.clock()
            try:
                await self._context.connection.move(self.match.id, turn.ply, action, comment)
            except ValidationError as error:
                raise BadAnswer(f"not a flat JSON object: {first_problem(error)}") from None
            except RefusedError as error:
                if not await self._retry_or_raise(error):
                    return
            else:
                self._update_overhead(turn, sent)
                return

    def _update_overhead(self, turn: Turn, sent: float) -> None:
        """Update the estimated overhead with a move that was just accepted."""
        taken_ms = (self._context.clock() - sent) * 1000
        # A second attempt is late because of the first one, not because of overhead.
        late_ms = 0.0 if turn.refusal else (sent - turn.budget.deadline) * 1000
        self._context.overhead = self._context.overhead.learn(taken_ms, late_ms)
        log.info(TIMING_FORMAT, self.match.id, turn.ply, turn.budget.ms, late_ms, taken_ms)

    async def _retry_or_raise(self, error: RefusedError) -> bool:
        """Return whether to resend a refused move; raise `BadAnswer` if it is invalid."""
        if error.code in BAD_ANSWERS:
            raise BadAnswer(f"{error.code}: {error.message}") from None
        if error.code in RETRY_LATER:
            await asyncio.wait({self._over}, timeout=(error.retry_after_ms or 1000) / 1000)
            return True
        log.warning("match %s: %s: %s", self.match.id, error.code, error.message)
        self._accepted_ply = None
        return False

    async def _on_crash(self, error: Exception) -> None:
        text = "".join(traceback.format_exception(_trim_traceback(error)))
        self._context.terminal.write(printable.lines(text))
        self._context.terminal.flush()
        self.notes.write(f"{text}crash: {type(error).__name__}: {error}\n")
        log.error("match %s: crash: %s: %s", self.match.id, type(error).__name__, error)
        await self._resign("crash", f"{type(error).__name__}: {error}")

    async def _resign(self, fault: Fault, detail: str) -> None:
        self._resigned = True
        for text in self.notes.flush():
            await self._send_note(text)
        with contextlib.suppress(RefusedError, UnansweredError):  # already over
            await self._context.connection.resign(self.match.id, fault, detail[:200])
        self._context.on_fault()

    async def _call_hook(self, name: str, hook: Callable[[], None]) -> None:
        """Run one of the bot's optional hooks if it is defined."""
        if getattr(type(self._bot), name) is getattr(Bot, name):
            return
        try:
            await in_thread(hook)
        except Exception as error:  # noqa: BLE001 - a bot may raise anything
            await self._on_crash(error)

    # --- the record -------------------------------------------------------------------------

    def _report(self, text: str) -> None:
        log.warning("match %s: %s", self.match.id, text)
        self.notes.write(text + "\n")
        self._flush_notes()

    def _note_comment_faults(self, turn: Turn) -> None:
        """Note invalid comments once per match, since bots tend to repeat a fault every turn."""
        if turn.comment_faults and not self._comment_faults_noted:
            self._comment_faults_noted = True
            self._report(
                f"left out of the comment on ply {turn.ply}: {'; '.join(turn.comment_faults)}"
                " (noted once per match)"
            )

    def _flush_notes(self) -> None:
        while (text := self.notes.next_batch(self._context.clock() * 1000)) is not None:
            letter = asyncio.ensure_future(self._send_note(text))
            self._pending_notes.add(letter)
            letter.add_done_callback(self._pending_notes.discard)

    async def _send_note(self, text: str) -> None:
        try:
            await self._context.connection.note(self.match.id, text)
        except KibitzError as error:  # the end of the session is reported elsewhere
            log.debug("match %s: a note was lost: %s", self.match.id, error)


def _trim_traceback(error: Exception) -> Exception:
    """Remove this package's frames from the top of a traceback."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in _INTERNAL_FILES:
        trace = trace.tb_next
    return error.with_traceback(trace)


_INTERNAL_FILES = frozenset({__file__, in_thread.__code__.co_filename})
