"""Scenes on the wire: a stage once, then a paint with the changes of each step.

A stage is a scene as a JSON object, its cells by their names. A paint has the cells that changed,
whole, the names of those that are gone, and each of the other parts that changed, whole::

    apply(stage_of(before), paint_between(before, after)) == stage_of(after)

So a client that knows no rules keeps the stage and applies paints. Drawings cost more than the
moves that they show, and most of a board stays as it is. Games keep the cells that they have made,
so `paint_between` compares most of them by identity.

Fields that are absent from a cell or a mark are None. Cells have no order: no cell covers another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from kibitz_games.core.scene import Cell, Label, Mark, Scene

Stage: TypeAlias = dict[str, Any]
"""A scene: ``lattice``, ``cells`` by name, ``labels``, ``marks``, ``text`` and ``colours``."""
Paint: TypeAlias = dict[str, Any]
"""The changes to a stage: ``cells``, ``gone``, and parts of the stage that are new; may be {}."""

_EMPTY: Final = (None, "")


def stage_of(scene: Scene) -> Stage:
    """Return a scene as a stage."""
    cells = {cell.name: _cell(cell) for cell in scene.cells}
    stage: Stage = {"lattice": scene.lattice, "cells": cells}
    for name, write in _WRITERS.items():
        stage[name] = [write(shape) for shape in getattr(scene, name)]
    return stage


def paint_between(before: Scene, after: Scene) -> Paint:
    """Return the paint that turns the stage of `before` into that of `after`.

    Both are scenes of one play, so their lattice is the same.
    """
    known = {cell.name: cell for cell in before.cells}
    paint: Paint = {}
    changed = {}
    for cell in after.cells:
        former = known.pop(cell.name, None)
        if former is not cell and former != cell:
            changed[cell.name] = _cell(cell)
    if changed:
        paint["cells"] = changed
    if known:
        paint["gone"] = list(known)
    for name, write in _WRITERS.items():
        part = getattr(after, name)
        if part != getattr(before, name):
            paint[name] = [write(shape) for shape in part]
    return paint


def apply(stage: Mapping[str, Any], paint: Mapping[str, Any]) -> Stage:
    """Return the stage that a paint makes of `stage`, which stays as it is."""
    gone = frozenset(paint.get("gone", ()))
    kept = {name: cell for name, cell in stage["cells"].items() if name not in gone}
    parts = {name: part for name, part in paint.items() if name not in ("cells", "gone")}
    return {**stage, **parts, "cells": kept | paint.get("cells", {})}


def scene_of(stage: Mapping[str, Any]) -> Scene:
    """Return the scene of a stage, for renderers; the inverse of `stage_of`."""
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
"""How each element of the other parts of a scene is written."""
