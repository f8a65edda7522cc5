"""The interfaces of `kibitz train`: an experiment with its parameters, and a run of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict


class Parameters(BaseModel):
    """The parameters of an experiment: fields with a default, bounds and a description.

    They are what may follow the colon in ``kibitz train GAME/NAME:seats=3,population=100``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ParameterError(ValueError):
    """An invalid parameter; `str()` names it and the expected value."""


class Compute(Protocol):
    """Computes elsewhere what an experiment evaluates, as tasks by name."""

    @property
    def size(self) -> int:
        """Into how many tasks an evaluation is cut."""

    def run(self, task: str, given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Carry out a task for each of `given`, JSON, and return the answers in their order."""


Task: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Carries out a task, JSON to JSON."""


class Reporter(Protocol):
    """An interface that displays the progress and results of a run."""

    def progress(self, done: int, total: int, text: str) -> None:
        """Show the progress, in a line that replaces the last one."""

    def say(self, text: str) -> None:
        """Print a line that stays: a figure of the result."""


@dataclass(frozen=True)
class TrainingRun:
    """A run of an experiment, with its directory and its seed."""

    out: Path
    """An existing directory for this run alone; an interrupted run resumes from its files."""
    seed: int
    threads: int
    """The number of threads for computation. The result must not depend on it."""
    command: str
    """The command that made the run, for the files that it leaves."""
    reporter: Reporter
    compute: Compute | None = None
    """Evaluates generations elsewhere; None evaluates here. The result must not depend on it."""


@dataclass(frozen=True)
class Experiment:
    """Something that `kibitz train` can run."""

    name: str
    """``GAME/NAME``."""
    summary: str
    """A summary of what is trained and how, for the list; the end of a sentence."""
    parameters: type[Parameters]
    run: Callable[[Any, TrainingRun], None]
    """Runs it with its parameters."""
    distributed: bool = True
    """Whether it evaluates with `TrainingRun.compute` where there is one."""
