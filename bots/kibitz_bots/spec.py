"""The type of bot factories, and the error for an invalid bot on the command line."""

from __future__ import annotations

from collections.abc import Callable

from kibitz_bots.sdk import Bot

BotFactory = Callable[[], Bot]
"""Creates a new bot for every match."""


class SpecError(ValueError):
    """An invalid bot spec; the message says what was found and what was expected."""
