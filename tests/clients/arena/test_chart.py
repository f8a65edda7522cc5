import re
from collections.abc import Callable

import pytest

from kibitz_clients.arena import chart
from kibitz_clients.arena.chart import Scale
from kibitz_clients.arena.results import Results
from tests.clients.arena import samples


@pytest.mark.parametrize("sample", [samples.league, samples.melee, samples.swiss, samples.crowd])
def test_all_intervals_lie_on_the_scale(sample: Callable[[], Results]) -> None:
    standings = sample().standings
    scale = Scale.of(standings)
    assert scale is not None
    for each in standings:
        assert each.low is not None
        assert each.rating is not None
        assert each.high is not None
        assert chart.MARGIN <= scale.x(each.low) <= scale.x(each.rating) <= scale.x(each.high)
        assert scale.x(each.high) <= chart.WIDTH - chart.MARGIN
    assert 2 <= len(scale.ticks) <= chart.TICKS + 1
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


def test_without_ratings_there_is_no_scale() -> None:
    assert Scale.of(samples.untouched().standings) is None


def test_equal_ratings_without_an_interval_have_a_scale_too() -> None:
    one = samples.melee().standings[-1].model_copy(update={"rating": 7.0, "low": 7.0, "high": 7.0})
    scale = Scale.of([one, one])
    assert scale is not None
    assert scale.x(7.0) == chart.WIDTH / 2


def test_stronger_is_further_right() -> None:
    standings = samples.league().standings
    scale = Scale.of(standings)
    assert scale is not None
    dots = [_dot(chart.interval(scale, each)) for each in standings]
    assert dots == sorted(dots, reverse=True)


def _dot(picture: str) -> float:
    found = re.search(r'circle class="dot" cx="([\d.]+)"', picture)
    assert found is not None
    return float(found[1])


def test_an_anchor_has_a_square_and_no_whisker() -> None:
    standings = samples.melee().standings
    scale = Scale.of(standings)
    assert scale is not None
    anchored = chart.interval(scale, standings[-1])
    assert 'class="anchor"' in anchored
    assert "reach" not in anchored


def test_an_entrant_without_a_rating_has_an_empty_row() -> None:
    scale = Scale.of(samples.league().standings)
    assert scale is not None
    empty = chart.interval(scale, samples.untouched().standings[0])
    assert "reach" not in empty
    assert "dot" not in empty


@pytest.mark.parametrize(("llr", "x"), [(-9.0, 16.0), (0.0, 170.0), (9.0, 324.0)])
def test_the_gauge_stays_between_its_bounds(llr: float, x: float) -> None:
    test = samples.league().sequential
    assert test is not None
    assert _dot(chart.gauge(test.model_copy(update={"llr": llr}))) == x
