"""Analyses: one at a time, in order, cached; full queues and failures are refused."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence

import pytest

from kibitz_server.directory.analyses import (
    Analyses,
    AnalysisFailed,
    AnalysisLimits,
    AnalysisProcesses,
    Progress,
)
from kibitz_server.directory.jobs import QueueFull
from tests.server.fakes import wait_until

FAR = "192.0.2.1"


class Bench:
    """An analyzer whose analyses end when the test says so; nothing waits for a clock."""

    def __init__(self, limits: AnalysisLimits | None = None) -> None:
        self.begun: dict[str, int] = {}
        """The milliseconds a turn of each match that was begun, in their order."""
        self.results: dict[str, asyncio.Future[bytes]] = {}
        self.judged: dict[str, Callable[[int], object]] = {}
        self.tasks: list[asyncio.Future[None]] = []
        self.analyses = Analyses(self._analyze, self._spawn, limits)

    async def _analyze(self, match: str, ms: int, judged: Callable[[int], object]) -> bytes:
        self.begun[match], self.judged[match] = ms, judged
        self.results[match] = asyncio.get_running_loop().create_future()
        return await self.results[match]

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        self.tasks.append(asyncio.ensure_future(work()))

    async def end(self, match: str, result: bytes | Exception = b"{}") -> None:
        """End the analysis of a match, and let the next one begin."""
        if isinstance(result, bytes):
            self.results[match].set_result(result)
        else:
            self.results[match].set_exception(result)
        await turns()


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_matches_are_analyzed_one_after_the_other_and_the_results_are_kept() -> None:
    bench = Bench()
    assert bench.analyses.ask("m1", 40) == Progress(ahead=0, done=0, of=40)
    assert bench.analyses.ask("m2", 10) == Progress(ahead=1, done=0, of=10)
    assert bench.analyses.ask("m3", 10) == Progress(ahead=2, done=0, of=10)
    await turns()
    assert list(bench.begun) == ["m1"]
    bench.judged["m1"](7)
    assert bench.analyses.ask("m1", 40) == Progress(ahead=0, done=7, of=40)
    await bench.end("m1", b"first")
    assert list(bench.begun) == ["m1", "m2"]
    assert bench.analyses.ask("m1", 40) == b"first"
    assert bench.analyses.ask("m3", 10) == Progress(ahead=1, done=0, of=10)
    await bench.end("m2")
    await bench.end("m3")
    assert list(bench.begun) == ["m1", "m2", "m3"]
    assert bench.analyses.ask("m1", 40) == b"first"
    assert len(bench.begun) == 3


@pytest.mark.parametrize(("plies", "ms"), [(1, 100), (300, 100), (600, 50), (100_000, 1)])
async def test_a_long_match_gets_less_time_for_each_turn(plies: int, ms: int) -> None:
    bench = Bench()
    bench.analyses.ask("m1", plies)
    await turns()
    assert bench.begun == {"m1": ms}


async def test_a_full_queue_refuses_other_matches_and_goes_on_answering_its_own() -> None:
    bench = Bench(AnalysisLimits(waiting=2))
    for match in ("m1", "m2", "m3"):
        bench.analyses.ask(match, 10)
    with pytest.raises(QueueFull, match="too many matches are already waiting for analysis"):
        bench.analyses.ask("m4", 10)
    assert bench.analyses.ask("m3", 10) == Progress(ahead=2, done=0, of=10)


async def test_an_address_has_a_share_of_the_queue() -> None:
    bench = Bench(AnalysisLimits(waiting_an_address=1))
    bench.analyses.ask("m1", 10, FAR)
    bench.analyses.ask("m2", 10, FAR)
    with pytest.raises(QueueFull, match="1 matches from your address are already waiting"):
        bench.analyses.ask("m3", 10, FAR)
    for match, address, people in (("m3", "192.0.2.2", 0), ("m4", None, 0), ("m5", FAR, 30)):
        assert isinstance(bench.analyses.ask(match, 10, address, people), Progress)


async def test_a_failure_is_told_to_all_and_not_tried_again() -> None:
    bench = Bench()
    bench.analyses.ask("m1", 10)
    bench.analyses.ask("m2", 10)
    await turns()
    await bench.end("m1", AnalysisFailed("planted"))
    for _ in range(2):
        with pytest.raises(AnalysisFailed, match="planted"):
            bench.analyses.ask("m1", 10)
    assert list(bench.begun) == ["m1", "m2"]


async def test_an_unexpected_error_fails_one_match_and_the_next_begins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench()
    bench.analyses.ask("m1", 10)
    bench.analyses.ask("m2", 10)
    await turns()
    await bench.end("m1", OSError("planted: no space left on device"))
    with pytest.raises(AnalysisFailed, match="the server's log says why"):
        bench.analyses.ask("m1", 10)
    assert "no space left" in caplog.text
    assert list(bench.begun) == ["m1", "m2"]


async def test_the_cache_is_bounded_and_a_result_beyond_it_is_refused() -> None:
    bench = Bench(AnalysisLimits(results=1, result_bytes=100))
    for match in ("m1", "m2"):
        bench.analyses.ask(match, 10)
        await turns()
        await bench.end(match, b"x" * 60)
    assert isinstance(bench.analyses.ask("m1", 10), Progress)  # it had to make room
    await turns()
    await bench.end("m1", b"x" * 101)
    with pytest.raises(AnalysisFailed, match="too long to be analyzed"):
        bench.analyses.ask("m1", 10)


# --- processes ------------------------------------------------------------------------------------

WRITES = """
import os, sys
url, match, ms, out = sys.argv[1:]
print("compiling", flush=True)
print(3, flush=True)
open(out, "w").write(" ".join([url, match, ms, os.environ.get("KIBITZ_DB", "nothing")]))
"""


def processes(code: str, timeout_s: float = 60.0) -> AnalysisProcesses:
    def command(url: str, match: str, ms: int, out: str) -> Sequence[str]:
        return [sys.executable, "-c", code, url, match, str(ms), out]

    return AnalysisProcesses(command, "ws://here", timeout_s)


@pytest.mark.e2e
async def test_a_process_writes_the_result_and_prints_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(os.environ, "KIBITZ_DB", "secret")
    judged = list[int]()
    assert await processes(WRITES)("m1", 50, judged.append) == b"ws://here m1 50 nothing"
    assert judged == [3]


@pytest.mark.e2e
@pytest.mark.parametrize("code", ["raise SystemExit('planted')", "pass"])
async def test_a_process_that_fails_is_logged(code: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AnalysisFailed, match="the server's log says why"):
        await processes(code)("m1", 50, int)
    assert "the analysis of match m1 failed" in caplog.text
    assert "its process ended with status" in caplog.text


@pytest.mark.e2e
async def test_a_process_that_takes_too_long_is_ended(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(AnalysisFailed, match="took too long"):
        await processes("import time; time.sleep(60)", 0.1)("m1", 50, int)
    assert "m1 was stopped" in caplog.text


@pytest.mark.e2e
async def test_the_process_ends_with_its_server() -> None:
    judged = list[int]()
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    running = asyncio.ensure_future(processes(code)("m1", 50, judged.append))
    await wait_until(lambda: bool(judged))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(ProcessLookupError):
        os.kill(judged[0], 0)
