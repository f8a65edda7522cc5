"""The assignment's player, with its intended rules."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import maps
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.line_nim import reference_agent
from kibitz_search.line_nim.reference_agent import CROWDED, ReferenceAgent, parity
from tests.search.line_nim.positions import GAME, cells, state, wins

SEARCH = ReferenceAgent(state([0]))
EV = parity(state([0]))


def test_it_takes_any_move_of_many() -> None:
    st = state(maps.grow(1, 20))
    founds = [SEARCH.search(st, None, SearchLimits(seed=seed)) for seed in range(20)]
    assert {(found.depth, found.value, found.nodes) for found in founds} == {(0, 0.0, 0)}
    assert len({found.action for found in founds}) > 5


@pytest.mark.parametrize("seed", range(30))
def test_few_moves_are_searched_to_the_end(seed: int) -> None:
    free = random.Random(seed).sample(maps.grow(seed, 16), 7)
    st = state(free)
    if len(GAME.legal(st)) > CROWDED:
        free = free[:4]
        st = state(free)
    found = SEARCH.search(st, None, SearchLimits())
    assert found.value == (WIN_SCORE if wins(free) else -WIN_SCORE)
    left = [cell for cell in free if cell not in geo.LINES[found.action]]
    assert not (wins(free) and wins(left))


def test_a_won_endgame_of_isolated_cells_is_never_lost() -> None:
    """One line and isolated cells: the parity after the line decides."""
    alone = cells("a1", "c1", "e1", "g1", "i1", "k1", "a3", "c3", "e3")
    for number in range(2, len(alone) + 1):
        st = state([*alone[:number], *cells("a12-b12")])
        found = SEARCH.search(st, None, SearchLimits(seed=number))
        op.play(st, found.action)
        assert found.value == WIN_SCORE
        while not op.terminal(st):
            actions = GAME.legal(st)
            op.play(
                st, actions[0] if int(st.side) else SEARCH.search(st, None, SearchLimits()).action
            )
        assert int(st.loser) == 1


def test_isolated_cells_are_seen() -> None:
    assert reference_agent.isolated(state(cells("a1", "c1", "b3")))
    assert not reference_agent.isolated(state(cells("a1", "b2", "a2")))
    assert not reference_agent.isolated(state(cells("l2", "l1")))


def test_the_depth_is_bounded() -> None:
    st = state(cells("a1", "c1", "e1", "g1", "i1-k1", "a3-b3", "d3-e3"))
    assert SEARCH.search(st, None, SearchLimits(depth=1)).depth == 1
    assert SEARCH.search(st, None, SearchLimits()).depth >= reference_agent.MIN_DEPTH


@pytest.mark.parametrize("seconds", [0.0, 0.001])
def test_it_has_an_answer_whenever_it_is_stopped(seconds: float) -> None:
    st = state(cells("a1", "c1", "e1", "g1", "i1-k1", "a3-b3", "d3-e3"))
    before = st.tobytes()
    assert SEARCH.search(st, None, SearchLimits(seconds=seconds)).action in GAME.legal(st)
    assert st.tobytes() == before


def test_compiled_and_plain_find_the_same() -> None:
    st: Any = state(cells("a1-b1", "d1-e1", "g1"))
    plain = getattr(reference_agent.isolated, "py_func", reference_agent.isolated)
    assert bool(plain(st)) == bool(reference_agent.isolated(st)) is False
    assert bool(plain(state(cells("a1", "c1")))) is True
    odd, even = state(cells("a1", "c1", "e1")), state(cells("a1", "c1"))
    assert op.evaluate(EV, odd, np.int64(1)) > 0 > op.evaluate(EV, even, np.int64(1))


def test_it_plays_its_own_game_only() -> None:
    other: Any = registry.get("number-merge")
    st = other.start(other.Options(), 2, other.deal(other.Options(), 2, 0))
    assert "another game" in str(ReferenceAgent.supports(other.info, st))


def test_a_move_that_was_just_shown_to_lose_is_not_played() -> None:
    """A depth that was stopped after its first moves does not count unless it has the best one."""
    st = state(cells("a1", "c1", "e1", "g1", "i1-k1", "a3-b3", "d3-e3"))
    agent = ReferenceAgent(st)
    for nodes in range(20, 4000, 60):
        found = agent.search(st, None, SearchLimits(nodes=nodes))
        assert found.action in GAME.legal(st)
        assert found.action not in agent._losing or len(agent._losing) == int(agent._ws.roots)


def test_it_counts_the_moves_that_are_done_with() -> None:
    st = state(cells("a1-c1", "e1"))
    SEARCH.search(st, None, SearchLimits())
    assert int(SEARCH._ws.finished) == len(GAME.legal(st))
