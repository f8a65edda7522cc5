"""The report's utilities: each row of its table, for both colors and at the border."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_search.five_in_a_row import pattern_board, report_levels, utility
from tests.search.five_in_a_row import cases
from tests.tools import profiles


def held(text: str) -> tuple[int, int, int]:
    """Return the length and open ends of the row through a line's center, and the gaps to fill."""
    r = len(text) // 2
    left, right = r, r
    while left > 0 and text[left - 1] == "x":
        left -= 1
    while right < 2 * r and text[right + 1] == "x":
        right += 1
    ends = (left > 0 and text[left - 1] == ".") + (right < 2 * r and text[right + 1] == ".")
    gaps = set()
    for first in range(r - 4, r + 1):
        window = text[first : first + 5]
        if window.count("x") == 4 and window[1:4].count(".") == 1:
            gaps.add(first + window.index("."))
    return right - left + 1, ends, len(gaps)


def row(lines: list[str], exact: bool) -> int:
    """Return the first row of the report's table that matches four lines."""
    found = [held(each) for each in lines]
    if any(cases.five(each, exact) for each in lines):
        return utility.FIVE
    pairs = [(length, ends) for length, ends, _ in found]
    tricky = sum(gaps for *_, gaps in found)
    live, sleep, l3, s3, l2, s2 = (pairs.count((n, ends)) for n in (4, 3, 2) for ends in (2, 1))
    table = [
        (utility.WINNING, live >= 1 or sleep >= 2 or tricky >= 2),
        (utility.WINNING, tricky >= 1 and (sleep >= 1 or l3 >= 2)),
        (utility.WINNING, l3 >= 1 and sleep >= 1),
        (utility.LIVE_THREES, l3 >= 2),
        (utility.BOTH_THREES, s3 >= 1 and l3 >= 1),
        (utility.SLEEP_FOUR, sleep >= 1),
        (utility.TRICKY, tricky >= 1),
        (utility.LIVE_THREE, l3 >= 1),
        (utility.LIVE_TWOS, l2 >= 2),
        (utility.SLEEP_THREE, s3 >= 1),
        (utility.SLEEP_TWOS, s2 >= 2),
        (utility.LIVE_TWO, l2 >= 1),
        (utility.SLEEP_TWO, s2 >= 1),
        (utility.NOTHING, True),
    ]
    return next(name for name, matches in table if matches)


def gains(state: Any, score: Any = report_levels.mover_gain) -> dict[str, int]:
    """Return the nonzero utilities of empty cells, by cell name."""
    exact = bool(state.exact)
    fd, ev = pattern_board.from_state(state, utility.vocabulary(exact)), utility.usual(state)
    found = {
        cases.name(state, action): int(score(fd, ev, np.int64(pattern_board.cell_of(fd, action))))
        for action in cases.GAME.legal(state)
    }
    return {cell: worth for cell, worth in found.items() if worth}


@given(
    seed=st.integers(0, 2**32),
    plies=st.integers(1, 60),
    size=st.sampled_from([5, 7, 10]),
    exact=st.booleans(),
)
@settings(deadline=None, max_examples=profiles.examples(60))  # the first example may compile
def test_every_cell_has_the_row_that_the_table_says(
    seed: int, plies: int, size: int, exact: bool
) -> None:
    state = cases.at_random(seed, plies, size=size, exact=exact)
    fd: Any = pattern_board.from_state(state, utility.vocabulary(exact))
    board = cases.rows(state)
    for i, cell in enumerate(fd.cells[: size * size]):
        y, x = divmod(i, size)
        if board[y][x] != ".":
            continue
        for who, colour in enumerate("xo"):
            lines = [cases.line(board, x, y, step, 5) for step in cases.STEPS]
            expected = row([cases.seen(each, colour) for each in lines], exact)
            assert fd.classes[who, cell] == expected


@pytest.mark.parametrize(
    ("own", "cell", "worth", "fraction"),
    [
        ("c5 d5 e5 f5", "g5", 500_000, 400_000),
        ("d5 e5 f5", "g5", 100_000, 90_000),  # live 4
        ("a5 b5 c5 a2 b3 c4", "d5", 100_000, 90_000),  # two sleep 4
        ("a5 b5 c5 d2 d3 d4", "d5", 100_000, 90_000),  # a sleep 4 and a live 4
        ("a5 b5 c5 e6 f7", "d5", 100_000, 90_000),  # sleep 4 + live 3
        ("b5 c5 e5 f5", "d5", 500_000, 400_000),
        ("e5 f5 g3 g4", "g5", 40_000, 30_000),  # two live 3
        ("a1 b1 c2 c3", "c1", 100, 90),  # two sleep 3
        ("a5 b5 d6 e7", "c5", 10_000, 9000),  # sleep 3 + live 3
        ("a5 b5 c5", "d5", 4000, 3000),  # sleep 4
        ("c5 d5 f5", "g5", 3999, 2999),  # tricky
        ("e5 f5", "g5", 1000, 900),  # live 3
        ("e5 g3", "f5", 10, 9),  # live 2
        ("e5 f4", "f5", 400, 300),  # two live 2
        ("a5", "b5", 4, 3),  # sleep 2
        ("a2 b1", "a1", 40, 30),  # two sleep 2
    ],
)
def test_each_row_of_the_table(own: str, cell: str, worth: int, fraction: int) -> None:
    for mine in (True, False):
        state = with_stones(own, mine)
        found = gains(state).get(cell, 0)
        assert found == (worth if mine else fraction)
        alone = gains(state, report_levels.gain).get(cell, 0)
        assert alone == worth if mine else alone < fraction


def with_stones(text: str, mine: bool) -> Any:
    """Return a position with these stones of the side to move or of the other side.

    The other color's stones are in the last rows, far from each other.
    """
    stones = text.split()
    far = ["a10", "d10", "g10", "j10", "a8", "j8"][: len(stones)]
    pairs = zip(stones, far, strict=True) if mine else zip(far, stones, strict=True)
    return cases.after(" ".join(f"{black} {white}" for black, white in pairs))


def test_the_first_stone_goes_to_the_centre() -> None:
    assert gains(cases.start()) == {"f6": 1}
    assert gains(cases.start(size=7)) == {"d4": 1}
    assert "f6" not in gains(cases.after("a1 j10"))


def test_a_row_of_six_is_worth_nothing_where_exactly_five_win() -> None:
    moves = "a5 a1 b5 c1 c5 e1 e5 g1 f5 i1"  # d5 makes six
    assert gains(cases.after(moves))["d5"] == 500_000
    assert gains(cases.after(moves, exact=True)).get("d5", 0) < 500_000


def test_the_larger_one_of_both_columns_counts() -> None:
    own, other = np.array(utility.OWN), np.array(utility.OTHER)
    order = sorted([*own[1:], *other[1:]], reverse=True)
    tests = [pair for k in range(12, 0, -1) for pair in (own[k], other[k])]
    # The report checks both kinds of own fours before the opponent's.
    tests[8:12] = [own[8], own[7], other[8], other[7]]
    assert order == tests
