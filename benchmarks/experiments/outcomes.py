"""Outcomes that are kept of the experiments: a JSON file each, and their pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

RESULTS = Path(__file__).with_name("results")
PICTURES = Path(__file__).parents[2] / "docs" / "images" / "experiments"


class Picture(BaseModel):
    """A figure: its file in `PICTURES`, and what stands under it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str = Field(pattern=r"^[a-z0-9-]+\.svg$")
    caption: str


class Outcome(BaseModel):
    """The outcome of an experiment's last run."""

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
    """The processor time of all its threads and processes; `seconds` also depends on other load on
    the machine."""
    package: str
    date: str


def load(folder: Path = RESULTS) -> dict[str, Outcome]:
    """Return the outcomes that were kept, by name.

    Raises `pydantic.ValidationError` for a file that is none.
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
    """Keep an outcome with the SVG of its pictures, in their order, in place of the last one."""
    for picture, drawing in zip(outcome.pictures, drawings, strict=True):
        (pictures / picture.file).write_text(drawing, encoding="utf-8")
    text = json.dumps(outcome.model_dump(mode="json"), indent=1, ensure_ascii=False)
    (folder / f"{outcome.name}.json").write_text(f"{text}\n", encoding="utf-8")
