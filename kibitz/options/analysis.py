"""Options of the commands that look into a record: which record, which bot, how long it thinks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kibitz_bots.spec import BotFactory

DEFAULT_MS = 500
"""Milliseconds of thinking for each turn."""

record_argument = click.argument("source", metavar="RECORD")
"""A file, or a finished match of a server: see `analysis.record_source`."""
ms_option = click.option(
    "--ms",
    type=click.IntRange(1, 3_600_000),
    default=DEFAULT_MS,
    show_default=True,
    help="Milliseconds for each turn.",
)


def bot_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option that names a bot of this process."""
    return click.option(*names, metavar="BOT", **settings)


def loaded_bot(spec: str) -> BotFactory:
    """Return what makes the bots of `spec`. Raises `SpecError`, a `ValueError`."""
    from kibitz_bots.loading import load

    return load(spec)
