"""The theory of small parts compared with brute force, and a one-ply search with it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import maps, rules
from kibitz_search.algorithms.greedy import Greedy
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.line_nim.evaluation import PART_CELLS, outcome, parts
from tests.games.line_nim import reference
from tests.tools.profiles import some

GAME: Any = registry.get("line-nim")


def position(*stretches: str) -> Any:
    """Return a position whose cells need not be connected, with seat 0 to move."""
    return rules.make_state(cell for each in stretches for cell in geo.parse_row(each) or ())


def worth(state: Any, reach: int = PART_CELLS) -> float:
    ev = parts(state)
    ev["reach"] = reach
    return float(op.evaluate(ev, state, 0))


def wins(state: Any) -> bool:
    """Return whether the seat to move wins, by brute force."""
    free = np.flatnonzero(state.board == rules.FREE).tolist()
    return reference.wins(frozenset(reference.point(cell % 12, cell // 12) for cell in free))


def scattered(source: random.Random, number: int) -> Any:
    return rules.make_state(source.sample(range(geo.CELLS), number))


def test_isolated_cells_are_counted() -> None:
    cells = ["a1", "c1", "e1", "g1", "i1", "k1", "a3"]
    for number in range(1, 8):
        assert worth(position(*cells[:number])) == (100 if number % 2 == 0 else -100)


@pytest.mark.parametrize("seed", some(range(12), 3))
def test_what_is_sure_is_true(seed: int) -> None:
    """Small parts of a half-used map, and small parts all over the board."""
    source, sure = random.Random(seed), 0
    for trial in range(25):
        if trial % 2:
            left = source.sample(maps.grow(100 * seed + trial, 20), 9)
            state = rules.make_state(left)
        else:
            state = scattered(source, 10)
        value = worth(state)
        if abs(value) == 100:
            assert (value > 0) == wins(state), np.flatnonzero(state.board)
            sure += 1
    assert sure >= 10


def test_a_lone_part_is_worked_out_whether_it_is_tame_or_not() -> None:
    for seed in range(40):
        state = rules.make_state(_connected(random.Random(seed), PART_CELLS))
        assert worth(state) == (100 if wins(state) else -100)


def _connected(source: random.Random, number: int) -> list[int]:
    cells = [77]
    while len(cells) < number:
        near = geo.neighbours(source.choice(cells))
        cells += [cell for cell in near if cell not in cells][:1]
    return cells


def test_parts_up_to_four_cells_are_tame() -> None:
    """As documented, wild parts exist from five cells on, and their sums are only estimated."""
    values = {number: set[float]() for number in (4, 5)}
    for number, found in values.items():
        for seed in range(200):
            cells = _connected(random.Random(seed), number)
            if not set(cells) & {0, 1, 12}:
                found.add(abs(worth(rules.make_state([*cells, 0]))))
    assert values == {4: {100}, 5: {100, 30}}


def test_a_part_out_of_reach_is_worth_nothing() -> None:
    state = position("a1-d1", "a3")
    assert abs(worth(state, reach=4)) == 100
    assert worth(state, reach=3) == 0


def test_nothing_but_won_and_lost_is_known_of_the_outcome() -> None:
    state = position("a1", "c1")
    assert abs(worth(state)) == 100
    assert op.evaluate(outcome(state), state, 0) == 0


def test_what_one_seat_wins_the_other_loses() -> None:
    source = random.Random(3)
    for _ in range(50):
        state = scattered(source, 12)
        ev = parts(state)
        assert op.evaluate(ev, state, 0) == -op.evaluate(ev, state, 1)


@pytest.mark.parametrize("text", ["a1-c1 a3", "a1-b1 d1 f1", "a1-e1 a3-b3 a5"])
def test_greedy_finds_a_move_that_wins(text: str) -> None:
    state = position(*text.split())
    assert wins(state)
    found = Greedy(state).search(state, parts(state), SearchLimits())
    GAME.play(state, found.action)
    assert not wins(state)


def likely(state: Any, source: random.Random) -> int:
    """Choose like the original's random player."""
    actions: list[int] = GAME.legal(state)
    return source.choices(actions, [float(op.policy_weight(state, action)) for action in actions])[
        0
    ]


def test_greedy_beats_random_on_both_sides_of_every_map() -> None:
    first = Position(GAME).state
    search, ev, won = Greedy(first), parts(first), 0
    for number in range(40):
        match, source, seat = Position(GAME, seed=number // 2), random.Random(number), number % 2
        while match.outcome is None:
            state: Any = match.state
            greedy = match.to_act == seat
            match.push(
                search.search(state, ev, SearchLimits(seed=number)).action
                if greedy
                else likely(state, source)
            )
        won += match.outcome.ranks[seat] == 1
    assert won >= 37, won
