"""Experiments run by `kibitz train`; each one prints test results and draws plots."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.experiments.experiment import Measure, Measured, Scale, UnavailableError
from kibitz_training import experiments
from kibitz_training.experiment import ParameterError

HOURS = 12
"""The timeout of a run."""

Draw: TypeAlias = Callable[[Mapping[str, Path]], Mapping[str, str]]
"""Returns plots as SVG, keyed by caption, from the directories of the named runs."""


def plots(*files: str) -> Draw:
    """Return a function that collects these plots of each run."""

    def collect(folders: Mapping[str, Path]) -> Mapping[str, str]:
        return {
            f"{run}: {file.removesuffix('.svg')}": (folder / file).read_text(encoding="utf-8")
            for run, folder in folders.items()
            for file in files
        }

    return collect


@dataclass(frozen=True)
class Training:
    """Named runs of `kibitz train`: each name in the table with its parameters."""

    runs: Mapping[str, str]
    """The experiments with the parameters of short runs, keyed by name in the table."""
    full: Mapping[str, str]
    found: str
    draw: Draw
    seed: int = 1

    def __call__(self, scale: Scale) -> Measured:
        """Train; each line of test output becomes a row."""
        chosen = self.full if scale.full else self.runs
        rows: list[tuple[str, ...]] = []
        with tempfile.TemporaryDirectory(prefix="kibitz-experiment-") as folder:
            folders = {name: Path(folder) / str(at) for at, name in enumerate(chosen)}
            for name, spec in chosen.items():
                lines = run(spec, self.seed, scale.threads, folders[name])
                if not lines:
                    raise UnavailableError(f"{spec}: the output has no test results")
                rows += [(name, line) for line in lines]
            figures = self.draw(folders)
        return Measured(
            found=self.found,
            heads=("run", "measured by `kibitz train`"),
            rows=tuple(rows),
            command="; ".join(
                f"kibitz train {spec} --seed {self.seed} --out DIR" for spec in chosen.values()
            ),
            figures=figures,
        )


def of(
    runs: Mapping[str, str], full: Mapping[str, str], found: str, draw: Draw
) -> Callable[[], Measure]:
    """Return the loader of an experiment that consists of these runs."""
    return lambda: Training(runs, full, found, draw)


def run(spec: str, seed: int, threads: int, out: Path) -> list[str]:
    """Run `kibitz train` in the directory `out`; return the lines with measurements.

    Raises `UnavailableError` if there is no such experiment.
    """
    try:
        experiments.find(spec)
    except ParameterError as error:
        raise UnavailableError(str(error)) from None
    command = [sys.executable, "-m", "kibitz", "train", spec, "--out", str(out)]
    command += ["--seed", str(seed), "--threads", str(threads)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, timeout=3600 * HOURS
    )
    return told(done.stdout)


def told(printed: str) -> list[str]:
    """Return the lines with measurements, without the lines that name files."""
    lines = [line.strip() for line in printed.splitlines()]
    return [line for line in lines if line and not line.startswith("wrote ")]
