"""The race database compared with a minimal reference search and with known histograms."""

from __future__ import annotations

import random
from collections import Counter, deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_search.chinese_checkers import race_db
from kibitz_search.chinese_checkers.indexing import AXES, OUTSIDE, Triangle

GAME: Any = registry.get("chinese-checkers")
STAR_4 = [
    *(1, 14, 164, 1493, 10811, 60673, 258852, 823238, 1911038, 3130925, 3453611, 2390790),
    *(915669, 156838, 8888, 105),
]
STAR_3 = [
    *(1, 10, 81, 476, 2316, 8927, 25769, 53405, 80753, 89068, 69163, 35182, 10308, 1239, 42),
]


def start(seats: int = 2, **options: Any) -> Any:
    return GAME.start(GAME.Options(**options), seats, {})


def ends(triangle: Triangle, mask: int, origin: int) -> set[int]:
    """Return the destinations of the peg in a hole: steps, and jumps one by one."""
    number = {place: hole for hole, place in enumerate(triangle.axial)}
    rest = mask & ~(1 << origin)

    def at(hole: int, way: tuple[int, int], far: int) -> int | None:
        a, b = triangle.axial[hole]
        return number.get((a + far * way[0], b + far * way[1]))

    near = [at(origin, way, 1) for way in AXES]
    found, waiting = {hole for hole in near if hole is not None and not rest >> hole & 1}, [origin]
    reached = {origin}
    while waiting:
        here = waiting.pop()
        for way in AXES:
            over, land = at(here, way, 1), at(here, way, 2)
            if over is None or land is None or land in reached:
                continue
            if rest >> over & 1 and not rest >> land & 1:
                reached.add(land)
                waiting.append(land)
    return (found | reached) - {origin}


def simple(triangle: Triangle) -> dict[int, int]:
    """Return the distance of every set, by breadth-first search from the full goal."""
    far = {triangle.goal: 0}
    waiting = deque([triangle.goal])
    while waiting:
        mask = waiting.popleft()
        for origin in range(triangle.holes):
            if mask >> origin & 1:
                for end in ends(triangle, mask, origin):
                    after = mask & ~(1 << origin) | 1 << end
                    if after not in far:
                        far[after] = far[mask] + 1
                        waiting.append(after)
    return far


@pytest.mark.slow
@pytest.mark.parametrize(("side", "pegs"), [(4, 3), (5, 6)])
def test_every_distance_is_that_of_a_simple_search(side: int, pegs: int) -> None:
    race, known = race_db.build(Triangle(side, pegs)), simple(Triangle(side, pegs))
    assert len(known) == Triangle(side, pegs).sets
    for mask, far in known.items():
        assert race_db.distance(race, np.int64(mask)) == far
    assert race_db.histogram(race) == [
        count for _, count in sorted(Counter(known.values()).items())
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("side", "pegs"), [(4, 3), (5, 6)])
@pytest.mark.parametrize("through", [True, False])
def test_where_pegs_stick_in_the_goal_every_set_is_one_move_from_a_nearer_one(
    side: int, pegs: int, through: bool
) -> None:
    """Only forward moves of the rules: the property that makes distances exact."""
    triangle = Triangle(side, pegs)
    race: Any = race_db.build(triangle, sticky=True, through=through)
    found = race_db.distances(race)
    for mask in simple(triangle):
        nearest = 255
        for origin in range(triangle.holes):
            if not mask >> origin & 1:
                continue
            targets = int(race_db.moves_from(race, np.int64(mask), np.int64(origin)))
            assert origin >= pegs or targets & ~triangle.goal == 0
            for end in range(triangle.holes):
                if targets >> end & 1:
                    after = mask & ~(1 << origin) | 1 << end
                    nearest = min(nearest, found[race_db.rank(race, np.int64(after))])
        own = found[race_db.rank(race, np.int64(mask))]
        assert own == (0 if mask == triangle.goal else nearest + 1)


def test_a_small_star_has_its_histogram() -> None:
    """The star of side 3: 6 pegs in 28 holes."""
    assert race_db.histogram(race_db.build(Triangle(7, 6))) == STAR_3


@pytest.mark.slow
def test_the_common_star_has_its_histogram() -> None:
    assert race_db.histogram(race_db.build(Triangle(7, 10))) == STAR_4


def test_a_table_is_built_once_kept_and_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIBITZ_CACHE", str(tmp_path))
    (stale := tmp_path / "race-4-3-free-000000000000.bin").write_bytes(b"old")
    built: list[Triangle] = []
    real = race_db.build

    def build(triangle: Triangle, *, sticky: bool, through: bool) -> np.record:
        built.append(triangle)
        return real(triangle, sticky=sticky, through=through)

    monkeypatch.setattr(race_db, "build", build)
    first, second = race_db.load(Triangle(4, 3)), race_db.load(Triangle(4, 3))
    assert built == [Triangle(4, 3)]
    assert not stale.exists()
    path = race_db.cache_path(Triangle(4, 3), False, True)
    assert path.stat().st_size == first.nbytes
    before = path.read_bytes()
    first.bit[:] = 7  # a bot's own table, on its own page
    assert second.bit[0, 0] == 0
    assert path.read_bytes() == before


def test_the_rules_of_another_table_are_another_file() -> None:
    triangle = Triangle(4, 3)
    paths = {
        race_db.cache_path(triangle, False, True),
        race_db.cache_path(triangle, True, True),
        race_db.cache_path(triangle, True, False),
    }
    assert len(paths) == 3


def test_what_has_no_table_says_why() -> None:
    assert "long jumps" in str(race_db.unsupported(start(long_jumps=True)))
    assert race_db.unsupported(start(size=2)) is None
    with pytest.raises(race_db.UnsupportedBoardError, match="long jumps"):
        race_db.for_board(start(long_jumps=True))


def test_without_a_compiler_nothing_large_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIBITZ_CACHE", str(tmp_path))
    monkeypatch.setattr(kernels, "compiled", lambda: False)
    with pytest.raises(race_db.UnsupportedBoardError, match="requires numba"):
        race_db.load(Triangle(7, 6))


@pytest.mark.parametrize("options", [{"size": 2}, {"size": 3}, {"board": "rhombus", "size": 5}])
def test_the_moves_of_the_table_are_those_of_the_rules(options: dict[str, Any]) -> None:
    """Without other pegs, the moves within the triangle; jumps may also leave it."""
    state = start(**options)
    race, chance = race_db.for_board(state), random.Random(1)
    each, goal = int(state.each), int(state.goal[0])
    for _ in range(60):
        bits = chance.sample(range(int(race.number)), each)
        at = [int(race.hole[goal, bit]) for bit in bits]
        others = list(range(each))  # all in their goal
        view = GAME.view(state, None)
        seen = view.model_copy(update={"pegs": [at, others], "best": [99, 99]})
        st: Any = GAME.sample(seen, 0)
        mask = sum(1 << bit for bit in bits)
        assert race_db.mask_of(race, st, np.int64(0)) == mask
        legal = {divmod(action, int(st.holes)) for action in GAME.legal(st)}
        for bit in bits:
            ends_ = int(race_db.moves_from(race, np.int64(mask), np.int64(bit)))
            mine = {
                int(race.hole[goal, end]) for end in range(int(race.number)) if ends_ >> end & 1
            }
            assert mine <= {target for origin, target in legal if origin == race.hole[goal, bit]}


def test_pegs_outside_are_no_set() -> None:
    state = start(size=3)
    race = race_db.for_board(state)
    assert race_db.mask_of(race, state, np.int64(0)) == -1
    assert race.bit[3, 0] == OUTSIDE
    assert op.to_act(state) == 0
