"""The rules of the games in prose: pages in `docs/games` or in the game's package."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from kibitz_games.core import registry
from kibitz_games.core.game import GameError

_HERE = Path(__file__).parents[2]
PLACES = (_HERE / "kibitz_rulebook", _HERE.parent / "docs" / "games")
"""The directories of kibitz's pages: in an installed package and in a checkout."""
_HIDDEN = re.compile(r"^(?:!\[|<!--).*\n+", re.MULTILINE)
"""Matches images, and the markers around generated tables."""


def path(game: str) -> Path | None:
    """Return the path of a game's page, or None if it has none."""
    try:
        module = sys.modules[type(registry.get(game)).__module__]
    except GameError:
        return None
    package = Path(module.__file__ or "").parent
    pages = (place / f"{game}.md" for place in (*PLACES, package))
    return next((page for page in pages if page.is_file()), None)


def page(game: str) -> str | None:
    """Return a game's page in Markdown, or None if it has none."""
    file = path(game)
    return None if file is None else _HIDDEN.sub("", file.read_text(encoding="utf-8"))
