"""The rules of the games as pages for browsers."""

from __future__ import annotations

import re

from kibitz_games.core.rulebook import PLACES, page

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\([^)\s]*\)")


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
