"""The names of a match's players as people read them."""

from __future__ import annotations

from typing import Final

from kibitz_protocol import printable
from kibitz_protocol.wire.records import PlayerKind

ELLIPSIS: Final = "…"
HOUSE: Final = "house "
"""The prefix that reserves the names of house bots; like web pages, clients do not show it."""


def shown_name(name: str, kind: PlayerKind = "house") -> str:
    """Return a player's name on one line, without the prefix of house bots.

    Without `kind`, which standings do not have, the name alone decides.
    """
    return printable.line(name.removeprefix(HOUSE) if kind == "house" else name)


def shorten(name: str, room: int) -> str:
    """Return a name cut to `room` columns in its middle."""
    from rich.cells import cell_len, set_cell_size  # needed only where columns are narrow

    if cell_len(name) <= room:
        return name
    end = name[len(name) - room // 3 :]
    return set_cell_size(name, room - 1 - cell_len(end)).rstrip() + ELLIPSIS + end
