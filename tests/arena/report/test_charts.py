import re
from collections.abc import Callable
from typing import Any

import pytest

from kibitz_arena.report import charts
from kibitz_arena.report.charts import RatingAxis, SprtLine
from kibitz_arena.report.html import page_environment
from kibitz_arena.results import Results
from tests.arena import samples

PICTURES: Any = page_environment().get_template("charts.svg.j2").module


@pytest.mark.parametrize("sample", [samples.league, samples.melee, samples.swiss, samples.crowd])
def test_all_intervals_lie_on_the_scale(sample: Callable[[], Results]) -> None:
    standings = sample().standings
    scale = RatingAxis.of(standings)
    assert scale is not None
    for each in standings:
        assert each.low is not None
        assert each.rating is not None
        assert each.high is not None
        assert charts.MARGIN <= scale.x(each.low) <= scale.x(each.rating) <= scale.x(each.high)
        assert scale.x(each.high) <= charts.INTERVAL_WIDTH - charts.MARGIN
    assert 2 <= len(scale.ticks) <= charts.MAX_TICKS + 1
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


def test_without_ratings_there_is_no_scale() -> None:
    assert RatingAxis.of(samples.untouched().standings) is None


def test_equal_ratings_without_an_interval_have_a_scale_too() -> None:
    one = samples.melee().standings[-1].model_copy(update={"rating": 7.0, "low": 7.0, "high": 7.0})
    scale = RatingAxis.of([one, one])
    assert scale is not None
    assert scale.x(7.0) == charts.INTERVAL_WIDTH / 2


def test_stronger_is_further_right() -> None:
    standings = samples.league().standings
    scale = RatingAxis.of(standings)
    assert scale is not None
    dots = [_dot(PICTURES.interval(scale, each)) for each in standings]
    assert dots == sorted(dots, reverse=True)


def _dot(picture: str) -> float:
    found = re.search(r'circle class="dot" cx="([\d.]+)"', picture)
    assert found is not None
    return float(found[1])


def test_an_anchor_has_a_square_and_no_whisker() -> None:
    standings = samples.melee().standings
    scale = RatingAxis.of(standings)
    assert scale is not None
    anchored = PICTURES.interval(scale, standings[-1])
    assert 'class="anchor"' in anchored
    assert "reach" not in anchored


def test_an_entrant_without_a_rating_has_an_empty_row() -> None:
    scale = RatingAxis.of(samples.league().standings)
    assert scale is not None
    empty = PICTURES.interval(scale, samples.untouched().standings[0])
    assert "reach" not in empty
    assert "dot" not in empty


@pytest.mark.parametrize(("llr", "x"), [(-9.0, 16.0), (0.0, 170.0), (9.0, 324.0)])
def test_the_gauge_stays_between_its_bounds(llr: float, x: float) -> None:
    test = samples.league().sequential
    assert test is not None
    assert _dot(PICTURES.sprt(SprtLine(test.model_copy(update={"llr": llr})))) == x
