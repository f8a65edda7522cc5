"""The flow chart, the cost of a move and the games of the levels of five in a row."""

from __future__ import annotations

import pytest

from benchmarks.experiments import five_in_a_row
from benchmarks.experiments.experiment import Scale, UnavailableError
from benchmarks.strength import results


def test_the_levels_are_those_of_the_bots() -> None:
    assert five_in_a_row.levels() == {"beginner": 1, "intermediate": 3, "advanced": 5}


def test_tests_are_in_the_order_of_the_report() -> None:
    found = five_in_a_row.tests()
    assert found[:4] == [
        ("own five", 500_000),
        ("the other's five", 400_000),
        ("own winning", 100_000),
        ("the other's winning", 90_000),
    ]
    assert found[-1] == ("the other's sleep two", 3)
    assert len(found) == 24


def test_the_chart_has_every_test_with_its_utility() -> None:
    (drawing,) = five_in_a_row.chart(Scale()).figures.values()
    for what, worth in five_in_a_row.tests():
        assert f"{what.replace(chr(39), '&#x27;')}?" in drawing
        assert f"utility {worth:,}" in drawing


def test_the_advanced_level_is_shown_against_every_other_bot() -> None:
    measured = five_in_a_row.unbeatable(Scale())
    assert "threat" in [row[0] for row in measured.rows]
    assert "advanced" not in [row[0] for row in measured.rows]


def test_without_a_cross_table_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "load", dict)
    with pytest.raises(UnavailableError, match="five-in-a-row-cross"):
        five_in_a_row.unbeatable(Scale())


def test_deeper_moves_and_larger_boards_cost_more_positions() -> None:
    costs = {
        key: next(five_in_a_row._costs(*key, 1))[0] for key in [(6, 1), (6, 3), (10, 1), (10, 3)]
    }
    assert costs[6, 1] < costs[6, 3] < costs[10, 3]
    assert costs[6, 1] < costs[10, 1]
