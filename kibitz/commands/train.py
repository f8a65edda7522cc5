"""`kibitz train`: run an experiment that trains a bot, and store its results."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kibitz.options.output_path import OutputPath
from kibitz.options.workers import workers_option
from kibitz.output import echo
from kibitz_bots.number_types import COUNT

if TYPE_CHECKING:
    from kibitz_training.experiment import Experiment, Parameters


def _list() -> None:
    """Print the experiments with their parameters."""
    from kibitz_training.experiments import EXPERIMENTS

    echo("\n\n".join(_described(load()) for load in EXPERIMENTS.values()))


def _described(experiment: Experiment) -> str:
    from kibitz.text.schema_text import describe, kinds
    from kibitz_training.parameters import text_of

    lines = [f"{experiment.name}  {experiment.summary}"]
    for name, field in experiment.parameters.model_json_schema()["properties"].items():
        lines.append(f"  {name}={text_of(field['default'])}")
        lines.append(f"      {field['description']} ({describe(kinds(field, {}))})")
    return "\n".join(lines)


@click.command(short_help="Train a bot with a reproducible experiment.")
@click.argument("experiment", metavar="GAME/NAME[:key=value,...]", required=False)
@click.option(
    "--out",
    type=OutputPath(directory=True),
    help="Directory for the journal, the weights and the figures; one per run.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="Random seed.",
)
@click.option(
    "--threads",
    type=COUNT,
    default=None,
    help="Number of threads; by default one per core. It does not change the result.",
)
@workers_option
@click.option(
    "--list",
    "listed",
    is_flag=True,
    help="List the experiments with their parameters.",
)
def train(
    experiment: str | None,
    out: Path | None,
    seed: int,
    threads: int | None,
    workers: str | None,
    listed: bool,
) -> None:
    """Run an experiment, such as chinese-checkers/genetic:seats=3,population=100.

    To continue an interrupted run, repeat the same command. Runs with the same seed give the same
    weights with any number of threads or workers.
    """
    if listed:
        _list()
    elif experiment is None:
        raise click.UsageError("expected an experiment; see `kibitz train --list`")
    elif out is None:
        raise click.UsageError("expected --out, a directory for the results")
    else:
        _train(experiment, out, seed, threads or os.cpu_count() or 1, workers)


def _train(experiment: str, out: Path, seed: int, threads: int, workers: str | None) -> None:
    from kibitz.text.progress_bar import shown
    from kibitz.workers.thread_bridge import computing
    from kibitz_training import experiments
    from kibitz_training.experiment import ParameterError, TrainingRun

    try:
        chosen, parameters = experiments.find(experiment)
    except ParameterError as error:
        raise click.UsageError(str(error)) from None
    if workers is not None and not chosen.distributed:
        raise click.UsageError(f"--workers: {chosen.name} runs in one process only")
    command = _command(chosen, parameters, seed, out)
    with _locked(out), shown() as reporter, computing(workers) as compute:
        chosen.run(parameters, TrainingRun(out, seed, threads, command, reporter, compute))


def _command(experiment: Experiment, parameters: Parameters, seed: int, out: Path) -> str:
    """Return the normalized command, which gives the same result on any machine."""
    from kibitz_training.parameters import written

    values = written(parameters)
    spec = f"{experiment.name}:{values}" if values else experiment.name
    return shlex.join(["kibitz", "train", spec, "--seed", str(seed), "--out", out.resolve().name])


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Create the directory and lock it against a second run."""
    import filelock

    lock = filelock.FileLock(out / "lock")
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise click.ClickException(f"{out}: another run is using this directory") from None
    except OSError as error:
        raise click.ClickException(
            f"{out}: expected a writable directory ({error.strerror})"
        ) from None
    try:
        yield
    finally:
        lock.release()
