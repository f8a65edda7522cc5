"""Descriptions of the values that a field of a pydantic model accepts, from its JSON schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from kibitz_arena.report.formatting import option_value

Schema: TypeAlias = Mapping[str, Any]


def kinds(field: Schema, definitions: Schema) -> list[Schema]:
    """Return the alternatives of a field's schema, with references resolved and without null."""
    if "$ref" in field:
        return kinds(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in field:
        return [kind for option in field["anyOf"] for kind in kinds(option, definitions)]
    if "items" in field:
        item = kinds(field["items"], definitions)
        return [{**field, "items": {"anyOf": item} if len(item) != 1 else item[0]}]
    return [] if field.get("type") == "null" else [field]


def describe(alternatives: Sequence[Schema]) -> str:
    """Describe the values of a field, such as ``a whole number from 1 to 9``."""
    return either([_kind(kind) for kind in alternatives])


def either(words: Sequence[str]) -> str:
    """Join words with commas and a final "or"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _kind(schema: Schema, number: str = "a whole number", word: str = "a word") -> str:
    if allowed := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return either([option_value(value) for value in allowed])
    match schema.get("type"):
        case "boolean":
            return "yes or no"
        case "integer":
            return number + _range(schema)
        case "number":
            return "a number" + _range(schema)
        case "array":
            return _list(schema)
    return word


def _range(schema: Schema) -> str:
    words = {
        " from {}": schema.get("minimum"),
        " above {}": schema.get("exclusiveMinimum"),
        " to {}": schema.get("maximum"),
        " below {}": schema.get("exclusiveMaximum"),
    }
    parts = [form.format(bound) for form, bound in words.items() if bound is not None]
    return "".join(parts) if len(parts) != 1 else parts[0].replace(" to ", " up to ")


def _list(schema: Schema) -> str:
    items = schema.get("items", {})
    what = either([_kind(kind, "whole numbers", "words") for kind in items.get("anyOf", [items])])
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if least and most:
        many = f"{least} to {most} " if least != most else f"{least} "
    elif least or most:
        many = f"at least {least} " if least else f"up to {most} "
    else:
        many = ""
    return f"a list of {many}{what} separated by plus signs"
