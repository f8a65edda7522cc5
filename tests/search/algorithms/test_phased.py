"""Stages and the transitions between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kibitz_games.core import registry
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.iddfs import Iddfs
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.phased import PhasedSearch
from kibitz_search.algorithms.result import SearchResult
from kibitz_search.chinese_checkers.evaluation import hand

GAME: Any = registry.get("chinese-checkers")


def start(**options: Any) -> Any:
    return GAME.start(GAME.Options(**options), 2, {})


class Known:
    """An oracle for positions up to ply 2 of two-player games of the default size."""

    value = 7.0

    def __init__(self, state: np.record) -> None:
        self.asked = 0

    @staticmethod
    def supports(state: np.record) -> str | None:
        return None if int(state["holes"]) == 121 else "another board"

    def probe(self, state: np.record, limits: SearchLimits) -> SearchResult | None:
        self.asked += 1
        first = GAME.legal(state)[0]
        return SearchResult(first, self.value, 1, 1, (first,)) if int(state["ply"]) < 2 else None


class Later(Known):
    """An oracle for every position, which is consulted last."""

    value = 8.0


class Staged(PhasedSearch):
    oracles = (Known, Later)
    middle = Iddfs


def test_the_first_stage_with_an_answer_is_played() -> None:
    state = start()
    assert Staged(state).search(state, hand(state), SearchLimits(seconds=0.0)).value == 7.0


def test_without_an_answer_the_middle_searches() -> None:
    state = start()
    for _ in range(2):
        GAME.play(state, GAME.legal(state)[0])
    found = Staged(state).search(state, hand(state), SearchLimits(depth=2))
    assert found.depth == 2
    assert found.nodes > 14


def test_a_stage_that_has_nothing_for_a_board_is_left_out() -> None:
    state = start(size=3)
    assert Staged(state).search(state, hand(state), SearchLimits(depth=1)).depth == 1


def test_another_middle_can_be_named() -> None:
    state = start(size=3)
    phases = Staged(state, middle=Greedy)
    assert phases.search(state, hand(state), SearchLimits(seconds=0.0)).depth == 1


@pytest.mark.parametrize("dtype", [np.dtype([("key", np.uint64)])])
def test_it_plays_what_its_middle_plays(dtype: Any) -> None:
    assert Staged.supports(GAME.info, start()) is None
    assert "skipping turns" in str(Staged.supports(GAME.info, np.zeros(1, dtype)[0]))


def test_everybody_is_asked_in_a_rehearsal_and_the_middle_searches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state, searched = start(), []
    staged: Any = Staged(state)

    def search(state: Any, ev: Any, limits: SearchLimits) -> None:
        searched.append(state)

    monkeypatch.setattr(staged._middle, "search", search)
    staged.warm_up(state, hand(state))
    assert [stage.asked for stage in staged._oracles] == [1, 1]
    assert searched == [state]
