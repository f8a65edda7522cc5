"""Options of the commands that analyze a record: the record, the bot, and its thinking time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from kibitz.options.record import RecordName

if TYPE_CHECKING:
    from kibitz_bots.spec import BotFactory

EXIT_FAULT = 3
"""The exit status if the bot failed."""
DEFAULT_MS = 500
"""The default thinking time per turn, in milliseconds."""

record_argument = click.argument("source", metavar="RECORD", type=RecordName())
"""The argument for a record file or a finished match on a server: see `analysis.record_source`."""
ms_option = click.option(
    "--ms",
    type=click.IntRange(1, 3_600_000),
    default=DEFAULT_MS,
    show_default=True,
    help="Milliseconds per turn.",
)


class BotFault(click.ClickException):
    """The bot failed, so there is nothing to compare."""

    exit_code = EXIT_FAULT


@contextlib.contextmanager
def comparing() -> Iterator[None]:
    """Turn the errors of a comparison into sentences; `BotFault` has its own exit status."""
    from kibitz.analysis.seated_bot import BotFailedError

    try:
        yield
    except BotFailedError as error:
        raise BotFault(str(error)) from None
    except (ValueError, OSError) as error:
        raise click.ClickException(str(error)) from None


def bot_option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    """Return an option that names a bot to run in this process."""
    return click.option(*names, metavar="BOT", **settings)


def loaded_bot(spec: str, game: str | None = None) -> BotFactory:
    """Return the factory of the bots of `spec`; refuse a bot that does not play `game`."""
    from kibitz_bots.loading import load
    from kibitz_bots.spec import SpecError

    try:
        factory = load(spec)
    except SpecError as error:
        raise click.BadParameter(str(error), param_hint="BOT") from None
    if game is not None and (games := factory().games) and game not in games:
        message = f"{spec} plays {', '.join(games)}, but the game of this match is {game}"
        raise click.BadParameter(message, param_hint="BOT")
    return factory
