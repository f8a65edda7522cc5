"""Validation of bots' comments, so that a bad one never loses a game.

A comment contains whatever a search or a program has: a value of ``inf``, a line of a hundred
moves, a text with half a character. Each field is validated alone; fields that the protocol does
not accept are left out, with a sentence about the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from kibitz_games.core.integers import integer
from kibitz_protocol import printable
from kibitz_protocol.wire.records import Comment

MOST_BYTES = 8 * 1024
"""The largest comment as JSON: half of the frame that the server reads."""
FIELDS = tuple(Comment.model_fields)
_WHOLE_NUMBERS = ("depth", "nodes")


def readable_comment(written: object) -> tuple[Comment | None, list[str]]:
    """Return the part of `written` that can be sent, or None, and the faults of the rest.

    `written` is a `Comment`, a mapping of its fields, or any other value that a bot returned.
    """
    if written is None:
        return None, []
    if isinstance(written, Comment):
        written = {name: getattr(written, name, None) for name in FIELDS}
    if not isinstance(written, Mapping):
        return None, [f"expected an object with {', '.join(FIELDS)}, not {_shown(written)}"]
    kept: dict[str, Any] = {}
    faults: list[str] = []
    for name, value in written.items():
        if value is None:
            continue
        if name not in FIELDS:
            faults.append(f"{_shown(name)}: expected one of {', '.join(FIELDS)}")
        elif (why := _fault(name, plain := _plain(name, value))) is not None:
            faults.append(f"{name}: {why}, not {_shown(value)}")
        elif _size(kept | {name: plain}) > MOST_BYTES:
            faults.append(f"{name}: the comment would be longer than {MOST_BYTES} bytes")
        else:
            kept[name] = plain
    return _written(kept) if kept else None, faults


def _written(fields: dict[str, Any]) -> Comment:
    return Comment.model_validate(fields)


def _size(fields: dict[str, Any]) -> int:
    return len(_written(fields).model_dump_json().encode())


def _plain(name: str, value: Any) -> Any:
    """Return a field's value as Python's own type, if it is a number of another library."""
    if name in _WHOLE_NUMBERS:
        whole = integer(value)
        return value if whole is None else whole
    if name == "line" and isinstance(value, tuple):
        return list(value)
    return value


def _fault(name: str, value: Any) -> str | None:
    """Return why the protocol does not take a field, or None."""
    try:
        _written({name: value}).model_dump_json()
    except ValidationError as error:
        return error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
    except Exception as error:  # noqa: BLE001 - foreign numbers may raise anything when read
        return f"{type(error).__name__}"
    return None


def _shown(value: object) -> str:
    """Return the beginning of a value for people, even of one that cannot be printed."""
    try:
        text = f"{value!r:.80}"
    except Exception:  # noqa: BLE001 - a foreign `__repr__` may raise anything
        text = f"a {type(value).__name__}"
    return printable.line(text)
