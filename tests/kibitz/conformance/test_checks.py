"""Each check passes with a correct bot and detects its fault."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from kibitz.builtin_games import load_games
from kibitz.conformance import checks
from kibitz.conformance.checks import CHECKS, Check, CheckContext
from kibitz.conformance.results import FailedError, SkippedError
from kibitz.conformance.server import LOBBY, NAME, start_conformance_server
from kibitz_bots.running.connection import Shutdown, run
from kibitz_bots.sdk import Answer, Bot, Turn


class CorrectBot(Bot):
    """Plays the first legal move."""

    def choose(self, turn: Turn) -> Answer:
        return turn.legal[0]


class IllegalBot(Bot):
    def choose(self, turn: Turn) -> Answer:
        return {"nonsense": 1}


class SlowBot(Bot):
    def choose(self, turn: Turn) -> Answer:
        time.sleep(1.0)
        return turn.legal[0]


class FearsPasses(Bot):
    """Fails if there is only one legal move."""

    def choose(self, turn: Turn) -> Answer:
        return turn.legal[0] if len(turn.legal) > 1 else turn.legal[1]


@contextlib.asynccontextmanager
async def running_bot(bot: type[Bot], game: str, seats: int) -> AsyncIterator[CheckContext]:
    """Run a bot on a conformance server in this process."""
    box = load_games("plain")
    stop = Shutdown()
    async with start_conformance_server() as server:
        playing = asyncio.create_task(run(bot, server.url, lobby=LOBBY, name=NAME, stop=stop))
        await server.ready.wait()
        yield CheckContext(
            server=server,
            game=box[game],
            seats=seats,
            seed=1000,
            timeout_s=3.0,
            claimed=box[game].info.seats,
            at_once=2,
        )
        stop.immediate()
        await playing


FEW = [check for check in CHECKS if check.seat_choice != "most"]
MOST = [check for check in CHECKS if check.seat_choice == "most"]


@pytest.mark.parametrize("check", FEW, ids=lambda check: check.name)
async def test_a_healthy_bot_passes(check: Check) -> None:
    async with running_bot(CorrectBot, "line-nim", 2) as there:
        await check.run(there)


@pytest.mark.parametrize("check", MOST, ids=lambda check: check.name)
async def test_what_takes_three_is_skipped_with_two(check: Check) -> None:
    async with running_bot(CorrectBot, "line-nim", 2) as there:
        with pytest.raises(SkippedError, match="three seats"):
            await check.run(there)


@pytest.mark.parametrize("check", MOST, ids=lambda check: check.name)
async def test_a_healthy_bot_passes_among_four(check: Check) -> None:
    async with running_bot(CorrectBot, "tanks", 4) as there:
        await check.run(there)


async def test_illegal_moves_are_found_in_play() -> None:
    async with running_bot(IllegalBot, "line-nim", 2) as there:
        with pytest.raises(FailedError, match=r"a legal move; .*nonsense.*malformed"):
            await checks.legal_play(there)


@pytest.mark.slow
async def test_a_slow_bot_is_found_by_the_short_clock() -> None:
    async with running_bot(SlowBot, "line-nim", 2) as there:
        with pytest.raises(FailedError, match=r"its flag fell after \d+ ms"):
            await checks.short_clock(there)
        await checks.told_to_wait(there)


async def test_a_bot_that_fears_passes_is_found_by_the_forced_action() -> None:
    async with running_bot(FearsPasses, "chinese-checkers", 2) as there:
        await checks.told_to_wait(there)
        with pytest.raises(FailedError, match="resigned, crash: IndexError"):
            await checks.forced_action(there)
