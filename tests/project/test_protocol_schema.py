"""The generated schemas are up to date, valid, and accept the same messages as the codec."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from docs.generate.markdown import NoMarkersError
from docs.generate.protocol_schema import (
    asyncapi,
    documents,
    fill_tables,
    messages_schema,
    record_schema,
)
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.messages import ClientMessage, ServerMessage
from kibitz_protocol.wire.recordfile import record_lines
from kibitz_protocol.wire.refusals import Code
from tests.tools.sample_messages import ENTRIES, NEWS, REQUESTS, RESULT, SETUP

DOCS = Path(__file__).parents[2] / "docs" / "protocol"


def _validator(name: str) -> Draft202012Validator:
    schema = messages_schema()
    return Draft202012Validator({**schema, "oneOf": [{"$ref": f"#/$defs/{name}"}]})


REQUEST, MESSAGE = _validator("ClientMessage"), _validator("ServerMessage")
LINE = Draft202012Validator(record_schema())


def test_the_checked_in_documents_are_up_to_date() -> None:
    for path, text in documents(DOCS).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run make schema"


def test_they_are_the_same_every_time() -> None:
    assert documents(DOCS) == documents(DOCS)


@pytest.mark.parametrize("schema", [messages_schema(), record_schema()])
def test_the_schemas_are_schemas(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("message", REQUESTS, ids=lambda message: message.type)
def test_every_request_is_valid(message: ClientMessage) -> None:
    REQUEST.validate(json.loads(encode(message)))


@pytest.mark.parametrize("message", NEWS, ids=lambda message: message.type)
def test_all_news_is_valid(message: ServerMessage) -> None:
    MESSAGE.validate(json.loads(encode(message)))


@pytest.mark.parametrize("line", list(record_lines(SETUP, ENTRIES, RESULT)))
def test_every_line_of_a_record_is_valid(line: bytes) -> None:
    LINE.validate(json.loads(line))


@pytest.mark.parametrize(
    "request_",
    [
        {"id": 1},
        {"type": "dance", "id": 1},
        {"type": "list_games"},
        {"type": "list_games", "id": 0},
        {"type": "list_games", "id": 1, "mood": "good"},
        {"type": "move", "id": 1, "match": "m1", "ply": 0, "action": {"a": 1.5}},
        {"type": "move", "id": 1, "match": "m 1", "ply": 0, "action": {}},
        {"type": "hello", "id": 1, "versions": []},
    ],
)
def test_what_the_codec_refuses_is_not_valid(request_: dict[str, Any]) -> None:
    assert not REQUEST.is_valid(request_)


def test_there_is_one_sample_of_every_message() -> None:
    schema = messages_schema()["$defs"]
    for samples, union in ((REQUESTS, "ClientMessage"), (NEWS, "ServerMessage")):
        names = [one["$ref"].rpartition("/")[2] for one in schema[union]["oneOf"]]
        assert [type(sample).__name__ for sample in samples] == names


def test_there_is_one_sample_of_every_entry() -> None:
    kinds = [one["$ref"].rpartition("/")[2] for one in record_schema()["$defs"]["Entry"]["oneOf"]]
    assert sorted(type(entry).__name__ for entry in ENTRIES) == sorted(kinds)


# --- AsyncAPI -----------------------------------------------------------------------------


def _references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _resolve(document: Any, reference: str) -> object:
    assert reference.startswith("#/"), reference
    for part in reference[2:].split("/"):
        document = document[part]
    return document


def test_every_reference_of_asyncapi_leads_somewhere() -> None:
    document = asyncapi()
    references = list(_references(document))
    assert len(references) > 100
    assert all(_resolve(document, reference) is not None for reference in references)


def test_asyncapi_has_every_message_in_one_direction() -> None:
    operations = asyncapi()["operations"]
    asked = [one for one in operations.values() if one["action"] == "receive"]
    assert len(asked) == len(REQUESTS)
    heard = {
        reference.rpartition("/")[2]
        for one in operations.values()
        for reference in _references(one["messages"] if one["action"] == "send" else one["reply"])
    } - {"session"}
    assert heard == {type(message).__name__ for message in NEWS}


def test_asyncapi_describes_each_payload_in_its_own_dialect() -> None:
    document = asyncapi()
    for message in (*REQUESTS, *NEWS):
        name = type(message).__name__
        payload = document["components"]["messages"][name]["payload"]
        schema = {**payload, "components": document["components"]}
        Draft7Validator(schema).validate(json.loads(encode(message)))
    for schema in document["components"]["schemas"].values():
        Draft7Validator.check_schema(schema)
        assert "discriminator" not in json.dumps(schema)


# --- the manual and the command -----------------------------------------------------------


def test_the_manual_has_every_refusal() -> None:
    manual = (DOCS / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{code.value}` |" in manual for code in Code)


def test_a_manual_without_its_marks_is_not_filled_in_silence() -> None:
    with pytest.raises(NoMarkersError, match="<!-- refusals -->"):
        fill_tables("# The wire protocol\n")
