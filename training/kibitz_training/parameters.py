"""Parse and describe the parameters of an experiment.

key=value,key=value      the text after the colon in ``kibitz train GAME/NAME:...``
"""

from __future__ import annotations

import difflib
import types
from typing import Any, Literal, TypeVar, get_args, get_origin

import annotated_types as bounds
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from kibitz_training.experiment import ParameterError, Parameters

AnyParameters = TypeVar("AnyParameters", bound=Parameters)

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def read(kind: type[AnyParameters], text: str) -> AnyParameters:
    """Parse parameters from ``key=value,...``.

    Raises `ParameterError` for an unknown or repeated name, or an invalid value.
    """
    given = dict[str, str]()
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if name not in kind.model_fields:
            raise ParameterError(_unknown(kind, name))
        if not equals:
            raise ParameterError(f"{name}: expected {name}=value, not {part!r}")
        if name in given:
            raise ParameterError(f"{name}: given twice")
        given[name] = value
    try:
        return kind.model_validate_strings(given)
    except ValidationError as error:
        raise ParameterError(_refusal(kind, given, error)) from None


def written(parameters: Parameters) -> str:
    """Return the parameters that are not defaults as text that `read` accepts."""
    values = parameters.model_dump(exclude_defaults=True)
    return ",".join(f"{name}={text_of(value)}" for name, value in values.items())


def expected(field: FieldInfo) -> str:
    """Describe the values that a field accepts."""
    kinds = _alternatives(field.annotation)
    words = [_kind(each) for each in kinds if each is not types.NoneType]
    return " or ".join(words) + _bounds(field)


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " or ".join(map(str, get_args(annotation)))
    return _KINDS.get(annotation, "a value")


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if isinstance(annotation, types.UnionType) else (annotation,)


def _bounds(field: FieldInfo) -> str:
    constraints = {type(constraint): constraint for constraint in field.metadata}
    low: Any = constraints.get(bounds.Ge)
    above: Any = constraints.get(bounds.Gt)
    high: Any = constraints.get(bounds.Le)
    below: Any = constraints.get(bounds.Lt)
    words = [
        f" from {low.ge:.10g}" if low else "",
        f" above {above.gt:.10g}" if above else "",
        f" to {high.le:.10g}" if high else "",
        f" below {below.lt:.10g}" if below else "",
    ]
    return "".join(words)


def text_of(value: Any) -> str:
    """Return a value as text, as it is written after the equals sign."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unknown(kind: type[Parameters], name: str) -> str:
    names = list(kind.model_fields)
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"unknown parameter {name!r}; the parameters are {', '.join(names) or 'none'}{meant}"


def _refusal(kind: type[Parameters], given: dict[str, str], error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    if name not in kind.model_fields:  # raised by a validator of several parameters
        return first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":
        return f"{name}: {first['msg'].removeprefix('Value error, ')}"
    wanted = expected(kind.model_fields[name])
    said = f", not {given[name]!r}" if name in given else ""
    return f"{name}: expected {wanted}{said}"
