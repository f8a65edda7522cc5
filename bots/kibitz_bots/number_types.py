"""Bounded numbers for command-line options: every option uses one of these types or its own range.

Python also parses ``nan``, ``1e308`` and numbers of any length, which fail later in arithmetic,
timers or system calls.
"""

from __future__ import annotations

import math
from typing import Any, Final

import click

MAX_COUNT: Final = 10**9
"""The maximum for options without a specific bound."""
COUNT: Final = click.IntRange(1, MAX_COUNT)
NATURAL: Final = click.IntRange(0, MAX_COUNT)
SEED: Final = click.IntRange(0, 2**53 - 1)
"""The seeds that JSON represents exactly."""


class FiniteRange(click.FloatRange):
    """A number between two bounds; rejects ``nan``."""

    def __init__(self, low: float, high: float, *, min_open: bool = False) -> None:
        super().__init__(low, high, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse and check a number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


DURATION: Final = FiniteRange(0, 86_400)
"""A duration in seconds, up to a day."""
