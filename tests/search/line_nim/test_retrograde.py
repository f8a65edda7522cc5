"""Every subset of an island, compared with brute force."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from kibitz_games.compiled import kernels
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import maps
from kibitz_search.line_nim import proof_search
from kibitz_search.line_nim import retrograde as line_nim_retrograde
from kibitz_search.line_nim.bitboard import CellBitboard
from tests.search.line_nim.positions import cells, positions, wins
from tests.tools import profiles


def workspace() -> Any:
    return kernels.new(proof_search.WORKSPACE)


WS = workspace()


def filled(island: CellBitboard, ws: Any = WS) -> tuple[Any, int]:
    """Return the table of an island and the number of words written."""
    plan = line_nim_retrograde.LineMasks(island.lines, island.size)
    lost, middle = np.zeros(plan.words, np.uint64), np.int64(plan.middle)
    return lost, int(
        line_nim_retrograde.fill(lost, plan.far, plan.start, plan.near, plan.push, middle, ws)
    )


def is_lost(lost: Any, mask: int) -> bool:
    return bool(line_nim_retrograde.is_lost(lost, np.int64(mask)))


@given(positions)
@settings(max_examples=profiles.examples(60), deadline=None, derandomize=True)
def test_every_subset_is_what_brute_force_says(free: list[int]) -> None:
    island = CellBitboard(free)
    lost, _ = filled(island)
    source = random.Random(0)
    for _ in range(20):
        left = source.sample(free, source.randrange(len(free) + 1))
        assert is_lost(lost, island.bits(left)) == (not wins(left)), left


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_thousands_of_subsets_of_whole_maps(seed: int) -> None:
    free = maps.grow(seed, 18)
    island = CellBitboard(free)
    lost, _ = filled(island)
    source = random.Random(seed)
    for _ in range(200):
        left = source.sample(free, source.randrange(1, 12))
        assert is_lost(lost, island.bits(left)) == (not wins(left)), left


def simple(island: CellBitboard) -> list[bool]:
    """Compute whether each subset is lost, one by one."""
    lost = [False]
    for mask in range(1, 1 << island.size):
        inside = (line for line in island.lines if not line & ~mask)
        lost.append(not any(lost[mask ^ line] for line in inside))
    return lost


def test_blocks_words_and_places_agree_with_a_simple_loop() -> None:
    """With 16 cells, some lines leave the word, some the block, and some neither."""
    island = CellBitboard(maps.grow(4, 16))
    table_of, _ = filled(island)
    assert [is_lost(table_of, mask) for mask in range(1 << 16)] == simple(island)


def test_compiled_and_plain_are_the_same() -> None:
    island = CellBitboard(maps.grow(9, 12))
    plan = line_nim_retrograde.LineMasks(island.lines, island.size)
    lost, middle = np.zeros(plan.words, np.uint64), np.int64(plan.middle)
    fill = getattr(line_nim_retrograde.fill, "py_func", line_nim_retrograde.fill)
    with np.errstate(over="raise"):
        fill(lost, plan.far, plan.start, plan.near, plan.push, middle, WS)
    assert lost.tolist() == filled(island)[0].tolist()


def test_the_arrays_of_a_plan_have_the_same_types_whatever_there_is_to_list() -> None:
    """For the compiler, an empty array of another type requires another function variant."""
    plans = [
        line_nim_retrograde.LineMasks(island.lines, island.size)
        for island in map(CellBitboard, ([0], range(16)))
    ]
    kinds = [
        (p.far.dtype.str, p.start.dtype.str, p.near.dtype.str, p.push.dtype.str) for p in plans
    ]
    assert not plans[0].far.size
    assert plans[1].far.size
    assert kinds[0] == kinds[1] == ("<i8", "<i8", "<i8", "<u8")
    assert [(p.far.ndim, p.near.ndim) for p in plans] == [(2, 2), (2, 2)]


def test_the_stop_word_ends_it_at_once() -> None:
    ws = workspace()
    ws.stop = 1
    _, words = filled(CellBitboard(maps.grow(1, 20)), ws)
    assert words == 0


def test_answers_are_counted() -> None:
    """From three in a row a player may take one, two or three; brute force shows the rest."""
    free = cells("a1-c1", "e1")
    island = CellBitboard(free)
    lost, _ = filled(island)
    good = np.zeros((len(island.lines), 2), np.int64)
    lines = np.array(island.lines, np.int64)
    line_nim_retrograde.answers(lost, lines, np.int64(island.full), good)
    for line, (winning, among) in zip(island.lines, good.tolist(), strict=True):
        left = [cell for cell in free if not island.bits([cell]) & line]
        assert (winning == 0) == (not wins(left))
        assert winning <= among


def test_isolated_cells_share_a_bit() -> None:
    free = cells("a1-c1", "e1", "g1", "i1")
    island = CellBitboard(free)
    assert island.size == 4
    assert island.bits(cells("e1", "g1")) == 0
    assert island.bits(cells("i1")) == island.spare
    assert {geo.NAMES[cell] for cell in island.isolated} == {"e1", "g1", "i1"}
    lost, _ = filled(island)
    for left in (free, free[:4], free[:5], cells("e1"), cells("e1", "i1"), cells("a1-b1", "g1")):
        assert is_lost(lost, island.bits(left)) == (not wins(left))
