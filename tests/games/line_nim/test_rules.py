"""The rules compared with a reference, facts of the theory, and the random player."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games.compiled import operations as op
from kibitz_games.core.game import TERMINAL, GameError
from kibitz_games.core.position import Position
from kibitz_games.line_nim import GAME, maps, rules
from kibitz_games.line_nim import geometry as geo
from kibitz_games.line_nim import models as line_nim_models
from tests.games.line_nim import reference
from tests.tools import profiles


def _start(*stretches: str) -> Any:
    return GAME.start(line_nim_models.Options(map=stretches), 2, {})


def _apart(*stretches: str) -> Any:
    """Return a position whose cells need not be connected."""
    return rules.make_state(cell for each in stretches for cell in geo.parse_row(each) or ())


def _points(cells: Iterable[int]) -> frozenset[reference.Point]:
    return frozenset(reference.point(cell % 12, cell // 12) for cell in cells)


def _free(state: Any) -> frozenset[reference.Point]:
    return reference.position(GAME.view(state, None).model_dump()["rows"])


def _texts(state: Any) -> list[str]:
    return [GAME.notation.format(GAME.encode(state, action)) for action in GAME.legal(state)]


def test_a_state_is_small() -> None:
    assert rules.STATE.itemsize <= 512


def test_the_empty_board_has_869_moves() -> None:
    state = _start(*maps.write(range(geo.CELLS)))
    assert GAME.legal(state) == list(range(869))
    assert GAME.count_legal(state) == op.max_actions(state.dtype) == 869


def test_moves_of_a_small_map() -> None:
    assert _texts(_start("f7-h7", "f8")) == [
        "f7",
        "f7-g7",
        "f7-h7",
        "f7-f8",
        "g7",
        "g7-h7",
        "g7-f8",
        "h7",
        "f8",
    ]


def test_a_line_cannot_jump_over_what_is_gone() -> None:
    state = _start("e7-i7")
    GAME.play(state, GAME.decode(state, GAME.notation.parse("g7")))
    assert _texts(state) == ["e7", "e7-f7", "f7", "h7", "h7-i7", "i7"]


@settings(deadline=None)
@given(seed=st.integers(0, 2**31), source=st.randoms(use_true_random=False))
def test_plays_are_those_of_the_reference(seed: int, source: random.Random) -> None:
    play = Position(GAME, seed=seed)
    free = _free(play.state)
    while free:
        lines = {_points(geo.LINES[action]): action for action in play.legal}
        assert set(lines) == reference.lines(free)
        line = source.choice(sorted(lines, key=sorted))
        seat = play.to_act
        assert seat == len(play.history) % 2
        assert play.outcome is None
        play.push(lines[line])
        free -= line
        assert _free(play.state) == free
        if not free:
            assert play.outcome is not None
            assert play.outcome.reason == "last cell"
            assert play.outcome.scores[seat] == 0.0
            assert play.outcome.ranks[1 - seat] == 1
    while play.history:
        play.pop()
    assert play.state.tobytes() == Position(GAME, seed=seed).state.tobytes()


def test_who_takes_the_last_cell_loses() -> None:
    for stretches, loser in ((("f7",), 0), (("f7-g7",), 1)):
        play = Position(GAME, line_nim_models.Options(map=stretches))
        for name in stretches[0].split("-"):
            play.push_move(name)
        assert play.to_act == TERMINAL
        assert play.legal == []
        assert play.outcome is not None
        assert play.outcome.scores[loser] == 0.0


def test_who_drops_out_loses() -> None:
    for seat in (0, 1):
        play = Position(GAME)
        play.push(play.legal[0])
        play.forfeit(seat)
        assert play.outcome is not None
        assert play.outcome.reason == "dropped"
        assert play.outcome.scores == (float(seat == 1), float(seat == 0))
        before = play.state.tobytes()
        play.forfeit(1 - seat)
        assert play.state.tobytes() == before
    with pytest.raises(GameError, match="expected a seat from 0 to 1, not 2"):
        GAME.forfeit(Position(GAME).state, 2)


def test_who_crossed_a_cell_out_is_not_part_of_the_key() -> None:
    keys = set()
    for order in (("f7", "h7"), ("h7", "f7")):
        play = Position(GAME, line_nim_models.Options(map=("f7-h7",)))
        for name in order:
            play.push_move(name)
        keys.add(int(play.state["key"]))
    assert len(keys) == 1


# ------------------------------------------------------------------------------ facts of theory


def _wins(state: Any) -> bool:
    """Return whether the seat to act wins, by exhaustive search with the kernels."""
    known: dict[int, bool] = {}

    def solve() -> bool:
        key = int(state["key"])
        if key not in known:
            known[key] = any(_after(action) for action in GAME.legal(state))
        return known[key]

    def _after(action: int) -> bool:
        GAME.play(state, action)
        lost = GAME.to_act(state) != TERMINAL and not solve()
        GAME.undo(state, action)
        return lost

    return solve()


ISOLATED = ("a1", "c1", "e1", "g1", "i1", "k1", "a3")


@pytest.mark.parametrize("number", range(1, 8))
def test_isolated_cells_are_lost_exactly_when_their_number_is_odd(number: int) -> None:
    assert _wins(_apart(*ISOLATED[:number])) == (number % 2 == 0)


@pytest.mark.parametrize("seed", range(8))
def test_two_isolated_cells_cancel(seed: int) -> None:
    source = random.Random(seed)
    free = source.sample([cell for cell in range(24, 84) if cell % 12 < 4], 9)
    pair = [*free, geo.NUMBERS["j2"], geo.NUMBERS["l2"]]
    assert _wins(rules.make_state(free)) == _wins(rules.make_state(pair))
    assert _wins(rules.make_state(free)) == reference.wins(_points(free))


@pytest.mark.slow
def test_most_start_maps_are_won_by_who_begins() -> None:
    """About 19 of 20: 95% of maps with 12 to 20 cells, hence nearly all of these 150."""
    starts = [maps.grow(seed, n) for n in (12, 13, 14) for seed in range(50)]
    won = sum(map(_first_wins, starts))
    assert 140 <= won < 150, won


def _first_wins(cells: tuple[int, ...]) -> bool:
    """Return whether the first player wins a map, by brute force over sets of cells."""
    place = {cell: i for i, cell in enumerate(cells)}
    lines = [sum(1 << place[c] for c in line) for line in geo.LINES if place.keys() >= set(line)]

    @functools.cache
    def wins(left: int) -> bool:
        return left == 0 or any(left & line == line and not wins(left ^ line) for line in lines)

    return wins((1 << len(cells)) - 1)


# ----------------------------------------------------------------------- the original's random law


def _law(free: frozenset[reference.Point]) -> dict[reference.Line, Fraction]:
    """Return the original random player's probability of each line, from all of its choices."""
    found: dict[reference.Line, Fraction] = {}
    for (q, r), (dq, dr) in ((at, step) for at in free for step in reference.STEPS.values()):
        ways = [frozenset((q + i * dq, r + i * dr) for i in range(n)) for n in (1, 2, 3)]
        possible = [way for way in ways if way <= free]
        for way in possible:
            share = Fraction(1, 6 * len(free) * len(possible))
            found[way] = found.get(way, Fraction()) + share
    return found


@settings(deadline=None, max_examples=profiles.examples(30))
@given(seed=st.integers(0, 2**31), plies=st.integers(0, 6))
def test_weights_are_the_law_of_the_original(seed: int, plies: int) -> None:
    play, source = Position(GAME, seed=seed), random.Random(seed)
    for _ in range(plies):
        if play.outcome is None:
            play.push(source.choice(play.legal))
    if play.outcome is not None:
        return
    weights = {
        _points(geo.LINES[action]): float(op.policy_weight(play.state, action))
        for action in play.legal
    }
    assert weights == pytest.approx({k: float(v) for k, v in _law(_free(play.state)).items()})
    assert sum(weights.values()) == pytest.approx(1)


def test_the_law_is_what_the_original_does() -> None:
    free = _free(_start("e5-g5", "f6-g6", "f7"))
    source, tries = random.Random(4), 40_000
    seen = Counter(reference.original(free, source) for _ in range(tries))
    law = _law(free)
    assert set(seen) == set(law)
    excess = sum((seen[line] - tries * p) ** 2 / float(tries * p) for line, p in law.items())
    assert excess < len(law) + 5 * (2 * len(law)) ** 0.5  # chi squared, five deviations
