"""Exits the program when its terminal is gone, even without a SIGHUP.

The system sends SIGHUP to the leader of the terminal's session. A shell passes it on to its
children, but other leaders, such as `make` in its own window, may not. Textual would then read from
the dead terminal in a busy loop and block forever on writes, so signals handled by the event loop
could not stop it.
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
    """Exit, as after SIGHUP, when the terminal on standard input is gone."""
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
