"""Views that copy fields of the state, for games without hidden information.

A field of the view shows the state's field of the same name: a number as an int, an array as a
list, a two-dimensional array as a list of lists. If the view declares the field as text (``str``,
or ``list[str]`` for a two-dimensional array), each number becomes the character of `symbols` at
that index. Four names can be used for every state: ``to_act`` is the field ``side``, ``over`` is
the reason for the end in words, and ``winner`` and ``forfeited`` are a seat or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic

import numpy as np

from kibitz_games.compiled import snapshot
from kibitz_games.core.model import Model, State, ViewT

_SOURCES = {"to_act": "side", "over": "end"}
_SEATS_OR_NONE = ("winner", "forfeited")


class BoardView(Model):
    """The view of a board game without hidden information.

    ``board`` has a string for each row, with a character for each cell.
    """

    board: list[str]
    ply: int
    to_act: int
    over: str | None = None
    winner: int | None = None
    forfeited: int | None = None


class DeclaredView(Generic[ViewT]):
    """Converts states to views and back by copying fields of the same name."""

    def __init__(
        self, model: type[ViewT], dtype: np.dtype[Any], reasons: Sequence[str], symbols: str
    ) -> None:
        self._model, self._dtype, self._reasons, self._symbols = model, dtype, reasons, symbols
        self._sources = {name: _SOURCES.get(name, name) for name in model.model_fields}
        unknown = [own for own, name in self._sources.items() if name not in (dtype.names or ())]
        if unknown:
            raise TypeError(f"no field {unknown[0]!r} in the state; override `view` and `sample`")
        self._shown = {own: self._converter(own) for own in self._sources}

    def _converter(self, own: str) -> Callable[[Any], Any]:
        """Return the function that converts a field's value in a state to its value in a view."""
        annotation, symbols = self._model.model_fields[own].annotation, self._symbols
        if own == "over":
            return lambda end: self._reasons[int(end)] or None
        if own in _SEATS_OR_NONE:
            return lambda seat: None if seat < 0 else int(seat)
        if annotation is str:
            return lambda row: "".join(symbols[value] for value in row.tolist())
        if annotation == list[str]:
            return lambda rows: ["".join(symbols[value] for value in row) for row in rows.tolist()]
        return lambda value: value.tolist()

    def view(self, state: State) -> ViewT:
        """Return the view of a state; the two share no memory."""
        fields = {own: self._shown[own](state[name]) for own, name in self._sources.items()}
        return self._model.unchecked(fields)

    def state(self, view: ViewT) -> Any:
        """Return a state with the view's fields. The caller must still compute its key."""
        st = snapshot.new_state(self._dtype, self._seats(view))
        for own, name in self._sources.items():
            st[name] = self._hidden(own, getattr(view, own))
        return st

    def _seats(self, view: ViewT) -> int:
        """Return the view's number of seats; 2 if it does not show one."""
        return int(getattr(view, "seats", 2))

    def _hidden(self, own: str, shown: Any) -> Any:
        """Return the value in a state for a field's value in a view."""
        annotation = self._model.model_fields[own].annotation
        if own == "over":
            return self._reasons.index(shown or "")
        if shown is None:
            return -1
        if annotation is str:
            return [self._symbols.index(character) for character in shown]
        if annotation == list[str]:
            return [[self._symbols.index(character) for character in row] for row in shown]
        return shown
