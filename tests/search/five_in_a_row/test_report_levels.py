"""The report's levels compared with a plain minimax and with manual examples."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_bots.catalog import five_in_a_row
from kibitz_games.core import registry
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import root_moves
from kibitz_search.cancellation import CancelToken
from kibitz_search.five_in_a_row import pattern_board, report_levels, utility
from kibitz_search.five_in_a_row.report_levels import ReportLevel, gain, mover_gain
from tests.search.five_in_a_row import cases
from tests.tools import profiles


def total(fd: Any, tb: Any, ev: Any, depth: int) -> int:
    """Return the best sum of utilities over `depth` plies by exhaustive search."""
    sums = [each for _, each in sums_of(fd, tb, ev, depth, gain)] if depth else []
    return max(sums, default=0)


def sums_of(
    fd: Any, tb: Any, ev: Any, depth: int, score: Any = mover_gain
) -> list[tuple[int, int]]:
    """Return the value of each empty cell, looking ahead `depth` plies."""
    found = []
    for cell in fd.cells[: int(fd.area)].tolist():
        if fd.board[cell]:
            continue
        worth, wins = int(score(fd, ev, np.int64(cell))), fd.classes[fd.side, cell] == utility.FIVE
        if not wins and depth > 1:
            pattern_board.place_stone(fd, tb, np.int64(cell))
            worth -= total(fd, tb, ev, depth - 1)
            pattern_board.remove_stone(fd, tb, np.int64(cell))
        found.append((cell, worth))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("plies", "size", "least"), [(1, 7, 0), (2, 6, 2), (3, 5, 8), (5, 5, 18)])
@given(seed=st.integers(0, 2**32), more=st.integers(0, 6), exact=st.booleans())
@settings(deadline=None, max_examples=profiles.examples(8))  # the reference tries everything
def test_value_and_move_are_those_of_a_plain_minimax(
    plies: int,
    size: int,
    least: int,
    seed: int,
    more: int,
    exact: bool,
) -> None:
    state = cases.at_random(seed, least + more, size=size, exact=exact)
    tb, ev = utility.vocabulary(exact), utility.usual(state)
    fd = pattern_board.from_state(state, tb)
    before = state.tobytes()
    found = ReportLevel(state, plies=plies).search(state, ev, SearchLimits(seed=seed))
    worths = {
        pattern_board.action_of(fd, cell): worth for cell, worth in sums_of(fd, tb, ev, plies)
    }
    assert state.tobytes() == before
    assert found.value == max(worths.values())
    best = [action for action in root_moves(state, seed) if worths[action] == found.value]
    assert found.action == best[0]
    assert found.line[0] == found.action
    assert found.depth == plies
    assert line_sum(state, found.line, tb, ev) == found.value


def line_sum(state: Any, line: tuple[int, ...], tb: Any, ev: Any) -> int:
    """Return the sum of the utilities along a line."""
    fd: Any = pattern_board.from_state(state, tb)
    worth, sign, score = 0, 1, mover_gain
    for action in line:
        cell = np.int64(pattern_board.cell_of(fd, action))
        worth, sign, score = worth + sign * int(score(fd, ev, cell)), -sign, gain
        pattern_board.place_stone(fd, tb, cell)
    return worth


@pytest.mark.parametrize(
    ("plies", "moves", "good", "value"),
    [
        (1, "e5 a1 f5 a2 g5 a3 h5 a4", "d5 i5", 500_000),
        (2, "e5 a1 f5 a2 g5 a3 h5 a4", "d5 i5", 500_000),  # a five ends it
        (1, "e5 a1 f5 a2 g5 j10 j8 a3", "d5 h5", 100_000),
        (1, "e5 a1 f5 j1 g5", "d5 h5", 90_000),
        # A stone at the end of an open three prevents a live four and leaves a sleep four.
        (2, "e5 a10 f5 j1 g5", "d5 h5", 90_000 - 4000),
        (4, "a1 e5 c1 e6 j1 e7", "e4 e8", None),
        (5, "e5 a10 f5 j1 g5", "d5 h5", None),
        (1, "", "f6", 1),
    ],
)
def test_positions_by_hand(plies: int, moves: str, good: str, value: int | None) -> None:
    state = cases.after(moves)
    ev = utility.usual(state)
    level, chosen = ReportLevel(state, plies=plies), set()
    for seed in range(6):
        found = level.search(state, ev, SearchLimits(seed=seed))
        chosen.add(cases.name(state, found.action))
        assert value is None or found.value == value
    assert chosen <= set(good.split())


def test_out_of_time_it_plays_the_best_of_one_ply() -> None:
    state, flag = cases.after("e5 f6 f5 g5"), CancelToken()
    flag.set()
    ev = utility.usual(state)
    found = ReportLevel(state, plies=8).search(state, ev, SearchLimits(cancelled=flag))
    assert found.depth == 1
    assert found.action in cases.GAME.legal(state)


@pytest.mark.parametrize("options", [{}, {"exact": True}, {"swap": True}, {"size": 5}], ids=str)
def test_levels_play_to_the_end(options: dict[str, Any]) -> None:
    state = cases.start(**options)
    players = [
        (ReportLevel(state, plies=1), utility.usual(state)),
        (ReportLevel(state, plies=3), utility.usual(state)),
    ]
    while cases.GAME.to_act(state) >= 0:
        level, ev = players[cases.GAME.to_act(state)]
        found = level.search(state, ev, SearchLimits(seed=int(state.ply)))
        cases.GAME.play(state, found.action)
    assert cases.GAME.outcome(state) is not None


def test_beginner_beats_chance() -> None:
    points = 0.0
    for seed in range(10):
        state, source = cases.start(), random.Random(seed)
        level, ev = ReportLevel(state, plies=1), utility.usual(state)
        while (seat := cases.GAME.to_act(state)) >= 0:
            mine = seat == seed % 2
            action = level.search(state, ev, SearchLimits(seed=seed)).action if mine else None
            cases.GAME.play(state, action or source.choice(cases.GAME.legal(state)))
        points += cases.GAME.outcome(state).scores[seed % 2]
    assert points >= 9.5


def points(strong: int, weak: int, opening: str, seat: int) -> float:
    """Return the score of the level with `strong` plies in one game against the `weak` one."""
    state = cases.after(opening, dead_board_draw=True)
    plies = (strong, weak) if seat == 0 else (weak, strong)
    levels, ev = [ReportLevel(state, plies=each) for each in plies], utility.usual(state)
    while (mover := cases.GAME.to_act(state)) >= 0:
        found = levels[mover].search(state, ev, SearchLimits(seed=int(state.ply)))
        cases.GAME.play(state, found.action)
    score: float = cases.GAME.outcome(state).scores[seat]
    return score


@pytest.mark.slow
@pytest.mark.parametrize(("strong", "weak"), [(3, 1), (5, 3), (5, 1)])
def test_each_level_beats_the_ones_below(strong: int, weak: int) -> None:
    centre = [f"{x}{y}" for x in "defgh" for y in (4, 5, 6, 7)]
    total = sum(points(strong, weak, opening, seat) for opening in centre for seat in (0, 1))
    assert total > len(centre)


@pytest.mark.parametrize(("name", "plies"), [("beginner", 1), ("intermediate", 3), ("advanced", 5)])
def test_what_the_personalities_look_ahead(name: str, plies: int) -> None:
    (bot,) = (each for each in five_in_a_row.PERSONALITIES if each.short == name)
    recipe: Any = bot.build
    assert recipe.fixed == {"plies": plies}


def test_it_says_why_it_cannot_play_another_game() -> None:
    game: Any = registry.get("number-merge")
    seats = game.info.seats[0]
    state = game.start(game.Options(), seats, game.deal(game.Options(), seats, 0))
    assert (
        ReportLevel.supports(game.info, state)
        == "this search is for another game, not number-merge"
    )
    assert ReportLevel.supports(cases.GAME.info, cases.start()) is None


@pytest.mark.parametrize(
    ("values", "place", "value"),
    [
        ([], 0, None),  # no time for any
        ([30], 0, 30),
        ([30, 40], 1, 40),
        ([-400_000], 1, -400_000),  # the other side makes a five, so another one is no worse
        ([-400_000, -20], 1, -20),
    ],
)
def test_out_of_time_it_plays_the_best_of_what_was_looked_at(
    values: list[int], place: int, value: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = cases.after("e5 f6 f5")
    search, ev = ReportLevel(state, plies=3), utility.usual(state)
    asked: list[int] = []

    def judged(fd: Any, tb: Any, ws: Any, ev: Any, cell: Any, depth: Any, least: Any) -> int:
        asked.append(int(cell))
        ws.stop = len(asked) > len(values)
        return 0 if ws.stop else values[len(asked) - 1]

    monkeypatch.setattr(report_levels, "judge", judged)
    found = search.search(state, ev, SearchLimits())
    fd = pattern_board.from_state(state, search._tb)
    order = list(dict.fromkeys(asked))
    assert found.depth == 1
    if place < len(order):
        assert found.action == pattern_board.action_of(fd, order[place])
    assert value is None or found.value == value
