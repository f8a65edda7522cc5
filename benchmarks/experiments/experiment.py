"""An experiment on a report's claim, with the function that measures it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


class UnavailableError(Exception):
    """Raised if an experiment cannot run here; `str()` gives the reason."""


@dataclass(frozen=True)
class Scale:
    """The size of a measurement and the number of threads."""

    full: bool = False
    threads: int = 1

    def choose(self, short: int, full: int) -> int:
        """Return the number of games or positions for a short or a full run."""
        return full if self.full else short


@dataclass(frozen=True)
class Measured:
    """The findings of a measurement: a table, a summary, and plots."""

    found: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    command: str = ""
    """The command that repeats it; if empty, ``python -m benchmarks.experiments NAME``."""
    figures: Mapping[str, str] = field(default_factory=dict)
    """Plots as SVG, keyed by caption."""


Measure: TypeAlias = Callable[[Scale], Measured]


@dataclass(frozen=True)
class ReportExperiment:
    """An entry of the table of experiments."""

    name: str
    game: str
    title: str
    claim: str
    """The report's claim, paraphrased."""
    errs: str
    """Errors of the report or its program, and gaps with the interpretation chosen here."""
    load: Callable[[], Measure]
    """Loads the modules needed and returns the function that measures."""
