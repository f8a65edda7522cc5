"""The base class of a game's models, the exceptions that games raise, and type aliases.

Exceptions, all `ValueError`:

    GameError
     +-- InvalidSetup     options or a number of seats that the game does not support
     +-- IllegalAction    a move that is not legal in the current state
     +-- UnknownRules     an unknown version of the rules
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict
from pydantic_core import to_json
from typing_extensions import TypeVar

if TYPE_CHECKING:  # bots without numpy import this module
    import numpy as np

State: TypeAlias = "np.record"
Features: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


class GameError(ValueError):
    """A request that the rules do not allow; `str()` is a message for people."""


class InvalidSetup(GameError):
    """Options or a number of seats that the game does not support.

    `path` names the offending option (``"options.board"``) or is ``"seats"``.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class IllegalAction(GameError):
    """A move that is not legal now. The message does not reveal hidden information to the mover."""


class UnknownRules(GameError):
    """A version of the rules that never existed, or that is newer than the installed game."""


class Model(BaseModel):
    """Base of every game's `Options`, `Move` and `View`: frozen, and extra fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @classmethod
    def from_wire(cls, sent: Mapping[str, Any]) -> Self:
        """Validate a model from the wire, see `docs/protocol`; raise `ValidationError`.

        Types are not converted: ``"5"``, ``5.0`` and ``true`` are not integers. Only the fields'
        names on the wire are accepted. As in JSON, tuples are given as lists.
        """
        return cls.from_json(to_json(sent))

    @classmethod
    def from_json(cls, text: bytes) -> Self:
        """Validate a model like `from_wire`, from the JSON text of its wire form."""
        return cls.model_validate_json(text, strict=True, by_alias=True, by_name=False)

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON object for the wire, without absent fields."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    def to_json(self) -> bytes:
        """Return `to_wire` as JSON text, faster than by serializing its result."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_none=True)

    @classmethod
    def unchecked(cls, fields: dict[str, Any]) -> Self:
        """Return a model without validating its values; `fields` must contain every field.

        For outgoing views, where validation would double the cost of creating one. The conformance
        laws validate the results.
        """
        made = cls.__new__(cls)
        _set_attribute(made, "__dict__", fields)
        _set_attribute(made, "__pydantic_fields_set__", _field_names(cls))
        _set_attribute(made, "__pydantic_extra__", None)
        _set_attribute(made, "__pydantic_private__", None)
        return made


_set_attribute = object.__setattr__  # because assignments to a frozen model raise


@functools.cache
def _field_names(model: type[Model]) -> set[str]:
    return set(model.model_fields)


class NoOptions(Model):
    """The options of a game without options."""


OptionsT = TypeVar("OptionsT", bound=Model, default=Any)
MoveT = TypeVar("MoveT", bound=Model, default=Any)
ViewT = TypeVar("ViewT", bound=Model, default=Any)
