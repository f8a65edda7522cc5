"""The basic types of messages and records, and the base classes of all models.

The server refuses unknown fields (`Strict`); clients ignore them (`Tolerant`), so that an older
client understands a newer server.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
)

MAX_FRAME = 16 * 1024
"""The largest frame that the server reads, in bytes."""
MAX_HELLO = 4 * 1024
"""The largest frame that the server reads before hello, in bytes."""
MAX_SAFE_INT = 2**53 - 1
"""The largest integer that every JSON implementation reads exactly."""


class Strict(BaseModel):
    """A model that peers send to the server. It refuses unknown fields and infinite numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Tolerant(BaseModel):
    """A model that the server sends. Readers ignore unknown fields."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)


Millis: TypeAlias = Annotated[int, Field(ge=0, le=MAX_SAFE_INT)]
Seq: TypeAlias = Annotated[int, Field(ge=0, le=MAX_SAFE_INT)]
RequestId: TypeAlias = Annotated[int, Field(ge=1, le=MAX_SAFE_INT)]
RequestKey: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
"""Identifies a request: a digest of the player, its program and the request's id."""
SeatIndex: TypeAlias = Annotated[int, Field(ge=0, le=15)]
Key: TypeAlias = Annotated[str, Field(min_length=1, max_length=32, pattern=r"^[A-Za-z0-9_-]+$")]
"""An identifier of a match, a lobby or a player, made by the server."""
GameName: TypeAlias = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z0-9-]+$")]
Personality: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=120, pattern=r"^[a-z0-9-]+/[a-z0-9-]+(:[a-z0-9_.,=-]+)?$")
]
"""A house bot: ``game/name``, with parameters after a colon (``depth=6``)."""
PlayerName: TypeAlias = Annotated[str, Field(min_length=1, max_length=32)]
"""A name as typed; the server normalizes it and refuses look-alikes."""
Tag: TypeAlias = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._~-]+$")]
"""A host's own name for a match that it arranged."""
Secret: TypeAlias = Annotated[str, Field(min_length=8, max_length=128)]
Line: TypeAlias = Annotated[str, Field(max_length=200)]

SafeInt: TypeAlias = Annotated[StrictInt, Field(ge=-MAX_SAFE_INT, le=MAX_SAFE_INT)]
Word: TypeAlias = Annotated[str, Field(max_length=200)]
Scalar: TypeAlias = StrictBool | SafeInt | Word
SeedText: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""256 bits in hexadecimal."""
Seed: TypeAlias = Annotated[StrictInt, Field(ge=0, le=MAX_SAFE_INT)] | SeedText
"""A seed set by a host: a short number, or 256 bits that nobody can guess. The same number in both
notations is the same seed."""
FieldName: TypeAlias = Annotated[str, Field(min_length=1, max_length=32)]
Action: TypeAlias = Annotated[dict[FieldName, Scalar], Field(max_length=8)]
"""An action: a flat JSON object, which the game's `Move` model validates later."""
_Several: TypeAlias = Annotated[list[SafeInt | Word], Field(max_length=400, fail_fast=True)]
Options: TypeAlias = Annotated[dict[FieldName, Scalar | _Several], Field(max_length=32)]
"""A game's options: a flat JSON object, which the game's `Options` model validates later."""


def seed_number(seed: int | str) -> int:
    """Return a seed as a number."""
    return seed if isinstance(seed, int) else int(seed, 16)


def derive_seed(seed: int | str, *path: str | int) -> int:
    """Derive a 256-bit seed from `seed` and `path`. It reveals nothing about `seed` or other seeds.

    Two paths that are equal when joined with slashes give the same seed.
    """
    text = "/".join(map(str, (seed, *path)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def without_nulls(sent: Any) -> Any:
    """Remove the null fields of a flat object; null means the same as absent."""
    if isinstance(sent, dict) and None in sent.values():
        return {name: value for name, value in sent.items() if value is not None}
    return sent


SentAction: TypeAlias = Annotated[dict[FieldName, Scalar | None], Field(max_length=8)]
"""An action as clients may send it; null fields count as absent.

Readers call `without_nulls`. A validator in Python would make reading a move 20% slower.
"""
SentOptions: TypeAlias = Annotated[
    Options,
    BeforeValidator(
        without_nulls,
        json_schema_input_type=Annotated[
            dict[FieldName, Scalar | _Several | None], Field(max_length=32)
        ],
    ),
]
"""Options as clients may send them; null fields count as absent."""
Fields: TypeAlias = dict[str, JsonValue]
"""A JSON object from the server, such as a game's view."""
