"""Positions for the solver's tests, and a brute-force reference."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from kibitz_games.core import registry
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import maps, rules
from tests.games.line_nim import reference

GAME: Any = registry.get("line-nim")


def points(cells: Iterable[int]) -> reference.Position:
    return frozenset(reference.point(cell % geo.SIDE, cell // geo.SIDE) for cell in cells)


def wins(cells: Iterable[int]) -> bool:
    """Return whether the player to move wins, by brute force."""
    return reference.wins(points(cells))


def cells(*stretches: str) -> list[int]:
    return [cell for each in stretches for cell in geo.parse_row(each) or ()]


def state(free: Iterable[int]) -> Any:
    return rules.make_state(free)


def left_over(seed: int, number: int) -> list[int]:
    """Return some cells: the rest of a map, or a few anywhere on the board."""
    source = random.Random(seed)
    if seed % 3 == 0:
        return sorted(source.sample(range(geo.CELLS), number))
    grown = maps.grow(seed, max(maps.FEWEST, min(maps.MOST, number + source.randrange(12))))
    return sorted(source.sample(grown, number))


positions = st.builds(left_over, st.integers(0, 10**6), st.integers(1, 9))
"""Small positions of every kind."""
