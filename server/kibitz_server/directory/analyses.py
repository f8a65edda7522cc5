"""Analyses of finished matches by a bot, on request of people in the browser.

The server contains no bot and no analysis. The program that starts the server passes an
`AnalysisCommand`, and the server runs it in a process with low priority. Only one such process runs
at a time; the other matches wait in the order of their requests. Results and failures are cached by
match.

    ask(match) --> cached? --no--> waits --> a process analyzes it --> cached
                      └--yes--> the result

Clients repeat their request until they get the result, so no connection stays open for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from kibitz_server.directory.jobs import QueueFull
from kibitz_server.housebots.process import HouseBotProcess, inherited_environment

LOG = logging.getLogger("kibitz.directory")
PROCESS_TIMEOUT_S: Final = 300.0
"""Seconds after which a process is terminated. It may have to compile the bot's search first."""


class AnalysisCommand(Protocol):
    """Returns the command line of a process that analyzes a match."""

    def __call__(self, url: str, match: str, ms: int, out: str) -> Sequence[str]:
        """Return the command for a finished match of the server at `url`.

        The process thinks `ms` milliseconds at each turn. After each move that it has judged, it
        prints a line with the number of judged moves. It writes the analysis to the file `out`.
        If that file contains a position of a running match, the process replaces it with its move.
        """


Analyze: TypeAlias = Callable[[str, int, Callable[[int], object]], Awaitable[bytes]]
"""Analyzes a match, given the milliseconds per turn, and reports the number of judged moves. Raises
`AnalysisFailed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisLimits:
    """Limits on analyses and on the matches that wait for one."""

    turn_ms: int = 100
    """The thinking time for each turn of a short match ..."""
    match_ms: int = 30_000
    """... and for all turns of a long one."""
    waiting: int = 16
    """Matches that wait."""
    waiting_an_address: int = 4
    """Matches that wait for one address. An address that counts as many people may have one for
    each of them. Requests from this machine are not limited."""
    retry_after_ms: int = 30_000
    """The retry delay for clients whose request was refused because the queue is full."""
    results: int = 32
    """The number of latest results that are kept."""
    result_bytes: int = 512 * 1024
    """The maximum length of a result."""


class AnalysisFailed(Exception):
    """The analysis of a match failed; `str()` is a sentence for the client."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an analysis that is not finished."""

    ahead: int
    """The number of matches that are analyzed before this one."""
    done: int
    """The number of judged moves ..."""
    of: int
    """... and of all moves."""


@dataclass(slots=True)
class _Job:
    plies: int
    address: str | None
    done: int = 0


class Analyses:
    """The analyses of a server: finished ones, the running one, and matches that wait."""

    def __init__(
        self,
        analyze: Analyze,
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        limits: AnalysisLimits | None = None,
    ) -> None:
        self._analyze = analyze
        self._spawn = spawn
        self._limits = limits or AnalysisLimits()
        self._jobs: dict[str, _Job] = {}
        """The match that is analyzed now, then those that wait, in the order of their requests."""
        self._finished: dict[str, bytes | AnalysisFailed] = {}
        """The latest results, oldest first."""

    def ask(
        self, match: str, plies: int, address: str | None = None, people: int = 0
    ) -> bytes | Progress:
        """Return the analysis of a finished match. Start it if necessary, and return its progress.

        `address` is the client's, None for this machine; `people` is the number of people that the
        address counts as, 0 by default. Raises `QueueFull`, and `AnalysisFailed`.
        """
        finished = self._finished.get(match)
        if isinstance(finished, AnalysisFailed):
            raise finished
        if finished is not None:
            return finished
        if match not in self._jobs:
            self._admit(address, people)
            self._jobs[match] = _Job(plies, address)
            if len(self._jobs) == 1:
                self._spawn(self._run)
        job = self._jobs[match]
        return Progress(list(self._jobs).index(match), job.done, job.plies)

    def _admit(self, address: str | None, people: int) -> None:
        """Raise `QueueFull` if the limits do not allow one more match to wait."""
        limits, waiting = self._limits, list(self._jobs.values())[1:]
        own = sum(job.address == address for job in waiting)
        if address is not None and own >= max(limits.waiting_an_address, people):
            message = (
                f"{own} matches from your address are already waiting for analysis; try again later"
            )
        elif len(waiting) >= limits.waiting:
            message = "too many matches are already waiting for analysis; try again later"
        else:
            return
        raise QueueFull(message, limits.retry_after_ms)

    async def _run(self) -> None:
        while self._jobs:
            match, job = next(iter(self._jobs.items()))
            self._finished[match] = await self._finish(match, job)
            if len(self._finished) > self._limits.results:
                del self._finished[next(iter(self._finished))]
            del self._jobs[match]

    async def _finish(self, match: str, job: _Job) -> bytes | AnalysisFailed:
        def judged(moves: int) -> None:
            job.done = moves

        limits = self._limits
        ms = max(1, min(limits.turn_ms, limits.match_ms // max(1, job.plies)))
        try:
            finished = await self._analyze(match, ms, judged)
        except AnalysisFailed as error:
            return error
        except Exception:  # a full disk, for example; continue with the other matches
            LOG.exception("the analysis of match %s failed", match)
            return AnalysisFailed("the analysis of this match failed; the server's log says why")
        if len(finished) > limits.result_bytes:
            return AnalysisFailed("this match is too long to be analyzed here")
        return finished


class AnalysisProcesses:
    """Analyzes matches in processes on this machine (an `Analyze`)."""

    def __init__(
        self,
        command: AnalysisCommand,
        url: str,
        timeout_s: float = PROCESS_TIMEOUT_S,
        position: Callable[[str], bytes] | None = None,
    ) -> None:
        """`url` is the server's own address, from which the processes fetch the records.

        With `position`, the processes read a running match from it instead.
        """
        self._position = position
        self._command = command
        self._url = url
        self._timeout_s = timeout_s

    async def __call__(self, match: str, ms: int, judged: Callable[[int], object]) -> bytes:
        """Run the process of a match. Raises `AnalysisFailed`."""

        def heard(line: str) -> None:
            if line.isdecimal():
                judged(int(line))

        position = self._position(match) if self._position is not None else b""
        process = HouseBotProcess(heard, name="its process")
        timer = asyncio.get_running_loop().call_later(self._timeout_s, process.stop)
        with tempfile.TemporaryDirectory(prefix="kibitz-analysis-") as folder:
            out = Path(folder) / "analysis.json"
            if position:
                out.write_bytes(position)
            command = self._command(self._url, match, ms, str(out))
            try:
                await process.run(command, inherited_environment(os.environ))
            finally:
                timer.cancel()
            return _result(match, process, out)


def _result(match: str, process: HouseBotProcess, out: Path) -> bytes:
    """Return the output of a process that has ended. Raises `AnalysisFailed`."""
    if process.stopping:
        LOG.warning("the analysis of match %s was stopped: it took too long", match)
        raise AnalysisFailed("the analysis of this match took too long")
    if process.status or not out.exists():
        LOG.warning("the analysis of match %s failed: %s", match, process.log_tail)
        raise AnalysisFailed("the analysis of this match failed; the server's log says why")
    return out.read_bytes()
