"""The rules of the games in words: the pages of `docs/games`, wherever they are installed."""

from __future__ import annotations

import re
from pathlib import Path

_HERE = Path(__file__).parents[2]
PLACES = (_HERE / "kibitz_rulebook", _HERE.parent / "docs" / "games")
"""In an installed package, and in a checkout."""
_HIDDEN = re.compile(r"^(?:!\[|<!--).*\n+", re.MULTILINE)
"""Pictures, and the marks between which a table is generated."""


def path(game: str) -> Path | None:
    """Return where the page of a game is, None where there is none."""
    if not re.fullmatch(r"[a-z0-9-]+", game):
        return None
    pages = (place / f"{game}.md" for place in PLACES)
    return next((page for page in pages if page.is_file()), None)


def page(game: str) -> str | None:
    """Return the page of a game in Markdown, None where there is none."""
    found = path(game)
    return None if found is None else _HIDDEN.sub("", found.read_text(encoding="utf-8"))
