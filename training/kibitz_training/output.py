"""The files of a run, written atomically.

OutputError a file cannot be written; says which and why
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from kibitz_protocol.atomic_write import write_atomically
from kibitz_search import weights
from kibitz_training.experiment import TrainingRun


class OutputError(ValueError):
    """Raised if a file cannot be written; `str()` is a message for people."""

    def __init__(self, path: Path, error: OSError) -> None:
        super().__init__(
            f"{path}: cannot be written ({error.strerror}); run the same command again to resume"
        )


def write(path: Path, text: str | bytes) -> None:
    """Write a file atomically; raise `OutputError` and keep the old file if that fails."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise OutputError(path, error) from None


def save_weights(
    given: TrainingRun,
    name: str,
    file: weights.WeightsFile,
    notes: Mapping[str, int | float | str],
) -> None:
    """Write a weights file that records the run's command and seed."""
    origin = {
        "command": given.command,
        "seed": given.seed,
        "date": datetime.now(UTC).date().isoformat(),
        "package": version("kibitz"),
        "notes": dict(notes),
    }
    write(given.out / name, weights.text_of(file.model_copy(update=origin)))
    given.reporter.say(f"wrote {name} ({file.hash[:12]})")


def save_charts(given: TrainingRun, charts: Mapping[str, str]) -> None:
    """Write charts, keyed by file name."""
    for name, text in charts.items():
        write(given.out / name, text)
    given.reporter.say(f"wrote {', '.join(charts)}")
