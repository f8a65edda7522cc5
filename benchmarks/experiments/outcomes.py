"""Stored outcomes of the experiments: one JSON file each, and their plots."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from benchmarks.experiments.experiment import Measured

RESULTS = Path(__file__).with_name("results")
PICTURES = Path(__file__).parents[2] / "docs" / "images" / "experiments"


class Picture(BaseModel):
    """A plot: its file in `PICTURES`, and its caption."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str = Field(pattern=r"^[a-z0-9-]+\.svg$")
    caption: str


class Outcome(BaseModel):
    """The outcome of an experiment's last stored run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    found: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    command: str
    pictures: tuple[Picture, ...] = ()
    full: bool
    seconds: float
    processor_seconds: float | None = None
    """CPU time of all threads and processes; `seconds` also depends on other load."""
    short_processor_seconds: float | None = None
    """CPU time of a short run, if the outcome is that of a full run."""
    package: str
    commit: str = Field(pattern="^[0-9a-f]{12}")
    """The commit that was checked out, or in old results the one that stored them.

    It is in the history; the subject of a later commit with more code may follow.
    """
    date: str = Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")

    @property
    def short_cost(self) -> float | None:
        """CPU time of a short run, or None if none has been timed."""
        return self.short_processor_seconds if self.full else self.processor_seconds

    def updated(self, measured: Measured) -> Outcome:
        """Return the outcome with newly tabulated results."""
        fresh = {"found": measured.found, "heads": measured.heads, "rows": measured.rows}
        return self.model_copy(update=fresh)

    @property
    def copied(self) -> bool:
        """Whether the outcome only tabulates stored results of events of `benchmarks.strength`."""
        return self.command.startswith("python -m benchmarks.strength")


def load(folder: Path = RESULTS) -> dict[str, Outcome]:
    """Return the stored outcomes, keyed by name.

    Raises `pydantic.ValidationError` for an invalid file.
    """
    paths = sorted(folder.glob("*.json"))
    outcomes = [Outcome.model_validate_json(path.read_text(encoding="utf-8")) for path in paths]
    return {outcome.name: outcome for outcome in outcomes}


def save(
    outcome: Outcome,
    drawings: Sequence[str],
    folder: Path = RESULTS,
    pictures: Path = PICTURES,
) -> None:
    """Store an outcome with its plots as SVG, in order; replace the previous outcome."""
    for picture, drawing in zip(outcome.pictures, drawings, strict=True):
        (pictures / picture.file).write_text(drawing, encoding="utf-8")
    write(outcome, folder)


def write(outcome: Outcome, folder: Path = RESULTS) -> None:
    """Store an outcome whose plots have not changed."""
    text = json.dumps(outcome.model_dump(mode="json"), indent=1, ensure_ascii=False)
    (folder / f"{outcome.name}.json").write_text(f"{text}\n", encoding="utf-8")
