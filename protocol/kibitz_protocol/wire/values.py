"""The small types that messages and records are made of, and the base of every model.

Towards the server unknown fields are refused (`Strict`); our clients tolerate them
(`Tolerant`), so that an older client understands a newer server.
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
"""Largest frame that the server reads, in bytes."""
MAX_HELLO = 4 * 1024
"""Largest frame that the server reads before hello, in bytes."""
MAX_SAFE_INT = 2**53 - 1
"""Largest integer that every JSON implementation reads back exactly."""


class Strict(BaseModel):
    """A model that a peer sends to the server: nothing unknown, nothing infinite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Tolerant(BaseModel):
    """A model that the server sends: unknown fields are ignored by those who read it."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


Millis: TypeAlias = Annotated[int, Field(ge=0, le=MAX_SAFE_INT)]
Seq: TypeAlias = Annotated[int, Field(ge=0, le=MAX_SAFE_INT)]
RequestId: TypeAlias = Annotated[int, Field(ge=1, le=MAX_SAFE_INT)]
SeatIndex: TypeAlias = Annotated[int, Field(ge=0, le=15)]
Key: TypeAlias = Annotated[str, Field(min_length=1, max_length=32, pattern=r"^[A-Za-z0-9_-]+$")]
"""An identifier that the server made: of a match, a lobby, a player."""
GameName: TypeAlias = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z0-9-]+$")]
Personality: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=120, pattern=r"^[a-z0-9-]+/[a-z0-9-]+(:[a-z0-9_.,=-]+)?$")
]
"""A house bot: ``game/name``, with parameters after a colon (``depth=6``)."""
PlayerName: TypeAlias = Annotated[str, Field(min_length=1, max_length=32)]
"""A name as typed; the server normalises it and refuses look-alikes."""
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
"""A seed that a host gives: a number that is easy to type, or one that nobody can guess. The two
ways to write the same number are the same seed."""
FieldName: TypeAlias = Annotated[str, Field(min_length=1, max_length=32)]
Action: TypeAlias = Annotated[dict[FieldName, Scalar], Field(max_length=8)]
"""An action: a flat JSON object that the game's own `Move` model validates next."""
_Several: TypeAlias = Annotated[list[SafeInt | Word], Field(max_length=400, fail_fast=True)]
Options: TypeAlias = Annotated[dict[FieldName, Scalar | _Several], Field(max_length=32)]
"""A game's options: a flat JSON object that the game's own `Options` model validates next."""


def seed_number(seed: int | str) -> int:
    """Return a seed as the number that it is."""
    return seed if isinstance(seed, int) else int(seed, 16)


def derive_seed(seed: int | str, *path: str | int) -> int:
    """Return a seed of 256 bits that `seed` and `path` determine, and that tells nothing of others.

    Two paths that read the same with slashes between their parts give the same seed.
    """
    text = "/".join(map(str, (seed, *path)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


def without_nulls(sent: Any) -> Any:
    """Leave out the fields of a flat object that are null, which means the same."""
    if isinstance(sent, dict) and None in sent.values():
        return {name: value for name, value in sent.items() if value is not None}
    return sent


SentAction: TypeAlias = Annotated[dict[FieldName, Scalar | None], Field(max_length=8)]
"""An action as a client may send it: a field that is null counts as left out.

Whoever reads it leaves it out (`without_nulls`). A validator in Python that did it here would be a
fifth of what reading a move costs.
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
"""Options as a client may send them."""
Fields: TypeAlias = dict[str, JsonValue]
"""A JSON object from the server, such as a game's view."""
