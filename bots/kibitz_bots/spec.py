"""The factory of bots that a name on a command line refers to, and the error if there is none."""

from __future__ import annotations

from collections.abc import Callable

from kibitz_bots.sdk import Bot

BotFactory = Callable[[], Bot]
"""Makes the bots of one kind, a new one for every match."""


class SpecError(ValueError):
    """A word that names no bot; the message says what was found and what was expected."""
