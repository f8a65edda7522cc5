"""The ids of messages that cannot be read: just enough of one to say which it was."""

from __future__ import annotations

from pydantic import BaseModel, TypeAdapter, ValidationError

from kibitz_protocol.wire.values import RequestId


class _Request(BaseModel):
    """Just enough of a request to answer it, however wrong the rest is."""

    id: RequestId = 0


class _Answer(BaseModel):
    """Just enough of an answer to know for which request it is."""

    re: RequestId = 0


_REQUEST = TypeAdapter(_Request)
_ANSWER = TypeAdapter(_Answer)


def request_id(data: bytes | bytearray | str) -> int:
    """Return the id of a message towards the server, 0 where it has none."""
    try:
        return _REQUEST.validate_json(data, strict=True).id
    except ValidationError:
        return 0


def answer_id(data: bytes | bytearray | str) -> int:
    """Return the id that a message from the server answers, 0 where it has none."""
    try:
        return _ANSWER.validate_json(data).re
    except ValidationError:
        return 0
