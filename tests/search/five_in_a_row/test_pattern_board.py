"""The board: its incremental state equals a computation from scratch."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_search.five_in_a_row import pattern_board, pattern_classes, patterns, utility
from tests.search.five_in_a_row import cases
from tests.tools import profiles

VOCABULARIES: dict[str, tuple[Any, Any, Any]] = {
    "classes": (pattern_classes.vocabulary, patterns.codes, pattern_classes.together()),
    "utility": (utility.vocabulary, utility.along, utility.together()),
}
WORTH = np.random.default_rng(7).integers(-200, 200, (pattern_board.SHAPES, 2))
SUMS = (pattern_board.mover_sum, pattern_board.waiting_sum)
SHAPE = {tuple(codes): shape for shape, codes in enumerate(pattern_board.shapes().tolist())}


def check(fd: Any, tb: Any, exact: bool, words: str) -> None:
    """Compare shapes, classes, counts, sums and neighbors with those computed from the rows."""
    _, codes, together = VOCABULARIES[words]
    codes, width = codes(exact), int(fd.width)
    text = "".join(".xo"[int(fd.board[cell])] for cell in fd.cells[: width * width])
    board = [text[y * width : (y + 1) * width] for y in range(width)]
    counts: list[Counter[int]] = [Counter(), Counter()]
    sums = np.zeros((2, 2), np.int64)
    for i, cell in enumerate(fd.cells[: width * width]):
        y, x = divmod(i, width)
        if board[y][x] != ".":
            continue
        around = [cases.line(board, x, y, step, 2) for step in cases.STEPS]
        assert fd.near[cell] == sum(
            side.count("x") + side.count("o") for each in around for side in (each[:2], each[3:])
        )
        lines = [cases.line(board, x, y, step, int(fd.reach)) for step in cases.STEPS]
        for who, colour in enumerate("xo"):
            held = [int(codes[cases.number(cases.seen(each, colour))]) for each in lines]
            shape = SHAPE[tuple(sorted(held))]
            assert pattern_board.shapes_of(fd, tb, np.array([cell]))[who ^ int(fd.side)] == shape
            assert fd.classes[who, cell] == together[shape]
            counts[who][int(together[shape])] += 1
            sums[who] += WORTH[shape]
    for who in (0, 1):
        assert dict(enumerate(fd.counts[who].tolist())) == {k: counts[who][k] for k in range(16)}
    kept = [[sum_of(fd, np.int64(who)) for sum_of in SUMS] for who in (0, 1)]
    assert kept == sums.tolist()


@pytest.mark.parametrize("words", VOCABULARIES)
@given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from([5, 6, 10, 20]),
    exact=st.booleans(),
    moves=st.integers(0, 40),
)
@settings(deadline=None, max_examples=profiles.examples(25))  # the first example may compile
def test_stones_put_and_taken_leave_what_the_board_says(
    words: str, seed: int, size: int, exact: bool, moves: int
) -> None:
    source, tb = random.Random(seed), VOCABULARIES[words][0](exact)
    fd: Any = pattern_board.empty_board(size, exact, tb, WORTH)
    blank = fd.tobytes()
    put: list[int] = []
    for _ in range(moves):
        empty = [int(cell) for cell in fd.cells[: size * size] if fd.board[cell] == 0]
        if put and (source.random() < 0.4 or not empty):
            pattern_board.remove_stone(fd, tb, np.int64(put.pop()))
        else:
            put.append(source.choice(empty))
            pattern_board.place_stone(fd, tb, np.int64(put[-1]))
    assert fd.stones == len(put)
    assert fd.side == len(put) % 2
    check(fd, tb, exact, words)
    while put:
        pattern_board.remove_stone(fd, tb, np.int64(put.pop()))
    assert fd.tobytes() == blank


def test_stones_that_are_not_valued_leave_the_sums_as_they_were() -> None:
    tb = pattern_classes.vocabulary(False)
    fd: Any = pattern_board.from_state(cases.after("e5 f6 g7"), tb, WORTH)
    before = fd.tobytes()
    fd.valued = 0
    for cell in fd.cells[:3]:
        pattern_board.place_stone(fd, tb, np.int64(cell))
    for cell in fd.cells[2::-1]:
        pattern_board.remove_stone(fd, tb, np.int64(cell))
    fd.valued = 1
    assert fd.tobytes() == before
    check(fd, tb, False, "classes")


def test_a_full_board_has_no_empty_cells_of_any_class() -> None:
    tb = pattern_classes.vocabulary(False)
    fd: Any = pattern_board.empty_board(5, False, tb, WORTH)
    for cell in fd.cells[:25]:
        pattern_board.place_stone(fd, tb, np.int64(cell))
    assert not fd.counts.any()
    assert not fd.sums.any()
    assert pattern_board.cell_of_class(fd, np.int64(0), np.int64(pattern_classes.LONE)) == -1


@pytest.mark.parametrize("size", [5, 10, 20])
def test_cells_and_actions_are_the_same_places(size: int) -> None:
    state = cases.start(size=size)
    fd = pattern_board.from_state(state, pattern_classes.vocabulary(False))
    actions = cases.GAME.legal(state)
    assert [
        pattern_board.action_of(fd, pattern_board.cell_of(fd, action)) for action in actions
    ] == actions
    assert pattern_board.actions_of(fd, field_cells(fd)) == tuple(actions)


def field_cells(fd: Any) -> list[int]:
    cells: list[int] = fd.cells[: int(fd.area)].tolist()
    return cells


def test_two_ways_to_a_position_have_one_key() -> None:
    tb = pattern_classes.vocabulary(False)
    one = pattern_board.from_state(cases.after("e5 f6 g7 a1"), tb)
    two = pattern_board.from_state(cases.after("g7 a1 e5 f6"), tb)
    assert one["key"] == two["key"]
    assert one["key"] != pattern_board.from_state(cases.after("e5 f6 g7"), tb)["key"]
