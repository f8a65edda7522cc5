"""`kibitz record branch`: the summary of its games."""

from __future__ import annotations

from collections import Counter

import pytest

from kibitz.analysis.branch import BranchOutcome, BranchPlan
from kibitz.commands.branch import _lines


@pytest.mark.parametrize(
    ("scores", "head"),
    [
        ([1.0, 0.0], "x/a in seat 1 from ply 4, 2 games: score 0.500"),
        ([1.0], "x/a in seat 1 from ply 4, 1 of 2 games counted: score 1.000"),
        ([], "x/a in seat 1 from ply 4, 0 of 2 games counted: no score because another seat"),
    ],
)
def test_the_games_that_count_are_told(scores: list[float], head: str) -> None:
    plan = BranchPlan(ply=4, bots={0: "x/a", 1: "x/b"}, seat=0, games=2, ms=10)
    faults = {} if len(scores) == 2 else {1: Counter({"crash": 2 - len(scores)})}
    outcome = BranchOutcome(None, scores, faults=faults)
    first, _, *rest = _lines(plan, outcome)
    assert first.startswith(head)
    assert rest == [f"failed: x/b in seat 2: crash {2 - len(scores)}"][: len(faults)]
