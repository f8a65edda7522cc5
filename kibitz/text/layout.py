"""Text layout for a terminal: wrapped paragraphs and two columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence


def wrap(text: str, width: int, indent: str = "", first: str | None = None) -> list[str]:
    """Wrap `text` at `width` columns; the first line begins with `first`."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def two_columns(rows: Sequence[tuple[str, str]], width: int, indent: str = "") -> Iterator[str]:
    """Yield lines of two columns, with the second one wrapped."""
    edge = max((len(head) for head, _ in rows), default=0) + 2
    for head, text in rows:
        yield from wrap(text, width, " " * (len(indent) + edge), indent + head.ljust(edge))
