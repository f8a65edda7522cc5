"""Shortened names of a match's players."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len, set_cell_size

ELLIPSIS: Final = "…"
HOUSE: Final = "house "
"""The prefix of house bots, the least informative part of their names."""


def shorten(name: str, room: int) -> str:
    """Return a name cut to `room` columns: first its house prefix, then its middle."""
    if cell_len(name) <= room:
        return name
    bare = name.removeprefix(HOUSE)
    if cell_len(bare) <= room:
        return bare
    end = bare[len(bare) - room // 3 :]
    return set_cell_size(bare, room - 1 - cell_len(end)).rstrip() + ELLIPSIS + end
