from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from kibitz_arena.ratings import (
    ELO_PER_LOGIT,
    RatedGame,
    _choice_counts,
    _choice_sets,
    _Fit,
    rate,
    student_quantile,
)
from tests.arena.simulated_games import GameModel, free_for_all, gauntlet, round_robin

Make = Callable[[GameModel, np.random.Generator], list[RatedGame]]
EIGHT = (-250.0, -180.0, -90.0, -40.0, 30.0, 80.0, 150.0, 310.0)


def match(wins: int, losses: int, draws: int = 0) -> list[RatedGame]:
    """Games of 0 against 1 in the same seats, each in its own block."""
    ranks = [(1, 2)] * wins + [(2, 1)] * losses + [(1, 1)] * draws
    turned = [((0, 1), each) if i % 2 else ((1, 0), each[::-1]) for i, each in enumerate(ranks)]
    return [RatedGame(f"b{i}", players, each) for i, (players, each) in enumerate(turned)]


def test_two_players_are_as_far_apart_as_their_score_says() -> None:
    found = rate(2, match(3000, 1000))
    assert found.rating[0] - found.rating[1] == pytest.approx(400 * math.log10(3), abs=1)
    assert found.rating.sum() == pytest.approx(0, abs=1e-9)


def test_draws_are_half_a_win_each_and_make_ratings_surer() -> None:
    decisive, drawn = rate(2, match(600, 200)), rate(2, match(400, 0, 400))
    assert drawn.rating == pytest.approx(decisive.rating, abs=1)
    assert np.all(drawn.high - drawn.low < 0.8 * (decisive.high - decisive.low))


def test_perfect_scores_are_finite() -> None:
    found = rate(2, match(10, 0))
    assert 700 < found.rating[0] - found.rating[1] < 1000
    assert found.low[0] < found.rating[0] - 100


def test_the_prior_is_weak() -> None:
    """It changes a difference of 200 Elo from 40 games by less than 2 of its 60 Elo of error."""
    share = 1 / (1 + 10 ** (-200 / 400))
    wins = round(40 * share)
    plain = 400 * math.log10(wins / (40 - wins))
    found = rate(2, match(wins, 40 - wins))
    assert found.rating[0] - found.rating[1] == pytest.approx(plain, abs=2)


def test_those_who_never_met_are_compared_with_great_doubt() -> None:
    games = [RatedGame("a", (0, 1), (1, 2)), RatedGame("b", (2, 3), (1, 2))]
    found = rate(4, games)
    assert found.high[0] - found.low[0] > 1000


def test_an_anchor_fixes_the_scale_and_is_sure() -> None:
    games = round_robin(GameModel((0, 100, 200)), 20, np.random.default_rng(1))
    free, held = rate(3, games, mean=1500), rate(3, games, anchors={1: 2000.0})
    assert held.rating[1] == held.low[1] == held.high[1] == 2000
    assert np.diff(held.rating) == pytest.approx(np.diff(free.rating), abs=1)
    assert free.rating.mean() == pytest.approx(1500)


def test_two_anchors_are_both_held() -> None:
    games = round_robin(GameModel((0, 100, 200)), 5, np.random.default_rng(1))
    found = rate(3, games, anchors={0: 100.0, 2: 150.0})
    assert (found.rating[0], found.rating[2]) == (100, 150)
    assert found.low[1] < found.rating[1] < found.high[1]


def test_nobody_is_rated_by_name_or_number() -> None:
    games = free_for_all(GameModel((0, 50, 100, 200, 300)), 4, 3, np.random.default_rng(2))
    turned = [RatedGame(g.block, tuple(4 - p for p in g.players), g.ranks) for g in games]
    assert rate(5, turned).rating == pytest.approx(rate(5, games).rating[::-1], abs=1e-6)
    assert rate(5, turned).low == pytest.approx(rate(5, games).low[::-1], abs=1e-6)


def test_seats_are_worth_what_they_are() -> None:
    found = rate(2, round_robin(GameModel((0, 0), first=120), 1500, np.random.default_rng(3)))
    assert found.seats[0] - found.seats[1] == pytest.approx(120, abs=20)


def order_terms(players: tuple[int, ...], order: tuple[int, ...], at: np.ndarray) -> float:
    """Return the log-likelihood of one strict order by definition."""
    total = 0.0
    for place in range(len(order)):
        left = [at[players[seat]] for seat in order[place:]]
        total += left[0] - math.log(sum(math.exp(each) for each in left))
    return total


@pytest.mark.parametrize(
    "ranks", [(1, 2, 3), (1, 1, 3), (2, 1, 2), (1, 1, 1), (3, 1, 1, 4), (1, 2, 2, 2)]
)
def test_a_tie_is_the_mean_of_all_orders(ranks: tuple[int, ...]) -> None:
    count = len(ranks)
    at = np.linspace(-1, 1.3, count)
    players = tuple(range(count))
    orders = [
        order
        for order in itertools.permutations(players)
        if all(ranks[a] <= ranks[b] for a, b in itertools.pairwise(order))
    ]
    mean = sum(order_terms(players, order, at) for order in orders) / len(orders)
    sets = _choice_sets(ranks)
    told = at @ _choice_counts(ranks) - sum(
        weight * math.log(sum(math.exp(at[seat]) for seat in members)) for members, weight in sets
    )
    assert told == pytest.approx(mean)


def test_the_derivatives_are_those_of_the_likelihood() -> None:
    games = free_for_all(GameModel((0, 50, 100, 200), draws=0.4), 3, 2, np.random.default_rng(2))
    sets = _Fit(4, games, {})._sets
    rng = np.random.default_rng(0)
    values = rng.normal(size=7)
    first, second = sets.moments(values)
    for i in range(7):
        step = np.zeros(7)
        step[i] = 1e-5
        up, down = values + step, values - step
        assert (sets.log_normalizer(up) - sets.log_normalizer(down)) / 2e-5 == pytest.approx(
            first[i], abs=1e-5
        )
        slope = (sets.moments(up)[0] - sets.moments(down)[0]) / 2e-5
        assert slope == pytest.approx(second[i], abs=1e-5)


def test_blocks_that_even_luck_out_make_intervals_narrower() -> None:
    lucky, plain = GameModel((0, 0, 0, 0), luck=0.9), GameModel((0, 0, 0, 0))
    wide = rate(4, round_robin(plain, 30, np.random.default_rng(1)))
    narrow = rate(4, round_robin(lucky, 30, np.random.default_rng(1)))
    assert narrow.dispersion < 0.5 < 0.8 < wide.dispersion < 1.2
    assert narrow.high[0] - narrow.low[0] < 0.75 * (wide.high[0] - wide.low[0])


def test_no_games_no_certainty() -> None:
    found = rate(3, [])
    assert found.rating == pytest.approx([0, 0, 0])
    assert np.all(found.high > 1000)


@pytest.mark.parametrize(
    ("freedom", "known"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (30, 2.042), (1e6, 1.960)],
)
def test_students_quantiles_are_those_of_the_tables(freedom: float, known: float) -> None:
    assert student_quantile(freedom, 0.975) == pytest.approx(known, abs=0.02)


# Coverage: true strengths are within the 95% intervals


def covered(make: Make, world: GameModel, events: int) -> float:
    """Return the share of true strengths within their intervals, over all players and events."""
    truth = np.array(world.strength) - np.mean(world.strength)
    inside = 0
    for number in range(events):
        found = rate(len(truth), make(world, np.random.default_rng([7, number])))
        inside += int(np.sum((found.low <= truth) & (truth <= found.high)))
    return inside / (events * len(truth))


COURSE = GameModel(EIGHT, first=80, luck=0.4, draws=0.3)
SCENES: dict[str, tuple[Make, GameModel]] = {
    "round robin": (lambda world, rng: round_robin(world, 5, rng), COURSE),
    "independent games": (lambda world, rng: round_robin(world, 5, rng), GameModel(EIGHT)),
    "much luck": (
        lambda w, rng: round_robin(w, 5, rng),
        GameModel(EIGHT, first=200, luck=0.8, draws=0.5),
    ),
    "long match": (lambda w, rng: round_robin(w, 60, rng), GameModel((40.0, -40.0), 80, 0.4, 0.3)),
    "gauntlet": (
        lambda world, rng: gauntlet(world, 20, rng),
        GameModel((60.0, -150.0, -50.0, 0.0, 60.0, 80.0), 80, 0.4, 0.3),
    ),
    "four seats": (lambda w, rng: free_for_all(w, 4, 1, rng), GameModel(EIGHT, 60, 0.3, 0.3)),
    "six seats": (lambda w, rng: free_for_all(w, 6, 1, rng), GameModel(EIGHT, 60, 0.3, 0.3)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "events"), [("round robin", 60), ("long match", 200), ("four seats", 30)]
)
def test_intervals_hold_about_what_they_state(name: str, events: int) -> None:
    assert 0.9 <= covered(*SCENES[name], events) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_intervals_hold_what_they_state(name: str) -> None:
    share = covered(*SCENES[name], 1000)
    print(f"{name}: {share:.4f}")  # noqa: T201
    assert 0.93 <= share <= 0.97


def test_a_logistic_unit_is_174_elo() -> None:
    assert pytest.approx(173.7178, abs=1e-4) == ELO_PER_LOGIT
