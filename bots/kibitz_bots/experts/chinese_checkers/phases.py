"""The bot in phases of Chinese Checkers: a book, a search in the middle, the exact race."""

from __future__ import annotations

from typing import ClassVar

from kibitz_bots.experts.chinese_checkers.finish import Finish
from kibitz_bots.experts.chinese_checkers.opening import Opening
from kibitz_bots.search import phases


class Phases(phases.Phases):
    """Book, search, race; without a book or a database for the board, the search alone."""

    stages: ClassVar[tuple[type[phases.Stage], ...]] = (Opening, Finish)
    middle: ClassVar[str] = "kibitz_bots.search.iddfs:Iddfs"
