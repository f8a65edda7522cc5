"""Files of trained weights: small JSON objects that include their provenance. ::

    {"schema": "kibitz-weights/1", "game": "chinese-checkers", "kind": "hole-distances",
     "shape": {"board": "star", "size": 4, "goal": 3, "seats": 2}, "weights": [...],
     "hash": "...", "command": "kibitz train ...", "seed": 7, "date": "2026-01-31",
     "package": "0.1.0", "notes": {...}}

`hash` covers the game, the kind, the shape and the weights, so two files with the same weights have
the same hash, regardless of when they were created.

    WeightsError   the file is damaged or for another purpose; the message says what was expected
"""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

SCHEMA: Literal["kibitz-weights/1"] = "kibitz-weights/1"
MOST = 1 << 20
"""The maximum number of weights in a file."""
LARGEST_BYTES = 64 << 20
LARGEST = 1e6
"""The largest absolute weight, so that sums are exact and do not overflow."""


class WeightsError(ValueError):
    """A file of weights that cannot be used; `str()` is a message for people."""


class WeightsFile(BaseModel):
    """The contents of a weights file."""

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
                f"the hash of its weights is {self.digest()[:12]}..., not the one it contains"
            )
        return self

    def digest(self) -> str:
        """Return the hash of the game, the kind, the shape and the weights."""
        content = [self.game, self.kind, self.shape, self.weights]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def text_of(file: WeightsFile) -> str:
    """Return the text of a weights file."""
    return json.dumps(file.model_dump(mode="json"), indent=1) + "\n"


def load(path: Path, *, game: str, kind: str | tuple[str, ...]) -> WeightsFile:
    """Read weights for a game, of one kind or any of several, or raise `WeightsError`."""
    try:
        file = WeightsFile.model_validate_json(_text(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        text = first["msg"].removeprefix("Value error, ")
        message = f"{where}: {text}" if where else text
        raise WeightsError(f"{path}: expected a weights file ({SCHEMA}): {message}") from None
    kinds = (kind,) if isinstance(kind, str) else kind
    for name, actual, expected in (("game", file.game, (game,)), ("kind", file.kind, kinds)):
        if actual not in expected:
            wanted = " or ".join(expected)
            raise WeightsError(f"{path}: expected the {name} {wanted}, not {actual}")
    if max(map(abs, file.weights)) > LARGEST:
        raise WeightsError(f"{path}: expected weights from -{LARGEST:g} to {LARGEST:g}")
    return file


def _text(path: Path) -> str:
    """Return the text of a file; the path comes from users and may be anything."""
    try:
        found = path.stat()
        # Reading from a pipe or device may never end.
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise WeightsError(f"{path}: expected a weights file, not a pipe or device")
        with open(path, "rb") as file:
            # `read` allocates as many bytes as it is asked for.
            data = file.read(min(found.st_size, LARGEST_BYTES) + 1)
        if len(data) > LARGEST_BYTES:
            raise WeightsError(
                f"{path}: expected a weights file of at most {LARGEST_BYTES >> 20} MiB"
            )
        return data.decode()
    except (OSError, UnicodeError, ValueError) as error:
        if isinstance(error, WeightsError):
            raise
        raise WeightsError(f"{path}: expected a weights file ({_reason(error)})") from None


def _reason(error: Exception) -> Any:
    if isinstance(error, OSError):
        return error.strerror
    return "not a text file" if isinstance(error, UnicodeError) else error
