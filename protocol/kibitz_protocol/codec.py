"""Between bytes and messages: the one place where JSON is read and written.

Reading is `validate_json` on bytes and nothing else: plain `json.loads` on a peer's data lets
deep nesting, giant integers and lone surrogates through to code that does not expect them.
"""

from __future__ import annotations

from pydantic import BaseModel, TypeAdapter, ValidationError

from kibitz_protocol.messages import ClientMessage, ServerMessage
from kibitz_protocol.refusals import Code

_CLIENT: TypeAdapter[ClientMessage] = TypeAdapter(ClientMessage)
_SERVER: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)


class _Id(BaseModel):
    """Just enough of a request to answer it, however wrong the rest is."""

    id: int = 0


_ID = TypeAdapter(_Id)


class DecodeError(ValueError):
    """Bytes that are no message; `request` is the id that they carried, or 0."""

    def __init__(self, code: Code, message: str, request: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.request = request


def decode_request(data: bytes | bytearray | memoryview | str) -> ClientMessage:
    """Read a message towards the server, or raise `DecodeError`."""
    try:
        return _CLIENT.validate_json(data)  # type: ignore[arg-type]
    except ValidationError as error:
        raise _explain(error, data) from None


def decode_news(data: bytes | str) -> ServerMessage:
    """Read a message from the server, or raise `DecodeError`."""
    try:
        return _SERVER.validate_json(data)
    except ValidationError as error:
        raise _explain(error, data) from None


def encode(message: BaseModel) -> bytes:
    """Write a message, absent fields left out."""
    return message.__pydantic_serializer__.to_json(message, exclude_none=True, by_alias=True)


def _explain(error: ValidationError, data: object) -> DecodeError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(str(part) for part in first["loc"])
    code = Code.UNKNOWN_TYPE if first["type"].startswith("union_tag") else Code.MALFORMED
    message = f"{path}: {first['msg']}" if path else first["msg"]
    return DecodeError(code, message[:300], _request_id(data))


def _request_id(data: object) -> int:
    try:
        return _ID.validate_json(data).id  # type: ignore[arg-type]
    except ValidationError:
        return 0
