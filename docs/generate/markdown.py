"""Helpers for generating Markdown."""

from __future__ import annotations

from collections.abc import Sequence


class NoMarkersError(ValueError):
    """A page without markers around its generated text."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table that ends with an empty line."""
    lines = [_row(heads), "|" + "---|" * len(heads), *map(_row, rows)]
    return "\n".join([*lines, ""])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def between(page: str, begin: str, end: str, text: str) -> str:
    """Return `page` with the text between the lines `begin` and `end` replaced by `text`.

    Raises `NoMarkersError` if one of the lines is missing.
    """
    before, first, rest = page.partition(f"{begin}\n")
    _, last, after = rest.partition(end)
    if not first or not last:
        raise NoMarkersError(f"expected the lines {begin!r} and {end!r} in the page")
    return f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}"
