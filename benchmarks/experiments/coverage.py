"""The coverage table: each figure, table and claim of the reports, and its counterpart here.

`coverage.yaml` is written by hand. Its notes do not contain measured numbers: ``{NAME/ROW/HEAD}``
stands for the cell of an experiment's saved result, with rows counted from 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

from benchmarks.experiments.outcomes import Outcome

COVERAGE = Path(__file__).with_name("coverage.yaml")
HEADS = ("item", "the report", "measured by", "verdict")
Verdict = Literal[
    "holds", "holds in part", "differs", "wrong", "no claim", "not reproduced yet", "out of scope"
]

_CELL = re.compile(r"\{([a-z0-9-]+)/([0-9]+)/([^}]+)\}")


class CellError(ValueError):
    """A note refers to a cell that is not in the saved results; `str()` names the cell."""


class Item(BaseModel):
    """A figure, a table or a claim of a report."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    item: str
    claim: str
    experiment: str = ""
    """The experiment that measures it, by its name in `table`."""
    command: str = ""
    """Another command that shows or measures it."""
    verdict: Verdict
    note: str = ""
    """The explanation of the verdict, such as by how much the results differ."""

    @model_validator(mode="after")
    def _check_measured(self) -> Self:
        if not (self.experiment or self.command or self.verdict == "out of scope"):
            raise ValueError(f"{self.item}: expected an experiment or a command")
        return self


def load(path: Path = COVERAGE) -> dict[str, list[Item]]:
    """Return the items of each report by its game.

    Raises `pydantic.ValidationError` for an invalid file.
    """
    text = yaml.safe_load(path.read_text(encoding="utf-8"))
    return TypeAdapter(dict[str, list[Item]]).validate_python(text)


def row(item: Item, kept: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Return an item as a row of the page's table."""
    if item.experiment and item.experiment not in kept and item.verdict != "not reproduced yet":
        raise CellError(f"{item.item}: no saved result of {item.experiment}")
    made = [f"make experiments ARGS={item.experiment}"] if item.experiment else []
    commands = "; ".join(f"`{each}`" for each in [*made, item.command] if each) or "–"
    note = _CELL.sub(lambda found: _cell(found, kept), item.note)
    return item.item, item.claim, commands, f"**{item.verdict}**{': ' if note else ''}{note}"


def _cell(found: re.Match[str], kept: Mapping[str, Outcome]) -> str:
    name, number, head = found.groups()
    outcome = kept.get(name)
    if outcome is None or head not in outcome.heads or not 0 < int(number) <= len(outcome.rows):
        raise CellError(f"{found[0]}: expected a saved result with this row and head")
    return outcome.rows[int(number) - 1][outcome.heads.index(head)]
