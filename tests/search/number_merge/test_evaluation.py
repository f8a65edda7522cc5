"""Points as an evaluation, and the greedy player that uses it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.number_merge.evaluation import forecast, points

GAME: Any = registry.get("number-merge")
Chooser = Callable[[np.record, str], int]


def started(seed: int = 0, **options: Any) -> Position:
    return Position(GAME, GAME.Options(**options), seed=seed)


def greedy(play: Position) -> Chooser:
    search, ev = Greedy(play.state), points(play.state)
    return lambda st, seed: search.search(st, ev, SearchLimits(seed=seed)).action


def anyhow(play: Position) -> Chooser:
    return lambda st, seed: random.Random(seed).choice(GAME.legal(st))


def duel(one: Callable[[Position], Chooser], pairs: int, **options: Any) -> float:
    """Return the share of points of `one` against a random player.

    Each row is played twice, with swapped seats.
    """
    total = 0.0
    for seed in range(pairs):
        for seat in (0, 1):
            play = started(seed, **options)
            choosers = [anyhow(play), anyhow(play)]
            choosers[seat] = one(play)
            while play.outcome is None:
                chosen = choosers[play.to_act](play.state, f"{seed}/{seat}/{len(play.history)}")
                play.push(chosen)
            total += play.outcome.scores[seat]
    return total / (2 * pairs)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_position_is_worth_the_lead(seat: int) -> None:
    play = started(row=(9, 9, 9, 1, 1, 1), threshold=10)
    ev = points(play.state)
    play.push(0)  # seat 0: +1
    play.push(3)  # seat 1: -1
    assert op.evaluate(ev, play.state, seat) == (2.0 if seat == 0 else -2.0)
    ev["point"] = 0.25
    assert op.evaluate(ev, play.state, seat) == (0.5 if seat == 0 else -0.5)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((9, 9, 1, 1), 1.0),  # three merges, and the mover has the first good pair
        ((1, 1, 1, 1), 0.0),  # three merges, and the mover has to create the first good pair
        ((9, 9, 1), 0.0),
        ((1, 1, 1), -1.0),
    ],
)
def test_a_forecast_is_the_lead_that_the_mover_expects(
    row: tuple[int, ...], expected: float
) -> None:
    play = started(row=row, threshold=10)
    ev = forecast(play.state)
    own, other = (float(op.evaluate(ev, play.state, seat)) for seat in (0, 1))
    assert own - other == expected
    assert own == -other


@pytest.mark.parametrize(
    ("row", "best"),
    [
        ((1, 1, 9, 9, 1, 9), {2}),  # a point
        ((1, 1, 9, 1, 1, 1), {1, 2}),  # no point available, but none is lost
        ((1, 1, 2, 3), {0, 1, 2}),  # every move loses a point
    ],
)
def test_greedy_takes_the_most_now_and_equals_by_seed(row: tuple[int, ...], best: set[int]) -> None:
    play = started(row=row, threshold=10)
    assert {greedy(play)(play.state, f"{seed}") for seed in range(60)} == best


def test_the_last_merge_of_a_won_play_is_worth_a_win() -> None:
    play = started(row=(9, 9, 9, 1), threshold=10)
    play.push(0)
    play.push(1)
    found = Greedy(play.state).search(play.state, points(play.state), SearchLimits())
    assert found.value == WIN_SCORE


@pytest.mark.parametrize(("preset", "least"), [("fair", 0.9), ("long", 0.95), ("open", 0.95)])
def test_greedy_beats_random(preset: str, least: float) -> None:
    assert duel(greedy, 100, preset=preset) >= least


def test_little_can_be_done_wrong_in_the_classic_game() -> None:
    """Almost every sum is above the mean, so the first player has one point more at the end."""
    assert 0.5 < duel(greedy, 100, preset="classic") < 0.6


def test_two_random_players_are_equals() -> None:
    assert 0.4 < duel(anyhow, 200) < 0.6
