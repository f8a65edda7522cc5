"""Numbers on cards, in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kibitz_clients.palette import mix
from kibitz_clients.pictures import ink
from kibitz_clients.pictures.ink import INK, marble
from kibitz_clients.pictures.plan import CARD, Plan
from kibitz_games.scene import Cell, Mark

_HALF: Final = (CARD[0] / 2 - 4, 33.0)
_SIZES: Final = {1: 34, 2: 32, 3: 25}


class Cards:
    """Numbers."""

    def __init__(self, plan: Plan, cells: Sequence[Cell]) -> None:
        self.plan = plan
        self.cells = cells
        self.names = {cell.name for cell in cells}

    def definitions(self, seats: Sequence[int]) -> Iterator[str]:
        yield ink.gradient("card", ((0, "#ffffff"), (1, "#f6ecd6")), "linear")
        yield from ink.marbles(seats)

    def ground(self) -> Iterator[str]:
        for cell in self.cells:
            x, y = self.plan.points[cell.name]
            yield ink.rectangle((x + 1.5, y + 3), _HALF, 8, 'fill="#3a2508" opacity="0.22"')
            tone = "url(#card)" if cell.tint is None else mix("#fffaf0", marble(cell.tint), 0.3)
            looks = f'fill="{tone}" stroke="#c9a872" stroke-width="1.2"'
            yield ink.rectangle((x, y), _HALF, 8, looks)

    def marks(self) -> Iterator[str]:
        for mark in self.plan.scene.marks:
            for name in mark.cells:
                if name in self.names:
                    yield from self._mark(mark, name)

    def _mark(self, mark: Mark, name: str) -> Iterator[str]:
        colour = INK if mark.seat is None else mix(marble(mark.seat), "#000000", 0.1)
        at = self.plan.points[name]
        dashes = ' stroke-dasharray="6 4"' if mark.kind in {"from", "path"} else ""
        if mark.kind != "vision":
            yield ink.rectangle(at, _HALF, 8, f'fill="{colour}" opacity="0.16"')
            looks = f'fill="none" stroke="{colour}" stroke-width="3.2"{dashes}'
            yield ink.rectangle(at, _HALF, 8, looks)

    def pieces(self) -> Iterator[str]:
        for cell in self.cells:
            x, y = self.plan.points[cell.name]
            size = _SIZES.get(len(cell.glyph), 20)
            yield ink.text(x, y + size * 0.35, cell.glyph, size, anchor="middle", weight="bold")
            if cell.owner is not None:
                yield from ink.ball(cell.owner, x + _HALF[0] - 9, y - _HALF[1] + 9, 7)

    def ways(self) -> Iterator[str]:
        yield from ()

    def token(self, seat: int, x: float, y: float) -> Iterator[str]:
        yield from ink.ball(seat, x, y, 12)
