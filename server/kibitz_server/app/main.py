"""Runs a server's process: configuration, signals, shutdown."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager

from kibitz_games.core.game import Game
from kibitz_protocol import event_loop
from kibitz_server.accounts import names
from kibitz_server.app.config import Config
from kibitz_server.app.server import Server, running
from kibitz_server.directory.analyses import AnalysisCommand
from kibitz_server.directory.rules import CompileCommand
from kibitz_server.housebots.catalog import BotLauncher
from kibitz_server.net.site import Site

LOG = logging.getLogger("kibitz.app")
GC_THRESHOLD = 20_000
"""The number of new objects between garbage collections; a move creates dozens, but no cycles."""
EXIT_GRACE_S = 20.0
"""Seconds after `drain_s` at which a process that has not ended is killed."""


def run(
    config: Config,
    games: Mapping[str, Game],
    launcher: BotLauncher | None = None,
    *,
    site: Site | None = None,
    compile_command: CompileCommand | None = None,
    analysis_command: AnalysisCommand | None = None,
    started: Callable[[Server], None] | None = None,
) -> signal.Signals:
    """Serve until SIGTERM, SIGHUP or SIGINT, then drain.

    `site` provides the web pages that are served on the same port; `compile_command` starts the
    compilation of a game's rules, and `analysis_command` the analysis of a match. Returns the
    signal that ended the server. The process ends soon after that, even if a thread still waits for
    a disk that does not respond. Raises `StoreError` if the database cannot be used, or if another
    server has taken it over.
    """
    served = running(config, games, launcher, site, compile_command, gc.freeze, analysis_command)
    return event_loop.run(_serve(config, served, started))


async def _serve(
    config: Config,
    served: AbstractAsyncContextManager[Server],
    started: Callable[[Server], None] | None,
) -> signal.Signals:
    stop = asyncio.Event()
    gc.disable()
    received = _stop_at_signals(stop)
    # A shorter wait for the GIL, which the writer's thread needs once per commit.
    sys.setswitchinterval(0.0001)
    names.prepare()
    async with served as server:
        # Exclude the objects created so far from garbage collections, because they are permanent.
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD)
        gc.enable()
        if started is not None:
            started(server)
        await _wait_any(stop, server.failed)
        _exit_after(config.drain_s + EXIT_GRACE_S)
        LOG.info("draining")
    if server.failure is not None:
        raise server.failure
    return received[0]


def _stop_at_signals(stop: asyncio.Event) -> list[signal.Signals]:
    """Set `stop` on a signal that ends the server; return the list of received signals."""
    received: list[signal.Signals] = []

    def end(number: signal.Signals) -> None:
        received.append(number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # Under `nohup` SIGHUP is ignored, and must remain so.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, end, number)
    return received


async def _wait_any(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _exit_after(seconds: float) -> None:
    """Kill the process after a while, in case threads keep it from ending."""

    def end() -> None:
        LOG.critical("the server did not end within %.0f s; killing it", seconds)
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
