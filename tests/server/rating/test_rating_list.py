"""The rating list: which matches are rated, their weight, and reproducibility."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from openskill.models import PlackettLuce

from kibitz_protocol.wire.records import Cause, Result, SeatResult
from kibitz_server.rating.rating_list import (
    ELO_PER_UNIT,
    INITIAL_RATING,
    MODEL,
    RatedMatch,
    RatedPlayer,
    RatingList,
    is_ratable,
    rated_players,
)

NUMBERS = itertools.count(1)


def entrant(key: str) -> RatedPlayer:
    return RatedPlayer(key=key, name=key.title(), kind="bot")


def counted(
    *order: str, ranks: list[int] | None = None, game: str = "toy", at: int = 0
) -> RatedMatch:
    """Return a match with its players in order of their places."""
    return RatedMatch(
        match=f"m{next(NUMBERS)}",
        game=game,
        entrants=[entrant(key) for key in order],
        ranks=ranks or list(range(1, len(order) + 1)),
        ended=at,
    )


def folded(matches: list[RatedMatch]) -> RatingList:
    rating_list = RatingList()
    for each in matches:
        rating_list.add(each)
    return rating_list


def ratings(rating_list: RatingList, game: str = "toy") -> dict[str, float]:
    return {line.key: line.rating for line in rating_list.lines(game)}


def test_nobody_is_on_an_empty_rating_list() -> None:
    assert RatingList().games() == []
    assert RatingList().lines("toy") == []
    assert RatingList().matches("toy") == 0


def test_a_match_moves_both_by_what_the_package_says() -> None:
    (winner,), (loser,) = PlackettLuce().rate(
        [[MODEL.rating()], [MODEL.rating()]], ranks=[1.0, 2.0]
    )
    first, second = folded([counted("ada", "bob", at=7)]).lines("toy")
    assert (first.key, first.place, first.matches, first.last_played) == ("ada", 1, 1, 7)
    assert first.rating == round(INITIAL_RATING + ELO_PER_UNIT * (winner.mu - 25), 1)
    assert second.rating == round(INITIAL_RATING + ELO_PER_UNIT * (loser.mu - 25), 1)
    assert second.deviation == round(ELO_PER_UNIT * loser.sigma, 1)


def test_four_hundred_points_are_ten_to_one() -> None:
    """By the model's own formula, for two players with known strengths."""
    apart = 400 / ELO_PER_UNIT
    strong, weak = (
        math.exp((25 + apart) / (MODEL.beta * math.sqrt(2))),
        math.exp(25 / (MODEL.beta * math.sqrt(2))),
    )
    assert strong / weak == pytest.approx(10)


def test_a_draw_between_equals_moves_nobody_and_tells_something() -> None:
    first, second = folded([counted("ada", "bob", ranks=[1, 1])]).lines("toy")
    assert first.rating == second.rating == INITIAL_RATING
    assert first.deviation < ELO_PER_UNIT * MODEL.sigma


def test_six_seats_with_ties() -> None:
    rating_list = folded([counted(*"abcdef", ranks=[1, 2, 2, 4, 5, 6])] * 3)
    got = ratings(rating_list)
    assert got["a"] > got["b"] == got["c"] > got["d"] > got["e"] > got["f"]
    assert {line.matches for line in rating_list.lines("toy")} == {3}


@pytest.mark.parametrize("ranks", [[1, 2, 2, 4], [1, 1, 3, 4], [1, 2, 2, 2], [2, 1, 2, 2]])
def test_a_better_rank_is_never_worth_less_and_a_tie_is_worth_the_same(ranks: list[int]) -> None:
    got = ratings(folded([counted(*"abcd", ranks=ranks)]))
    for one, other in itertools.permutations(zip("abcd", ranks, strict=True), 2):
        if one[1] < other[1]:
            assert got[one[0]] > got[other[0]]
        elif one[1] == other[1]:
            assert got[one[0]] == got[other[0]]


def test_a_tie_draws_unequal_players_together() -> None:
    wins = [counted("strong", "weak") for _ in range(20)]
    before = ratings(folded(wins))
    after = ratings(folded([*wins, counted("strong", "weak", ranks=[1, 1])]))
    assert before["strong"] > after["strong"] > after["weak"] > before["weak"]


def test_strengths_are_found_again() -> None:
    """With four players of known strengths, the order is correct after 400 matches."""
    chance = random.Random(5)
    true = {"weak": 1200.0, "plain": 1400.0, "good": 1600.0, "strong": 1800.0}
    matches = []
    for _ in range(400):
        one, other = chance.sample(sorted(true), 2)
        wins = chance.random() < 1 / (1 + 10 ** ((true[other] - true[one]) / 400))
        matches.append(counted(one, other) if wins else counted(other, one))
    got = ratings(folded(matches))
    assert list(got) == ["strong", "good", "plain", "weak"]
    assert got["strong"] - got["weak"] == pytest.approx(600, abs=200)


def test_the_same_list_gives_the_same_numbers() -> None:
    chance = random.Random(1)
    matches = [counted(*chance.sample("abcdef", chance.choice([2, 3, 6]))) for _ in range(200)]
    assert folded(matches).lines("toy") == folded(matches).lines("toy")
    assert folded(matches).lines("toy") != folded(matches[::-1]).lines("toy")


def test_each_game_has_a_rating_list_of_its_own() -> None:
    rating_list = folded([counted("ada", "bob"), counted("bob", "ada", game="hex")])
    assert rating_list.games() == ["hex", "toy"]
    assert (rating_list.matches("toy"), rating_list.matches("hex")) == (1, 1)
    assert [line.key for line in rating_list.lines("hex")] == ["bob", "ada"]


def test_one_lucky_match_does_not_lead_the_rating_list() -> None:
    sure = [counted("veteran", "other") for _ in range(60)]
    lines = folded([*sure, counted("lucky", "other")]).lines("toy")
    assert lines[0].key == "veteran"
    assert lines[1].deviation > lines[0].deviation


def test_the_newest_name_is_shown() -> None:
    renamed = counted("ada", "bob").model_copy(
        update={"entrants": [RatedPlayer(key="ada", name="Lovelace", kind="bot"), entrant("bob")]}
    )
    names = {line.key: line.name for line in folded([counted("ada", "bob"), renamed]).lines("toy")}
    assert names == {"ada": "Lovelace", "bob": "Bob"}


@pytest.mark.parametrize(
    ("keys", "rated"),
    [
        (["ada", "bob"], True),
        (["ada", "bob", "cyd"], True),
        (["ada", None], False),
        (["ada", "ada"], False),
        (["ada"], False),
    ],
    ids=["two", "three", "a guest", "twice", "alone"],
)
def test_who_makes_a_match_rated(keys: list[str | None], rated: bool) -> None:
    entrants = [None if key is None else entrant(key) for key in keys]
    assert (rated_players(entrants) is not None) == rated


@pytest.mark.parametrize(
    ("cause", "seat", "told"),
    [
        (Cause.RULES, None, True),
        (Cause.TIME, Cause.TIME, True),
        (Cause.ABANDONED, Cause.ABANDONED, True),
        (Cause.INFRASTRUCTURE, None, False),
        (Cause.RULES, Cause.INFRASTRUCTURE, False),
    ],
)
def test_which_results_count(cause: Cause, seat: Cause | None, told: bool) -> None:
    seats = [SeatResult(rank=1, score=1.0), SeatResult(rank=2, score=0.0, cause=seat)]
    assert is_ratable(Result(seats=seats, cause=cause, plies=3)) == told
