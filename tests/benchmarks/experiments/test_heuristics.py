"""Heuristics of Chinese Checkers among each other, what a seat is worth, and the arrays."""

from __future__ import annotations

import pytest

from benchmarks.experiments import arrays, heuristics, matches
from benchmarks.experiments.experiment import Scale
from benchmarks.experiments.matches import Player
from kibitz_games.core.game import Outcome
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.chinese_checkers.evaluation import LANE, LEFT_BEHIND, hand, mobility


def outcome(*ranks: int) -> Outcome:
    return Outcome(ranks=ranks, scores=tuple(0.0 for _ in ranks), reason="goal")


def test_the_seat_turns_and_a_shared_place_counts_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    own, other = Player(Greedy, hand), Player(Greedy, mobility)
    played = list[tuple[int, int]]()

    def play(players: list[Player], seed: int) -> Outcome:
        played.append((seed, players.index(own)))
        return outcome(1, 1, 3)

    monkeypatch.setattr(heuristics, "play_all", play)
    assert heuristics.firsts(own, other, 3, 6) == 2.0
    assert played == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]


def test_a_seat_that_always_wins_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        heuristics,
        "play_all",
        lambda players, seed: outcome(1, *range(2, len(players) + 1)),
    )
    measured = heuristics.seats(Scale())
    assert {row[3] for row in measured.rows if row[1] == "1"} == {"100.0%"}
    assert "15 of 15 seats" in measured.found


def test_players_alike_in_all_seats_play_to_the_end() -> None:
    ranks = heuristics.play_all([Player(Greedy, mobility)] * 3, 1).ranks
    assert sorted(ranks)[0] == 1


def test_the_hand_tuned_weights_consist_of_their_parts() -> None:
    _, state = matches.start("chinese-checkers", 2, 0)
    whole = heuristics.hand_with(state, lane=LANE, behind=LEFT_BEHIND)
    assert (whole["weights"] == hand(state)["weights"]).all()
    for part in ({"lane": 0, "behind": LEFT_BEHIND}, {"lane": LANE, "behind": 0}):
        less = heuristics.hand_with(state, **part)
        assert (less["weights"] >= whole["weights"]).all()
        assert (less["weights"] > whole["weights"]).any()


def test_every_array_is_drawn_with_all_holes() -> None:
    measured = arrays.arrays(Scale())
    assert len(measured.rows) == 4
    assert all(drawing.count("<circle") == 121 for drawing in measured.figures.values())


def test_the_book_is_played_from_every_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    played = set[tuple[int, int, int]]()

    def is_first(own: Player, other: Player, seats: int, seed: int, seat: int) -> float:
        assert own.search is not other.search
        played.add((seats, seed, seat))
        return float(seat == 0)

    monkeypatch.setattr(heuristics, "_is_first", is_first)
    measured = heuristics.opening_book(Scale())
    assert [row[:4] for row in measured.rows] == [
        ("2", "60", "50.0%", "50.0%"),
        ("3", "39", "33.3%", "33.3%"),
    ]
    assert len(played) == 99


def test_a_match_from_the_usual_start_has_one_first_seat() -> None:
    alike = Player(Greedy, mobility)
    assert sum(heuristics._is_first(alike, alike, 3, 1, seat) for seat in range(3)) == 1.0
