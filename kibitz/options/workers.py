"""The option ``--workers``; importing this module does not import the compute code."""

from __future__ import annotations

from typing import Any, Final

import click

SCHEME: Final = "ray://"
"""The scheme of a Ray cluster's address."""
MOST_PROCESSES: Final = 256


def _checked(context: click.Context, parameter: click.Parameter, value: Any) -> str | None:
    if value is None:
        return None
    if value.startswith(SCHEME) and len(value) > len(SCHEME):
        return str(value)
    if value.isdecimal() and 1 <= int(value) <= MOST_PROCESSES:
        return str(value)
    raise click.BadParameter(
        f"expected a number from 1 to {MOST_PROCESSES}, or ray://HOST:PORT, not {value!r}"
    )


workers_option: Final = click.option(
    "--workers",
    metavar="N|ray://HOST:PORT",
    callback=_checked,
    help="Compute in this many processes, or on a Ray cluster.",
)
