"""Scenes on the wire: a stage once, then a merge patch after each step.

A stage is a scene as a JSON object whose cells are keyed by name. Clients keep the stage and apply
the patches, without knowing any rules. Drawing a position costs more than the move itself, and most
of a board does not change. Games cache the cells that they have created, so `differing_parts`
compares most of them by identity and serializes only the others::

    difference(*differing_parts(before, after)) == difference(stage_of(before), stage_of(after))

Fields missing from a cell or a mark are None. The order of cells does not matter, since none
overlap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kibitz_games.core.scene import Cell, Label, Mark, Scene

Stage: TypeAlias = dict[str, Any]
"""A scene: ``lattice``, ``cells`` by name, ``labels``, ``marks``, ``text`` and ``colours``."""

_EMPTY: Final = (None, "")


def stage_of(scene: Scene) -> Stage:
    """Return a scene as a stage."""
    cells = {cell.name: _cell(cell) for cell in scene.cells}
    stage: Stage = {"lattice": scene.lattice, "cells": cells}
    for name, write in _WRITERS.items():
        stage[name] = [write(shape) for shape in getattr(scene, name)]
    return stage


def differing_parts(before: Scene, after: Scene) -> tuple[Stage, Stage]:
    """Return both scenes as stages that contain only the cells and parts that differ.

    Both scenes must belong to the same match, so their lattices are equal.
    """
    known = {cell.name: cell for cell in before.cells}
    changed = {}
    for cell in after.cells:
        former = known.pop(cell.name, None)
        if former is not cell and former != cell:
            changed[cell.name] = _cell(cell)
            if former is not None:
                known[cell.name] = former
    old: Stage = {"cells": {name: _cell(cell) for name, cell in known.items()}}
    new: Stage = {"cells": changed}
    for name, write in _WRITERS.items():
        former_part, part = getattr(before, name), getattr(after, name)
        if part != former_part:
            old[name] = [write(shape) for shape in former_part]
            new[name] = [write(shape) for shape in part]
    return old, new


def scene_of(stage: Mapping[str, Any]) -> Scene:
    """Return the scene of a stage, for renderers: the inverse of `stage_of`."""
    return Scene(
        lattice=stage["lattice"],
        cells=tuple(Cell(name, **fields) for name, fields in stage["cells"].items()),
        marks=tuple(Mark(**{**mark, "cells": tuple(mark["cells"])}) for mark in stage["marks"]),
        text=tuple(stage["text"]),
        labels=tuple(Label(**label) for label in stage["labels"]),
        colours=tuple(stage["colours"]),
    )


def _cell(cell: Cell) -> dict[str, Any]:
    fields: dict[str, Any] = {"x": cell.x, "y": cell.y, "kind": cell.kind}
    for name in ("owner", "tint", "glyph", "heading", "colour"):
        value = getattr(cell, name)
        if value not in _EMPTY:
            fields[name] = value
    return fields


def _mark(mark: Mark) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": mark.kind, "cells": list(mark.cells)}
    return fields if mark.seat is None else fields | {"seat": mark.seat}


def _label(label: Label) -> dict[str, Any]:
    return {"text": label.text, "x": label.x, "y": label.y}


_WRITERS: Final[Mapping[str, Any]] = {
    "labels": _label,
    "marks": _mark,
    "text": str,
    "colours": str,
}
"""The serializers for the elements of the parts of a scene other than its cells."""
