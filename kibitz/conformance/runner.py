"""One run of the checks: start the bot, let it connect, run the checks, and stop it.

A bot that exits, hangs or fails in a check is restarted for the next one, so that every check gives
a result.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kibitz.conformance.bot_process import BotCommand, TestedBot, running_bot
from kibitz.conformance.checks import (
    CHECKS,
    GENEROUS_CLOCK,
    MAX_AT_ONCE,
    SHORT_MS,
    Check,
    CheckContext,
)
from kibitz.conformance.positions import initial_state
from kibitz.conformance.results import CheckResult, ConformanceReport, FailedError, SkippedError
from kibitz.conformance.server import ConformanceServer, start_conformance_server
from kibitz_games.core.game import Game
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities
from kibitz_server.housebots.wait_exit import wait_exit

CONNECT_TIMEOUT_S = 60.0
"""Seconds for a bot to connect and send hello."""
READY_TIMEOUT_S = 180.0
"""Seconds from hello until the bot is ready; it may compile first."""
EXIT_TIMEOUT_S = 15.0
"""Seconds for the bot to exit after its lobby has closed."""


@dataclass(frozen=True, kw_only=True)
class ConformanceConfig:
    """The settings of a run."""

    bot: BotCommand
    games: Mapping[str, Game]
    """The built-in games."""
    wanted: Sequence[str] = ()
    """The games to test; if empty, those that the bot claims."""
    control: TimeControl = field(default_factory=TimeControl)
    seed: int = 1
    timeout_s: float = 30.0
    only: Sequence[str] = ()
    """The checks to run; if empty, all of them."""
    tell: Callable[[CheckResult], None] = lambda finding: None


async def run_checks(config: ConformanceConfig) -> ConformanceReport:
    """Run the checks and return the report. Raises `OSError` if the bot cannot be started."""
    report = ConformanceReport(config.bot.name)
    with tempfile.TemporaryDirectory(prefix="kibitz-") as directory:
        await _Runner(config, report, Path(directory) / "bot.log").run()
    return report


@dataclass
class _RunningBot:
    """The currently running bot."""

    server: ConformanceServer
    process: TestedBot
    cleanup: contextlib.AsyncExitStack


class _Runner:
    """One run of the checks."""

    def __init__(self, config: ConformanceConfig, report: ConformanceReport, log: Path) -> None:
        self._config = config
        self._report = report
        self._log = log
        self._bot: _RunningBot | None = None
        self._capabilities = Capabilities()
        # Whether the bot has ever reported ready.
        self._was_ready = False

    async def run(self) -> None:
        """Run every check."""
        try:
            await self._run_check("connects", None, None, self._connect())
            if not self._was_ready:
                return
            for game in self._chosen_games():
                await self._check_game(self._config.games[game])
            await self._run_check("lobby closes", None, None, self._close_lobby())
        finally:
            await self._stop_bot()

    async def _check_game(self, game: Game) -> None:
        numbers = self._seat_counts(game)
        if not numbers:
            reason = "the game supports none of the seat counts that it declares"
            self._add(
                CheckResult(
                    check="play", game=game.info.name, seats=None, status="Skipped", why=reason
                )
            )
            return
        for check in CHECKS:
            if self._config.only and check.name not in self._config.only:
                continue
            for seats in _seats_for(check, numbers):
                await self._run_check(
                    check.name, game, seats, self._check_with_bot(check, game, seats)
                )

    async def _check_with_bot(self, check: Check, game: Game, seats: int) -> None:
        """Run one check; it fails if the bot exits or hangs."""
        running = await self._ensure_bot()
        running.server.matches.clear()
        work = check.run(self._context(running, game, seats))
        await _while_running(running.process, work, "its process to keep running")

    def _context(self, running: _RunningBot, game: Game, seats: int) -> CheckContext:
        can = self._capabilities
        control = self._config.control
        if not control.limited and not can.untimed:
            control = GENEROUS_CLOCK
        return CheckContext(
            server=running.server,
            game=game,
            seats=seats,
            seed=self._config.seed * 1000,
            timeout_s=self._config.timeout_s,
            claimed=tuple(self._seat_counts(game)),
            at_once=min(can.at_once, MAX_AT_ONCE),
            control=control,
            limited=can.min_move_ms <= SHORT_MS,
        )

    # --- results ------------------------------------------------------------------------------

    async def _run_check(
        self, name: str, game: Game | None, seats: int | None, made: Coroutine[Any, Any, None]
    ) -> None:
        """Run a check and add its result to the report."""
        if self._bot is not None:
            self._bot.process.mark_output()
        loop = asyncio.get_running_loop()
        begun = loop.time()
        fields: dict[str, Any] = {"status": "Passed"}
        try:
            await made
        except SkippedError as skipped:
            fields = {"status": "Skipped", "why": str(skipped)}
        except FailedError as failed:
            fields = {"status": "Failed", "expected": failed.expected, "came": failed.came}
            await self._stop_bot(keep=fields)
        title = game.info.name if game else None
        seconds = round(loop.time() - begun, 2)
        self._add(CheckResult(check=name, game=title, seats=seats, seconds=seconds, **fields))

    def _add(self, finding: CheckResult) -> None:
        self._report.results.append(finding)
        self._config.tell(finding)

    # --- start and stop ------------------------------------------------------------------------

    async def _connect(self) -> None:
        running = await self._ensure_bot()
        hello = running.server.hello
        if hello is not None and hello.capabilities is not None:
            self._capabilities = hello.capabilities
        if running.server.violations:
            raise FailedError("valid protocol messages", running.server.violations[0])

    async def _ensure_bot(self) -> _RunningBot:
        """Return the bot, ready to play; start it if it is not running."""
        if self._bot is None:
            self._bot = await self._start_bot()
            await self._handshake(self._bot)
            self._was_ready = True
        return self._bot

    async def _start_bot(self) -> _RunningBot:
        stack = contextlib.AsyncExitStack()
        try:
            server = await stack.enter_async_context(start_conformance_server())
            command = self._config.bot
            bot = await stack.enter_async_context(running_bot(command, server.url, self._log))
        except BaseException:
            await stack.aclose()
            raise
        return _RunningBot(server, bot, stack)

    async def _handshake(self, running: _RunningBot) -> None:
        server = running.server
        connecting = "the bot to connect and send hello"
        await _while_running(
            running.process, server.connected.wait(), connecting, CONNECT_TIMEOUT_S
        )
        assert server.hello is not None
        self._capabilities = server.hello.capabilities or Capabilities()
        server.programme = self._programme()
        server.send_lobby()
        joining = "the bot to join the lobby and report ready"
        await _while_running(running.process, server.ready.wait(), joining, READY_TIMEOUT_S)

    async def _close_lobby(self) -> None:
        """Close the lobby; the bot must stay connected or exit with status 0."""
        running = await self._ensure_bot()
        running.server.close_lobby()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(EXIT_TIMEOUT_S):
                await wait_exit(running.process.process)
        status = running.process.process.returncode
        if status is None and not running.server.connected.is_set():
            raise FailedError("the bot to exit or stay connected", "it did neither")
        if status not in (None, 0) and self._report.passed:
            raise FailedError("exit status 0 after its lobby closed", f"status {status}")

    async def _stop_bot(self, keep: dict[str, Any] | None = None) -> None:
        """Stop the bot; store its last output in `keep`."""
        running, self._bot = self._bot, None
        if running is None:
            return
        await running.cleanup.aclose()
        if keep is not None:
            keep["output"] = running.process.output()

    # --- capabilities --------------------------------------------------------------------------

    def _chosen_games(self) -> list[str]:
        claimed = [claim.game for claim in self._capabilities.games] or list(self._config.games)
        wanted = list(self._config.wanted) or claimed
        return [name for name in dict.fromkeys(wanted) if name in self._config.games]

    def _seat_counts(self, game: Game) -> list[int]:
        """Return the numbers of seats that the bot claims and the game allows by default."""
        name = game.info.name
        claims = [set(claim.seats) for claim in self._capabilities.games if claim.game == name]
        claimed = set() if not claims or not all(claims) else set.union(*claims)
        offered = [n for n in game.info.seats if not claimed or n in claimed]
        return [n for n in offered if initial_state(game, {}, n, 0) is not None]

    def _programme(self) -> list[ProgrammeItem]:
        control = self._config.control
        return [
            ProgrammeItem(game=name, seats=seats, time_control=control)
            for name in self._chosen_games()
            for seats in _extremes(self._seat_counts(self._config.games[name]))
        ]


def _seats_for(check: Check, numbers: Sequence[int]) -> Sequence[int]:
    if check.seat_choice == "each":
        return _extremes(numbers)
    return [max(numbers) if check.seat_choice == "most" else min(numbers)]


def _extremes(numbers: Sequence[int]) -> list[int]:
    """Return the smallest and the largest number of seats; those between add nothing new."""
    return sorted({min(numbers), max(numbers)}) if numbers else []


async def _while_running(
    bot: TestedBot, work: Awaitable[object], expected: str, seconds: float | None = None
) -> None:
    """Await `work`; raise `FailedError` if it takes too long or the process exits."""
    making = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(wait_exit(bot.process))
    try:
        await asyncio.wait((making, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if making.done():
            making.result()
        elif gone.done():
            raise FailedError(expected, f"its process exited with status {gone.result()}")
        else:
            raise FailedError(expected, f"nothing within {seconds:g} s")
    finally:
        making.cancel()
        gone.cancel()
        await asyncio.gather(making, gone, return_exceptions=True)
