"""The conformance checks, one function for each requirement on a bot.

A check plays matches on a scripted server and raises `FailedError` or `SkippedError`. It causes
only events that a correct server, or the network in front of it, may cause for any bot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from kibitz.conformance import positions
from kibitz.conformance.match import ConformanceMatch
from kibitz.conformance.results import FailedError, SkippedError
from kibitz.conformance.server import ConformanceServer
from kibitz_games.core.game import Game
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.messages import Move
from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.refusals import Code

SHORT_MS: Final = 500
"""The time for a turn, in milliseconds, in checks with a short clock."""
SHORT_TURNS: Final = 4
WAIT_MS: Final = 300
"""How long the server tells a bot to wait before it resends its move, in milliseconds."""
EARLY_TOLERANCE_MS: Final = 50
"""How early the resent move may arrive, in milliseconds, since clocks differ."""
MAX_AT_ONCE: Final = 3
"""The maximum number of simultaneous matches to play with a bot that claims to support them."""
TURNS_AFTER: Final = 2
"""The number of turns to play after an incident."""
GENEROUS_CLOCK: Final = TimeControl(main_ms=600_000, increment_ms=10_000)
"""A generous clock, for bots that refuse to play without one."""


@dataclass
class CheckContext:
    """The context of a check: a connected bot and the game to test it in."""

    server: ConformanceServer
    game: Game
    seats: int
    seed: int
    timeout_s: float
    claimed: tuple[int, ...]
    """The numbers of seats that the bot claims for this game."""
    at_once: int = 1
    control: TimeControl = field(default_factory=TimeControl)
    limited: bool = True
    """Whether the bot accepts a short clock in place of `control`."""
    _match_count: int = 0

    def new_match(self, seat: int | None = None, **given: Any) -> ConformanceMatch:
        """Make the next match; `given` holds arguments of `ConformanceMatch` for this check."""
        self._match_count += 1
        defaults: dict[str, Any] = {
            "key": f"d{self.server.next_number()}",
            "seats": self.seats,
            "seat": 0 if seat is None else seat,
            "seed": self.seed + self._match_count,
            "control": self.control,
            "timeout_s": self.timeout_s,
        }
        return ConformanceMatch(self.server, self.game, **(defaults | given))


CheckFunction = Callable[[CheckContext], Awaitable[None]]


@dataclass(frozen=True)
class Check:
    """A check, and the numbers of seats to run it with."""

    name: str
    run: CheckFunction
    seat_choice: str = "least"
    """Whether to run it with ``each`` number of seats, with the ``least`` or with the ``most``."""


# --- play ---------------------------------------------------------------------------------------


async def legal_play(context: CheckContext) -> None:
    """Play legally to the end in every seat, with two seeds in games with few seats."""
    rounds = 2 if context.seats <= 2 else 1
    matches = [context.new_match(seat) for _ in range(rounds) for seat in range(context.seats)]
    for first in range(0, len(matches), context.at_once):
        await play_concurrently(matches[first : first + context.at_once])


async def play_concurrently(matches: list[ConformanceMatch]) -> None:
    """Play matches concurrently; raise the first failure."""
    playing = [asyncio.ensure_future(match.play()) for match in matches]
    try:
        await asyncio.gather(*playing)
    finally:
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


async def forced_action(context: CheckContext) -> None:
    """Play the only legal action, preferably a pass."""
    forced = positions.find_forced(context.game, context.claimed, context.seed)
    if forced is None:
        raise SkippedError(
            f"no forced action in {positions.MAX_POSITIONS} positions of random plays"
        )
    match = context.new_match(
        forced.seat,
        seats=forced.seats,
        seed=forced.seed,
        options=forced.options,
        played=forced.actions,
    )
    match.stop_after = 1
    await match.play()


async def several_at_once(context: CheckContext) -> None:
    """Play as many simultaneous matches as the bot claims."""
    if context.at_once < 2:
        raise SkippedError("it claims one match at a time")
    await play_concurrently([context.new_match(n % context.seats) for n in range(context.at_once)])


# --- time ---------------------------------------------------------------------------------------


async def short_clock(context: CheckContext) -> None:
    """Answer in time with a few hundred milliseconds left for the turn."""
    if not context.limited:
        raise SkippedError(f"it refuses clocks that leave less than {SHORT_MS} ms")
    match = context.new_match(control=TimeControl(main_ms=SHORT_MS, increment_ms=SHORT_MS))
    match.stop_after = SHORT_TURNS
    try:
        await match.play()
    except FailedError:
        if not match.flags:
            raise
    if match.flags:
        raise FailedError(
            f"an answer within the time on its clock, at least {SHORT_MS} ms",
            f"its flag fell after {match.flags[0]} ms",
        )


async def late_answer(context: CheckContext) -> None:
    """Continue after an answer that is late and refused as stale."""
    policy = context.game.info.on_flag
    if policy == "forfeit":
        raise SkippedError("a fallen flag ends the match in this game")
    match = context.new_match(control=TimeControl(main_ms=60_000, increment_ms=60_000))

    async def overtake(match: ConformanceMatch) -> None:
        match.excused.add(match.engine.state.ply)
        match.advance_time(600_000)

    match.on_own_turn = overtake
    match.stop_after = 1 + TURNS_AFTER
    await match.play()


async def end_while_thinking(context: CheckContext) -> None:
    """Drop the answer if the match ended in the meantime, and play the next match."""
    match = context.new_match()
    match.on_own_turn = _everybody_resigns
    await match.play()
    after = context.new_match()
    after.stop_after = TURNS_AFTER
    await after.play()


async def _everybody_resigns(match: ConformanceMatch) -> None:
    match.others_resign()


# --- connections --------------------------------------------------------------------------------


async def lost_in_own_turn(context: CheckContext) -> None:
    """Reconnect when the connection breaks during its turn; answer the turn once."""
    await _interrupted(context.new_match(), own=True)


async def lost_between_turns(context: CheckContext) -> None:
    """Reconnect when the connection breaks while others move; resume from a snapshot."""
    for seat in range(
        context.seats
    ):  # which seat sees others move between its turns depends on the game
        match = context.new_match(seat)
        await _interrupted(match, own=False)
        if match.on_other_turn is None:
            return
    raise SkippedError("no other seat moved between two of its turns")


async def _interrupted(match: ConformanceMatch, *, own: bool) -> None:
    async def break_off(match: ConformanceMatch) -> None:
        await match.break_connection()

    if own:
        match.on_own_turn = break_off
    else:
        match.on_other_turn = break_off
    match.stop_after = 1 + TURNS_AFTER
    await match.play()


async def lost_answer(context: CheckContext) -> None:
    """After the answer to a move was lost, resend that move only with its old id."""
    match = context.new_match()

    async def lose(match: ConformanceMatch) -> None:
        match.answers_to_lose = 1

    match.on_own_turn = lose
    match.stop_after = 1 + TURNS_AFTER
    await match.play()


async def told_to_wait(context: CheckContext) -> None:
    """Resend a move after `retry_after_ms` when the server is too busy."""
    match = context.new_match()
    refused_at: list[float] = []
    loop = asyncio.get_running_loop()
    early: list[int] = []

    def held(move: Move) -> bool:
        if not refused_at:
            refused_at.append(loop.time())
            match.server.refuse(
                move.id, Code.RATE_LIMITED, "too many messages", retry_after_ms=WAIT_MS
            )
            return True
        if len(refused_at) == 1:
            refused_at.append(loop.time())
            waited = int((refused_at[1] - refused_at[0]) * 1000)
            if waited < WAIT_MS - EARLY_TOLERANCE_MS:
                early.append(waited)
        return False

    match.intercept_move = held
    match.stop_after = 1 + TURNS_AFTER
    await match.play()
    if early:
        raise FailedError(f"its move again after {WAIT_MS} ms", f"it came after {early[0]} ms")


# --- three seats and more -----------------------------------------------------------------------


async def others_drop_out(context: CheckContext) -> None:
    """Play on to the end after others have dropped out."""
    _require_dropping(context)
    match = context.new_match()

    async def thin_out(match: ConformanceMatch) -> None:
        match.others_resign(but=len(match.engine.state.players) - 1)

    match.on_own_turn = thin_out
    match.at_turn = 2
    await match.play()


async def own_elimination(context: CheckContext) -> None:
    """Send nothing after its own seat has dropped out, and play the next match."""
    _require_dropping(context)
    match = context.new_match()

    async def drop(match: ConformanceMatch) -> None:
        match.forfeit_bot(Cause.TIME)

    match.on_own_turn = drop
    match.at_turn = 2
    await match.play()
    after = context.new_match()
    after.stop_after = TURNS_AFTER
    await after.play()


def _require_dropping(context: CheckContext) -> None:
    if context.seats < 3:
        raise SkippedError("it needs three seats")
    if not context.game.info.drops:
        raise SkippedError("this game ends when a seat drops out")


CHECKS: Final = (
    Check("legal play", legal_play, "each"),
    Check("forced action", forced_action),
    Check("several matches at once", several_at_once),
    Check("short clock", short_clock),
    Check("late answer", late_answer),
    Check("match ends while it thinks", end_while_thinking),
    Check("connection lost in its turn", lost_in_own_turn),
    Check("connection lost between turns", lost_between_turns),
    Check("answer lost on the way", lost_answer),
    Check("told to wait", told_to_wait),
    Check("others drop out", others_drop_out, "most"),
    Check("own elimination", own_elimination, "most"),
)
"""All checks for each game, in order."""
