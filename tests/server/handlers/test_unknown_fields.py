"""Unknown fields: reported to clients with a newer protocol version, otherwise refused.

An unknown top-level field is ignored and listed in the answer's `ignored` if the connection's hello
announced a newer version than the server's. It is still refused in requests that set the terms of
matches (`host`, `seek`, `arrange`) and in objects within a request, such as `capabilities`, because
it may be a limit or a condition that the client relies on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.wire.codec import DecodeError, decode_hello, decode_request, ignore_unknown
from kibitz_protocol.wire.messages import VERSIONS, ClientMessage, Hello
from tests.server.handlers.test_answers import MODELS, fields
from tests.server.match.toy_games import Grid
from tests.tools.sample_messages import REQUESTS
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

NEWER = [*VERSIONS, VERSIONS[-1] + 1]
SETTING_TERMS = {"host", "seek", "arrange"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server({"toy-grid": Grid()}, tmp_path) as server:
        yield server


def beside(server: VirtualServer, name: str, versions: list[int]) -> tuple[ScriptedClient, Any]:
    """Return a client whose hello has an unknown field, and the answer."""
    client = ScriptedClient(server, name)
    return client, client.ask("hello", versions=versions, name=name, mood="good")


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_a_newer_client_is_told_what_was_ignored(server: VirtualServer, kind: str) -> None:
    eve, welcome = beside(server, "eve", NEWER)
    assert (welcome["type"], welcome["ignored"]) == ("welcome", ["mood"])
    answer = eve.ask(kind, **fields(kind, "nothing"), mood="good", more={"a": [1]})
    if kind in SETTING_TERMS:
        assert (answer["code"], "ignored" in answer) == ("malformed", False)
        assert "mood: unknown field" in answer["message"]
    else:
        assert answer.get("code") != "malformed", answer
        assert answer["ignored"] == ["mood", "more"]
    assert "ignored" not in eve.ask("list_matches")


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_a_client_of_this_version_is_refused(server: VirtualServer, kind: str) -> None:
    eve = server.guest_client("eve")
    answer = eve.ask(kind, **fields(kind, "nothing"), mood="good")
    assert (answer["type"], answer["code"]) == ("refused", "malformed")
    assert "ignored" not in answer


def test_a_hello_of_this_version_is_refused(server: VirtualServer) -> None:
    _, refused = beside(server, "eve", list(VERSIONS))
    assert (refused["type"], refused["code"]) == ("refused", "malformed")


def test_a_move_is_played_and_its_answer_names_what_was_ignored(server: VirtualServer) -> None:
    eve, _ = beside(server, "eve", NEWER)
    bob = server.guest_client("bob")
    settings = {
        "seats": [{"kind": "open"}] * 2,
        "programme": [{"game": "toy-grid", "seats": 2}],
    }
    lobby = eve.ask("host", settings=settings)["lobby"]
    for client in (eve, bob):
        client.ask("join", lobby=lobby)
    for client in (eve, bob):
        client.ask("ready", lobby=lobby)
    server.advance(1)
    [turn] = [each for each in eve.messages() if each["type"] == "your_turn"]
    move = {"match": turn["match"], "ply": turn["ply"], "action": turn["legal"][0]}
    done = eve.ask("move", **move, mood="good")
    assert (done["type"], done["ignored"]) == ("done", ["mood"])
    assert isinstance(done["seq"], int)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.type)
def test_unknown_fields_of_objects_inside_a_request_are_refused(request_: ClientMessage) -> None:
    whole = request_.model_dump(mode="json", exclude_none=True)
    for path in _objects(whole, free={"action", "options"}):
        changed = json.loads(json.dumps(whole))
        inside = changed
        for step in path:
            inside = inside[step]
        inside["mood"] = "good"
        decode = decode_hello if isinstance(request_, Hello) else decode_request
        with pytest.raises(DecodeError) as refused:
            decode(json.dumps(changed).encode())
        data = json.dumps(changed).encode()
        if path or request_.sets_terms:
            with pytest.raises(DecodeError, match="unknown field"):
                ignore_unknown(data, refused.value, newer=True)
        else:
            assert ignore_unknown(data, refused.value, newer=True) == request_
            assert refused.value.unknown == ("mood",)


def _objects(value: Any, free: set[str], path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all objects except those that allow arbitrary fields."""
    if isinstance(value, dict):
        yield path
        for name, inner in value.items():
            if name not in free:
                yield from _objects(inner, free, (*path, name))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _objects(inner, free, (*path, i))


def test_what_else_is_wrong_is_refused_as_ever() -> None:
    data = b'{"type":"join","id":1,"mood":1,"lobby":7}'
    with pytest.raises(DecodeError) as refused:
        decode_request(data)
    assert refused.value.unknown == ()
    with pytest.raises(DecodeError, match="lobby"):
        ignore_unknown(data, refused.value, newer=True)
