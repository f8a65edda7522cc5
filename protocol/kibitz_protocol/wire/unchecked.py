"""Building models without validation, for values of our own on the path of every move."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeVar

from pydantic import BaseModel

_M = TypeVar("_M", bound=BaseModel)

_NO_FIELDS_SET: Final[set[str]] = set()
"""Which fields were given is asked by nobody who writes whole models, so all share one set."""

_new = object.__new__
_set = object.__setattr__  # models are frozen, and refuse their own


def construct(model: type[_M], values: dict[str, Any]) -> _M:
    """Build `model` from values that are our own: complete, and not validated again.

    What `model_construct` does, without its walk over the fields, which costs more than
    validation does. `values` must hold every field; the model keeps the dict itself.
    """
    made = _new(model)
    _set(made, "__dict__", values)
    _set(made, "__pydantic_fields_set__", _NO_FIELDS_SET)
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


def without_fields_set(model: _M) -> _M:
    """Return a model with the same values that does not keep which of its fields were given.

    For models that are many and stay: that set takes two kilobytes once there are 19 fields.
    """
    return construct(type(model), model.__dict__)


def all_without_fields_set(model: _M) -> _M:
    """Do the same for a model and every model in it; those that are equal become one object.

    Settings of lobbies differ in little: clocks, rules of conduct and seats are mostly the same.
    """
    return construct(type(model), {name: _slim(each) for name, each in model.__dict__.items()})


def _slim(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _shared(all_without_fields_set(value))
    return [_slim(each) for each in value] if isinstance(value, list) else value


def _shared(model: BaseModel) -> BaseModel:
    """Return the first model that was equal to this one, if that is still known."""
    try:
        return _first_equal(model)
    except TypeError:  # it has a list or a dict in it, and cannot be compared quickly
        return model


@lru_cache(maxsize=1024)
def _first_equal(model: BaseModel) -> BaseModel:
    return model
