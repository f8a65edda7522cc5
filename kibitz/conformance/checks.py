"""The conformance checks, one function for each requirement on a bot.

A check plays matches on a stage and raises `FailedError` or `SkippedError`. It causes only events
that a correct server, or the network in front of it, may cause for any bot.
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
"""The time left for a turn in checks with little time on the clock."""
SHORT_TURNS: Final = 4
WAIT_MS: Final = 300
"""How long a bot is told to wait before it sends its move again."""
EARLY_TOLERANCE_MS: Final = 50
"""By how much it may be early: clocks differ."""
MAX_AT_ONCE: Final = 3
"""Matches at the same time, if the bot claims so many."""
TURNS_AFTER: Final = 2
"""Turns that are played on after something has happened."""
GENEROUS_CLOCK: Final = TimeControl(main_ms=600_000, increment_ms=10_000)
"""A generous clock, for bots that do not play without one."""


@dataclass
class CheckContext:
    """The context of a check: a connected bot and the game to examine it in."""

    server: ConformanceServer
    game: Game
    seats: int
    seed: int
    timeout_s: float
    claimed: tuple[int, ...]
    """The numbers of seats with which the bot plays this game."""
    at_once: int = 1
    control: TimeControl = field(default_factory=TimeControl)
    limited: bool = True
    """Whether `control` may be replaced by a short one."""
    _match_count: int = 0

    def new_match(self, seat: int | None = None, **given: Any) -> ConformanceMatch:
        """Make the next match; `given` are the arguments of `ConformanceMatch` that matter to the
        check."""
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
    """A check and with how many seats it is made."""

    name: str
    run: CheckFunction
    seat_choice: str = "least"
    """``each`` number of seats, the ``least``, or the ``most``."""


# --- play ---------------------------------------------------------------------------------------


async def legal_play(context: CheckContext) -> None:
    """Play to the end of the rules in every seat, on two seeds in games of few seats."""
    rounds = 2 if context.seats <= 2 else 1
    matches = [context.new_match(seat) for _ in range(rounds) for seat in range(context.seats)]
    for first in range(0, len(matches), context.at_once):
        await play_concurrently(matches[first : first + context.at_once])


async def play_concurrently(matches: list[ConformanceMatch]) -> None:
    """Play matches at the same time; the first fault is the one that counts."""
    playing = [asyncio.ensure_future(match.play()) for match in matches]
    try:
        await asyncio.gather(*playing)
    finally:
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


async def forced_action(context: CheckContext) -> None:
    """Do the only thing that the rules allow, a pass where there is one."""
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
    """Play as many matches as it claims to, at the same time."""
    if context.at_once < 2:
        raise SkippedError("it claims one match at a time")
    await play_concurrently([context.new_match(n % context.seats) for n in range(context.at_once)])


# --- time ---------------------------------------------------------------------------------------


async def short_clock(context: CheckContext) -> None:
    """Answer in time where a turn has a few hundred milliseconds left."""
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
            f"an answer while the clock runs, {SHORT_MS} ms and more",
            f"its flag fell after {match.flags[0]} ms",
        )


async def late_answer(context: CheckContext) -> None:
    """Live with an answer that comes too late and is refused as stale."""
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
    """Drop the answer to a turn of a match that is over meanwhile, and play the next match."""
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
    """Come back when the connection breaks while it is to move; answer the turn once."""
    await _interrupted(context.new_match(), own=True)


async def lost_between_turns(context: CheckContext) -> None:
    """Come back when the connection breaks while others move, to a snapshot in place of events."""
    for seat in range(
        context.seats
    ):  # whoever begins, somebody moves between two turns of one seat
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
    """Send a move again, if at all, under its old id, when its answer was lost on the way."""
    match = context.new_match()

    async def lose(match: ConformanceMatch) -> None:
        match.answers_to_lose = 1

    match.on_own_turn = lose
    match.stop_after = 1 + TURNS_AFTER
    await match.play()


async def told_to_wait(context: CheckContext) -> None:
    """Send a move again after `retry_after_ms` when the server is too busy for it."""
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
    """Play on while others have dropped out, to the end."""
    _require_dropping(context)
    match = context.new_match()

    async def thin_out(match: ConformanceMatch) -> None:
        match.others_resign(but=len(match.engine.state.players) - 1)

    match.on_own_turn = thin_out
    match.at_turn = 2
    await match.play()


async def own_elimination(context: CheckContext) -> None:
    """Be still after its own seat has dropped out, to the end of the match, and play the next."""
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
        raise SkippedError("it takes three seats")
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
"""Every check that is made for each game, in this order."""
