"""A Textual line filter that removes control characters and escape sequences from screens.

Untrusted text is made safe when it is formatted (`printable.line`). This filter catches omissions,
so that a careless widget does no harm.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from kibitz_protocol import printable


class PrintableFilter(LineFilter):
    """A filter that replaces unsafe characters without changing the width of a line."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with only safe text."""
        return [
            segment
            if segment.control or (segment.text.isascii() and segment.text.isprintable())
            else Segment("".join(map(_safe, segment.text)), segment.style)
            for segment in segments
        ]


def _safe(character: str) -> str:
    return character if printable.is_safe(character) else "?" * cell_len(character)
