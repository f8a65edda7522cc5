"""Start maps: growth, dependence only on seed and size, and notation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_games.line_nim import GAME, maps
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import models as line_nim_models
from tests.games.line_nim import reference

SIZES = range(maps.FEWEST, maps.MOST + 1)


@pytest.mark.parametrize("n", SIZES)
def test_a_map_has_so_many_connected_cells(n: int) -> None:
    for seed in range(10):
        free = maps.grow(seed, n)
        assert len(set(free)) == len(free) == n
        assert reference.connected(reference.position(maps.rows(free)))


@given(seed=st.integers(0, 2**63), n=st.sampled_from(SIZES))
def test_maps_grow_as_the_rules_say(seed: int, n: int) -> None:
    chance = random.Random(f"line-nim/map/{seed}/{n}").random
    assert reference.position(maps.rows(maps.grow(seed, n))) == reference.grown(n, chance)


def test_a_map_is_a_function_of_seed_and_size() -> None:
    random.seed(1)
    first = [
        GAME.deal(line_nim_models.Options(free=n), 2, seed) for n in SIZES for seed in range(3)
    ]
    random.seed(2)
    random.random()
    assert first == [
        GAME.deal(line_nim_models.Options(free=n), 2, seed) for n in SIZES for seed in range(3)
    ]
    assert len({str(deal) for deal in first}) == len(first)


def test_a_size_that_is_drawn_gives_the_map_of_that_size() -> None:
    for seed in range(50):
        dealt = GAME.deal(line_nim_models.Options(), 2, seed)
        assert dealt == GAME.deal(line_nim_models.Options(free=maps.size(seed)), 2, seed)


def test_all_sizes_are_drawn_alike() -> None:
    drawn = [maps.size(seed) for seed in range(2200)]
    assert set(drawn) == set(SIZES)
    assert all(60 <= drawn.count(n) <= 145 for n in SIZES)  # 100 expected, 4.5 deviations


GOLDEN = {
    (0, 12): "h5 g6 g7 d8 f8-g8 d9-g9 e10-f10",
    (1, 20): "f6-h6 g7-h7 j7 e8-f8 h8-j8 e9-f9 h9-j9 e10-g10 f11",
    (2, 33): "d3 c4-e4 c5-d5 b6-e6 g6 c7 e7-f7 h7-i7 e8-g8 d9-f9 e10-g10 f11-i11 e12 g12-i12",
}
"""Some maps, to detect changes of the random source, because records store seeds."""


@pytest.mark.parametrize(("seed", "n"), list(GOLDEN))
def test_golden_maps(seed: int, n: int) -> None:
    assert " ".join(maps.write(maps.grow(seed, n))) == GOLDEN[seed, n]


def test_maps_are_written_and_read() -> None:
    for seed in range(30):
        free = maps.grow(seed, 12 + seed % 22)
        assert maps.read(maps.write(free)) == free
        assert maps.read_rows(maps.rows(free)) == free
    assert maps.write(range(geo.CELLS)) == tuple(f"a{y}-l{y}" for y in range(1, 13))


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        (["f7", "z9"], "expected cells from a1 to l12, .* not 'z9'"),
        (["a1-b12"], "not 'a1-b12'"),
        (["f7", "h7"], "the free cells must be connected, but there is no path between f7 and h7"),
        ([], "at least one"),
    ],
)
def test_what_is_no_map_is_refused(written: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        maps.read(written)
