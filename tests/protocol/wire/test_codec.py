"""Decoding bytes: every valid message round-trips, everything else is a `DecodeError`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_protocol.wire.codec import (
    DecodeError,
    decode_request,
    decode_server_message,
    encode,
    encode_entry,
)
from kibitz_protocol.wire.messages import (
    ClientMessage,
    Event,
    Host,
    MatchStarted,
    Move,
    ServerMessage,
)
from kibitz_protocol.wire.records import Comment, Moved
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import MAX_SAFE_INT, without_nulls
from tests.tools import profiles
from tests.tools.sample_messages import NEWS, REQUESTS, SETTINGS


def _move(action: str = '{"to":1}', rest: str = "") -> bytes:
    return f'{{"type":"move","id":5,"match":"m1","ply":0,"action":{action}{rest}}}'.encode()


@pytest.mark.parametrize("message", REQUESTS, ids=lambda message: message.type)
def test_every_request_is_read_back(message: ClientMessage) -> None:
    assert decode_request(encode(message)) == message


@pytest.mark.parametrize("message", NEWS, ids=lambda message: message.type)
def test_all_news_is_read_back(message: ServerMessage) -> None:
    assert decode_server_message(encode(message)) == message


def test_absent_fields_are_not_written_but_nulls_of_a_view_are() -> None:
    event = next(message for message in NEWS if isinstance(message, Event))
    written = json.loads(encode(event.model_copy(update={"clocks": None})))
    assert "clocks" not in written
    assert written["view"] == {"cells": [0, 1, 2], "last": {"to": 12}, "note": None}


@pytest.mark.parametrize(
    ("value", "kind"), [("true", bool), ("1", int), ("0", int), ('"1"', str), ("false", bool)]
)
def test_values_of_an_action_keep_their_type(value: str, kind: type) -> None:
    move = decode_request(_move(f'{{"a":{value}}}'))
    assert isinstance(move, Move)
    assert type(move.action["a"]) is kind


def test_values_of_options_keep_their_type() -> None:
    options = {"a": True, "b": 1, "c": "1", "d": [1, 2], "e": [], "f": ["h8", "1", 1]}
    item = SETTINGS.programme[0].model_copy(update={"options": options})
    settings = SETTINGS.model_copy(update={"programme": [item]})
    host = decode_request(encode(Host(id=1, settings=settings)))
    assert isinstance(host, Host)
    read = host.settings.programme[0].options
    assert read == options
    assert [type(value) for value in read.values()] == [bool, int, str, list, list, list]


def test_a_field_that_is_null_is_left_out() -> None:
    read = decode_request(_move('{"x":1,"length":null,"y":0}'))
    assert isinstance(read, Move)
    assert without_nulls(read.action) == {"x": 1, "y": 0}
    item = b'{"game":"line-nim","seats":2,"options":{"free":null,"map":["e5"]}}'
    settings = b'{"name":"x","seats":[{"kind":"open"}],"programme":[%s]}' % item
    host = decode_request(b'{"type":"host","id":1,"settings":%s}' % settings)
    assert isinstance(host, Host)
    assert host.settings.programme[0].options == {"map": ["e5"]}


DEEP = "[" * 2_000
REFUSED = [
    (b"", Code.MALFORMED, 0, "not JSON: EOF"),
    (b"\xff\xfe", Code.MALFORMED, 0, "not JSON"),
    (b"\xef\xbb\xbf{}", Code.MALFORMED, 0, "not JSON"),
    (b"[]", Code.MALFORMED, 0, "expected an object, not a list of 0"),
    (b"null", Code.MALFORMED, 0, "expected an object, not null"),
    (b'{"id":7}', Code.MALFORMED, 7, "expected an object with a string field type"),
    (b'{"id":7,"type":"dance"}', Code.UNKNOWN_TYPE, 7, 'type: unknown type "dance"'),
    (b'{"id":7,"type":"welcome"}', Code.UNKNOWN_TYPE, 7, 'type: unknown type "welcome"'),
    (b'{"id":7,"type":["move"]}', Code.MALFORMED, 7, "type: expected a string, not a list of 1"),
    (b'{"id":7,"type":7}', Code.MALFORMED, 7, "type: expected a string, not 7"),
    (b'{"id":7,"type":"move"}', Code.MALFORMED, 7, "match: missing"),
    (b'{"id":0,"type":"list_games"}', Code.MALFORMED, 0, "id: expected a number of at least 1"),
    (b'{"id":true,"type":"list_games"}', Code.MALFORMED, 0, "id: expected an integer, not true"),
    (b'{"id":"5","type":"list_games"}', Code.MALFORMED, 0, 'id: expected an integer, not "5"'),
    (b'{"id":5.0,"type":"list_games"}', Code.MALFORMED, 0, "id: expected an integer, not 5.0"),
    (b'{"id":1e3,"type":"list_games"}', Code.MALFORMED, 0, "id: expected an integer"),
    (b'{"id":%d,"type":"list_games"}' % (MAX_SAFE_INT + 1), Code.MALFORMED, 0, "at most 9007"),
    (_move(rest=',"x":1'), Code.MALFORMED, 5, "x: unknown field"),
    (_move(rest=',"move":1'), Code.MALFORMED, 5, "move: unknown field"),
    (_move("[]"), Code.MALFORMED, 5, "action: expected an object, not a list of 0"),
    (_move("null"), Code.MALFORMED, 5, "action: expected an object, not null"),
    (_move('{"a":1.5}'), Code.MALFORMED, 5, "a string, not 1.5"),
    (_move('{"a":{"b":1}}'), Code.MALFORMED, 5, "a string, not an object"),
    (_move('{"a":[1]}'), Code.MALFORMED, 5, "a string, not a list of 1"),
    (_move('{"a":NaN}'), Code.MALFORMED, 5, "not NaN"),
    (_move('{"a":%s}' % ("9" * 20)), Code.MALFORMED, 5, "an integer of more than 64 bits"),
    (_move('{"a":-%s}' % ("9" * 4_000)), Code.MALFORMED, 5, "an integer of more than 64 bits"),
    (_move('{"a":%s}' % ("9" * 9_000)), Code.MALFORMED, 0, "not JSON: number out of range"),
    (_move('{"a":"%s"}' % ("x" * 201)), Code.MALFORMED, 5, "not a string of 201 characters"),
    (_move('{"%s":1}' % ("x" * 33)), Code.MALFORMED, 5, "action."),
    (_move('{"a":"\\ud800"}'), Code.MALFORMED, 0, "not JSON"),
    (_move('{"a":"\\udc00\\ud800"}'), Code.MALFORMED, 0, "not JSON"),
    (_move(DEEP), Code.MALFORMED, 0, "not JSON: recursion limit"),
    (_move('{"a":' * 2_000), Code.MALFORMED, 0, "not JSON: recursion limit"),
    (_move(rest=',"comment":{"value":Infinity}'), Code.MALFORMED, 5, "expected a finite number"),
    (_move(rest=',"comment":{"value":1e999}'), Code.MALFORMED, 5, "expected a finite number"),
    (_move(rest=',"comment":{"nodes":%s}' % ("9" * 400)), Code.MALFORMED, 5, "comment.nodes"),
    (_move() + b" {}", Code.MALFORMED, 0, "not JSON: trailing"),
    (_move()[:-1], Code.MALFORMED, 0, "not JSON: EOF"),
]


@pytest.mark.parametrize(("frame", "code", "request_id", "sentence"), REFUSED)
def test_what_is_no_request_is_refused_with_code_id_and_sentence(
    frame: bytes, code: Code, request_id: int, sentence: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_request(frame)
    assert (caught.value.code, caught.value.request) == (code, request_id)
    assert sentence in str(caught.value)
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize("field", ["token", "resume"])
def test_secrets_are_not_repeated(field: str) -> None:
    for secret in ("hunter2", "hunter2" * 40):
        with pytest.raises(DecodeError) as caught:
            decode_request(
                f'{{"type":"hello","id":1,"versions":[1],"{field}":"{secret}"}}'.encode()
            )
        assert field in str(caught.value)
        assert "hunter2" not in str(caught.value)


def test_an_unread_answer_says_for_which_request_it_was() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_server_message(b'{"type":"tomorrow","re":12}')
    assert (caught.value.code, caught.value.request) == (Code.UNKNOWN_TYPE, 12)


def test_a_newer_server_may_say_more_at_every_level() -> None:
    news = next(message for message in NEWS if isinstance(message, MatchStarted))
    fields = json.loads(encode(news))
    fields["mood"] = "good"
    fields["match"]["mood"] = "good"
    fields["match"]["seats"][0]["mood"] = "good"
    fields["match"]["time_control"]["mood"] = "good"
    assert decode_server_message(json.dumps(fields)) == news


def test_a_client_may_not() -> None:
    fields = json.loads(encode(next(message for message in REQUESTS if isinstance(message, Host))))
    fields["settings"]["programme"][0]["time_control"]["mood"] = "good"
    with pytest.raises(DecodeError, match=r"settings.programme.0.time_control.mood: unknown field"):
        decode_request(json.dumps(fields))


# The fuzzers' invariant: every input yields either a message that round-trips or a DecodeError.

actions = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.one_of(st.booleans(), st.integers(0, 99), st.text(max_size=8)),
    max_size=8,
)
numbers = st.integers(0, MAX_SAFE_INT)


@given(
    st.builds(
        Moved,
        seq=numbers,
        at_ms=numbers,
        ply=numbers,
        seat=st.integers(0, 5),
        action=actions,
        elapsed_ms=numbers,
        allowance_ms=numbers,
        wait_ms=numbers,
        lag_ms=st.none() | numbers,
        id=st.none() | st.integers(1, MAX_SAFE_INT),
        comment=st.none() | st.just(Comment(depth=3)),
    )
)
def test_a_move_is_written_as_its_model_is(moved: Moved) -> None:
    assert encode_entry(moved) == encode(moved)


FRAMES = [encode(message) for message in REQUESTS]
TOKENS = [
    *(bytes([sign]) for sign in b'{}[]",:\\\x00\xff'),
    *(b"null", b"true", b"1", b"-1", b"1e999", b"NaN", b"9" * 30),
    *(b"\\ud800", b'"type"', b'"id"', b'"move"'),
]


@st.composite
def mutants(draw: st.DrawFn) -> bytes:
    frame = bytearray(draw(st.sampled_from(FRAMES)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(frame)))
        end = min(len(frame), start + draw(st.integers(0, 12)))
        frame[start:end] = draw(st.sampled_from(TOKENS) | st.binary(max_size=4))
    return bytes(frame)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


@st.composite
def grafts(draw: st.DrawFn) -> bytes:
    """Draw a valid message with one value replaced by arbitrary JSON."""
    root = json.loads(draw(st.sampled_from(FRAMES)))
    here: object = root
    while True:
        keys: list[object] = list(here) if isinstance(here, dict) else list(range(len(here)))  # type: ignore[arg-type]
        key = draw(st.sampled_from(keys))
        inner = here[key]  # type: ignore[index]
        if not isinstance(inner, (dict, list)) or not inner or draw(st.booleans()):
            here[key] = draw(JSON)  # type: ignore[index]
            return json.dumps(root).encode()
        here = inner


def _holds(frame: bytes) -> None:
    try:
        message = decode_request(frame)
    except DecodeError as error:
        sentence = str(error)
    else:
        assert decode_request(encode(message)) == message
        return
    assert 0 < len(sentence) <= 300
    assert sentence.isprintable()


@settings(max_examples=profiles.examples(1000), deadline=None)
@given(mutants())
def test_mutated_bytes_are_read_or_refused(frame: bytes) -> None:
    _holds(frame)


@settings(max_examples=profiles.examples(600), deadline=None)
@given(grafts())
def test_grafted_values_are_read_or_refused(frame: bytes) -> None:
    _holds(frame)


@settings(max_examples=profiles.examples(300), deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(frame: bytes) -> None:
    _holds(frame)
