"""The rules of the games as pages for browsers."""

from __future__ import annotations

import re

from kibitz_games.core import registry
from kibitz_games.core.rulebook import page

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\([^)\s]*\)")


def fragments() -> dict[str, str]:
    """Return the pages of all games as HTML, by the games' names, for clients in a browser.

    Markup in them is text, and links and pictures, which lead to places in the documentation, are
    left out; so a page needs nothing and can do nothing.
    """
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    pages = {name: page(name) for name in registry.load_all()}
    return {name: renderer.render(_LINK.sub(r"\1", text)) for name, text in pages.items() if text}
