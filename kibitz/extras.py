"""The optional extras: the packages they install, and the commands that need them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import click

EXIT_MISSING: Final = 69
"""The exit status if a command's packages are not installed (EX_UNAVAILABLE in sysexits.h)."""
OPTIONAL: Final = frozenset(
    {
        *("numpy", "uvloop", "prometheus_client", "segno", "openskill"),
        *("numba", "cmaes", "sgfmill", "textual", "networkx", "yaml", "jinja2"),
    }
)
"""The packages that the extras install, by import name."""
_COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "search": (
        *("connect", "bot check", "match shadow", "pbrain", "sprt", "train"),
        *("record analyze", "record bisect", "record branch", "record retry"),
    ),
    "terminal": (
        *("join", "lobby", "match list", "mcp", "watch"),
        *("record export", "record replay", "record report", "record verify"),
    ),
    "arena": ("arena", "ladder"),
    "server,search,terminal": ("demo",),
}
"""The commands that need other extras than `server`."""
_EXTRA_OF: Final = {name: extra for extra, names in _COMMANDS.items() for name in names}


def extra_of(command: str) -> str:
    """Return the extras that a command needs, in pip's bracket syntax."""
    noun = command.partition(" ")[0]
    return _EXTRA_OF.get(command) or _EXTRA_OF.get(noun, "server")


def commands() -> set[str]:
    """Return the commands that need extras other than `server`."""
    return set(_EXTRA_OF)


class MissingExtra(click.ClickException):
    """A command needs a package that is not installed."""

    exit_code = EXIT_MISSING

    def __init__(self, command: str, package: str) -> None:
        super().__init__(
            f"kibitz {command} needs {package}, which is not installed: "
            f"pip install 'kibitz[{extra_of(command)}]'"
        )


def missing(command: str, error: ModuleNotFoundError) -> MissingExtra | None:
    """Return the message for a failed import; None if no extra installs the package."""
    package = (error.name or "").partition(".")[0]
    return MissingExtra(command, package) if package in OPTIONAL else None
