"""Ends the program when its terminal is gone, even without a SIGHUP.

The system sends SIGHUP to the leader of the terminal's session. A shell passes it on to its
children, but other leaders, such as `make` in a window of its own, may not. Then Textual reads from
the dead terminal in a busy loop, and blocks forever on writes: no signal that the event loop
handles would end it.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from typing import Final

EXIT_HANGUP: Final = 129
"""The exit status that shells use for a program ended by SIGHUP."""


def end_with_terminal() -> None:
    """End this process, as SIGHUP would, once the terminal on its standard input is gone."""
    stdin = sys.__stdin__
    if stdin is None or not hasattr(select, "poll") or not stdin.isatty():
        return
    waiting = threading.Thread(target=_end_at_hangup, args=(stdin.fileno(),), daemon=True)
    waiting.start()


def _end_at_hangup(terminal: int) -> None:
    poll = select.poll()
    poll.register(terminal, 0)  # hangups are always reported
    if any(events & select.POLLHUP for _, events in poll.poll()):
        os._exit(EXIT_HANGUP)
