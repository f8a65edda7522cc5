"""The rules of the games in Markdown: the pages of `docs/games`, wherever they are installed."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parents[1]
PLACES = (HERE.parent / "kibitz_rulebook", HERE.parent / "docs" / "games")
"""In an installed package, and in a checkout."""
_HIDDEN = re.compile(r"^(?:!\[|<!--).*\n+", re.MULTILINE)
"""Pictures, and the marks between which a table is generated."""


def page(game: str) -> str | None:
    """Return the page of a game in Markdown, None where there is none."""
    for place in PLACES:
        path = place / f"{game}.md"
        if re.fullmatch(r"[a-z0-9-]+", game) and path.is_file():
            return _HIDDEN.sub("", path.read_text(encoding="utf-8"))
    return None
