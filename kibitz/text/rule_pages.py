"""The rules of the games as web pages."""

from __future__ import annotations

import re

from kibitz_games.core import registry
from kibitz_games.core.rulebook import page

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\([^)\s]*\)")


def fragments() -> dict[str, str]:
    """Return the rules of all games as HTML, by game name, for browser clients.

    Raw HTML in the source is escaped. Links and pictures, which point into the documentation, are
    omitted, so a page loads nothing and runs nothing.
    """
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable("table")
    pages = {name: page(name) for name in registry.load_all()}
    return {name: renderer.render(_LINK.sub(r"\1", text)) for name, text in pages.items() if text}
