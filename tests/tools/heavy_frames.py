"""The most expensive frames for a server to decode, built from the JSON Schema of every request.

For each type of request, `valid_frames` yields frames in which one list or object is as long as the
model accepts, up to `MAX_FRAME` bytes in total. `invalid_frames` yields frames that repeat an error
as often as possible in one place of the message. The codec's test limits the cost of each frame,
and `benchmarks.frames` measures it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError

from kibitz_protocol.wire.messages import ClientMessage
from kibitz_protocol.wire.values import MAX_FRAME

MODELS: Final[Mapping[str, type[BaseModel]]] = {
    model.model_fields["type"].default: model for model in get_args(get_args(ClientMessage)[0])
}
"""The model of each type of request."""
_TEXTS: Final = ("a", "a/a", "a" * 8, "a" * 64)
"""Sample texts, such that every pattern and length of the protocol matches one of them."""
_Path = tuple[str | int, ...]


def full_message(kind: str) -> dict[str, Any]:
    """Return a valid message of a type with every field, and one item in every list."""
    schema = MODELS[kind].model_json_schema()
    message = _Sample(schema.get("$defs", {})).make(schema)
    message["id"] = 1
    return dict(message)


def valid_frames(kind: str) -> Iterator[bytes]:
    """Yield the longest valid frame for each list and each free-form object of a message."""
    message = full_message(kind)
    yield _encode(message)
    for path, value in _places(message):
        if isinstance(value, list) and value:
            yield from _longest(kind, message, path, [value[0]] * 5000)
        elif isinstance(value, dict) and "a" in value:  # the sender chooses its keys
            for sample in (1, "a", [1] * 200):
                names = {f"{number:x}": sample for number in range(5000)}
                yield from _longest(kind, message, path, names)


def invalid_frames(kind: str) -> Iterator[bytes]:
    """Yield frames with as many errors as possible in one place of a message."""
    message = full_message(kind)
    for path, value in [((), message), *_places(message)]:
        if isinstance(value, dict):
            for wrong in ("0", "{}", "[]"):
                yield _with(message, path, "{%s}", _names(wrong), keep=value)
        for hostile, filling in _HOSTILE:
            if path:
                yield _with(message, path, hostile, filling)


def _names(value: str) -> list[str]:
    return [f'"{number:x}":{value}' for number in range(4000)]


_HOSTILE: Final[tuple[tuple[str, list[str]], ...]] = (
    ("[%s]", ["{}"] * 8000),
    ("[%s]", ["[]"] * 8000),
    ("[%s]", ["null"] * 4000),
    ("[%s]", ["1.5"] * 5000),
    ("[%s]", ['""'] * 8000),
    ("{%s}", _names("{}")),
    ("{%s}", _names("[{}]")),
    ("{%s}", _names("1.5")),
    ("{%s}", [f'"{number:x}":[{",".join(["{}"] * 150)}]' for number in range(34)]),
    ("[%s]", ["[" * 150 + "]" * 150] * 100),
    ('"%s"', ["x" * 100 + "\\\\u0000"] * 200),
)
"""The replacements for a value: a wrapper and the items that fill it."""


class _Sample:
    """Builds values that a JSON Schema accepts."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions

    def make(self, schema: Mapping[str, Any]) -> Any:
        """Return a value with every field and one item in every list."""
        if "$ref" in schema:
            return self.make(self._definitions[schema["$ref"].rpartition("/")[2]])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self.make(schema[several][0])
        match schema.get("type"):
            case "object":
                return self._make_object(schema)
            case "array":
                return [self.make(schema["items"])]
            case "string":
                return self._make_text(schema)
            case "boolean":
                return True
            case "integer" | "number":
                return max(1, schema.get("minimum", 1))
        raise AssertionError(f"no sample of {schema}")

    def _make_object(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        if "properties" in schema:
            return {name: self.make(field) for name, field in schema["properties"].items()}
        names = schema.get("propertyNames", {})
        return {self._make_text(names): self.make(schema["additionalProperties"])}

    def _make_text(self, schema: Mapping[str, Any]) -> str:
        for text in _TEXTS:
            long_enough = len(text) >= schema.get("minLength", 0)
            if long_enough and re.search(schema.get("pattern", ""), text):
                return text
        raise AssertionError(f"no text matches {schema}")


def _places(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Yield every path in a value except its root, with the value there."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, item in items:
        here: _Path = (*path, name)
        yield here, item
        if isinstance(item, dict | list):
            yield from _places(item, here)


def _longest(kind: str, message: Any, path: _Path, filling: Any) -> Iterator[bytes]:
    """Yield the longest valid frame with a prefix of `filling` at a path, if there is one."""
    low, high = 0, len(filling)
    while low < high:
        middle = (low + high + 1) // 2
        if _is_valid(kind, _encode(_replaced(message, path, _first(filling, middle)))):
            low = middle
        else:
            high = middle - 1
    if low:
        yield _encode(_replaced(message, path, _first(filling, low)))


def _first(filling: Any, count: int) -> Any:
    if isinstance(filling, dict):
        return dict(list(filling.items())[:count])
    return filling[:count]


def _is_valid(kind: str, frame: bytes) -> bool:
    if len(frame) > MAX_FRAME:
        return False
    try:
        MODELS[kind].model_validate_json(frame, strict=True)
    except ValidationError:
        return False
    return True


def _replaced(message: Any, path: _Path, value: Any) -> Any:
    changed = deepcopy(message)
    here = changed
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    return changed


def _with(message: Any, path: _Path, outside: str, filling: list[str], keep: Any = None) -> bytes:
    """Return a frame with as many items of `filling` at a path as fit, after the fields `keep`."""
    mark = "@here@"
    whole = json.dumps(_replaced(message, path, mark) if path else mark, separators=(",", ":"))
    kept = "" if keep is None else json.dumps(keep, separators=(",", ":"))[1:-1] + ","
    room = MAX_FRAME - len(whole) - len(kept) - len(outside)
    parts: list[str] = []
    for part in filling:
        room -= len(part) + 1
        if room < 0:
            break
        parts.append(part)
    separator = "" if outside == '"%s"' else ","
    inside = outside % (kept + separator.join(parts))
    return whole.replace(f'"{mark}"', inside).encode()


def _encode(message: Any) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()
