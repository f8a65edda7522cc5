"""The rules of the games as people read them: the pages of `docs/games`, wherever they are."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PLACES = (HERE.parent / "kibitz_rulebook", HERE.parent / "docs" / "games")
"""In an installed package, and in a checkout."""
_PICTURE = re.compile(r"^!\[.*\n+", re.MULTILINE)


def page(game: str) -> str | None:
    """Return the page of a game in Markdown, None where there is none."""
    for place in PLACES:
        path = place / f"{game}.md"
        if re.fullmatch(r"[a-z0-9-]+", game) and path.is_file():
            return _PICTURE.sub("", path.read_text(encoding="utf-8"))
    return None
