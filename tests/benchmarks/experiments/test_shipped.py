"""The experiments on shipped arrays and on the optimized one."""

from __future__ import annotations

import numpy as np

from benchmarks.experiments import ceiling, shipped
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import EVOLVED, distances


def test_an_array_is_tested_as_the_seat_that_begins_says() -> None:
    by_begins = {
        begins: shipped.tested(distances("hand"), 2, "hand", begins, 40, 1)
        for begins in shipped.BEGINS
    }
    assert by_begins["individual"] != by_begins["turns"]
    assert by_begins["turns"][0] == "40"


def test_nobody_who_never_wins_has_plies_of_a_win() -> None:
    nobody = shipped.tested(-distances("hand"), 2, "hand", "turns", 4, 1)
    assert nobody[1] == "0.0%"
    assert nobody[3] == "-"
    assert float(nobody[4]) < 0


def test_the_strategy_begins_with_the_array_that_ships_and_changes_it() -> None:
    first = np.array(weights_file.read(shipped.WEIGHTS / f"{EVOLVED[2]}.json").weights)
    first *= ceiling.RANGE / np.ptp(first)
    assert np.array_equal(ceiling.optimised(2, 0, 1), first)
    assert not np.array_equal(ceiling.optimised(2, 1, 1), first)
