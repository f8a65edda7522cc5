"""Closing a terminal's window ends the processes started in it."""

from __future__ import annotations

import psutil

from tests.tools.command import PATIENCE_SECONDS, Kibitz
from tests.tools.terminal import terminal

DEAF = ("sh", "-c", 'trap "" HUP; "$@"; exit 0', "sh")
"""A session leader that does not forward hangups and waits, like `make`."""


def test_what_nobody_tells_of_its_lost_terminal_ends_with_it(kibitz: Kibitz) -> None:
    with terminal(kibitz, "demo", "--pace", "1", through=DEAF) as window:
        window.until("ply")
        started = psutil.Process(window.process.pid).children(recursive=True)
        assert len(started) > 5
        window.close()
        _, there = psutil.wait_procs(started, timeout=PATIENCE_SECONDS)
        assert there == []
