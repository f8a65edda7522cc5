"""Experiments run by `kibitz train`; each one prints test results and draws plots."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.experiments.experiment import Measure, Measured, Scale, UnavailableError
from kibitz_training import experiments
from kibitz_training.experiment import ParameterError

HOURS = 12
"""The timeout of a run."""


@dataclass(frozen=True)
class Training:
    """Named runs of `kibitz train`: each name in the table with its parameters."""

    runs: Mapping[str, str]
    """The experiments with the parameters of short runs, keyed by name in the table."""
    full: Mapping[str, str]
    found: str
    figures: tuple[str, ...] = ()
    """Files of each run to show."""
    seed: int = 1

    def __call__(self, scale: Scale) -> Measured:
        """Train; each line of test output becomes a row."""
        chosen = self.full if scale.full else self.runs
        rows: list[tuple[str, ...]] = []
        figures: dict[str, str] = {}
        for name, spec in chosen.items():
            lines, drawn = run(spec, self.seed, scale.threads, self.figures)
            if not lines:
                raise UnavailableError(f"{spec}: the output has no test results")
            rows += [(name, line) for line in lines]
            figures |= {f"{name}: {file.removesuffix('.svg')}": svg for file, svg in drawn.items()}
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
    runs: Mapping[str, str], full: Mapping[str, str], found: str, figures: tuple[str, ...]
) -> Callable[[], Measure]:
    """Return the loader of an experiment that consists of these runs."""
    return lambda: Training(runs, full, found, figures)


def run(
    spec: str, seed: int, threads: int, figures: tuple[str, ...]
) -> tuple[list[str], dict[str, str]]:
    """Run `kibitz train` in a temporary folder; return its output and its plots.

    Raises `UnavailableError` if there is no such experiment.
    """
    try:
        experiments.find(spec)
    except ParameterError as error:
        raise UnavailableError(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="kibitz-experiment-") as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "kibitz", "train", spec, "--out", str(out)]
        command += ["--seed", str(seed), "--threads", str(threads)]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, timeout=3600 * HOURS
        )
        drawn = {name: (out / name).read_text(encoding="utf-8") for name in figures}
    return told(done.stdout), drawn


def told(printed: str) -> list[str]:
    """Return the lines with measurements, without the lines that name files."""
    lines = [line.strip() for line in printed.splitlines()]
    return [line for line in lines if line and not line.startswith("wrote ")]
