"""The checks: what a bot has to do right, one function each.

A check plays matches on a stage and raises `FailedError` or `SkippedError`. What it makes happen
is what a correct server, or the network before it, may let happen to any bot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from kibitz.clinic import positions
from kibitz.clinic.findings import FailedError, SkippedError
from kibitz.clinic.stage import Stage
from kibitz.clinic.visit import Visit
from kibitz_games.api import Game
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.messages import Move
from kibitz_protocol.records import Cause
from kibitz_protocol.refusals import Code

SHORT_MS: Final = 500
"""What a turn is left with where the clock runs short."""
SHORT_TURNS: Final = 4
WAIT_MS: Final = 300
"""How long a bot is told to wait before it sends its move again."""
EARLY_MS: Final = 50
"""By how much it may be early: clocks differ."""
AT_ONCE: Final = 3
"""Matches at the same time, if the bot claims so many."""
LATER: Final = 2
"""Turns that are played on after something has happened."""
GENEROUS: Final = TimeControl(main_ms=600_000, increment_ms=10_000)
"""A clock that presses nobody, for bots that do not play without one."""


@dataclass
class Ward:
    """What a check works with: a bot that is connected, and what it is examined in."""

    stage: Stage
    game: Game
    seats: int
    seed: int
    patience: float
    claimed: tuple[int, ...]
    """The numbers of seats that the bot plays this game with."""
    at_once: int = 1
    control: TimeControl = field(default_factory=TimeControl)
    limited: bool = True
    """Whether `control` may be replaced by a short one."""
    _made: int = 0

    def visit(self, seat: int | None = None, **given: Any) -> Visit:
        """Make the next match; `given` are the arguments of `Visit` that matter to the check."""
        self._made += 1
        defaults: dict[str, Any] = {
            "key": f"d{self.stage.number()}",
            "seats": self.seats,
            "seat": 0 if seat is None else seat,
            "seed": self.seed + self._made,
            "control": self.control,
            "patience": self.patience,
        }
        return Visit(self.stage, self.game, **(defaults | given))


Run = Callable[[Ward], Awaitable[None]]


@dataclass(frozen=True)
class Check:
    """A check and with how many seats it is made."""

    name: str
    run: Run
    at: str = "least"
    """``each`` number of seats, the ``least``, or the ``most``."""


# --- play ---------------------------------------------------------------------------------------


async def legal_play(ward: Ward) -> None:
    """Play to the end of the rules in every seat, on two seeds in games of few seats."""
    rounds = 2 if ward.seats <= 2 else 1
    matches = [ward.visit(seat) for _ in range(rounds) for seat in range(ward.seats)]
    for first in range(0, len(matches), ward.at_once):
        await together(matches[first : first + ward.at_once])


async def together(visits: list[Visit]) -> None:
    """Play matches at the same time; the first fault is the one that counts."""
    playing = [asyncio.ensure_future(visit.play()) for visit in visits]
    try:
        await asyncio.gather(*playing)
    finally:
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


async def forced_action(ward: Ward) -> None:
    """Do the only thing that the rules allow, a pass where there is one."""
    found = positions.forced(ward.game, ward.claimed, ward.seed)
    if found is None:
        raise SkippedError(f"no forced action in {positions.LOOKED} positions of random plays")
    visit = ward.visit(
        found.seat,
        seats=found.seats,
        seed=found.seed,
        options=found.options,
        played=found.actions,
    )
    visit.stop_after = 1
    await visit.play()


async def several_at_once(ward: Ward) -> None:
    """Play as many matches as it claims to, at the same time."""
    if ward.at_once < 2:
        raise SkippedError("it claims one match at a time")
    await together([ward.visit(n % ward.seats) for n in range(ward.at_once)])


# --- time ---------------------------------------------------------------------------------------


async def short_clock(ward: Ward) -> None:
    """Answer in time where a turn has a few hundred milliseconds left."""
    if not ward.limited:
        raise SkippedError(f"it refuses clocks that leave less than {SHORT_MS} ms")
    visit = ward.visit(control=TimeControl(main_ms=SHORT_MS, increment_ms=SHORT_MS))
    visit.stop_after = SHORT_TURNS
    try:
        await visit.play()
    except FailedError:
        if not visit.flags:
            raise
    if visit.flags:
        raise FailedError(
            f"an answer while the clock runs, {SHORT_MS} ms and more",
            f"its flag fell after {visit.flags[0]} ms",
        )


async def late_answer(ward: Ward) -> None:
    """Live with an answer that comes too late and is refused as stale."""
    policy = ward.game.info.on_flag
    if policy == "forfeit":
        raise SkippedError("a fallen flag ends the match in this game")
    visit = ward.visit(control=TimeControl(main_ms=60_000, increment_ms=60_000))

    async def overtake(visit: Visit) -> None:
        visit.excused.add(visit.match.ply)
        visit.pass_time(600_000)

    visit.own_turn = overtake
    visit.stop_after = 1 + LATER
    await visit.play()


async def end_while_thinking(ward: Ward) -> None:
    """Drop the answer to a turn of a match that is over meanwhile, and play the next match."""
    visit = ward.visit()
    visit.own_turn = _everybody_resigns
    await visit.play()
    after = ward.visit()
    after.stop_after = LATER
    await after.play()


async def _everybody_resigns(visit: Visit) -> None:
    visit.others_resign()


# --- connections --------------------------------------------------------------------------------


async def lost_in_own_turn(ward: Ward) -> None:
    """Come back when the connection breaks while it is to move; answer the turn once."""
    await _interrupted(ward.visit(), own=True)


async def lost_between_turns(ward: Ward) -> None:
    """Come back when the connection breaks while others move, to a snapshot in place of events."""
    for seat in range(ward.seats):  # whoever begins, somebody moves between two turns of one seat
        visit = ward.visit(seat)
        await _interrupted(visit, own=False)
        if visit.others_turn is None:
            return
    raise SkippedError("no other seat moved between two of its turns")


async def _interrupted(visit: Visit, *, own: bool) -> None:
    async def break_off(visit: Visit) -> None:
        await visit.away()

    if own:
        visit.own_turn = break_off
    else:
        visit.others_turn = break_off
    visit.stop_after = 1 + LATER
    await visit.play()


async def lost_answer(ward: Ward) -> None:
    """Send a move again, if at all, under its old id, when its answer was lost on the way."""
    visit = ward.visit()

    async def lose(visit: Visit) -> None:
        visit.answers_to_lose = 1

    visit.own_turn = lose
    visit.stop_after = 1 + LATER
    await visit.play()


async def told_to_wait(ward: Ward) -> None:
    """Send a move again after `retry_after_ms` when the server is too busy for it."""
    visit = ward.visit()
    refused_at: list[float] = []
    loop = asyncio.get_running_loop()
    early: list[int] = []

    def held(move: Move) -> bool:
        if not refused_at:
            refused_at.append(loop.time())
            visit.stage.refuse(
                move.id, Code.RATE_LIMITED, "too many messages", retry_after_ms=WAIT_MS
            )
            return True
        if len(refused_at) == 1:
            refused_at.append(loop.time())
            waited = int((refused_at[1] - refused_at[0]) * 1000)
            if waited < WAIT_MS - EARLY_MS:
                early.append(waited)
        return False

    visit.held_back = held
    visit.stop_after = 1 + LATER
    await visit.play()
    if early:
        raise FailedError(f"its move again after {WAIT_MS} ms", f"it came after {early[0]} ms")


# --- three seats and more -----------------------------------------------------------------------


async def others_drop_out(ward: Ward) -> None:
    """Play on while others have dropped out, to the end."""
    _needs_drops(ward)
    visit = ward.visit()

    async def thin_out(visit: Visit) -> None:
        visit.others_resign(but=len(visit.match.players) - 1)

    visit.own_turn = thin_out
    visit.at_turn = 2
    await visit.play()


async def own_elimination(ward: Ward) -> None:
    """Be still after its own seat has dropped out, to the end of the match, and play the next."""
    _needs_drops(ward)
    visit = ward.visit()

    async def drop(visit: Visit) -> None:
        visit.drop_bot(Cause.TIME)

    visit.own_turn = drop
    visit.at_turn = 2
    await visit.play()
    after = ward.visit()
    after.stop_after = LATER
    await after.play()


def _needs_drops(ward: Ward) -> None:
    if ward.seats < 3:
        raise SkippedError("it takes three seats")
    if not ward.game.info.drops:
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
