"""The JSON Schemas, the AsyncAPI document and the manual's tables, from the models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

from pydantic import TypeAdapter

from docs.generate.markdown import between, table
from kibitz_protocol.wire.messages import (
    VERSIONS,
    Answer,
    ClientMessage,
    Refused,
    Request,
    ServerMessage,
)
from kibitz_protocol.wire.records import AnyEntry, Footer, Setup
from kibitz_protocol.wire.refusals import HINTS, MEANINGS, Code

Json: TypeAlias = dict[str, Any]
"""A JSON document under construction."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def documents(directory: Path) -> dict[Path, str]:
    """Return the text of every generated file; in the manual, only the tables change."""
    manual = directory / "README.md"
    return {
        directory / "messages.schema.json": _text(messages_schema()),
        directory / "record.schema.json": _text(record_schema()),
        directory / "asyncapi.json": _text(asyncapi()),
        manual: fill_tables(manual.read_text(encoding="utf-8")),
    }


# --- JSON Schema --------------------------------------------------------------------------


def messages_schema() -> Json:
    """Return the schema of all messages, with `ClientMessage` and `ServerMessage` in `$defs`."""
    return _schema(
        "Messages of the kibitz protocol",
        {"ClientMessage": ClientMessage, "ServerMessage": ServerMessage},
    )


def record_schema() -> Json:
    """Return the schema of the lines of a record: `Setup`, `Entry`, `Footer`."""
    return _schema("A line of a kibitz record", {"Setup": Setup, "Entry": AnyEntry, "End": Footer})


def _schema(title: str, unions: Mapping[str, Any]) -> Json:
    """Return a schema that accepts any of `unions`, and has each under its name in `$defs`."""
    inputs = [(name, "validation", TypeAdapter(union)) for name, union in unions.items()]
    schemas, shared = TypeAdapter.json_schemas(inputs)  # type: ignore[arg-type]
    definitions = dict(shared["$defs"])
    names = []
    for (name, _), schema in schemas.items():
        if "$ref" in schema:
            names.append(schema["$ref"].rpartition("/")[2])
        else:
            definitions[name] = schema
            names.append(name)
    document = {
        "$schema": DIALECT,
        "title": title,
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "$defs": dict(sorted(definitions.items())),
    }
    _require_constants(document)
    return document


def _require_constants(node: object) -> None:
    """Make constant fields required, because they distinguish the types.

    The models have defaults for these fields, for Python code; on the wire there are none.
    """
    if isinstance(node, list):
        for item in node:
            _require_constants(item)
    elif isinstance(node, dict):
        for name, field in _properties(node).items():
            if "const" in field:
                field.pop("default", None)
                others = [key for key in node.get("required", []) if key != name]
                node["required"] = [name, *others]
        for value in node.values():
            _require_constants(value)


def _properties(node: Json) -> dict[str, Json]:
    """Return the fields of an object's schema; ignore a field that is named `properties`."""
    fields = node.get("properties")
    return fields if isinstance(fields, dict) and node.get("type") == "object" else {}


# --- AsyncAPI -----------------------------------------------------------------------------


def asyncapi() -> Json:
    """Return the AsyncAPI 3.0 description of the server, which receives requests and sends news."""
    definitions = messages_schema()["$defs"]
    models = {name for name in definitions if name not in {"ClientMessage", "ServerMessage"}}
    messages = {
        model.__name__: model for model in (*_members(ClientMessage), *_members(ServerMessage))
    }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "kibitz",
            "version": str(VERSIONS[-1]),
            "description": "Board games for bots, people and spectators over one websocket.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "servers": {
            "local": {
                "host": "127.0.0.1:{port}",
                "protocol": "ws",
                "description": "A local server, started by `kibitz serve`.",
                "variables": {
                    "port": {"description": "the port that the server printed at startup"}
                },
            }
        },
        "channels": {
            "session": {
                "address": "/",
                "description": "One JSON object per text frame, in both directions.",
                "servers": [{"$ref": "#/servers/local"}],
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
                "bindings": {"ws": {"method": "GET", "bindingVersion": "0.1.0"}},
            }
        },
        "operations": _operations(),
        "components": {
            "messages": {name: _message(model) for name, model in messages.items()},
            "schemas": {name: _draft_07(definitions[name]) for name in sorted(models)},
        },
    }


def _operations() -> Json:
    """Return an operation for each request with its answers, and one operation for all news."""
    news = [model for model in _members(ServerMessage) if not issubclass(model, Answer)]
    receiving = {_tag(request): _exchange(request) for request in _members(ClientMessage)}
    return receiving | {
        "news": {
            "action": "send",
            "channel": {"$ref": "#/channels/session"},
            "summary": "Messages that the server sends unprompted.",
            "messages": _channel_messages(news),
        }
    }


def _exchange(request: type[Any]) -> Json:
    return {
        "action": "receive",
        "channel": {"$ref": "#/channels/session"},
        "summary": _summary(request),
        "messages": _channel_messages([request]),
        "reply": {
            "channel": {"$ref": "#/channels/session"},
            "messages": _channel_messages([_answer(request), Refused]),
        },
    }


def _answer(request: type[Request]) -> type[Any]:
    """Return the type of a request's answer if it is not refused."""
    return next(model for model in _members(ServerMessage) if _tag(model) == request.answer)


def _message(model: type[Any]) -> Json:
    message: Json = {
        "name": _tag(model),
        "title": model.__name__,
        "summary": _summary(model),
        "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
    }
    if issubclass(model, Request):
        message["correlationId"] = {"location": "$message.payload#/id"}
    elif issubclass(model, Answer):
        message["correlationId"] = {"location": "$message.payload#/re"}
    return message


def _channel_messages(models: Iterable[type[Any]]) -> list[Json]:
    return [{"$ref": f"#/channels/session/messages/{model.__name__}"} for model in models]


def _draft_07(node: Any) -> Any:
    """Convert a schema to AsyncAPI's dialect: different references, no discriminators."""
    if isinstance(node, list):
        return [_draft_07(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if not _is_discriminator(key, value)}
    if "$ref" in kept:
        name = kept["$ref"].rpartition("/")[2]
        return {**kept, "$ref": f"#/components/schemas/{name}"}
    return {key: _draft_07(value) for key, value in kept.items()}


def _is_discriminator(key: str, value: object) -> bool:
    return key == "discriminator" and isinstance(value, dict) and "propertyName" in value


def _members(union: Any) -> tuple[type[Any], ...]:
    """Return the models of an annotated union in order."""
    members: tuple[type[Any], ...] = get_args(get_args(union)[0])
    return members


def _tag(model: type[Any]) -> str:
    return str(model.model_fields["type"].default)


def _summary(model: type[Any]) -> str:
    """Return the first paragraph of the model's own docstring, not of an inherited one."""
    text = model.__dict__.get("__doc__") or model.__name__
    return " ".join(text.partition("\n\n")[0].split())


# --- tables of the manual -----------------------------------------------------------------


def tables() -> dict[str, str]:
    """Return the generated tables of the manual, keyed by the name in their markers."""
    return {
        "refusals": table(
            ("code", "meaning", "what to do"),
            [(f"`{code.value}`", MEANINGS[code], HINTS[code]) for code in Code],
        ),
        "costs": table(
            ("request", "cost"),
            [
                (f"`{_tag(request)}`", str(request.cost))
                for request in _members(ClientMessage)
                if request.cost != 1
            ],
        ),
        "repeats": table(
            ("request", "resend?", "why"),
            [
                (f"`{_tag(request)}`", "yes", request.repeatable)
                if request.repeatable
                else (f"`{_tag(request)}`", "no", request.unrepeatable)
                for request in _members(ClientMessage)
            ],
        ),
    }


def fill_tables(manual: str) -> str:
    """Return the manual with its tables; raises `NoMarkersError` if one has no place."""
    for name, text in tables().items():
        manual = between(manual, f"<!-- {name} -->", f"<!-- end of {name} -->", text)
    return manual


def _text(document: Json) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
