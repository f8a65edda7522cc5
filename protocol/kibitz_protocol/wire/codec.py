"""The codec of messages: the only module that reads and writes their JSON.

It reads with `validate_json` on bytes only: plain `json.loads` on a peer's data lets deep nesting,
giant integers and lone surrogates through to code that does not expect them.

The size of a frame bounds the cost of an invalid one. pydantic collects every error, and each takes
longer to explain than the field took to send. So validation of a list ends at its first error
(`fail_fast`), an object with too many fields is refused before validation, and only a few errors
are explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, from_json, to_json

from kibitz_protocol.wire.explain import explain
from kibitz_protocol.wire.messages import ClientMessage, Hello, ServerMessage
from kibitz_protocol.wire.records import Entry, Moved
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import MAX_HELLO, RequestId

MAX_FIELDS: Final = 64
"""The most fields of one object in a request; no message needs more."""
MAX_BRACKETS: Final = 2048
"""The most opening brackets and braces in a request, including its texts. Each may be a list, which
takes 300 bytes and longer to build than any other value."""
MAX_EXPLAINED: Final = 64
"""The most errors of one message that are explained; beyond that only their number is given."""
_SMALL: Final = 6 * MAX_FIELDS
"""Bytes that cannot hold more than `MAX_FIELDS` fields."""

_CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
_CLIENT_VALIDATOR = _CLIENT.validator  # what its `validate_json` passes twelve arguments on to
# Saves a server some 50 ms at startup: it never reads server messages.
_SERVER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage, config={"defer_build": True})


class _Request(BaseModel):
    """The part of a request that suffices to answer it, even if the rest is invalid."""

    id: RequestId = 0


class _Typed(_Request):
    """The part of a request that gives its type, None if it has none."""

    type: str | None = None


class _Answer(BaseModel):
    """The part of an answer that gives the id of its request."""

    re: RequestId = 0


_REQUEST = TypeAdapter(_Request)
_TYPED = TypeAdapter(_Typed)
_HELLO = TypeAdapter(Hello)
_ANSWER = TypeAdapter(_Answer)


class DecodeError(ValueError):
    """An invalid message.

    `request` is the id in it, or 0. `unknown` names its unknown fields if nothing else is wrong
    with it, and none of them is in an object inside it.
    """

    def __init__(
        self, code: Code, message: str, request: int = 0, unknown: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.request = request
        self.unknown = unknown


def decode_request(data: bytes | bytearray | str) -> ClientMessage:
    """Read a message to the server, or raise `DecodeError`.

    Nothing is converted: ``"5"``, ``5.0`` and ``true`` are no integers.
    """
    if len(data) > _SMALL:
        _refuse_wide(data)
    try:
        return _CLIENT_VALIDATOR.validate_json(data, strict=True)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise _refuse(error, data, _request_id(data), outer=2) from None


def decode_hello(data: bytes | bytearray) -> Hello:
    """Read the first message of a connection, or raise `DecodeError`.

    Any other type of request is refused as `hello_first`, without validation.
    """
    if len(data) > MAX_HELLO:
        raise DecodeError(Code.TOO_LARGE, f"hello has {len(data)} bytes, more than {MAX_HELLO}")
    try:
        typed = _TYPED.validate_json(data, strict=True)
    except ValidationError:
        pass  # validating it as a hello yields the explanation
    else:
        if typed.type is not None and typed.type != "hello":
            raise DecodeError(Code.HELLO_FIRST, "say hello first", typed.id)
    _refuse_wide(data)
    try:
        return _HELLO.validate_json(data, strict=True)
    except ValidationError as error:
        raise _refuse(error, data, _request_id(data), outer=1) from None


def ignore_unknown(data: bytes | bytearray, error: DecodeError, *, newer: bool) -> ClientMessage:
    """Read a request that was refused with `error` without its unknown fields, or raise `error`.

    Only a client of a newer version (`newer`, or a hello that says so) may send unknown fields, so
    that it can use an older server. Such a field is never ignored in a request that sets terms
    (`Request.sets_terms`), nor in an object inside a request: it may be a limit or a condition that
    the client relies on.
    """
    if not error.unknown:
        raise error
    try:
        message = _CLIENT.validate_json(data, strict=True, extra="ignore")
    except ValidationError:  # a hello without a type
        raise error from None
    newer = newer or (isinstance(message, Hello) and message.is_newer)
    if not newer or message.sets_terms:
        raise error
    return message


def decode_server_message(data: bytes | bytearray | str) -> ServerMessage:
    """Read a message from the server, or raise `DecodeError` with the `re` of an answer.

    Unknown fields are ignored everywhere, even in models in which a server would refuse them,
    because a newer server may send more fields.
    """
    try:
        return _SERVER.validate_json(data, extra="ignore")
    except ValidationError as error:
        raise _refuse(error, data, _answer_id(data)) from None


def encode(message: BaseModel) -> bytes:
    """Write a message, absent fields left out."""
    return message.__pydantic_serializer__.to_json(message, exclude_none=True, by_alias=True)


def encode_entry(entry: Entry) -> bytes:
    """Write an entry of a log like `encode`, but in half the time for moves, the most common."""
    if type(entry) is not Moved or entry.comment is not None:
        return encode(entry)
    fields = entry.__dict__  # an attribute of a model takes three times as long to read
    lag, request = fields["lag_ms"], fields["id"]
    return (
        b'{"seq":%d,"at_ms":%d,"kind":"move","ply":%d,"seat":%d,"action":%b,"elapsed_ms":%d'
        b',"allowance_ms":%d,"wait_ms":%d%b%b}'
    ) % (
        fields["seq"],
        fields["at_ms"],
        fields["ply"],
        fields["seat"],
        to_json(fields["action"]),
        fields["elapsed_ms"],
        fields["allowance_ms"],
        fields["wait_ms"],
        b"" if lag is None else b',"lag_ms":%d' % lag,
        b"" if request is None else b',"id":%d' % request,
    )


def _refuse_wide(data: bytes | bytearray | str) -> None:
    """Raise `DecodeError` if there are too many lists, or too many fields in one object.

    Invalid JSON is left to the validation.
    """
    raw = data.encode() if isinstance(data, str) else data
    if raw.count(b"[") + raw.count(b"{") > MAX_BRACKETS:
        problem = f"the message has more than {MAX_BRACKETS} brackets and braces"
        raise DecodeError(Code.MALFORMED, problem)  # without its id, which only a parser finds
    if raw.count(b":") <= MAX_FIELDS:
        return
    try:
        parts = [from_json(data)]
    except ValueError:
        return
    for part in parts:  # grows while it is walked
        if isinstance(part, dict) and len(part) > MAX_FIELDS:
            problem = f"an object has {len(part)} fields, and no message has one with more than"
            raise DecodeError(Code.MALFORMED, f"{problem} {MAX_FIELDS}", _request_id(data))
        inside = part.values() if isinstance(part, dict) else part
        parts += [inner for inner in inside if type(inner) is dict or type(inner) is list]


def _refuse(
    error: ValidationError, data: bytes | bytearray | str, request: int, outer: int = 0
) -> DecodeError:
    """Return the refusal; places of the message's own fields have `outer` parts, 0 for none."""
    count = error.error_count()
    if count > MAX_EXPLAINED:
        problem = f"{count} things are wrong with this message: compare it with docs/protocol"
        return DecodeError(Code.MALFORMED, problem, request)
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    first = errors[0]
    # A type inside the message, such as that of a seat, is a part of it like any other.
    unknown = first["type"] == "union_tag_invalid" and not first["loc"]
    named = unknown and isinstance(from_json(data)["type"], str)
    code = Code.UNKNOWN_TYPE if named else Code.MALFORMED
    return DecodeError(code, explain(error, data), request, _unknown_fields(errors, outer))


def _unknown_fields(errors: Sequence[ErrorDetails], outer: int) -> tuple[str, ...]:
    """Return the names of unknown fields, if that is all that is wrong and none is nested."""
    if any(error["type"] != "extra_forbidden" or len(error["loc"]) != outer for error in errors):
        return ()
    return tuple(str(error["loc"][-1]) for error in errors)


def _request_id(data: bytes | bytearray | str) -> int:
    try:
        return _REQUEST.validate_json(data, strict=True).id
    except ValidationError:
        return 0


def _answer_id(data: bytes | bytearray | str) -> int:
    try:
        return _ANSWER.validate_json(data).re
    except ValidationError:
        return 0
