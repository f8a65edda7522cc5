"""The interfaces of `kibitz train`: an experiment with its parameters, and a run of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict


class Parameters(BaseModel):
    """The parameters of an experiment: fields with a default, bounds and a description.

    They follow the colon in ``kibitz train GAME/NAME:seats=3,population=100``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ParameterError(ValueError):
    """An invalid parameter; `str()` names it and the expected value."""


class Compute(Protocol):
    """An interface for running an experiment's evaluations as named tasks in worker processes."""

    @property
    def size(self) -> int:
        """The number of tasks that an evaluation is split into."""

    def run(self, task: str, given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Run a task for each JSON value in `given`, and return the answers in order."""


Task: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Runs a task; its argument and its result are JSON."""


class Reporter(Protocol):
    """An interface that displays the progress and results of a run."""

    def progress(self, done: int, total: int, text: str) -> None:
        """Show the progress in a line that replaces the previous one."""

    def say(self, text: str) -> None:
        """Print a permanent line, such as a result."""


@dataclass(frozen=True)
class TrainingRun:
    """A run of an experiment, with its directory and seed."""

    out: Path
    """An existing directory for this run only; an interrupted run resumes from its files."""
    seed: int
    threads: int
    """The number of threads for computation. The result must not depend on it."""
    command: str
    """The command of the run, for its output files."""
    reporter: Reporter
    compute: Compute | None = None
    """Evaluates generations in workers if set. The result must not depend on it."""


@dataclass(frozen=True)
class Experiment:
    """An experiment that `kibitz train` can run."""

    name: str
    """``GAME/NAME``."""
    summary: str
    """A phrase for the list of experiments: what is trained, and how."""
    parameters: type[Parameters]
    run: Callable[[Any, TrainingRun], None]
    """Runs the experiment with its parameters."""
    distributed: bool = True
    """Whether it uses `TrainingRun.compute` if that is set."""
