"""Plans of own moves, with each way to break ties."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.experiments.chinese_checkers import Plan, Rule


@pytest.mark.parametrize(
    ("rule", "worth", "depth", "beaten"),
    [
        ("sooner", 5.0, 0, True),
        ("sooner", 5.0, 1, False),
        ("first", 5.0, 0, False),
        ("last", 5.0, 2, True),
        ("last", 4.0, 0, False),
        ("first", 6.0, 3, True),
    ],
)
def test_which_plan_takes_the_place_of_another(
    rule: Rule, worth: float, depth: int, beaten: bool
) -> None:
    assert Plan(7, 5.0, 1).beaten_by(worth, depth, rule) is beaten


def test_any_plan_is_better_than_none() -> None:
    assert Plan().beaten_by(-1e9, 0, "first")
    assert not Plan().beaten_by(-np.inf, 0, "sooner")
