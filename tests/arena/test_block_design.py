from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest

from kibitz_arena import block_design

SOME = [
    (3, 3),
    (4, 3),
    (8, 6),
    (9, 3),
    (10, 3),
    (10, 4),
    (11, 6),
    (12, 6),
    (13, 4),
    (16, 3),
    (23, 5),
]
REST = [
    (entrants, seats)
    for seats in range(3, 7)
    for entrants in range(seats, 65)
    if (entrants, seats) not in SOME
]


def held(entrants: int, seats: int) -> None:
    groups = block_design.design_groups(entrants, seats, 7)
    assert all(len(set(group)) == seats for group in groups)
    own = Counter(itertools.chain.from_iterable(groups))
    assert len(own) == entrants
    assert len(set(own.values())) == 1
    pairs = Counter(pair for group in groups for pair in itertools.combinations(sorted(group), 2))
    assert len(pairs) == math.comb(entrants, 2)
    few = math.comb(entrants, seats) <= block_design.MAX_COMPLETE_GROUPS
    assert max(pairs.values()) - min(pairs.values()) <= (0 if few else 1)


@pytest.mark.parametrize(("entrants", "seats"), SOME)
def test_a_design_is_balanced(entrants: int, seats: int) -> None:
    held(entrants, seats)


@pytest.mark.slow
@pytest.mark.parametrize(("entrants", "seats"), REST)
def test_every_design_there_can_be_is_balanced(entrants: int, seats: int) -> None:
    held(entrants, seats)


def test_a_design_is_drawn_from_its_seed() -> None:
    assert block_design.design_groups(12, 4, 1) == block_design.design_groups.__wrapped__(12, 4, 1)
    assert block_design.design_groups(12, 4, 1) != block_design.design_groups(12, 4, 2)
