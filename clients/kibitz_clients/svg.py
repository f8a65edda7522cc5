"""A scene as a self-contained SVG picture: a board on a page, with words around it.

What a board is made of follows from the grounds of its places: hollows are in wood with
marbles, crossings carry stones, tiles carry vehicles, numbers stand on cards (`pictures`). The
text is the same for the same scene, byte for byte: no fonts are embedded, no times, no random
identifiers.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias
from xml.sax.saxutils import escape

from kibitz_clients.pictures import ink
from kibitz_clients.pictures.cards import Cards
from kibitz_clients.pictures.crossings import Crossings
from kibitz_clients.pictures.ink import FAINT, n
from kibitz_clients.pictures.plan import Material, Plan
from kibitz_clients.pictures.tiles import Tiles
from kibitz_clients.pictures.wood import Wood
from kibitz_games.scene import Cell, Ground, Scene
from kibitz_protocol import printable

HEADER: Final = 62.0
LEGEND_ROW: Final = 34.0
TEXT_ROW: Final = 20.0
LETTER: Final = 7.2
"""Pixels of a letter of the scene's text, on average: lines are broken by it."""
NARROWEST: Final = 420.0
"""Pixels that the words need beside each other."""

_Maker: TypeAlias = Callable[[Plan, Sequence[Cell]], Material]
_MADE_OF: Final[Mapping[_Maker, frozenset[Ground]]] = {
    Wood: frozenset({"hole", "home", "goal"}),
    Crossings: frozenset({"point"}),
    Cards: frozenset({"number"}),
    Tiles: frozenset({"floor", "fog", "seen", "rock", "wreck", "gone"}),
}


@dataclass(frozen=True, slots=True)
class Caption:
    """The words around the board. `players` are in seat order; `notes` stand after them."""

    title: str = ""
    subtitle: str = ""
    players: Sequence[str] = ()
    notes: Sequence[str] = ()


def render(scene: Scene, caption: Caption | None = None) -> str:
    """Return `scene` as the text of an SVG file."""
    page = _Page(scene, caption or Caption())
    return "\n".join(page.lines()) + "\n"


class _Page:
    """Where everything is on the page, and the elements from back to front."""

    def __init__(self, scene: Scene, caption: Caption) -> None:
        self.scene = scene
        self.caption = caption
        self.plan = plan = Plan(scene)
        self.width = max(plan.board_width, NARROWEST)
        self.header = HEADER if caption.title or caption.subtitle else 0.0
        self.columns = max(1, min(len(caption.players), int((self.width - 48) // 180), 3))
        rows = math.ceil(len(caption.players) / self.columns)
        legend = rows * LEGEND_ROW + 22 if rows else 0.0
        room = int((self.width - 52) / LETTER)
        self.told = [line for text in scene.text for line in textwrap.wrap(text, room)]
        self.below = self.header + plan.board_height
        self.legend = self.below + (len(self.told) * TEXT_ROW + 24 if self.told else 0.0)
        self.height = self.legend + legend
        plan.lay((self.width - plan.board_width) / 2, self.header)
        self.materials = list(_materials(plan))

    def lines(self) -> Iterator[str]:
        width, height = n(self.width), n(self.height)
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="Georgia, \'Times New Roman\', serif">'
        )
        if self.caption.title:
            yield f"<title>{escape(printable.line(self.caption.title))}</title>"
        yield from self._definitions()
        yield f'<rect width="{width}" height="{height}" rx="18" fill="url(#paper)"/>'
        yield from self._words()
        yield from _each(material.ground() for material in self.materials)
        yield from self._labels()
        yield from _each(material.marks() for material in self.materials)
        yield from _each(material.pieces() for material in self.materials)
        yield from _each(material.ways() for material in self.materials)
        yield from self._told()
        yield from self._legend()
        yield "</svg>"

    def _definitions(self) -> Iterator[str]:
        yield "<defs>"
        yield ink.gradient("paper", ((0, "#fffdf8"), (1, "#f3ead8")), "linear")
        # Materials may share the colours of the seats: each is defined once.
        made = (material.definitions(self._seats()) for material in self.materials)
        yield from dict.fromkeys(chain.from_iterable(made))
        yield "</defs>"

    def _seats(self) -> list[int]:
        owners = {cell.owner for cell in self.plan.cells if cell.owner is not None}
        return sorted(owners | set(range(len(self.caption.players))))

    def _words(self) -> Iterator[str]:
        if self.caption.title:
            yield ink.text(26, 34, self.caption.title, 21, weight="bold")
        if self.caption.subtitle:
            yield ink.text(26, 55, self.caption.subtitle, 14, fill=FAINT, style="italic")

    def _labels(self) -> Iterator[str]:
        for label in self.scene.labels:
            x, y = self.plan.label(label)
            yield ink.text(x, y + 5, label.text, 14, fill=FAINT, anchor="middle")

    def _told(self) -> Iterator[str]:
        for row, line in enumerate(self.told):
            yield ink.text(26, self.below + 16 + row * TEXT_ROW, line, 14)

    def _note(self, seat: int) -> str:
        """Return what stands below a player's name: the colour of the pieces, and more."""
        colours, notes = self.scene.colours, self.caption.notes
        parts = [colours[seat] if seat < len(colours) else "", *notes[seat : seat + 1]]
        return ", ".join(part for part in parts if part)

    def _legend(self) -> Iterator[str]:
        column = (self.width - 48) / self.columns
        for seat, name in enumerate(self.caption.players):
            x = 24 + (seat % self.columns) * column
            y = self.legend + 14 + (seat // self.columns) * LEGEND_ROW
            for material in self.materials[:1]:
                yield from material.token(seat, x + 14, y)
            note = self._note(seat)
            yield ink.text(x + 34, y + (0 if note else 5), _short(name, 22), 15, weight="bold")
            if note:
                yield ink.text(x + 34, y + 14, _short(note, 30), 12, fill=FAINT)


def _materials(plan: Plan) -> Iterator[Material]:
    """Yield what the board is made of, each part with its places."""
    for make, grounds in _MADE_OF.items():
        cells = [cell for cell in plan.cells if cell.ground in grounds]
        if cells:
            yield make(plan, cells)


def _each(parts: Iterable[Iterator[str]]) -> Iterator[str]:
    return chain.from_iterable(parts)


def _short(words: str, length: int) -> str:
    return words if len(words) <= length else words[: length - 1] + "…"
