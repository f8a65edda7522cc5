"""The rules of the games in words: pages of `docs/games`, or of the package that has the game."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from kibitz_games.core import registry
from kibitz_games.core.game import GameError

_HERE = Path(__file__).parents[2]
PLACES = (_HERE / "kibitz_rulebook", _HERE.parent / "docs" / "games")
"""The pages of kibitz, in an installed package and in a checkout."""
_HIDDEN = re.compile(r"^(?:!\[|<!--).*\n+", re.MULTILINE)
"""Pictures, and the marks between which a table is generated."""


def path(game: str) -> Path | None:
    """Return the path of a game's page, None if there is none."""
    try:
        module = sys.modules[type(registry.get(game)).__module__]
    except GameError:
        return None
    package = Path(module.__file__ or "").parent
    pages = (place / f"{game}.md" for place in (*PLACES, package))
    return next((page for page in pages if page.is_file()), None)


def page(game: str) -> str | None:
    """Return the page of a game in Markdown, None if there is none."""
    file = path(game)
    return None if file is None else _HIDDEN.sub("", file.read_text(encoding="utf-8"))
