"""The codec of messages: the only module that reads and writes their JSON.

It reads only with `validate_json` on bytes. `json.loads` on a peer's data would let deep nesting,
giant integers and lone surrogates through to code that does not expect them.

The cost of an invalid frame must be in proportion to its size. pydantic collects all errors, and
explaining one takes longer than sending the field did. Therefore the validation of a list ends at
its first error (`fail_fast`), objects with too many fields are refused before validation, and only
a few errors are explained.
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
"""The most fields that one object in a request may have; no message needs more."""
MAX_BRACKETS: Final = 2048
"""The most opening brackets and braces in a request, including those in strings. Each may start a
list, which takes 300 bytes and is slower to build than any other value."""
MAX_EXPLAINED: Final = 64
"""If a message has more errors than this, the refusal gives only their number."""
_SMALL: Final = 6 * MAX_FIELDS
"""The largest size, in bytes, at which a message cannot have more than `MAX_FIELDS` fields."""

# A server reads only the former and a client only the latter, so each is built on first use.
_CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage, config={"defer_build": True})
_SERVER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage, config={"defer_build": True})


class _Request(BaseModel):
    """The part of a request that is needed to answer it, even if the rest is invalid."""

    id: RequestId = 0


class _Typed(_Request):
    """The part of a request that gives its type; None if it has no type."""

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

    `request` is its id, or 0. `unknown` names its unknown fields if that is the only fault and none
    of them is in a nested object.
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

    Values are not converted: ``"5"``, ``5.0`` and ``true`` are not integers.
    """
    if len(data) > _SMALL:
        _refuse_wide(data)
    try:
        # The adapter's own `validate_json` only forwards twelve arguments.
        return _CLIENT.validator.validate_json(data, strict=True)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise _refuse(error, data, _request_id(data), outer=2) from None


def decode_hello(data: bytes | bytearray) -> Hello:
    """Read the first message of a connection, or raise `DecodeError`.

    Any other type of request is refused as `hello_first`, without validation.
    """
    if len(data) > MAX_HELLO:
        raise DecodeError(Code.TOO_LARGE, "hello has ")
    try:
        typed = _TYPED.validate_json(data, strict=True)
    except ValidationError:
        pass  # validating it as a hello raises the error to send
    else:
        if typed.type is not None and typed.type != "hello":
            raise DecodeError(Code.HELLO_FIRST, "the first message must be hello", typed.id)
    _refuse_wide(data)
    try:
        return _HELLO.validate_json(data, strict=True)
    except ValidationError as error:
        raise _refuse(error, data, _request_id(data), outer=1) from None


def ignore_unknown(data: bytes | bytearray, error: DecodeError, *, newer: bool) -> ClientMessage:
    """Decode a request without its unknown fields after it failed with `error`, or raise `error`.

    Only a client of a newer version (`newer`, or a hello that says so) may send unknown fields, so
    that it can use an older server. Unknown fields are never ignored in a request that sets terms
    (`Request.sets_terms`) or in nested objects, because the client may rely on a limit or condition
    in them.
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

    Ignores unknown fields everywhere, even in models in which a server would refuse them, because a
    newer server may send more fields.
    """
    try:
        return _SERVER.validate_json(data, extra="ignore")
    except ValidationError as error:
        raise _refuse(error, data, _answer_id(data)) from None


def encode(message: BaseModel) -> bytes:
    """Encode a message as JSON, without absent fields."""
    return message.__pydantic_serializer__.to_json(message, exclude_none=True, by_alias=True)


def encode_entry(entry: Entry) -> bytes:
    """Encode a log's entry like `encode`, but twice as fast for moves, the most common entries."""
    if type(entry) is not Moved or entry.comment is not None:
        return encode(entry)
    fields = entry.__dict__  # reading attributes of a model would take three times as long
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
    """Raise `DecodeError` if a message has too many brackets, or an object too many fields.

    Ignores invalid JSON, which the validation reports.
    """
    raw = data.encode() if isinstance(data, str) else data
    if raw.count(b"[") + raw.count(b"{") > MAX_BRACKETS:
        problem = f"the message has more than {MAX_BRACKETS} brackets and braces"
        # The error has no request id: only parsing could find it.
        raise DecodeError(Code.MALFORMED, problem)
    if raw.count(b":") <= MAX_FIELDS:
        return
    try:
        parts = [from_json(data)]
    except ValueError:
        return
    for part in parts:  # `parts` grows during the loop
        if isinstance(part, dict) and len(part) > MAX_FIELDS:
            problem = f"an object has {len(part)} fields, more than the limit of"
            raise DecodeError(Code.MALFORMED, f"{problem} {MAX_FIELDS}", _request_id(data))
        inside = part.values() if isinstance(part, dict) else part
        parts += [inner for inner in inside if type(inner) is dict or type(inner) is list]


def _refuse(
    error: ValidationError, data: bytes | bytearray | str, request: int, outer: int = 0
) -> DecodeError:
    """Return the error to raise.

    `outer` is the length of the error path of a top-level field; longer paths are nested fields.
    """
    count = error.error_count()
    if count > MAX_EXPLAINED:
        problem = f"{count} errors in this message: see docs/protocol for its format"
        return DecodeError(Code.MALFORMED, problem, request)
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    first = errors[0]
    # Only the type of the message itself counts, not a nested type, such as that of a seat.
    unknown = first["type"] == "union_tag_invalid" and not first["loc"]
    named = unknown and isinstance(from_json(data)["type"], str)
    code = Code.UNKNOWN_TYPE if named else Code.MALFORMED
    return DecodeError(code, explain(error, data), request, _unknown_fields(errors, outer))


def _unknown_fields(errors: Sequence[ErrorDetails], outer: int) -> tuple[str, ...]:
    """Return the unknown fields if there are no other errors and none of the fields is nested."""
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
