"""Ages on the command line, such as the `--keep` of `kibitz serve`."""

from __future__ import annotations

import re
from typing import Any

import click


class Age(click.ParamType[float]):
    """A time of at least one day, such as ``90d`` or ``12w``."""

    name = "age"
    _FORM = re.compile(r"([0-9]{1,6})([dw])")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        age = self._FORM.fullmatch(str(value))
        days = int(age[1]) * (7 if age[2] == "w" else 1) if age else 0
        if not days:
            self.fail(f"expected days or weeks, such as 90d or 12w, not {value!r}", param, ctx)
        return float(days)
