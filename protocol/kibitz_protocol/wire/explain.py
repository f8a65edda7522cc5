"""Explanations of invalid messages: one sentence for the person who sent them.

pydantic's own texts contain the invalid value, and the branches of unions that it tried. These
explanations instead give the path in the sender's JSON. They show a value only if it is short and
not a secret, because they are sent to peers, logged and displayed.
"""

from __future__ import annotations

import json
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

SECRETS: Final = frozenset({"token", "resume", "invite", "seed", "nonce"})
"""Fields whose values are never shown."""
MAX_TEXT_SHOWN: Final = 40
"""The longest text value that is shown in full, in characters."""
MAX_SENTENCE: Final = 300
"""The maximum length of an explanation, in characters."""

_EXPECTED: Final = {
    "bool_type": "true or false",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "string_type": "a string",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "finite_number": "a finite number",
    "missing": "a value",
}
"""Expected values by error type, for errors in which pydantic names only a type."""

_LIMITS: Final = {
    "greater_than_equal": "a number of at least {ge}",
    "greater_than": "a number above {gt}",
    "less_than_equal": "a number of at most {le}",
    "less_than": "a number below {lt}",
    "string_too_short": "a string of at least {min_length} characters",
    "string_too_long": "a string of at most {max_length} characters",
    "string_pattern_mismatch": "a string that matches {pattern}",
    "too_short": "at least {min_length} items",
    "too_long": "at most {max_length} items",
    "literal_error": "{expected}",
    "enum": "{expected}",
}
"""Expected values by error type, with pydantic's context filled in."""


def explain(error: ValidationError, data: bytes | bytearray | str) -> str:
    """Return one sentence that explains the first error in `data`."""
    # Leave out the input of each error: it may be most of the frame, and would be copied for each.
    details = error.errors(include_url=False, include_input=False)
    if details[0]["type"] == "json_invalid":
        return _cut(f"not JSON: {details[0]['ctx']['error']}")
    whole = from_json(data)
    placed = [(*_placed(detail, whole), detail) for detail in details]
    # If a value fits no branch of a union, pydantic reports one error per branch, in sequence. If a
    # branch matched in part, its error has a deeper path.
    first = placed[0][0]
    same = [each for each in placed if each[0][: len(first)] == first]
    path, value, _ = max(same, key=lambda each: len(each[0]))
    reasons = [detail for other, _, detail in same if other == path]
    return _cut(_sentence(path, reasons, value))


def first_problem(error: ValidationError, *path: str) -> str:
    """Return pydantic's message for the first error, after `path` and the error's path."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join([*path, *map(str, first["loc"])])
    return f"{where}: {first['msg']}" if where else first["msg"]


def _placed(detail: ErrorDetails, whole: object) -> tuple[tuple[int | str, ...], object]:
    """Return the parts of the error's location that are in the data, and the value there.

    Branches of unions are left out. The name of a missing field is not in the data, but is kept as
    the last part.
    """
    path: list[int | str] = []
    here = whole
    for index, part in enumerate(detail["loc"]):
        found, here = _step(here, part, index)
        if found:
            path.append(part)
    if detail["type"] == "missing":
        path.append(detail["loc"][-1])
    return tuple(path), here


def _step(here: object, part: int | str, index: int) -> tuple[bool, object]:
    """Return True and the value at key or index `part` of `here`, or False and `here` itself."""
    if isinstance(here, dict) and part in here and not _is_tag(part, here, index):
        return True, here[part]
    if isinstance(here, list) and isinstance(part, int) and part < len(here):
        return True, here[part]
    return False, here


def _is_tag(part: int | str, here: dict[object, object], index: int) -> bool:
    """Return whether `part` only repeats the discriminator of the top-level object `here`."""
    return index == 0 and part in (here.get("type"), here.get("kind"))


def _sentence(path: tuple[int | str, ...], reasons: list[ErrorDetails], value: object) -> str:
    where = ".".join(_name(part) for part in path)
    reason = _most_telling(reasons)
    match reason["type"]:
        case "missing":
            return f"{where}: missing"
        case "extra_forbidden":
            return f"{where}: unknown field"
        case "union_tag_not_found":
            return f"{_at(where)}expected an object with a string field {_tag(reason)}"
        case "union_tag_invalid":
            return _unknown_tag(where, reason, value)
        case "invalid_key":
            return f"{where}: expected a string as a field name"
    expected = " or ".join(dict.fromkeys(_expectation(one) for one in _alike(reason, reasons)))
    return f"{_at(where)}expected {expected}{_found(path, value)}"


def _at(where: str) -> str:
    return f"{where}: " if where else ""


def _most_telling(reasons: list[ErrorDetails]) -> ErrorDetails:
    """Return the most helpful error: if possible, of a union branch that accepts the type."""
    return next((one for one in reasons if one["type"] not in _EXPECTED), reasons[0])


def _alike(reason: ErrorDetails, reasons: list[ErrorDetails]) -> list[ErrorDetails]:
    return reasons if reason["type"] in _EXPECTED else [reason]


def _expectation(reason: ErrorDetails) -> str:
    kind = reason["type"]
    if kind in _LIMITS:
        return _LIMITS[kind].format(**reason["ctx"])
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    return reason["msg"].removeprefix("Input should be ").removeprefix("Value error, ")


def _unknown_tag(where: str, reason: ErrorDetails, parent: object) -> str:
    """Return an error that lists the expected types or, if there are many, only the unknown one."""
    expected = reason["ctx"]["expected_tags"]
    place = f"{where}.{_tag(reason)}" if where else _tag(reason)
    value = parent.get(_tag(reason)) if isinstance(parent, dict) else None
    if not isinstance(value, str):
        return f"{place}: expected a string, not {_show(value)}"
    shown = _show(value)
    if len(expected) > 100:
        return f"{place}: unknown type {shown}"
    return f"{place}: expected one of {expected}, not {shown}"


def _tag(reason: ErrorDetails) -> str:
    return str(reason["ctx"]["discriminator"]).strip("'")


def _found(path: tuple[int | str, ...], value: object) -> str:
    if SECRETS.intersection(path):
        return ""
    return f", not {_show(value)}"


def _show(value: object) -> str:
    """Return a short, simple value as text, and otherwise a description of its kind."""
    match value:
        case str() if len(value) > MAX_TEXT_SHOWN:
            return f"a string of {len(value)} characters"
        case int() if not -(2**63) < value < 2**63:
            return "an integer of more than 64 bits"
        case None | bool() | int() | float() | str():
            return json.dumps(value)
        case list():
            return f"a list of {len(value)}"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def _name(part: int | str) -> str:
    """Return a part of a path, truncated and escaped, because the sender chooses field names."""
    if isinstance(part, int):
        return str(part)
    text = json.dumps(part)[1:-1]
    return text if len(text) <= MAX_TEXT_SHOWN else f"{text[:MAX_TEXT_SHOWN]}…"


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= MAX_SENTENCE else f"{sentence[: MAX_SENTENCE - 1]}…"
