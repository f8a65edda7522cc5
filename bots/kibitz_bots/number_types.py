"""Bounds of the numbers on command lines: every option takes one of these types, or its own range.

Python reads ``nan``, ``1e308`` and numbers of any length, which fail later in arithmetic, timers
or system calls.
"""

from __future__ import annotations

import math
from typing import Any, Final

import click

MAX_COUNT: Final = 10**9
"""The largest number of an option without a specific bound."""
COUNT: Final = click.IntRange(1, MAX_COUNT)
NATURAL: Final = click.IntRange(0, MAX_COUNT)
SEED: Final = click.IntRange(0, 2**53 - 1)
"""The range of seeds that JSON represents exactly."""


class FiniteRange(click.FloatRange):
    """A number between two bounds; ``nan`` is between none."""

    def __init__(self, low: float, high: float, *, min_open: bool = False) -> None:
        super().__init__(low, high, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


DURATION: Final = FiniteRange(0, 86_400)
"""Seconds, up to a day."""
