"""Ctrl-C and hangups: the exit status, and whether Ctrl-C was pressed in this process."""

from __future__ import annotations

import os
import signal
from typing import Final

EXIT_INTERRUPTED: Final = 130
"""The exit status after Ctrl-C, as in shells, even if the command could finish its work."""
TERMINATION: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that end a command in the same way: from a supervisor, and from a closed terminal."""
_pressed: list[int] = []


def leave(number: int, frame: object) -> None:
    """Exit at once; a signal handler for when there is nothing to clean up."""
    os._exit(EXIT_INTERRUPTED)


def note(number: signal.Signals) -> None:
    """Remember that a signal arrived."""
    if number == signal.SIGINT:
        _pressed.append(number)


def pressed() -> bool:
    """Return whether Ctrl-C was handled in this process."""
    return bool(_pressed)


def is_ignored(number: signal.Signals) -> bool:
    """Return whether the parent wants a signal ignored, as `nohup` does with SIGHUP."""
    return signal.getsignal(number) is signal.SIG_IGN
