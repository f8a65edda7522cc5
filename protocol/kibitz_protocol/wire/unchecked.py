"""Builds models from trusted values without validation, which saves time on every move."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json

_M = TypeVar("_M", bound=BaseModel)

_NO_FIELDS_SET: Final[set[str]] = set()
"""The `model_fields_set` that all such models share; encoding whole models ignores it."""

_new = object.__new__
# Models are frozen and refuse `setattr`, so set their slots directly, without a lookup of names.
_set_values = BaseModel.__dict__["__dict__"].__set__
_set_fields_set = BaseModel.__dict__["__pydantic_fields_set__"].__set__
_set_extra = BaseModel.__dict__["__pydantic_extra__"].__set__
_set_private = BaseModel.__dict__["__pydantic_private__"].__set__


def construct(model: type[_M], values: dict[str, Any]) -> _M:
    """Build `model` from trusted, complete values without validation.

    Unlike `model_construct`, it does not iterate over the fields, which would cost more than
    validation. `values` must have every field; the model keeps a reference to the dict.
    """
    made = _new(model)
    _set_values(made, values)
    _set_fields_set(made, _NO_FIELDS_SET)
    _set_extra(made, None)
    _set_private(made, None)
    return made


def all_without_fields_set(model: _M) -> _M:
    """Return an equal model without `model_fields_set`, in nested models too.

    This saves memory when there are many long-lived models: such a set takes two kilobytes if the
    model has 19 fields or more. Equal parts become one shared object, because most lobbies have the
    same clocks, seats and programmes.
    """
    if model.__pydantic_fields_set__ is _NO_FIELDS_SET:
        return model
    return construct(type(model), {name: _shared(field) for name, field in model.__dict__.items()})


def _shared(value: Any) -> Any:
    """Return the cached model, list or dict that equals this one, if any."""
    kinds: tuple[type, ...] = (type(value),)
    if isinstance(value, BaseModel):
        if value.__pydantic_fields_set__ is _NO_FIELDS_SET:
            return value  # a match shares this object with its lobby's settings
        value = all_without_fields_set(value)
    elif isinstance(value, list):
        value = [_shared(item) for item in value]
        kinds += tuple(map(type, value))
    elif not isinstance(value, dict):
        return value
    # Compare them by their JSON, because in Python 1, 1.0 and True are equal.
    return _first_equal(_Keyed((*kinds, sha256(to_json(value)).digest()), value))


class _Keyed:
    """A wrapper that equals all others with the same key."""

    __slots__ = ("_key", "value")

    def __init__(self, key: tuple[object, ...], value: Any) -> None:
        self._key = key
        self.value = value

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self._key == other._key


@lru_cache(maxsize=64)  # keeps common values and soon drops rare ones
def _first_equal(keyed: _Keyed) -> Any:
    return keyed.value
