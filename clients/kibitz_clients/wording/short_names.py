"""Names of a match's players in little room."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len, set_cell_size

ELLIPSIS: Final = "…"
HOUSE: Final = "house "
"""What names of the server's own bots begin with, which tells the least."""


def shorten(name: str, room: int) -> str:
    """Return a name, or as much of its beginning and its end as fits into `room` columns."""
    if cell_len(name) <= room:
        return name
    bare = name.removeprefix(HOUSE)
    if cell_len(bare) <= room:
        return bare
    end = bare[len(bare) - room // 3 :]
    return set_cell_size(bare, room - 1 - cell_len(end)).rstrip() + ELLIPSIS + end
