"""Each check passes with a bot that is well, and is the one that finds what it is there for."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from kibitz.box import games
from kibitz.clinic import checks
from kibitz.clinic.checks import CHECKS, Check, Ward
from kibitz.clinic.findings import FailedError, SkippedError
from kibitz.clinic.stage import LOBBY, NAME, open_stage
from kibitz_bots.runner import Stop, run
from kibitz_bots.sdk import Answer, Bot, Turn


class Well(Bot):
    """Plays the first legal move."""

    def choose(self, turn: Turn) -> Answer:
        return turn.legal[0]


class Illegal(Bot):
    def choose(self, turn: Turn) -> Answer:
        return {"nonsense": 1}


class Slow(Bot):
    def choose(self, turn: Turn) -> Answer:
        time.sleep(1.0)
        return turn.legal[0]


class FearsPasses(Bot):
    """Falls over where there is nothing to choose."""

    def choose(self, turn: Turn) -> Answer:
        return turn.legal[0] if len(turn.legal) > 1 else turn.legal[1]


@contextlib.asynccontextmanager
async def ward(bot: type[Bot], game: str, seats: int) -> AsyncIterator[Ward]:
    """A bot on a stage, in this process."""
    box = games("plain")
    stop = Stop()
    async with open_stage(box) as stage:
        playing = asyncio.create_task(run(bot, stage.url, lobby=LOBBY, name=NAME, stop=stop))
        await stage.ready.wait()
        yield Ward(
            stage=stage,
            game=box[game],
            seats=seats,
            seed=1000,
            patience=3.0,
            claimed=box[game].info.seats,
            at_once=2,
        )
        stop.leave()
        await playing


FEW = [check for check in CHECKS if check.at != "most"]
MOST = [check for check in CHECKS if check.at == "most"]


@pytest.mark.parametrize("check", FEW, ids=lambda check: check.name)
async def test_a_healthy_bot_passes(check: Check) -> None:
    async with ward(Well, "line-nim", 2) as there:
        await check.run(there)


@pytest.mark.parametrize("check", MOST, ids=lambda check: check.name)
async def test_what_takes_three_is_skipped_with_two(check: Check) -> None:
    async with ward(Well, "line-nim", 2) as there:
        with pytest.raises(SkippedError, match="three seats"):
            await check.run(there)


@pytest.mark.parametrize("check", MOST, ids=lambda check: check.name)
async def test_a_healthy_bot_passes_among_four(check: Check) -> None:
    async with ward(Well, "tanks", 4) as there:
        await check.run(there)


async def test_illegal_moves_are_found_in_play() -> None:
    async with ward(Illegal, "line-nim", 2) as there:
        with pytest.raises(FailedError, match=r"a legal move; .*nonsense.*malformed"):
            await checks.legal_play(there)


async def test_a_slow_bot_is_found_by_the_short_clock() -> None:
    async with ward(Slow, "line-nim", 2) as there:
        with pytest.raises(FailedError, match=r"its flag fell after \d+ ms"):
            await checks.short_clock(there)
        await checks.told_to_wait(there)


async def test_a_bot_that_fears_passes_is_found_by_the_forced_action() -> None:
    async with ward(FearsPasses, "chinese-checkers", 2) as there:
        await checks.told_to_wait(there)
        with pytest.raises(FailedError, match="gave up, crash: IndexError"):
            await checks.forced_action(there)
