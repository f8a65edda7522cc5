"""The command `python -m benchmarks.experiments`; see the package's docstring."""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

import benchmarks.experiments
from benchmarks.experiments import outcomes
from benchmarks.experiments.experiment import (
    Measured,
    ReportExperiment,
    Scale,
    UnavailableError,
)
from benchmarks.experiments.outcomes import Outcome, Picture
from benchmarks.experiments.table import EXPERIMENTS
from benchmarks.machine import commit


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named experiments and store their outcomes; return the exit status."""
    options = _parser().parse_args(argv)
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    for name in options.names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1) or list(known)
            print(f"Error: unknown experiment {name!r}; try {', '.join(near)}", file=sys.stderr)
            return 2
    if options.list:
        print("\n".join(f"{experiment.name:24} {experiment.title}" for experiment in EXPERIMENTS))
        return 0
    chosen = [known[name] for name in options.names] or list(EXPERIMENTS)
    scale = Scale(full=options.full, threads=options.threads)
    return max([_run(experiment, scale) for experiment in chosen])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.experiments",
        description=benchmarks.experiments.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments to run; default: all")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    parser.add_argument("--full", action="store_true", help="run at full length, which takes hours")
    parser.add_argument("--threads", type=int, default=2, help="threads for training; default: 2")
    return parser


def _run(experiment: ReportExperiment, scale: Scale) -> int:
    """Run an experiment, print and store its outcome; return 1 if it failed.

    The outcome of a short run never replaces that of a full run.
    """
    print(f"{experiment.name}: {experiment.title}", flush=True)
    began, used = time.monotonic(), _processor_seconds()
    try:
        measured = experiment.load()(scale)
    except UnavailableError as error:
        print(f"  not run; the stored outcome is unchanged: {error}", flush=True)
        return 0
    except subprocess.SubprocessError as error:
        print(f"Error: {experiment.name}: {error}", file=sys.stderr)
        return 1
    times = time.monotonic() - began, _processor_seconds() - used
    outcome = of(experiment.name, measured, scale, *times)
    _keep(outcome, outcomes.load().get(experiment.name), list(measured.figures.values()))
    print(f"  {measured.found}", *map(_line, measured.rows), sep="\n  ")
    print(f"  {outcome.seconds:.0f} s, {times[1]:.0f} s of CPU time", flush=True)
    return 0


def _keep(outcome: Outcome, before: Outcome | None, drawings: Sequence[str]) -> None:
    """Store an outcome; of a short run after a full one, store only the CPU time."""
    if before is not None and before.full and not outcome.full:
        print(f"  the full run of {before.date} stays on the page; outcome of this short run:")
        spent = {"short_processor_seconds": outcome.processor_seconds}
        outcomes.write(before.model_copy(update=spent))
    elif before is not None and outcome.full:
        spent = {"short_processor_seconds": before.short_cost}
        outcomes.save(outcome.model_copy(update=spent), drawings)
    else:
        outcomes.save(outcome, drawings)


def _line(row: Sequence[str]) -> str:
    return " | ".join(row)


def _processor_seconds() -> float:
    """Return the CPU time of this process and of its terminated child processes."""
    times = os.times()
    return sum(times[:4])


def of(
    name: str, measured: Measured, scale: Scale, seconds: float, processor_seconds: float
) -> Outcome:
    """Return the outcome to store for a measurement."""
    by_default = f"python -m benchmarks.experiments {name}"
    return Outcome(
        name=name,
        found=measured.found,
        heads=measured.heads,
        rows=measured.rows,
        command=measured.command or by_default + (" --full" if scale.full else ""),
        pictures=tuple(
            Picture(file=f"{name}-{number}.svg", caption=caption)
            for number, caption in enumerate(measured.figures, 1)
        ),
        full=scale.full,
        seconds=round(seconds, 1),
        processor_seconds=round(processor_seconds, 1),
        package=version("kibitz"),
        commit=commit(),
        date=datetime.now(UTC).date().isoformat(),
    )


if __name__ == "__main__":
    sys.exit(main())
