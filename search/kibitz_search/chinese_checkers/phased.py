"""Searches in phases for Chinese Checkers: opening book, middle game search, exact race.

The planner and the champion do not use the opening book, since it only applies before the players
meet.
"""

from __future__ import annotations

from typing import ClassVar

from kibitz_search.algorithms.beam import Beam
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.interface import Search
from kibitz_search.algorithms.phased import Oracle, PhasedSearch
from kibitz_search.chinese_checkers.endgame import RaceEndgame
from kibitz_search.chinese_checkers.guided import GuidedMcts
from kibitz_search.chinese_checkers.opening import OpeningBook


class PhasedChineseCheckers(PhasedSearch):
    """Book, search and race; only the search if the board has no book or database."""

    oracles: ClassVar[tuple[type[Oracle], ...]] = (OpeningBook, RaceEndgame)
    middle: ClassVar[type[Search]] = Iddfs


class SoloPlanner(PhasedSearch):
    """Beam search over the player's own moves, then the race."""

    oracles: ClassVar[tuple[type[Oracle], ...]] = (RaceEndgame,)
    middle: ClassVar[type[Search]] = Beam


class Champion(PhasedSearch):
    """Monte Carlo search with learned priors, then the race."""

    oracles: ClassVar[tuple[type[Oracle], ...]] = (RaceEndgame,)
    middle: ClassVar[type[Search]] = GuidedMcts
