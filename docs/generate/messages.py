"""Generate the reference of messages and records from the JSON Schemas in `docs/protocol`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from docs.generate import json_schema
from docs.generate.json_schema import Schema
from docs.generate.markdown import table

MESSAGES = """# Messages

This page lists every message of the protocol with its fields. [The protocol](../protocol/README.md)
explains how to use them. [A JSON Schema](../protocol/messages.schema.json) and [an AsyncAPI
document](../protocol/asyncapi.json) contain the same information for programs.

The heading of each message is its `type`. Every message from a client has an `id`, chosen by the
client and larger than all its earlier ones; the answer repeats it as `re`."""
RECORDS = """# Records

A record is a JSON Lines file: the setup, a line for each entry, and a footer with the result and a
hash over all lines. [The protocol](../protocol/README.md#records) explains how the hash is
computed, and [`kibitz.read_record`](sdk.md#kibitz.read_record) reads a record. [A JSON
Schema](../protocol/record.schema.json) describes the lines for programs.

The heading of each entry is its `kind`."""


def messages_page(schema: Schema) -> str:
    """Return the page of messages: client messages, server messages, then their parts."""
    definitions = schema["$defs"]
    groups = {
        "From the client": _members(definitions["ClientMessage"]),
        "From the server": _members(definitions["ServerMessage"]),
    }
    return _page(MESSAGES, groups, definitions, tag="type")


def records_page(schema: Schema) -> str:
    """Return the page of records: setup and footer, entries, then their parts."""
    definitions = schema["$defs"]
    groups = {
        "First and last line": ["Setup", "Footer"],
        "Entries": _members(definitions["Entry"]),
    }
    return _page(RECORDS, groups, definitions, tag="kind")


def _members(union: Schema) -> list[str]:
    """Return the names of a union's members in order."""
    return [each["$ref"].rpartition("/")[2] for each in union["oneOf"]]


def _page(head: str, groups: Mapping[str, list[str]], definitions: Schema, tag: str) -> str:
    named = {name for names in groups.values() for name in names}
    parts = [
        name
        for name, definition in definitions.items()
        if name not in named and "oneOf" not in definition
    ]
    lines = [f"{head}\n"]
    for title, names in {**groups, "Parts": parts}.items():
        lines.append(f"## {title}\n")
        for name in names:
            lines += _section(name, definitions, tag)
    return "\n".join(lines)


def _section(name: str, definitions: Schema, tag: str) -> Iterator[str]:
    """Yield a definition's heading, description and fields."""
    definition = definitions[name]
    yield f"### {_title(name, definitions, tag)}\n"
    yield from [f"{_text(definition['description'])}\n"] if "description" in definition else []
    constant = _constant(definition, tag)
    properties = definition.get("properties", {}).items()
    fields = [(key, field) for key, field in properties if key != tag or constant is None]
    if fields:
        required = definition.get("required", ())
        yield table(
            ("field", "value", "default", "description"),
            [_row(key, field, key in required, definitions, tag) for key, field in fields],
        )
    elif "enum" in definition:
        yield ", ".join(f"`{value}`" for value in definition["enum"]) + "\n"


def _row(key: str, field: Schema, required: bool, definitions: Schema, tag: str) -> list[str]:
    link = json_schema.kind(field, lambda name: _link(name, definitions, tag))
    default = "required" if required else json_schema.default(field)
    return [f"`{key}`", link, default, _text(field.get("description", ""))]


def _title(name: str, definitions: Schema, tag: str) -> str:
    """Return the heading: the wire type for messages and entries, the model's name for parts."""
    constant = _constant(definitions[name], tag)
    return name if constant is None else f"`{constant}`"


def _link(name: str, definitions: Schema, tag: str) -> str:
    definition = definitions.get(name, {})
    if not {"properties", "enum"} & definition.keys():
        return "any JSON" if name == "JsonValue" else name
    title = _title(name, definitions, tag)
    return f"[{title}](#{re.sub(r'[^a-z0-9_]', '', title.lower())})"


def _constant(definition: Schema, tag: str) -> Any:
    return definition.get("properties", {}).get(tag, {}).get("const")


def _text(text: str) -> str:
    return " ".join(text.replace("``", "`").split())
