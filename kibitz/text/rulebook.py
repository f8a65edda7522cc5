"""The rules of the games: the pages of `docs/games`, wherever they are installed."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parents[1]
PLACES = (HERE.parent / "kibitz_rulebook", HERE.parent / "docs" / "games")
"""In an installed package, and in a checkout."""
_HIDDEN = re.compile(r"^(?:!\[|<!--).*\n+", re.MULTILINE)
"""Pictures, and the marks between which a table is generated."""
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\([^)\s]*\)")


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


def fragments() -> dict[str, str]:
    """Return the pages of all games as HTML, by the games' names, for clients in a browser.

    Markup in them is text, and links and pictures, which lead to places in the documentation, are
    left out; so a page needs nothing and can do nothing.
    """
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    place = next((place for place in PLACES if place.is_dir()), None)
    if place is None:
        return {}
    names = sorted(page.stem for page in place.glob("*.md") if page.stem != "README")
    return {name: renderer.render(_LINK.sub(r"\1", page(name) or "")) for name in names}
