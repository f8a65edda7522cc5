"""The codec of moves that are one integer, which is the action itself."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from annotated_types import Le, Lt

from kibitz_games.core.model import IllegalAction, MoveT
from kibitz_games.core.notation import Notation


class IntegerCodec(Notation[MoveT]):
    """Turns actions into moves with one integer field and back, and both into text.

    The field needs an upper bound, ``Field(ge=0, lt=9)``: there are so many actions. `names` has
    the name of each action, by default its number. Raises `TypeError` for other models.
    """

    def __init__(self, model: type[MoveT], names: Sequence[str] = ()) -> None:
        if len(model.model_fields) != 1:
            raise TypeError(
                f"{model.__name__} is not one integer: override `encode`, `decode` and `notation`"
            )
        ((self._field, field),) = model.model_fields.items()
        bounds: list[Any] = [bound.lt for bound in field.metadata if isinstance(bound, Lt)]
        bounds += [bound.le + 1 for bound in field.metadata if isinstance(bound, Le)]  # type: ignore[operator]
        if field.annotation is not int or not bounds:
            raise TypeError(f"{model.__name__}.{self._field} needs an upper bound: Field(lt=...)")
        self._model = model
        self.count = int(min(bounds))
        """How many actions there are."""
        self._names = tuple(names) or tuple(map(str, range(self.count)))
        if len(self._names) != self.count:
            raise TypeError(f"expected names of {self.count} actions, not of {len(self._names)}")
        self._actions = {name.lower(): action for action, name in enumerate(self._names)}
        self.encode = functools.cache(self._encode)

    def _encode(self, action: int) -> MoveT:
        """Return the move of an action; moves are frozen, so one object serves for all."""
        return self._model(**{self._field: action})

    def decode(self, move: MoveT, legal: Sequence[int]) -> int:
        """Return the action of a move that is one of the `legal` ones, or raise `IllegalAction`."""
        action: int = getattr(move, self._field)
        if not legal:
            raise IllegalAction("the play is over")
        if action not in legal:
            expected = ", ".join(self._names[action] for action in legal)
            raise IllegalAction(f"expected one of {expected}, not {self._names[action]}")
        return action

    def format(self, move: MoveT) -> str:
        """Return the name of a move's action."""
        action: int = getattr(move, self._field)
        return self._names[action]

    def parse(self, text: str) -> MoveT:
        """Return the move of a name, ignoring case, or raise `IllegalAction`."""
        action = self._actions.get(text.strip().lower())
        if action is None:
            raise IllegalAction(
                f"expected a {self._field} from {self._names[0]} to {self._names[-1]}, not {text!r}"
            )
        return self.encode(action)
