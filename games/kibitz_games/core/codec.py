"""A codec for moves that consist of one integer, the action itself."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from annotated_types import Le, Lt

from kibitz_games.core.model import IllegalAction, MoveT
from kibitz_games.core.notation import Notation


class IntegerCodec(Notation[MoveT]):
    """Converts actions to and from moves with one integer field, and both to and from text.

    The field needs an upper bound, ``Field(ge=0, lt=9)``: it gives the number of actions. `names`
    are the actions' names, by default their numbers. Raises `TypeError` for other models.
    """

    def __init__(self, model: type[MoveT], names: Sequence[str] = ()) -> None:
        if len(model.model_fields) != 1:
            raise TypeError(
                f"{model.__name__} is not one integer; override `encode`, `decode` and `notation`"
            )
        ((self._field, field),) = model.model_fields.items()
        bounds: list[Any] = [bound.lt for bound in field.metadata if isinstance(bound, Lt)]
        bounds += [bound.le + 1 for bound in field.metadata if isinstance(bound, Le)]  # type: ignore[operator]
        if field.annotation is not int or not bounds:
            raise TypeError(f"{model.__name__}.{self._field} needs an upper bound: Field(lt=...)")
        self._model = model
        self.count = int(min(bounds))
        """The number of actions."""
        self._names = tuple(names) or tuple(map(str, range(self.count)))
        if len(self._names) != self.count:
            raise TypeError(f"expected names for {self.count} actions, not {len(self._names)}")
        self._actions = {name.lower(): action for action, name in enumerate(self._names)}
        self.encode = functools.cache(self._encode)

    def _encode(self, action: int) -> MoveT:
        """Return the move for an action. Moves are frozen, so each is created once and shared."""
        return self._model(**{self._field: action})

    def decode(self, move: MoveT, legal: Sequence[int]) -> int:
        """Return the action of a move, or raise `IllegalAction` if it is not one of `legal`."""
        action: int = getattr(move, self._field)
        if not legal:
            raise IllegalAction("the game is over")
        if action not in legal:
            expected = ", ".join(self._names[action] for action in legal)
            raise IllegalAction(f"expected one of {expected}, not {self._names[action]}")
        return action

    def format(self, move: MoveT) -> str:
        """Return the name of a move's action."""
        action: int = getattr(move, self._field)
        return self._names[action]

    def parse(self, text: str) -> MoveT:
        """Return the move with this name, ignoring case, or raise `IllegalAction`."""
        action = self._actions.get(text.strip().lower())
        if action is None:
            raise IllegalAction(
                f"expected a {self._field} from {self._names[0]} to {self._names[-1]}, not {text!r}"
            )
        return self.encode(action)
