from __future__ import annotations

import math

import pytest

from kibitz.text.series_score import (
    climb_step,
    climb_summary,
    elo,
    interval,
    progress,
    share,
    summary,
    superiority,
)
from kibitz_protocol.wire.lobbies import Standing
from kibitz_protocol.wire.records import Cause


def line(wins: int, draws: int, losses: int, **causes: int) -> Standing:
    return Standing(
        player="p1",
        name="mine",
        played=wins + draws + losses,
        wins=wins,
        draws=draws,
        losses=losses,
        points=wins + draws / 2,
        causes={Cause(name): count for name, count in causes.items()},
    )


def test_a_score_of_ten_elevenths_is_four_hundred_elo() -> None:
    difference, error = elo(line(1000, 0, 100))
    assert difference == pytest.approx(400)
    # The slope of the curve there is 400 / ln 10 / (p (1 - p)), times the deviation of the mean.
    assert error == pytest.approx(400 / math.log(10) * 1.96 / math.sqrt(1100 * 10 / 121), rel=0.02)


def test_equal_players_are_equal_and_draws_narrow_the_error() -> None:
    assert elo(line(50, 0, 50))[0] == 0
    assert elo(line(10, 80, 10))[1] < elo(line(50, 0, 50))[1] / 2


@pytest.mark.parametrize(("wins", "losses", "sign"), [(5, 0, 1), (0, 5, -1)])
def test_a_clean_sweep_has_no_finite_difference(wins: int, losses: int, sign: int) -> None:
    assert elo(line(wins, 0, losses)) == (sign * math.inf, math.inf)


def test_superiority_is_a_normal_tail() -> None:
    assert superiority(line(0, 7, 0)) == 0.5
    assert superiority(line(60, 3, 40)) == pytest.approx(0.97725, abs=1e-4)  # two deviations


def test_the_interval_is_wilsons() -> None:
    assert interval(line(8, 0, 2)) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert interval(line(0, 0, 0)) == (0, 1)
    assert share(line(0, 0, 0)) == 0.5


def test_progress_says_the_score_and_how_fast_it_is() -> None:
    told = progress(line(3, 0, 1), seconds=2.0)
    assert told == "mine scores 75% (30% to 95%), 2.0 games/s"
    assert progress(line(0, 0, 0), seconds=2.0) == "mine scores -, 0.0 games/s"


def test_the_summary_counts_faults_by_cause() -> None:
    told = summary(line(6, 2, 2, time=1, crash=2, disconnect=1), "g/random", "g", 2).splitlines()
    assert told[0] == "Results of mine against g/random in g:"
    assert told[1].startswith("Elo: 147.2 +/- ")
    assert told[2].startswith("Games: 10, wins: 6, losses: 2, draws: 2, points: 7 (70.0%")
    assert told[3] == "Time losses: 1, crashes: 2, illegal moves: 0, other faults: 1"


def test_a_field_of_several_has_a_score_and_no_difference() -> None:
    assert "Elo" not in summary(line(6, 2, 2), "g/random, g/random", "g", 3)


def test_a_climb_says_the_score_of_each_level_and_where_the_bot_stands() -> None:
    step = climb_step(2, "star/greedy", line(7, 0, 3))
    assert step == "level 2, star/greedy: 70% of 10 games (40% to 89%)"
    assert climb_summary("mine", 0, 5) == "mine is weaker than level 1 of 5"
    assert climb_summary("mine", 3, 5) == "mine stands at level 3 of 5: the next one beats it"
    assert climb_summary("mine", 5, 5) == "mine holds its own against all 5 levels"
