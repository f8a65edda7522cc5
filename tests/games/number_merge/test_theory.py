"""The results of perfect play: the figures on the rules page, for rows dealt by the game."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kibitz_games.core.position import Position
from kibitz_games.number_merge import GAME
from kibitz_games.number_merge import models as number_merge_models
from tests.games.number_merge.reference import mean, part, shares, values

ROWS = 600


def dealt(**options: Any) -> list[list[int]]:
    """Return the rows of the first matches of some options."""
    chosen = number_merge_models.Options(**options)
    plays = (Position(GAME, chosen, seed=seed) for seed in range(ROWS))
    return [GAME.view(play.state, None).row for play in plays]


def thresholds(**options: Any) -> list[Fraction]:
    """Return the thresholds of these rows according to the game."""
    chosen = number_merge_models.Options(**options)
    plays = (Position(GAME, chosen, seed=seed) for seed in range(ROWS))
    return [Fraction(*GAME.view(play.state, None).threshold) for play in plays]


def test_the_first_player_wins_the_classic_game() -> None:
    rows = dealt(preset="classic")
    assert {len(row) for row in rows} == {6}
    assert thresholds(preset="classic") == [mean(row) for row in rows]
    assert shares(rows, [mean(row) for row in rows]) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("length", [4, 8, 10])
def test_the_first_player_wins_every_even_row_at_the_mean(length: int) -> None:
    rows = dealt(length=length, threshold="mean")
    assert shares(rows, [mean(row) for row in rows])[0] >= 0.99


@pytest.mark.parametrize("length", [5, 7, 9])
def test_odd_rows_at_the_mean_are_drawn(length: int) -> None:
    rows = dealt(length=length, threshold="mean")
    assert shares(rows, [mean(row) for row in rows])[1] >= 0.99


@pytest.mark.parametrize(
    ("preset", "of_total", "expected"),
    [("fair", "2/5", (0.52, 0.09, 0.39)), ("long", "1/3", (0.57, 0.20, 0.23))],
)
def test_shares_of_the_other_presets(
    preset: str, of_total: str, expected: tuple[float, ...]
) -> None:
    rows = dealt(preset=preset)
    exact = [part(row, of_total) for row in rows]
    assert thresholds(preset=preset) == exact
    assert shares(rows, exact) == pytest.approx(expected, abs=0.04)


def test_digits_are_dealt_evenly() -> None:
    digits = list(itertools.chain.from_iterable(dealt(preset="open")))
    counts = np.bincount(digits, minlength=10)
    assert counts[0] == 0
    assert len(counts) == 10
    spread = (counts[1:] - len(digits) / 9) ** 2 / (len(digits) / 9)
    assert spread.sum() < 26.1  # the 0.1% point of chi squared with 8 degrees of freedom


def perfect(play: Position, worth: Any) -> int:
    """Return an action that keeps the value of the position, from a table of all values."""
    best, least = -1, 1 << 10
    for action in play.legal:
        seat = play.to_act
        before = [int(score) for score in play.state["score"]]
        play.push(action)
        edges = play.state["edge"][1 : int(play.state["count"])]
        reached = int(worth[sum(1 << (int(edge) - 1) for edge in edges)])
        earned = int(play.state["score"][seat]) - before[seat]
        play.pop()
        if reached - earned < least:
            best, least = action, reached - earned
    return best


@pytest.mark.parametrize("preset", ["classic", "fair"])
def test_perfect_play_comes_to_what_the_table_says(preset: number_merge_models.Preset) -> None:
    """The reference computes the table, and the game plays."""
    for seed in range(20):
        play = Position(GAME, number_merge_models.Options(preset=preset), seed=seed)
        view = GAME.view(play.state, None)
        worth = values([view.row], [Fraction(*view.threshold)])[:, 0]
        while play.outcome is None:
            play.push(perfect(play, worth))
        lead = int(play.state["score"][0]) - int(play.state["score"][1])
        assert lead == worth[-1]
