"""The base of a game's models, the errors of games, and names of types.

Exceptions, all `ValueError`:

    GameError
     +-- InvalidSetup     options or number of seats that the game does not offer
     +-- IllegalAction    a move that is not legal in the present state
     +-- UnknownRules     a version of the rules that the game does not know
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json
from typing_extensions import TypeVar

if TYPE_CHECKING:  # bots without numpy import the errors and the base of the models
    import numpy as np

State: TypeAlias = "np.record"
Features: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


class GameError(ValueError):
    """Something asked of a game that its rules do not allow; `str()` is fit for a person."""


class InvalidSetup(GameError):
    """Options or a number of seats that the game does not offer.

    `path` names the offending option (``"options.board"``) or ``"seats"``.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class IllegalAction(GameError):
    """A move that is not legal now; the message reveals nothing that the mover cannot see."""


class UnknownRules(GameError):
    """A version of the rules that the game never had, or that is newer than it."""


class Model(BaseModel):
    """Base of every game's `Options`, `Move` and `View`: frozen, and strict about extras."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @classmethod
    def from_wire(cls, sent: Mapping[str, Any]) -> Self:
        """Validate a model from the wire, see `docs/protocol`; raise `ValidationError`.

        Nothing is converted: ``"5"``, ``5.0`` and ``true`` are not integers. Fields have their
        names on the wire and no others. Values are read as JSON, where a tuple is a list.
        """
        return cls.model_validate_json(to_json(sent), strict=True, by_alias=True, by_name=False)

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object that travels, absent fields left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def to_json(self) -> bytes:
        """Return `to_wire` as JSON, in less time than that takes."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_none=True)

    @classmethod
    def unchecked(cls, fields: dict[str, Any]) -> Self:
        """Return a model of values that need no validation; `fields` must have every field.

        For outgoing views: validating each would double the cost of making one. The laws validate
        the result.
        """
        made = cls.__new__(cls)
        _set_attribute(made, "__dict__", fields)
        _set_attribute(made, "__pydantic_fields_set__", _field_names(cls))
        _set_attribute(made, "__pydantic_extra__", None)
        _set_attribute(made, "__pydantic_private__", None)
        return made


_set_attribute = object.__setattr__  # a frozen model's own would refuse


@functools.cache
def _field_names(model: type[Model]) -> set[str]:
    return set(model.model_fields)


class NoOptions(Model):
    """The options of a game in which a host has nothing to choose."""


OptionsT = TypeVar("OptionsT", bound=Model, default=Any)
MoveT = TypeVar("MoveT", bound=Model, default=Any)
ViewT = TypeVar("ViewT", bound=Model, default=Any)
