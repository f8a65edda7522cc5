"""The search over sums of parts, compared with brute force."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from kibitz_games.compiled import kernels
from kibitz_games.line_nim import maps
from kibitz_search.line_nim import components, proof_search
from kibitz_search.line_nim.bitboard import CellBitboard
from tests.search.line_nim.positions import cells, positions, wins
from tests.tools import profiles

CHART: Any = kernels.new(components.CHART)
WS: Any = kernels.new(proof_search.WORKSPACE)
KNOWN = np.zeros(1 << 16, np.uint64)


def proven(free: list[int], known: Any = KNOWN) -> int:
    island = CellBitboard(free)
    components.write_chart(CHART, island)
    mask = np.uint64(island.bits(free))
    name = np.uint64(proof_search.judge(CHART, known, mask))
    if int(CHART.verdict) != components.UNKNOWN:
        return int(CHART.verdict)
    return int(proof_search.prove(CHART, WS, known, mask, name, np.int64(0)))


@given(positions)
@settings(max_examples=profiles.examples(80), deadline=None, derandomize=True)
def test_it_proves_what_is_true(free: list[int]) -> None:
    """All examples share the table, like the turns of a match."""
    assert proven(free) == (components.WON if wins(free) else components.LOST)


@pytest.mark.parametrize("seed", range(4))
def test_a_table_that_is_far_too_small_misleads_nobody(seed: int) -> None:
    free = random.Random(seed).sample(maps.grow(seed, 18), 10)
    assert proven(free, np.zeros(2, np.uint64)) == (
        components.WON if wins(free) else components.LOST
    )


def test_what_was_proven_holds_elsewhere_on_the_board() -> None:
    known = np.zeros(1 << 12, np.uint64)
    there, turned = cells("a1-d1", "a2-d2", "a3"), cells("f9-i9", "f10-i10", "f11")
    first = proven(there, known)
    WS.nodes = 0
    assert proven(turned, known) == first
    assert WS.nodes == 0


def test_the_stop_word_leaves_it_open_and_the_table_true() -> None:
    free = list(maps.grow(3, 20))
    known = np.zeros(1 << 12, np.uint64)
    WS.stop = 1
    assert proven(free, known) == components.UNKNOWN
    WS.stop = 0
    small = random.Random(0).sample(free, 10)
    assert proven(small, known) == (components.WON if wins(small) else components.LOST)
