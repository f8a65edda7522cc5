"""Descriptions of JSON Schema fields in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]
Link: TypeAlias = Callable[[str], str]
"""Returns the text for a definition's name: a link, or the name as plain text."""


def kind(field: Schema, link: Link) -> str:
    """Describe the type of a value in words: ``whole number from 1 to 9 or null``."""
    return " or ".join(dict.fromkeys(_kinds(field, link)))


def default(field: Schema) -> str:
    """Describe the default of a field."""
    match field.get("default"):
        case None | [] | "" | {}:
            return "none"
        case bool(value):
            return "true" if value else "false"
        case dict():
            return "see its type"
        case int(value) | float(value):
            return f"`{_number(value)}`"
        case value:
            return f"`{value}`"


def _kinds(field: Schema, link: Link) -> Iterator[str]:
    if "$ref" in field:
        yield link(field["$ref"].rpartition("/")[2])
    for alternatives in ("anyOf", "oneOf", "allOf"):
        for each in field.get(alternatives, ()):
            yield from (word for word in _kinds(each, link) if word)
    if "enum" in field or "const" in field:
        yield from (f"`{value}`" for value in field.get("enum", [field.get("const")]))
    else:
        yield from _plain_kind(field, link)


def _plain_kind(field: Schema, link: Link) -> Iterator[str]:
    match field.get("type"):
        case "integer":
            yield f"whole number{_range(field)}"
        case "number":
            yield f"number{_range(field)}"
        case "boolean":
            yield "true or false"
        case "array" if "items" in field:
            yield f"list of {kind(field['items'], link)}"
        case "array":
            yield f"list of {len(field['prefixItems'])} texts"
        case "object":
            value = value_schema(field) or {}
            named = "$ref" in value and not value["$ref"].endswith("/JsonValue")
            yield f"object of {kind(value, link)}" if named else "object"
        case "string":
            yield "date and time" if field.get("format") == "date-time" else "text"


def value_schema(field: Schema) -> Any:
    """Return the schema of a mapping's values, or None if they may be anything."""
    by_pattern = field.get("patternProperties", {})
    return next(iter(by_pattern.values()), field.get("additionalProperties"))


SAFE_INTEGER = 2**53 - 1
"""The largest integer that all JSON parsers read exactly; not shown as a bound."""


def _range(field: Schema) -> str:
    """Describe the range of a number: `` from 1 to 9``, `` above 0 and below 0.5``."""
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to"}
    least = field.keys() & {"minimum", "exclusiveMinimum"}
    words["exclusiveMaximum"] = "and below" if least else "below"
    said = {key: word for key, word in words.items() if abs(field.get(key, 2**53)) < SAFE_INTEGER}
    return "".join(f" {word} {_number(field[key])}" for key, word in said.items())


def _number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() else f"{value:g}"
