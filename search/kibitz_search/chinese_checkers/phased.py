"""The bot in phases of Chinese Checkers: a book, a search in the middle, the exact race."""

from __future__ import annotations

from typing import ClassVar

from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.interface import Search
from kibitz_search.algorithms.phased import Oracle, PhasedSearch
from kibitz_search.chinese_checkers.endgame import RaceEndgame
from kibitz_search.chinese_checkers.opening import OpeningBook


class PhasedChineseCheckers(PhasedSearch):
    """Book, search, race; without a book or a database for the board, the search alone."""

    oracles: ClassVar[tuple[type[Oracle], ...]] = (OpeningBook, RaceEndgame)
    middle: ClassVar[type[Search]] = Iddfs
