"""Positions in which `benchmarks.search` measures the threat search of five in a row.

A node is a call of the search or of its search of fours, including the updates of all cell classes.
"""

from __future__ import annotations

from typing import Any, Final

from kibitz_games.core import registry
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.five_in_a_row import pattern_classes
from kibitz_search.five_in_a_row.threat import Threat

POSITIONS: Final = ("", "e5 f6 f5 g5", "e5 e6 f6 d4 g7 h8 d5", "f6 e5 g7 e7 e6 g6 h5 d6")
DEPTH: Final = 9
TABLE_MB: Final = 16


def nodes() -> int:
    """Search each position on the 10x10 board with a new table; return the nodes."""
    return sum(_nodes(position) for position in POSITIONS)


def _nodes(moves: str) -> int:
    game: Any = registry.get("five-in-a-row")
    state: Any = game.start(game.Options(first="seat-0"), 2, {})
    for move in moves.split():
        game.play(state, game.decode(state, game.notation.parse(move)))
    search, ev = Threat(state, table=TABLE_MB), pattern_classes.usual(state)
    return search.search(state, ev, SearchLimits(depth=DEPTH)).nodes
