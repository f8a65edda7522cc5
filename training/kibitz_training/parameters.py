"""Parse the parameters of an experiment.

key=value,key=value      the text after the colon in ``kibitz train GAME/NAME:...``
"""

from __future__ import annotations

import difflib
from typing import Any, TypeVar

from pydantic import ValidationError

from kibitz_training.experiment import ParameterError, Parameters

AnyParameters = TypeVar("AnyParameters", bound=Parameters)


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
        raise ParameterError(_refusal(error)) from None


def written(parameters: Parameters) -> str:
    """Return the parameters that are not defaults as text that `read` accepts."""
    values = parameters.model_dump(exclude_defaults=True)
    return ",".join(f"{name}={text_of(value)}" for name, value in values.items())


def text_of(value: Any) -> str:
    """Return a value as text, as it is written after the equals sign."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unknown(kind: type[Parameters], name: str) -> str:
    names = list(kind.model_fields)
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"unknown parameter {name!r}; the parameters are {', '.join(names) or 'none'}{meant}"


def _refusal(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    if not first["loc"]:  # raised by a validator of several parameters, which names them
        return message
    shown = "" if first["type"] == "value_error" else f", not {first['input']!r}"
    return f"{first['loc'][0]}: {message}{shown}"
