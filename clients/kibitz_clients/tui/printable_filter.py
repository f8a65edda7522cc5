"""A Textual line filter: no segment of a screen holds control characters or escape sequences.

Text of others is made safe where it is put together (`printable.line`). This filter takes out what
was forgotten there, so that a careless widget can do no harm.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from kibitz_protocol import printable


class PrintableFilter(LineFilter):
    """Replaces characters that are not safe, without changing how wide a line is."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with safe text only."""
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else Segment("".join(map(_safe, segment.text)), segment.style)
            for segment in segments
        ]


def _safe(character: str) -> str:
    return character if printable.is_safe(character) else "?" * cell_len(character)
