"""Match options shared by several commands: clock, games, rotation, isolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from kibitz.builtin_games import is_balanced
from kibitz.options import notation
from kibitz.process.isolation.backends import WISHES
from kibitz_protocol.wire.records import Conduct

clock_option = click.option(
    "--tc", default="none", type=notation.TIME_CONTROL, help="Clock: 10+0.1, move=1, none, ..."
)
games_option = click.option(
    "--games",
    "each",
    type=click.IntRange(1, 10_000),
    help="Matches per game; by default one, or one block if the game is played in blocks.",
)


def rotates(game: str, games: int | None, *, rotate: bool) -> bool:
    """Return whether seats rotate; they do not for a single match."""
    return rotate and not (games == 1 and is_balanced(game))


def unbalanced_note(game: str, games: int | None) -> str | None:
    """Return a warning that a single match of a game played in blocks is unbalanced, else None."""
    if games != 1 or not is_balanced(game):
        return None
    return (
        f"a single match of {game} is unbalanced because its seats are not equally strong; omit"
        " --games to play a whole block"
    )


def at_once_option(default: int) -> Callable[[Any], Any]:
    """Return ``--at-once``."""
    return click.option(
        "--at-once",
        default=default,
        show_default=True,
        type=click.IntRange(1, 1000),
        help="Matches to play at once.",
    )


rotate_option = click.option(
    "--rotate/--no-rotate",
    default=True,
    show_default=True,
    help="Whether players rotate seats from match to match.",
)
strict_option = click.option(
    "--strict", is_flag=True, help="An illegal move loses at once, without another try."
)


def max_illegal(*, strict: bool) -> int:
    """Return the number of illegal moves after which a seat loses."""
    return 1 if strict else Conduct().max_illegal


isolation_option = click.option(
    "--jail",
    "isolation",
    default="auto",
    show_default=True,
    type=click.Choice(WISHES),
    help="How to isolate bots that are files or programs.",
)


def limit_arguments(
    memory_mib: int | None, cpu_s: int | None, *, resident_mib: int | None = None
) -> list[str]:
    """Return the options of `parent_death.child_command` that set process limits."""
    limits = {"--memory": memory_mib, "--cpu": cpu_s, "--resident": resident_mib}
    return [
        word
        for option, limit in limits.items()
        if limit is not None
        for word in (option, str(limit))
    ]
