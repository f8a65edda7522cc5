"""JSON Merge Patch (RFC 7396): the one format in which the server sends differences.

A patch of an object has the fields that changed: null removes a field, an object is a patch of that
field's object, and any other value replaces the field. Lists can only be replaced as a whole, so
collections whose items change one by one are objects by key. Patched objects never have null
fields, because null means absent. Patches are idempotent, because they carry new values.

    apply(old, difference(old, new)) == new
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from kibitz_protocol.wire.values import Fields

_SCALARS = frozenset({str, int, float, bool})
_OBJECTS = (dict, BaseModel)


def apply(target: Any, patch: Any) -> Any:
    """Return `target` with `patch` applied. Neither is changed; unpatched parts are shared."""
    if not isinstance(patch, dict):
        return patch
    patched = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            patched.pop(name, None)
        else:
            patched[name] = apply(patched.get(name), value)
    return patched


def difference(old: BaseModel | Mapping[str, Any], new: BaseModel | Mapping[str, Any]) -> Fields:
    """Return the patch from `old` to `new`, {} if they are equal.

    Both are objects or models; a model stands for its encoding by `codec.encode`. Parts that are
    the same object in both are equal without a further comparison. Values are compared as in
    Python, so true equals 1.
    """
    before, after = _fields(old), _fields(new)
    patch: Fields = {}
    for name, value in after.items():
        former = before.get(name)
        if former is value or value is None:
            continue
        if type(value) in _SCALARS:  # first, because the checks for models are slow
            if former != value:
                patch[name] = value
        elif isinstance(former, BaseModel) and former.__dict__ == getattr(value, "__dict__", None):
            continue  # fast: most models of a collection are equal
        elif isinstance(former, _OBJECTS) and isinstance(value, _OBJECTS):
            if inner := difference(former, value):
                patch[name] = inner
        elif former != value:
            patch[name] = to_jsonable_python(value, exclude_none=True)
    removed = (name for name, former in before.items() if former is not None)
    patch.update((name, None) for name in removed if after.get(name) is None)
    return patch


def _fields(value: BaseModel | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an object's fields; those that are None count as absent."""
    return value.__dict__ if isinstance(value, BaseModel) else value
