"""Targets: the event files of this folder, by the names of their files."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kibitz_clients.arena.event import Event, load

HERE = Path(__file__).parent
TENTH = 10
"""The part of a target's blocks that a quick run leaves out, as a divisor."""


class UnknownTarget(ValueError):
    """A name that no event file has; the message says which there are."""


@dataclass(frozen=True)
class Target:
    """An event that has to show something."""

    path: Path
    event: Event

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.path.stem

    @property
    def kept(self) -> Path:
        """Where its outcome is kept."""
        return self.path.with_suffix(".json")

    @classmethod
    def read(cls, path: Path) -> Target:
        """Read an event's file; raises `EventError` with what is wrong in it."""
        return cls(path, load(path.read_text(encoding="utf-8"), path.name))


def names(folder: Path = HERE) -> list[str]:
    """Return the names of all targets, without reading them."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def every(folder: Path = HERE) -> list[Target]:
    """Return all targets, in the order of their names."""
    return [Target.read(folder / f"{name}.yaml") for name in names(folder)]


def chosen(wanted: Sequence[str], folder: Path = HERE) -> list[Target]:
    """Return the targets of these names, all without any; raises `UnknownTarget`."""
    known = names(folder)
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            more = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise UnknownTarget(f"unknown target {name!r}; {more}")
    return [Target.read(folder / f"{name}.yaml") for name in wanted or known]


def shortened(event: Event) -> Event:
    """Return an event with a tenth of the blocks, one at least."""
    blocks = max(1, event.blocks_each // TENTH)
    return event.model_copy(update={"blocks": blocks, "games": None, "balanced": True})
