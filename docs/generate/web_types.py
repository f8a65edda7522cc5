"""Generate the protocol's types and tables for the browser client from the message schema.

`messages.d.ts` has a type for each definition of the schema; `protocol.js` has the protocol's
constants that the client needs at run time. Fields that may be absent are optional and never null,
because the server omits them (`codec.encode`).
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from docs.generate.json_schema import value_schema
from docs.generate.protocol_schema import messages_schema
from kibitz_clients.web.site import STATIC_FILES
from kibitz_protocol.wire.messages import VERSIONS, ClientMessage, Request
from kibitz_protocol.wire.refusals import CloseCode

WIRE: Final = STATIC_FILES / "wire"
_NOTICE: Final = "// Generated from the protocol's models by `make schema`; do not edit."
_WIDTH: Final = 100
_FATAL_CLOSES: Final = {
    CloseCode.REPLACED: "the game was opened in another window and continues there",
    CloseCode.KICKED: "the server's operator closed the connection",
}
"""Close codes after which a client does not reconnect, with the messages for people."""


def files(folder: Path = WIRE) -> Mapping[Path, str]:
    """Return the up-to-date text of every generated file."""
    return {
        folder / "messages.d.ts": types(messages_schema()["$defs"]),
        folder / "protocol.js": tables(),
    }


# --- tables --------------------------------------------------------------------------------


def tables() -> str:
    """Return the module with the protocol's constants that the client needs at run time."""
    requests: tuple[type[Request], ...] = get_args(get_args(ClientMessage)[0])
    costs = {_type_of(request): request.cost for request in requests if request.cost != 1}
    return "\n".join(
        [
            "// The protocol's constants that the client needs at run time.",
            _NOTICE,
            "",
            "/** Versions of the protocol that this client speaks. */",
            f"export const VERSIONS = {json.dumps(list(VERSIONS))};",
            "",
            "/** The cost of requests under the rate limit; all others cost 1.",
            " * @type {Record<string, number>} */",
            f"export const COSTS = {_literal(costs)};",
            "",
            "/** Close codes after which the client must not reconnect, and why.",
            " * @type {Record<number, string>} */",
            f"export const FATAL_CLOSES = {_literal(_FATAL_CLOSES)};",
            "",
        ]
    )


def _type_of(kind: type[Request]) -> str:
    return str(kind.model_fields["type"].default)


def _literal(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


# --- types ---------------------------------------------------------------------------------


def types(definitions: Mapping[str, Any]) -> str:
    """Return a type declaration for each definition."""
    declarations = [_declaration(name, schema) for name, schema in sorted(definitions.items())]
    return "\n\n".join([f"// The messages of the protocol as types.\n{_NOTICE}", *declarations, ""])


def _declaration(name: str, schema: Mapping[str, Any]) -> str:
    return f"{_comment(schema)}export type {name} = {_type(schema)};"


def _type(schema: Mapping[str, Any], indent: str = "") -> str:
    """Return the TypeScript type of a schema's values."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _union(schema[union], indent)
    return _plain(schema, indent)


def _item_type(schema: Mapping[str, Any], indent: str) -> str:
    """Return the type of an array's items; null stays a possible item."""
    nullable = {"type": "null"} in schema.get("anyOf", ())
    return _type(schema, indent) + (" | null" if nullable else "")


def _union(schemas: Sequence[Mapping[str, Any]], indent: str) -> str:
    found = [_type(each, indent) for each in schemas if each.get("type") != "null"]
    unique = list(dict.fromkeys(found))
    flat = " | ".join(unique)
    if len(flat) < _WIDTH // 2:
        return flat
    return "".join(f"\n{indent}  | {each}" for each in unique)


def _plain(schema: Mapping[str, Any], indent: str) -> str:
    match schema.get("type"):
        case "integer" | "number":
            return "number"
        case "string" | "boolean" as name:
            return str(name)
        case "array":
            item = _item_type(schema.get("items", {}), indent)
            return f"({item})[]" if " " in item and not item.startswith("{") else f"{item}[]"
        case "object" if "properties" in schema:
            return _fields(schema, indent)
        case "object":
            value = value_schema(schema)
            return f"{{ [name: string]: {_type(value, indent) if value else 'JsonValue'} }}"
        case _:
            return "any"


def _fields(schema: Mapping[str, Any], indent: str) -> str:
    required = set(schema.get("required", ()))
    inner = indent + "  "
    lines = []
    for name, field in schema["properties"].items():
        mark = "" if name in required else "?"
        lines.append(f"{_comment(field, inner)}{inner}{name}{mark}: {_type(field, inner)};")
    return "\n".join(["{", *lines, indent + "}"])


def _comment(schema: Mapping[str, Any], indent: str = "") -> str:
    text = " ".join(str(schema.get("description", "")).replace("*/", "* /").split())
    if not text:
        return ""
    if len(indent) + len(text) + 7 <= _WIDTH:
        return f"{indent}/** {text} */\n"
    lines = textwrap.wrap(text, _WIDTH - len(indent) - 3)
    return f"{indent}/**\n" + "".join(f"{indent} * {line}\n" for line in lines) + f"{indent} */\n"
