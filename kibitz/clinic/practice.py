"""A whole examination: the bot is started, greeted, put through the checks, and let go.

A bot that has ended, hung or lost its way in one check is started again for the next one, so that
every check says something.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kibitz.clinic.checks import AT_ONCE, CHECKS, GENEROUS, SHORT_MS, Check, Ward
from kibitz.clinic.findings import Chart, FailedError, Finding, SkippedError
from kibitz.clinic.patient import Patient, Prescription, admitted
from kibitz.clinic.positions import start
from kibitz.clinic.stage import Stage, open_stage
from kibitz_games.api import Game
from kibitz_protocol.clocks import TimeControl
from kibitz_protocol.messages import Capabilities
from kibitz_protocol.rooms import ProgrammeItem
from kibitz_server.ending import ended

ARRIVAL_S = 60.0
"""How long a bot may take to connect and say hello."""
WARM_S = 180.0
"""How long it may take from there until it says that it is ready: it may compile first."""
PARTING_S = 15.0
"""How long it may take to end after its lobby has closed."""


@dataclass(frozen=True, kw_only=True)
class Examination:
    """What is examined, and how."""

    how: Prescription
    games: Mapping[str, Game]
    """The games of the box."""
    wanted: Sequence[str] = ()
    """The games to examine; those that the bot claims where it is empty."""
    control: TimeControl = field(default_factory=TimeControl)
    seed: int = 1
    patience: float = 30.0
    only: Sequence[str] = ()
    """The checks to make; all where it is empty."""
    tell: Callable[[Finding], None] = lambda finding: None


async def examine(order: Examination) -> Chart:
    """Return the report. Raises `OSError` where the bot cannot be started."""
    chart = Chart(order.how.name)
    with tempfile.TemporaryDirectory(prefix="kibitz-") as directory:
        await _Practice(order, chart, Path(directory) / "bot.log").run()
    return chart


@dataclass
class _Present:
    """The bot that is there now."""

    stage: Stage
    patient: Patient
    leave: contextlib.AsyncExitStack


class _Practice:
    """The course of one examination."""

    def __init__(self, order: Examination, chart: Chart, log: Path) -> None:
        self._order = order
        self._chart = chart
        self._log = log
        self._there: _Present | None = None
        self._capabilities = Capabilities()
        # Whether the bot has ever come as far as to say that it is ready.
        self._came = False

    async def run(self) -> None:
        """Make every check."""
        try:
            await self._note("connects", None, None, self._first_visit())
            if not self._came:
                return
            for game in self._claimed():
                await self._examine_in(self._order.games[game])
            await self._note("lobby closes", None, None, self._parting())
        finally:
            await self._discharge()

    async def _examine_in(self, game: Game) -> None:
        numbers = self._numbers(game)
        if not numbers:
            reason = "it claims no number of seats that the game has"
            self._add(
                Finding(check="play", game=game.info.name, seats=None, status="Skipped", why=reason)
            )
            return
        for check in CHECKS:
            if self._order.only and check.name not in self._order.only:
                continue
            for seats in _chosen(check, numbers):
                await self._note(check.name, game, seats, self._made(check, game, seats))

    async def _made(self, check: Check, game: Game, seats: int) -> None:
        """Make one check; the bot ending or hanging in it is a fault of the bot."""
        there = await self._present()
        there.stage.matches.clear()
        gone = asyncio.ensure_future(ended(there.patient.process))
        making = asyncio.ensure_future(_awaited(check.run(self._ward(there, game, seats))))
        try:
            await asyncio.wait((making, gone), return_when=asyncio.FIRST_COMPLETED)
            if not making.done():
                raise FailedError("that its process runs", f"it ended with status {gone.result()}")
            making.result()
        finally:
            for task in (making, gone):
                task.cancel()
            await asyncio.gather(making, gone, return_exceptions=True)

    def _ward(self, there: _Present, game: Game, seats: int) -> Ward:
        can = self._capabilities
        control = self._order.control
        if not control.limited and not can.untimed:
            control = GENEROUS
        return Ward(
            stage=there.stage,
            game=game,
            seats=seats,
            seed=self._order.seed * 1000,
            patience=self._order.patience,
            claimed=tuple(self._numbers(game)),
            at_once=min(can.at_once, AT_ONCE),
            control=control,
            limited=can.min_move_ms <= SHORT_MS,
        )

    # --- the record ------------------------------------------------------------------------------

    async def _note(
        self, name: str, game: Game | None, seats: int | None, made: Coroutine[Any, Any, None]
    ) -> None:
        """Await a check and put what it came to into the report."""
        if self._there is not None:
            self._there.patient.mark()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        fields: dict[str, Any] = {"status": "Passed"}
        try:
            await made
        except SkippedError as skipped:
            fields = {"status": "Skipped", "why": str(skipped)}
        except FailedError as failed:
            fields = {"status": "Failed", "expected": failed.expected, "came": failed.came}
            await self._discharge(keep=fields)
        title = game.info.name if game else None
        seconds = round(loop.time() - begun, 2)
        self._add(Finding(check=name, game=title, seats=seats, seconds=seconds, **fields))

    def _add(self, finding: Finding) -> None:
        self._chart.findings.append(finding)
        self._order.tell(finding)

    # --- coming and going ------------------------------------------------------------------------

    async def _first_visit(self) -> None:
        there = await self._present()
        hello = there.stage.hello
        if hello is not None and hello.capabilities is not None:
            self._capabilities = hello.capabilities
        if there.stage.trouble:
            raise FailedError("messages as the protocol has them", there.stage.trouble[0])

    async def _present(self) -> _Present:
        """Return the bot, started and ready; start it where it is not there."""
        if self._there is None:
            self._there = await self._admit()
            await self._greeted(self._there)
            self._came = True
        return self._there

    async def _admit(self) -> _Present:
        stack = contextlib.AsyncExitStack()
        try:
            stage = await stack.enter_async_context(open_stage(self._order.games))
            how = self._order.how
            patient = await stack.enter_async_context(admitted(how, stage.url, self._log))
        except BaseException:
            await stack.aclose()
            raise
        return _Present(stage, patient, stack)

    async def _greeted(self, there: _Present) -> None:
        async with _living(there.patient, ARRIVAL_S, "that it connects and says hello"):
            await there.stage.arrived.wait()
        hello = there.stage.hello
        assert hello is not None
        self._capabilities = hello.capabilities or Capabilities()
        there.stage.programme = self._programme()
        there.stage.tell_lobby()
        async with _living(there.patient, WARM_S, "that it joins the lobby and says it is ready"):
            await there.stage.ready.wait()

    async def _parting(self) -> None:
        """Close the lobby: a bot stays connected, or ends well."""
        there = await self._present()
        there.stage.close_lobby()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PARTING_S):
                await ended(there.patient.process)
        status = there.patient.process.returncode
        if status is None and not there.stage.arrived.is_set():
            raise FailedError("that it ends or stays connected", "it did neither")
        if status not in (None, 0) and self._chart.healthy:
            raise FailedError("exit status 0 when its lobby has closed", f"status {status}")

    async def _discharge(self, keep: dict[str, Any] | None = None) -> None:
        """End the bot; into `keep` go its last words."""
        there, self._there = self._there, None
        if there is None:
            return
        await there.leave.aclose()
        if keep is not None:
            keep["output"] = there.patient.output()

    # --- what it claims --------------------------------------------------------------------------

    def _claimed(self) -> list[str]:
        claimed = [claim.game for claim in self._capabilities.games] or list(self._order.games)
        wanted = list(self._order.wanted) or claimed
        return [name for name in dict.fromkeys(wanted) if name in self._order.games]

    def _numbers(self, game: Game) -> list[int]:
        """Return the numbers of seats that the bot claims and the game's default allows."""
        name = game.info.name
        claims = [set(claim.seats) for claim in self._capabilities.games if claim.game == name]
        claimed = set() if not claims or not all(claims) else set.union(*claims)
        offered = [n for n in game.info.seats if not claimed or n in claimed]
        return [n for n in offered if start(game, {}, n, 0) is not None]

    def _programme(self) -> list[ProgrammeItem]:
        control = self._order.control
        return [
            ProgrammeItem(game=name, seats=seats, time_control=control)
            for name in self._claimed()
            for seats in _ends(self._numbers(self._order.games[name]))
        ]


def _chosen(check: Check, numbers: Sequence[int]) -> Sequence[int]:
    if check.at == "each":
        return _ends(numbers)
    return [max(numbers) if check.at == "most" else min(numbers)]


def _ends(numbers: Sequence[int]) -> list[int]:
    """Return the least and the greatest: what lies between them differs in nothing new."""
    return sorted({min(numbers), max(numbers)}) if numbers else []


@contextlib.asynccontextmanager
async def _living(patient: Patient, seconds: float, expected: str) -> AsyncIterator[None]:
    """Bound the block by time and by the life of the process."""
    me = asyncio.current_task()
    assert me is not None
    died = False

    async def watch() -> None:
        nonlocal died
        await ended(patient.process)
        died = True
        me.cancel()

    watching = asyncio.create_task(watch())
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise FailedError(expected, f"nothing within {seconds:g} s") from None
    except asyncio.CancelledError:
        if not died:
            raise
        me.uncancel()
        status = patient.process.returncode
        raise FailedError(expected, f"its process ended with status {status}") from None
    finally:
        watching.cancel()


async def _awaited(work: Any) -> None:
    await work
