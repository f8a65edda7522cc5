"""Names of a match's players in little room: shortened, and still told apart.

A name that does not fit loses its end ("alphabet…"). Those that then read like another one lose
their middle instead ("alph…ep-2"), or else their beginning, and where that is no better, the number
of the seat, from 1, tells them apart. The browser has the same rule
(`web/static/parts/short_names.js`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from rich.cells import cell_len

ELLIPSIS: Final = "…"
HOUSE: Final = "house "
"""What names of the server's own bots begin with, which tells the least."""

Cut: TypeAlias = Callable[[str, int, int], str]
"""Makes of a name, the characters to keep, and the number of the seat what is shown."""


def shorten(names: Sequence[str], room: int) -> list[str]:
    """Return the names by seat, each at most `room` columns wide where that is 3 or more.

    Different names stay different.
    """
    shown = [_fitting(name, seat, room, _end) for seat, name in enumerate(names, 1)]
    for cut in (_middle, _start, _numbered):
        for seat in _alike(names, shown):
            shown[seat] = _fitting(names[seat], seat + 1, room, cut)
    return shown


def _alike(names: Sequence[str], shown: Sequence[str]) -> list[int]:
    """Return the seats whose name reads like a different one of another seat."""
    meant: dict[str, set[str]] = {}
    for name, text in zip(names, shown, strict=True):
        meant.setdefault(text, set()).add(name)
    return [seat for seat, text in enumerate(shown) if len(meant[text]) > 1]


def _fitting(name: str, seat: int, room: int, cut: Cut) -> str:
    """Return a name, or as much of it as fits."""
    if cell_len(name) <= room:
        return name
    bare = name.removeprefix(HOUSE)
    if cell_len(bare) <= room and cut is not _numbered:
        return bare
    made = (cut(bare, kept, seat) for kept in range(len(bare) - 1, 0, -1))
    return next((text for text in made if cell_len(text) <= room), cut(bare, 1, seat))


def _end(name: str, kept: int, seat: int) -> str:
    return name[:kept] + ELLIPSIS


def _middle(name: str, kept: int, seat: int) -> str:
    return name[: kept - kept // 2] + ELLIPSIS + name[len(name) - kept // 2 :]


def _start(name: str, kept: int, seat: int) -> str:
    return ELLIPSIS + name[-kept:]


def _numbered(name: str, kept: int, seat: int) -> str:
    return f"{name[:kept]}{ELLIPSIS}{seat}"
