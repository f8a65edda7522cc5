"""Points as an evaluation, and what the greedy player makes of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kibitz_bots.evaluate.number_merge import points
from kibitz_bots.search.found import WON
from kibitz_bots.search.limits import Limits
from kibitz_bots.search.one_ply import OnePly
from kibitz_games import operations as op
from kibitz_games import registry
from kibitz_games.play import Play

GAME: Any = registry.get("number-merge")
Chooser = Callable[[np.record, str], int]


def started(seed: int = 0, **options: Any) -> Play:
    return Play(GAME, GAME.Options(**options), seed=seed)


def greedy(play: Play) -> Chooser:
    search, ev = OnePly(play.state), points(play.state)
    return lambda st, seed: search.search(st, ev, Limits(seed=seed)).action


def anyhow(play: Play) -> Chooser:
    return lambda st, seed: random.Random(seed).choice(GAME.legal(st))


def duel(one: Callable[[Play], Chooser], pairs: int, **options: Any) -> float:
    """Return the share of the points that `one` takes from a random player.

    Two matches are played on each row, the seats swapped in the second.
    """
    total = 0.0
    for seed in range(pairs):
        for seat in (0, 1):
            play = started(seed, **options)
            choosers = [anyhow(play), anyhow(play)]
            choosers[seat] = one(play)
            while play.outcome is None:
                chosen = choosers[play.to_act](play.state, f"{seed}/{seat}/{len(play.entries)}")
                play.act(chosen)
            total += play.outcome.scores[seat]
    return total / (2 * pairs)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_position_is_worth_the_lead(seat: int) -> None:
    play = started(row=(9, 9, 9, 1, 1, 1), threshold=10)
    ev = points(play.state)
    play.act(0)  # seat 0: +1
    play.act(3)  # seat 1: -1
    assert op.evaluate(ev, play.state, seat) == (2.0 if seat == 0 else -2.0)
    ev["point"] = 0.25
    assert op.evaluate(ev, play.state, seat) == (0.5 if seat == 0 else -0.5)


@pytest.mark.parametrize(
    ("row", "best"),
    [
        ((1, 1, 9, 9, 1, 9), {2}),  # a point
        ((1, 1, 9, 1, 1, 1), {1, 2}),  # no point to be had, but none is lost
        ((1, 1, 2, 3), {0, 1, 2}),  # a point is lost whatever it does
    ],
)
def test_greedy_takes_the_most_now_and_equals_by_seed(row: tuple[int, ...], best: set[int]) -> None:
    play = started(row=row, threshold=10)
    assert {greedy(play)(play.state, f"{seed}") for seed in range(60)} == best


def test_the_last_merge_of_a_won_play_is_worth_a_win() -> None:
    play = started(row=(9, 9, 9, 1), threshold=10)
    play.act(0)
    play.act(1)
    found = OnePly(play.state).search(play.state, points(play.state), Limits())
    assert found.value == WON


@pytest.mark.parametrize(("preset", "least"), [("fair", 0.9), ("long", 0.95), ("open", 0.95)])
def test_greedy_beats_random(preset: str, least: float) -> None:
    assert duel(greedy, 100, preset=preset) >= least


def test_little_can_be_done_wrong_in_the_classic_game() -> None:
    """Almost every sum is above the mean, so whoever begins has one point more at the end."""
    assert 0.5 < duel(greedy, 100, preset="classic") < 0.6


def test_two_random_players_are_equals() -> None:
    assert 0.4 < duel(anyhow, 200) < 0.6
