"""An experiment of a report: what was claimed, and the function that measures it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


class UnavailableError(Exception):
    """An experiment that cannot be run here; `str()` says why."""


@dataclass(frozen=True)
class Scale:
    """How much is measured, and by how many threads."""

    full: bool = False
    threads: int = 1

    def choose(self, short: int, full: int) -> int:
        """Return a number of games or positions: fewer in a short run."""
        return full if self.full else short


@dataclass(frozen=True)
class Measured:
    """The findings of a measurement: a table, a sentence that sums it up, and pictures."""

    found: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    command: str = ""
    """The command that repeats it; empty for ``python -m benchmarks.experiments NAME``."""
    figures: Mapping[str, str] = field(default_factory=dict)
    """Pictures as SVG, by the caption of each."""


Measure: TypeAlias = Callable[[Scale], Measured]


@dataclass(frozen=True)
class ReportExperiment:
    """An entry of the table of experiments."""

    name: str
    game: str
    title: str
    claim: str
    """The claim of the report, in our words."""
    errs: str
    """Errors of the report or its program, or points that it leaves open and how we read them."""
    load: Callable[[], Measure]
    """Imports what it needs and returns the function that measures."""
