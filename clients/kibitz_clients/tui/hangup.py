"""Ends a program on a terminal when that is gone, whoever is told of it.

The system sends SIGHUP to the leader of the terminal's session. A shell passes it on to what runs
in it, but the leader may be something that does not, such as `make` in a window of its own. Then
Textual reads from the dead terminal without a pause, and waits for ever to write to it: no signal
that the event loop handles would end it.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import Final

EXIT_HANGUP: Final = 129
"""The exit status of a program that SIGHUP has ended, as shells have it."""


def end_with_terminal() -> None:
    """End this process, as SIGHUP would, once its standard input is a terminal that is gone."""
    stdin = sys.__stdin__
    if stdin is None or not hasattr(select, "poll") or not stdin.isatty():
        return
    waiting = threading.Thread(target=_end_at_hangup, args=(stdin.fileno(),), daemon=True)
    waiting.start()


def _end_at_hangup(terminal: int) -> None:
    poll = select.poll()
    poll.register(terminal, 0)  # a hangup is reported without being asked for
    if any(events & select.POLLHUP for _, events in poll.poll()):
        os._exit(EXIT_HANGUP)
