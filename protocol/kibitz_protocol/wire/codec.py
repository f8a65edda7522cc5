"""The codec of messages: the one module where their JSON is read and written.

Reading is `validate_json` on bytes and nothing else: plain `json.loads` on a peer's data lets
deep nesting, giant integers and lone surrogates through to code that does not expect them.
"""

from __future__ import annotations

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_json

from kibitz_protocol.wire.explain import explain
from kibitz_protocol.wire.messages import ClientMessage, ServerMessage
from kibitz_protocol.wire.records import Entry, Moved
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import RequestId

_CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
_CLIENT_VALIDATOR = _CLIENT.validator  # what its `validate_json` passes twelve arguments on to
# A server starts some 50 ms sooner: it never reads what servers send.
_SERVER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage, config={"defer_build": True})


class _Request(BaseModel):
    """Just enough of a request to answer it, however wrong the rest is."""

    id: RequestId = 0


class _Answer(BaseModel):
    """Just enough of an answer to know for which request it is."""

    re: RequestId = 0


_REQUEST = TypeAdapter(_Request)
_ANSWER = TypeAdapter(_Answer)


class DecodeError(ValueError):
    """Bytes that are no message; `request` is the id that they carried, or 0."""

    def __init__(self, code: Code, message: str, request: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.request = request


def decode_request(data: bytes | bytearray | str) -> ClientMessage:
    """Read a message towards the server, or raise `DecodeError`.

    Nothing is converted: ``"5"``, ``5.0`` and ``true`` are no integers.
    """
    try:
        return _CLIENT_VALIDATOR.validate_json(data, strict=True)  # type: ignore[no-any-return]
    except ValidationError as error:
        raise _refuse(error, data, _request_id(data)) from None


def decode_server_message(data: bytes | bytearray | str) -> ServerMessage:
    """Read a message from the server, or raise `DecodeError` with the `re` of an answer.

    Unknown fields are passed over wherever they are, also in models that a server would not
    accept them in: a newer server may know more.
    """
    try:
        return _SERVER.validate_json(data, extra="ignore")
    except ValidationError as error:
        raise _refuse(error, data, _answer_id(data)) from None


def encode(message: BaseModel) -> bytes:
    """Write a message, absent fields left out."""
    return message.__pydantic_serializer__.to_json(message, exclude_none=True, by_alias=True)


def encode_entry(entry: Entry) -> bytes:
    """Write an entry of a log: what `encode` does, and a move, which most are, in half the time."""
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


def _refuse(error: ValidationError, data: bytes | bytearray | str, request: int) -> DecodeError:
    first = error.errors(include_url=False, include_context=False)[0]
    # A type inside the message, such as that of a seat, is a part of it like any other.
    unknown = first["type"] == "union_tag_invalid" and not first["loc"]
    named = unknown and isinstance(first["input"]["type"], str)
    return DecodeError(
        Code.UNKNOWN_TYPE if named else Code.MALFORMED, explain(error, data), request
    )


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
