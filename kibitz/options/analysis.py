"""Options of the commands that look into a record: which record, which bot, how long it thinks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from kibitz.options.record import RecordName

if TYPE_CHECKING:
    from kibitz_bots.spec import BotFactory

EXIT_FAULT = 3
"""The exit status if a bot to compare failed."""
DEFAULT_MS = 500
"""Milliseconds of thinking for each turn."""

record_argument = click.argument("source", metavar="RECORD", type=RecordName())
"""A file, or a finished match of a server: see `analysis.record_source`."""
ms_option = click.option(
    "--ms",
    type=click.IntRange(1, 3_600_000),
    default=DEFAULT_MS,
    show_default=True,
    help="Milliseconds for each turn.",
)


class BotFault(click.ClickException):
    """A bot failed, so that there is nothing to compare."""

    exit_code = EXIT_FAULT


@contextlib.contextmanager
def comparing() -> Iterator[None]:
    """Turn what a comparison raises into a sentence and an exit status: a bot that failed has one
    of its own."""
    from kibitz.analysis.seated_bot import BotFailedError

    try:
        yield
    except BotFailedError as error:
        raise BotFault(str(error)) from None
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None


def bot_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option that names a bot of this process."""
    return click.option(*names, metavar="BOT", **settings)


def loaded_bot(spec: str, game: str | None = None) -> BotFactory:
    """Return what makes the bots of `spec`; refuse one that does not play `game`."""
    from kibitz_bots.loading import load
    from kibitz_bots.spec import SpecError

    try:
        factory = load(spec)
    except SpecError as error:
        raise click.BadParameter(str(error), param_hint="BOT") from None
    if game is not None and (games := factory().games) and game not in games:
        message = f"{spec} plays {', '.join(games)}, and this match is of {game}"
        raise click.BadParameter(message, param_hint="BOT")
    return factory
