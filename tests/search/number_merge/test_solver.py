"""Perfect play in number merge, compared with an exhaustive computation."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as strategies

from kibitz_games.compiled import kernels
from kibitz_games.compiled import operations as op
from kibitz_games.core import registry
from kibitz_games.number_merge import rules
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.result import WIN_SCORE
from kibitz_search.cancellation import CancelToken
from kibitz_search.number_merge import retrograde as number_merge_retrograde
from kibitz_search.number_merge.boundaries import BoundarySet, actions, set_bits
from kibitz_search.number_merge.solver import NumberMergeSolver
from tests.games.number_merge import reference
from tests.tools import profiles

GAME: Any = registry.get("number-merge")

rows = strategies.lists(strategies.integers(1, 9), min_size=2, max_size=11)
limits = strategies.builds(Fraction, strategies.integers(1, 60), strategies.integers(1, 7))


def start(row: list[int], limit: Fraction) -> Any:
    return rules.make_state(row, limit.numerator, limit.denominator)


def drawn(seed: int, **options: Any) -> Any:
    chosen = GAME.Options(**options)
    return GAME.start(chosen, 2, GAME.deal(chosen, 2, seed))


SHARED = NumberMergeSolver(start([1, 2], Fraction(3)))


def filled(row: BoundarySet) -> Any:
    worths = np.zeros(1 << row.boundaries, np.int8)
    number_merge_retrograde.fill(worths, row.gains, kernels.new(number_merge_retrograde.WORKSPACE))
    return worths


@given(rows, limits)
@settings(max_examples=profiles.examples(150), deadline=None, derandomize=True)
def test_every_set_of_boundaries_is_worth_what_counting_says(
    row: list[int], limit: Fraction
) -> None:
    expected = reference.values([row], [limit])[:, 0]
    assert filled(BoundarySet(start(row, limit))).tolist() == expected.tolist()


@given(rows, limits, strategies.integers(0, 9))
@settings(max_examples=profiles.examples(100), deadline=None, derandomize=True)
def test_no_move_errs(row: list[int], limit: Fraction, seed: int) -> None:
    """Against random moves from the start of a row to its end."""
    values = reference.values([row], [limit])[:, 0]
    st, whole, source = start(row, limit), BoundarySet(start(row, limit)), random.Random(seed)
    while not op.terminal(st):
        mask = whole.mask(st)
        assert mask is not None
        if int(st.side):
            op.play(st, source.choice(GAME.legal(st)))
            continue
        lead = int(rules.lead(st, 0))
        found = SHARED.search(st, None, SearchLimits(seed=seed))
        assert found.value == WIN_SCORE * np.sign(lead + values[mask])
        op.play(st, found.action)
        left = whole.mask(st)
        assert left is not None
        assert int(rules.lead(st, 0)) - values[left] == lead + values[mask]


def judged(row: list[int], limit: Fraction, values: Any, seed: int) -> tuple[int, int, int]:
    """Ask for a move in 50 ms at every turn of a play with half of the moves random.

    Return the number of positions, of decided ones, and of decided ones with a losing move.
    """
    st, whole, source = start(row, limit), BoundarySet(start(row, limit)), random.Random(seed)
    search, seen, decided, errors = NumberMergeSolver(st), 0, 0, 0
    while not op.terminal(st):
        mask, seat = whole.mask(st), int(st.side)
        assert mask is not None
        found = search.search(st, None, SearchLimits(seconds=0.05))
        outcome = np.sign(int(rules.lead(st, seat)) + values[mask])
        op.play(st, found.action)
        left = whole.mask(st)
        kept = np.sign(int(rules.lead(st, seat)) - values[left])
        proven = abs(found.value) == WIN_SCORE or found.depth == len(set_bits(mask))
        seen, decided = seen + 1, decided + proven
        errors += bool(proven and (kept != outcome or found.value != WIN_SCORE * outcome))
        if source.random() < 0.5:
            op.undo(st, found.action)
            op.play(st, source.choice(GAME.legal(st)))
    return seen, decided, errors


@pytest.mark.slow
def test_no_outcome_errs_on_ten_thousand_positions_at_50_ms() -> None:
    """A row of 20 may remain undecided on a busy machine, but no move is wrong."""
    totals, source = np.zeros(3, np.int64), random.Random(20)
    for length in range(2, 21):
        many = [[source.randint(1, 9) for _ in range(length)] for _ in range(61)]
        many = many[:34] if length > 17 else many
        limits = [reference.part(row, "2/5") for row in many]
        values = reference.values(many, limits)
        for place, row in enumerate(many):
            totals += judged(row, limits[place], values[:, place], place)
    seen, decided, errors = totals.tolist()
    assert seen >= 10_000
    assert errors == 0
    assert decided > 0.8 * seen


def outcome(st: Any) -> int:
    """Return 1, 0 or -1: the first player's result under perfect play from a start."""
    return int(SHARED.search(st, None, SearchLimits()).value / WIN_SCORE)


def test_the_first_wins_every_classic_row() -> None:
    assert [outcome(drawn(seed, preset="classic")) for seed in range(600)] == [1] * 600


@pytest.mark.slow
def test_the_shares_of_the_fair_rows() -> None:
    found = [outcome(drawn(seed, preset="fair")) for seed in range(600)]
    for result, share in ((1, 0.52), (0, 0.09), (-1, 0.39)):
        assert found.count(result) / 600 == pytest.approx(share, abs=0.04)


@given(rows, limits)
@settings(max_examples=profiles.examples(60), deadline=None, derandomize=True)
def test_looking_ahead_to_the_end_agrees_with_the_table(row: list[int], limit: Fraction) -> None:
    st = start(row, limit)
    search, whole = NumberMergeSolver(st), BoundarySet(st)
    mask = (1 << whole.boundaries) - 1
    values = filled(whole)
    found = search._look_ahead(st, SearchLimits(depth=whole.boundaries))
    assert found.value == WIN_SCORE * np.sign(values[mask])
    place = set_bits(mask)[found.action]
    after = whole.gain(mask, place) - values[mask ^ (1 << place)]
    assert np.sign(after) == np.sign(values[mask])


def test_a_play_that_is_not_won_is_left_where_errors_are_likely() -> None:
    """Among moves that preserve the outcome and the points, the most promising one is played."""
    tried = 0
    for seed in range(60):
        st = drawn(seed, preset="fair")
        search = NumberMergeSolver(st)
        if search.search(st, None, SearchLimits()).value == WIN_SCORE:
            continue
        hopes = {
            place: float(search._swindles[(1 << 7) - 1 ^ (1 << place)])
            for place in range(7)
            if search._after((1 << 7) - 1, place) == int(search._worths[-1])
        }
        assert 0.0 <= min(hopes.values()) <= max(hopes.values()) <= 1.0
        assert hopes[search.search(st, None, SearchLimits()).action] == max(hopes.values())
        tried += 1
    assert tried > 10


def test_a_long_row_is_looked_at_until_the_table_has_it() -> None:
    st = drawn(1, preset="open")
    search = NumberMergeSolver(st, table=1)
    depths = []
    while int(st.count) > 19:
        found = search.search(
            st, None, SearchLimits(0.01) if int(st.count) > 21 else SearchLimits()
        )
        depths.append(found.depth)
        assert found.action in GAME.legal(st)
        op.play(st, found.action)
    assert depths[0] < int(st.length) - 1
    assert depths[-1] == 19  # of 20 numbers, to the end


@pytest.mark.parametrize("length", [2, 3, 20, 40, 64])
@pytest.mark.parametrize("seconds", [0.0, 0.003, 0.05])
def test_it_has_an_answer_whenever_it_is_stopped(length: int, seconds: float) -> None:
    st = drawn(2, length=length)
    before = st.tobytes()
    found = SHARED.search(st, None, SearchLimits(seconds=seconds))
    assert found.action in GAME.legal(st)
    assert found.line[0] == found.action
    assert st.tobytes() == before


def test_a_turn_that_is_called_off_ends_it() -> None:
    flag, st = CancelToken(), drawn(2, length=64)
    flag.set()
    assert SHARED.search(st, None, SearchLimits(cancelled=flag)).depth < 63


def test_the_depth_bounds_the_search_ahead() -> None:
    search = NumberMergeSolver(drawn(3, length=30), table=1)
    assert search.search(drawn(3, length=30), None, SearchLimits(depth=2)).depth == 2


def test_the_line_is_played_to_the_end() -> None:
    st = drawn(4, length=9)
    found = SHARED.search(st, None, SearchLimits())
    for action in found.line:
        assert action in GAME.legal(st)
        op.play(st, action)
    assert op.terminal(st)
    assert np.sign(int(rules.lead(st, 0))) == np.sign(found.value)


def test_thresholds_are_exact() -> None:
    """A third of 10 is between 3 and 4 and equal to neither."""
    gains = BoundarySet(start([1, 2, 7], Fraction(10, 3))).gains
    assert (int(gains[0, 2]), int(gains[1, 3])) == (-1, 1)
    assert int(BoundarySet(start([1, 2, 7], Fraction(3))).gains[0, 2]) == 0


def test_actions_count_what_is_left() -> None:
    assert set_bits(0b1101) == [0, 2, 3]
    assert actions(0b1101, [2, 3, 0]) == (1, 1, 0)


@pytest.mark.parametrize("length", [2, 6, 9, 11])
def test_compiled_and_plain_are_the_same(length: int) -> None:
    whole = BoundarySet(drawn(length, length=length))
    worths, ws = (
        np.zeros(1 << whole.boundaries, np.int8),
        kernels.new(number_merge_retrograde.WORKSPACE),
    )
    getattr(number_merge_retrograde.fill, "py_func", number_merge_retrograde.fill)(
        worths, whole.gains, ws
    )
    assert worths.tolist() == filled(whole).tolist()


def test_it_plays_its_own_game_only() -> None:
    other: Any = registry.get("line-nim")
    st = other.start(other.Options(), 2, other.deal(other.Options(), 2, 0))
    assert "another game" in str(NumberMergeSolver.supports(other.info, st))
    assert NumberMergeSolver.supports(GAME.info, drawn(0)) is None
