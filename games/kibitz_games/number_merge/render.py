"""The drawing of a view: the current row as cards with their indices, twelve per line."""

from __future__ import annotations

import functools
from fractions import Fraction

from kibitz_games.core.scene import Cell, Label, Mark, Scene, seat_name
from kibitz_games.number_merge.models import Last, View

ACROSS = 12
"""Cards per line: with three digits and a space each, a line fits a narrow terminal."""


def scene(view: View) -> Scene:
    """Return the scene of a view; a cell's name is the number's index in the row."""
    cells = tuple(_cell(place, number) for place, number in enumerate(view.row))
    labels = tuple(map(_label, range(len(view.row))))
    return Scene("square", cells, _marks(view), _text(view), labels)


@functools.lru_cache(maxsize=1 << 12)
def _cell(place: int, number: int) -> Cell:
    line, column = divmod(place, ACROSS)
    return Cell(str(place), column, 2 * line, kind="number", glyph=str(number))


@functools.cache
def _label(place: int) -> Label:
    line, column = divmod(place, ACROSS)
    return Label(str(place), column, 2 * line + 1)


def _marks(view: View) -> tuple[Mark, ...]:
    last = view.last
    return () if last is None else (Mark("to", (str(last.index),), last.seat),)


def _text(view: View) -> tuple[str, ...]:
    value = mixed(Fraction(*view.threshold))
    lines = [f"threshold {value} ({view.rule})", "a sum above it earns +1, below it -1"]
    lines += [_line(view, seat) for seat in range(len(view.scores))]
    return (*lines, _last_line(view.last)) if view.last is not None else tuple(lines)


def mixed(value: Fraction) -> str:
    """Return a fraction as a mixed number: ``17 3/5``."""
    whole, rest = divmod(value.numerator, value.denominator)
    if not rest:
        return str(whole)
    part = f"{rest}/{value.denominator}"
    return f"{whole} {part}" if whole else part


def _line(view: View, seat: int) -> str:
    start = f"{seat_name(seat)}: {_signed(view.scores[seat])}"
    if view.out == seat:
        return f"{start}, out"
    return f"{start}, to move" if view.to_act == seat else start


def _last_line(last: Last) -> str:
    total = last.left + last.right
    gain = f"{_signed(last.gain)} for {seat_name(last.seat)}"
    return f"last: {last.left} + {last.right} = {total}, {gain}"


def _signed(value: int) -> str:
    return f"{value:+d}" if value else "0"
