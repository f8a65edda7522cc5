"""Validation of bots' comments, so that an invalid comment never costs a game.

Searches and programs may produce invalid comments: a value of ``inf``, a line of a hundred moves,
text with half a surrogate pair. Each field is validated separately. Invalid fields are dropped,
each with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from kibitz_games.core.integers import integer
from kibitz_protocol import printable
from kibitz_protocol.wire.records import Comment

MOST_BYTES = 8 * 1024
"""The maximum size of a comment as JSON: half of the server's frame limit."""
FIELDS = tuple(Comment.model_fields)
_WHOLE_NUMBERS = ("depth", "nodes")


def readable_comment(written: object) -> tuple[Comment | None, list[str]]:
    """Return the valid part of `written`, or None, and the faults of the rest.

    `written` is a `Comment`, a mapping of its fields, or any other value returned by a bot.
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
            faults.append(f"{name}: the comment would exceed {MOST_BYTES} bytes")
        else:
            kept[name] = plain
    return _written(kept) if kept else None, faults


def _written(fields: dict[str, Any]) -> Comment:
    return Comment.model_validate(fields)


def _size(fields: dict[str, Any]) -> int:
    return len(_written(fields).model_dump_json().encode())


def _plain(name: str, value: Any) -> Any:
    """Convert a number of another library to a built-in type; return other values unchanged."""
    if name in _WHOLE_NUMBERS:
        whole = integer(value)
        return value if whole is None else whole
    if name == "line" and isinstance(value, tuple):
        return list(value)
    return value


def _fault(name: str, value: Any) -> str | None:
    """Return why the protocol rejects a field, or None."""
    try:
        _written({name: value}).model_dump_json()
    except ValidationError as error:
        return error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
    except Exception as error:  # noqa: BLE001 - foreign numbers may raise anything when read
        return f"{type(error).__name__}"
    return None


def _shown(value: object) -> str:
    """Return the beginning of a value's repr, even if its ``repr`` fails."""
    try:
        text = f"{value!r:.80}"
    except Exception:  # noqa: BLE001 - a foreign `__repr__` may raise anything
        text = f"a {type(value).__name__}"
    return printable.line(text)
