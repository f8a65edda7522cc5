"""Rows and verdicts, and the greedy player's use of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.five_in_a_row.evaluation import (
    FOUR,
    LIVE_THREE,
    LIVE_TWO,
    ROWS,
    THREE,
    TWO,
    count_rows,
    usual,
)

GAME: Any = registry.get("five-in-a-row")
BLACK, WHITE = 1, 2
Chooser = Callable[[Position], int]


def start(**options: Any) -> Any:
    return GAME.start(GAME.Options(**({"first": "seat-0"} | options)), 2, {})


def after(*moves: str, **options: Any) -> Any:
    state = start(**options)
    for move in moves:
        GAME.play(state, GAME.decode(state, GAME.notation.parse(move)))
    return state


def row(text: str, **options: Any) -> tuple[Any, np.ndarray, int]:
    """Return a state with stones of both colors on row 8, and a tally for black."""
    stones = {x: what for x, what in enumerate(text) if what != "."}
    state = start(size=15, **options)
    for x, what in stones.items():
        state.board[state_cell(x, 7)] = BLACK if what == "x" else WHITE
    rows = np.zeros(ROWS)
    fives = int(count_rows(usual(state), state, BLACK, rows, np.zeros(6)))
    return state, rows, fives


def state_cell(x: int, y: int) -> int:
    action: int = GAME.decode(start(size=15), GAME.Move(x=x, y=y))
    return action


@pytest.mark.parametrize(
    ("text", "best"),
    [
        ("....xx.........", LIVE_TWO),
        ("....x.x........", LIVE_TWO),
        ("...oxx.........", TWO),
        ("xx.............", TWO),
        ("...ox.xo.......", 0),
        ("....xxx........", LIVE_THREE),
        ("....x.xx.......", LIVE_THREE),
        ("...oxxx........", THREE),
        ("..o.xxx.o......", THREE),
        ("....xxx.o......", LIVE_THREE),
        ("...oxx.xo......", 0),
        ("....x.x.x......", THREE),
        ("...oxxx.......x", THREE),
        ("...oxxxx.......", FOUR),
        ("...oxxxxo......", 0),
    ],
)
def test_a_row_is_named_by_what_it_can_become(text: str, best: int) -> None:
    _, rows, fives = row(text)
    along = [kind for kind in range(TWO, ROWS) if rows[kind]]
    assert along == ([best] if best else [])
    assert rows.sum() == len(usual(start(size=15)).lines[: usual(start(size=15)).count])
    assert fives == (best == FOUR)


@pytest.mark.parametrize(
    ("text", "fives"),
    [
        ("....xxxx.......", 2),
        ("...oxxxx.......", 1),
        ("....xx.xx......", 1),
        ("...xxx.xxx.....", 1),  # two windows, one cell
        ("...x.xxx.x.....", 2),
        ("...oxxxxo......", 0),
        ("xxxx...........", 1),
    ],
)
def test_cells_that_complete_a_five_are_counted_once(text: str, fives: int) -> None:
    assert row(text)[2] == fives


def test_what_can_only_become_too_long_counts_nothing_where_exactly_five_win() -> None:
    text = "...xxx.xxx....."  # the gap makes a row of seven
    assert row(text)[2] == 1
    assert row(text, exact=True)[2] == 0


@given(
    seed=st.integers(0, 2**32),
    plies=st.integers(0, 60),
    size=st.integers(5, 12),
    exact=st.booleans(),
    swap=st.booleans(),
)
@settings(deadline=None)  # the first example may compile
def test_what_one_gains_the_other_loses(
    seed: int, plies: int, size: int, exact: bool, swap: bool
) -> None:
    play = Position(GAME, GAME.Options(size=size, exact=exact, swap=swap), 2, seed)
    source = random.Random(seed)
    for _ in range(plies):
        if play.outcome is None:
            play.push(source.choice(play.legal))
    state: Any = play.state
    before, ev = state.tobytes(), usual(state)
    values = [float(op.evaluate(ev, state, seat)) for seat in (0, 1)]
    assert values[0] == -values[1]
    assert state.tobytes() == before
    decided = play.outcome is not None and play.outcome.ranks != (1, 1)
    assert (abs(values[0]) == WIN_SCORE) == decided
    assert decided or abs(values[0]) < WIN_SCORE / 2


@given(seed=st.integers(0, 2**32), exact=st.booleans())
@settings(deadline=None)  # the first example may compile
def test_a_board_turned_over_is_worth_the_same(seed: int, exact: bool) -> None:
    """A rotated or mirrored board; the weights are exact, so the values are equal."""
    source = random.Random(seed)
    cells = [(x, y) for x in range(9) for y in range(9)]
    stones = source.sample(cells, 30)
    turned = (
        [(y, x) for x, y in stones],
        [(8 - x, y) for x, y in stones],
        [(8 - y, x) for x, y in stones],
        [(8 - x, 8 - y) for x, y in stones],
    )
    values = [_worth(stones, exact)]
    values += [_worth(places, exact) for places in turned]
    assert len(set(values)) == 1


def _worth(stones: list[tuple[int, int]], exact: bool) -> float:
    state = start(size=9, exact=exact)
    for x, y in stones:
        GAME.play(state, GAME.decode(state, GAME.Move(x=x, y=y)))
        if GAME.to_act(state) < 0:
            break
    return float(op.evaluate(usual(state), state, 0))


def test_the_swap_is_worth_most_to_the_opener_where_both_colours_are_equal() -> None:
    state = after("a1", "b1", swap=True)
    ev = usual(state)
    for x, y in ((9, 9), (5, 5)):
        st = state.copy()
        GAME.play(st, GAME.decode(st, GAME.Move(x=x, y=y)))
        assert op.evaluate(ev, st, 0) <= 0 <= op.evaluate(ev, st, 1)


@pytest.mark.parametrize(
    ("moves", "good"),
    [
        ("e5 a1 f5 a2 g5 a3 h5 a4", {"d5", "i5"}),  # make a five before stopping one
        ("e5 a1 f5 a2 g5 b9 j10 a3 c8 a4", {"a5"}),  # else stop the five
        ("e5 a1 f5 c8 g5", {"d5", "h5"}),  # stop a live three
        ("e5 a1 f5 j10 g5 a10", {"d5", "h5"}),  # make a live four
        ("e5 a1 f5 j1 g5 a10 e6 j10 e7 b1", {"d5", "h5", "e4", "e8"}),
    ],
)
def test_greedy_sees_what_must_be_done(moves: str, good: set[str]) -> None:
    state = after(*moves.split())
    search, ev = Greedy(state), usual(state)
    chosen = {
        GAME.notation.format(
            GAME.encode(state, search.search(state, ev, SearchLimits(seed=seed)).action)
        )
        for seed in range(10)
    }
    assert chosen <= good


def test_the_first_stone_is_put_in_the_middle() -> None:
    state = start()
    search, ev = Greedy(state), usual(state)
    for seed in range(10):
        move = GAME.encode(state, search.search(state, ev, SearchLimits(seed=seed)).action)
        assert {move.x, move.y} <= {4, 5}


def test_weights_are_data() -> None:
    state = after("e5", "a1")
    ev: Any = usual(state)
    ev.windows[:] = ev.mover[:] = ev.waiting[:] = ev.verdicts[:] = 0
    assert op.evaluate(ev, state, 0) == 0
    ev.windows[1] = 1
    assert op.evaluate(ev, state, 0) == 20 - 3  # windows through e5 less those through a1


def greedy(play: Position) -> Chooser:
    search, ev = Greedy(play.state), usual(play.state)
    return lambda p: (
        search.search(p.state, ev, SearchLimits(seed=f"{p.seed}/{len(p.history)}")).action
    )


def anyhow(play: Position) -> Chooser:
    source = random.Random(play.seed)
    return lambda p: source.choice(p.legal)


def duel(games: int, **options: Any) -> float:
    """Return greedy's share of points against random, alternating seats."""
    points = 0.0
    for seed in range(games):
        play = Position(GAME, GAME.Options(**options), 2, seed)
        choosers = [greedy(play), anyhow(play)]
        while play.outcome is None:
            play.push(choosers[(play.to_act + seed) % 2](play))
        points += play.outcome.scores[seed % 2]
    return points / games


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"exact": True, "dead_board_draw": True},
        {"swap": True},
        {"size": 7},
        {"size": 15, "opening": ["h8", "g7"]},
    ],
    ids=str,
)
def test_greedy_beats_random(options: dict[str, Any]) -> None:
    assert duel(40, **options) >= 0.95
