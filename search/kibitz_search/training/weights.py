"""Files of trained weights: small JSON objects that say where the numbers come from.

::

    {"schema": "kibitz-weights/1", "game": "chinese-checkers", "kind": "hole-distances",
     "shape": {"board": "star", "size": 4, "goal": 3, "seats": 2}, "weights": [...],
     "hash": "...", "command": "kibitz train ...", "seed": 7, "date": "2026-01-31",
     "package": "0.1.0", "notes": {...}}

`hash` is that of the game, the kind, the shape and the weights, so that two files with the same
weights have the same hash, whenever they were made.

    WeightsError   a file that is damaged, or is for something else; says file and expectation
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

SCHEMA: Literal["kibitz-weights/1"] = "kibitz-weights/1"
MOST = 1 << 20
"""More numbers than this are in no file."""
LARGEST_BYTES = 64 << 20


class WeightsError(ValueError):
    """A file of weights that cannot be used; `str()` is fit for a person."""


class WeightsFile(BaseModel):
    """What such a file has."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        populate_by_name=True,
        serialize_by_alias=True,
    )

    schema_: Literal["kibitz-weights/1"] = Field(SCHEMA, alias="schema")
    game: str
    kind: str
    shape: dict[str, int | str]
    weights: list[float] = Field(min_length=1, max_length=MOST)
    hash: str = ""
    command: str = ""
    seed: int | None = None
    date: str = ""
    package: str = ""
    notes: dict[str, int | float | str] = {}

    @model_validator(mode="after")
    def _check_hash(self) -> Self:
        if not self.hash:
            object.__setattr__(self, "hash", self.digest())
        elif self.hash != self.digest():
            raise ValueError(
                f"the hash of its weights is {self.digest()[:12]}..., not that it says"
            )
        return self

    def digest(self) -> str:
        """Return the hash of what plays."""
        content = [self.game, self.kind, self.shape, self.weights]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def save(path: Path, file: WeightsFile) -> None:
    """Write a file so that it is whole, or the former one, whatever happens."""
    partial = path.with_name(f"{path.name}.partial")
    with open(partial, "w", encoding="utf-8") as out:
        out.write(json.dumps(file.model_dump(mode="json"), indent=1) + "\n")
        out.flush()
        os.fsync(out.fileno())
    os.replace(partial, path)


def load(path: Path, *, game: str, kind: str) -> WeightsFile:
    """Read the weights of a game, or raise `WeightsError`."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise WeightsError(f"{path}: expected a file of weights, not so large a one")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise WeightsError(f"{path}: expected a file of weights ({_reason(error)})") from None
    try:
        file = WeightsFile.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        said = f"{where}: {first['msg']}" if where else first["msg"]
        raise WeightsError(f"{path}: expected a file of weights ({SCHEMA}): {said}") from None
    for name, found, expected in (("game", file.game, game), ("kind", file.kind, kind)):
        if found != expected:
            raise WeightsError(f"{path}: expected the {name} {expected}, not {found}")
    return file


def _reason(error: Exception) -> Any:
    return error.strerror if isinstance(error, OSError) else "it is no text"
