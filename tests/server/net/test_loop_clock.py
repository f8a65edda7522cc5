"""The server's clock stops while the loop is suspended; deadlines wait for pending input."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable

import pytest

from kibitz_server.net.loop_clock import (
    BEAT_NS,
    STANDSTILL_NS,
    TOLERANCE_NS,
    AfterInput,
    Deadline,
    ServerClock,
)
from tests.server.fakes import FakeLoop

BEAT = BEAT_NS / 1e9
TOLERANCE = TOLERANCE_NS / 1e9
STANDSTILL = STANDSTILL_NS / 1e9


def started() -> tuple[FakeLoop, ServerClock]:
    loop = FakeLoop()
    clock = ServerClock(loop.loop, lambda: round(loop.now * 1e9))
    clock.start()
    return loop, clock


def stand(loop: FakeLoop, seconds: float) -> None:
    """Let time pass without running due calls."""
    loop.now += seconds


def test_it_goes_with_real_time_while_the_loop_runs() -> None:
    loop, clock = started()
    before = clock.seconds()
    loop.advance(100)
    assert clock.seconds() - before == pytest.approx(100)
    assert clock.lag_ms() == 0


@pytest.mark.parametrize("into", [0.0, 0.3 * BEAT, 0.99 * BEAT])
@pytest.mark.parametrize("seconds", [STANDSTILL, 0.5, 5.0, 86_400.0])
def test_a_stop_is_left_out_whole(seconds: float, into: float) -> None:
    """This includes readers before the beat, and suspensions that start anywhere in a beat."""
    loop, clock = started()
    loop.advance(10 + into)
    before = clock.seconds()
    stand(loop, seconds)
    assert clock.seconds() - before == pytest.approx(0)
    assert clock.lag_ms() == pytest.approx(seconds * 1000, abs=1)
    loop.advance(1)
    assert clock.seconds() - before == pytest.approx(1)


def test_a_stop_that_nobody_read_the_clock_before_is_in_doubt_for_the_players() -> None:
    loop, clock = started()
    before = clock.seconds()
    loop.advance(10 * BEAT + 0.9 * BEAT)
    stand(loop, 5)
    assert clock.seconds() - before == pytest.approx(10 * BEAT)


def test_a_busy_loop_is_left_out_but_for_a_beat() -> None:
    loop, clock = started()
    loop.advance(10)
    before = clock.seconds()
    readings = []
    for _ in range(100):
        stand(loop, 0.01)
        readings.append(clock.seconds())
    assert readings == sorted(readings)
    assert readings[-1] - before == pytest.approx(BEAT + TOLERANCE)


def test_a_beat_that_is_a_little_late_is_nothing() -> None:
    loop, clock = started()
    for _ in range(100):
        stand(loop, BEAT + 0.9 * TOLERANCE)
        loop.advance(0)
    assert clock.lag_ms() == 0


def test_a_server_that_is_overloaded_for_good_has_a_slow_clock_that_goes_on() -> None:
    loop, clock = started()
    before = clock.seconds()
    for _ in range(100):
        stand(loop, 1)
        loop.advance(0)
    assert clock.seconds() - before >= 49 * BEAT
    assert clock.seconds() - before <= 101 * (BEAT + TOLERANCE)


def test_it_leaves_nothing_out_before_its_start_and_after_its_stop() -> None:
    loop = FakeLoop()
    clock = ServerClock(loop.loop, lambda: round(loop.now * 1e9))
    stand(loop, 5)
    assert clock.seconds() == pytest.approx(loop.now)
    clock.start()
    clock.stop()
    stand(loop, 5)
    assert clock.seconds() == pytest.approx(loop.now)
    assert (clock.lag_ms(), loop.armed) == (0, 0)


# --- deadlines --------------------------------------------------------------------------------


def test_a_deadline_comes_when_the_clock_says_so() -> None:
    loop, clock = started()
    rung: list[float] = []
    Deadline(loop.loop, clock.milliseconds, clock.milliseconds() + 3000, lambda: rung.append(1))
    loop.advance(2.5)
    stand(loop, 10)
    loop.advance(0.4)
    assert rung == []
    loop.advance(0.2)
    assert rung == [1]
    assert loop.armed == 1  # the beat


def test_a_deadline_that_is_called_off_never_comes() -> None:
    loop, clock = started()
    rung: list[float] = []
    due = clock.milliseconds() + 3000
    deadline = Deadline(loop.loop, clock.milliseconds, due, lambda: rung.append(1))
    loop.advance(2)
    deadline.cancel()
    # A deadline that has passed and waits for input:
    late = Deadline(loop.loop, clock.milliseconds, due, lambda: rung.append(2))
    loop.call_at(loop.now + 1, late.cancel)
    waiting = AfterInput(loop.loop, lambda: rung.append(3))
    waiting.cancel()
    loop.advance(10)
    assert rung == []


def loops() -> list[Callable[[], asyncio.AbstractEventLoop]]:
    found: list[Callable[[], asyncio.AbstractEventLoop]] = [asyncio.new_event_loop]
    try:
        import uvloop
    except ImportError:
        return found
    return [*found, uvloop.new_event_loop]


@pytest.mark.parametrize("make", loops())
def test_what_is_in_a_socket_is_read_before_a_deadline_that_has_come(
    make: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """On the real loops, which handle timers and sockets in different orders."""

    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        happened: list[str] = []

        class Reader(asyncio.Protocol):
            def data_received(self, data: bytes) -> None:
                happened.append("read")

        transport, _ = await loop.create_connection(Reader, sock=ours)
        rung = asyncio.Event()

        def ring() -> None:
            happened.append("deadline")
            rung.set()

        def stopped() -> None:
            """Run a call inside the loop, as late as after a suspension."""
            time.sleep(0.02)
            theirs.send(b"x")

        def milliseconds() -> int:
            return time.monotonic_ns() // 1_000_000

        for _ in range(20):
            rung.clear()
            Deadline(loop, milliseconds, milliseconds() + 10, ring)
            loop.call_later(0.005, stopped)
            await rung.wait()
        transport.close()
        theirs.close()
        return happened

    loop = make()
    try:
        happened = loop.run_until_complete(main())
    finally:
        loop.close()
    assert happened == ["read", "deadline"] * 20
