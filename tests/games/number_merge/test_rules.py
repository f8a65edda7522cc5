from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_games.compiled import operations as op
from kibitz_games.core.game import TERMINAL, GameError
from kibitz_games.core.position import Position
from kibitz_games.number_merge import GAME, rules
from kibitz_games.number_merge import models as number_merge_models
from tests.games.number_merge.reference import Row, mean, part
from tests.tools import profiles

rows = st.lists(st.integers(1, 15), min_size=2, max_size=64)
thresholds = st.one_of(
    st.integers(1, 120),
    st.just("mean"),
    st.builds("{}/{}".format, st.integers(1, 12), st.integers(1, 12)),
)


def exact(threshold: int | str, row: list[int]) -> Fraction:
    """Return the threshold of a row according to the text of the rules."""
    if isinstance(threshold, int):
        return Fraction(threshold)
    return mean(row) if threshold == "mean" else part(row, threshold)


def started(row: list[int], threshold: int | str, **options: Any) -> Position:
    return Position(
        GAME, number_merge_models.Options(row=tuple(row), threshold=threshold, **options)
    )


def agree(play: Position, reference: Row) -> None:
    """Fail if the game and the reference disagree."""
    view = GAME.view(play.state, None)
    assert view.row == reference.numbers
    assert view.scores == reference.scores
    over = len(reference.numbers) == 1
    assert view.to_act == (TERMINAL if over else reference.turn)
    assert play.legal == list(range(len(reference.numbers) - 1))
    assert GAME.sample(view, 0)["key"] == play.state["key"]


@given(row=rows, threshold=thresholds, first=st.integers(0, 1), pick=st.randoms())
@settings(max_examples=profiles.examples(60), deadline=None)
def test_a_play_is_that_of_the_reference(
    row: list[int], threshold: int | str, first: int, pick: Any
) -> None:
    play = started(row, threshold, first=number_merge_models.CHOICES[first])
    reference = Row(list(row), exact(threshold, row), first)
    agree(play, reference)
    while play.outcome is None:
        place = pick.choice(play.legal)
        seat, told = reference.turn, int(op.move_score(play.state, place))
        left, right = reference.numbers[place : place + 2]
        play.push(place)
        assert reference.merge(place) == told
        last = GAME.view(play.state, None).last
        assert last == number_merge_models.Last(
            seat=seat, index=place, left=left, right=right, gain=told
        )
        agree(play, reference)
    ahead = reference.scores[0] - reference.scores[1]
    expected = (0.5, 0.5) if ahead == 0 else (float(ahead > 0), float(ahead < 0))
    assert play.outcome.scores == expected
    assert play.outcome.reason == "merged"


@given(row=rows, pick=st.randoms())
@settings(max_examples=profiles.examples(25), deadline=None)
def test_what_was_played_is_taken_back_byte_for_byte(row: list[int], pick: Any) -> None:
    play = started(row, "1/3")
    before = []
    while play.outcome is None:
        before.append(play.state.tobytes())
        play.push(pick.choice(play.legal))
    for was in reversed(before):
        play.pop()
        assert play.state.tobytes() == was


def test_the_order_of_merges_leaves_no_trace_in_the_position() -> None:
    one, other = started([1, 9, 1, 9, 5, 5, 7, 7], 10), started([1, 9, 1, 9, 5, 5, 7, 7], 10)
    for place in (0, 1, 2, 3):  # 1+9, 1+9, 5+5: nothing; 7+7: a point
        one.push(place)
    for place in (6, 4, 2, 0):
        other.push(place)
    assert GAME.view(one.state, None).row == GAME.view(other.state, None).row == [10, 10, 10, 14]
    assert one.state["key"] != other.state["key"]  # the point is seat 1's here, seat 0's there
    assert one.state["edge"].tolist() == other.state["edge"].tolist()


def test_equal_positions_have_one_key() -> None:
    plays = [started([5, 5, 5, 5, 5], 10) for _ in range(2)]
    for play, places in zip(plays, [(0, 1), (2, 0)], strict=True):
        for place in places:
            play.push(place)
    assert plays[0].view().row == [10, 10, 5]  # type: ignore[attr-defined]
    assert plays[0].state["key"] == plays[1].state["key"]


def test_rows_and_thresholds_have_keys_of_their_own() -> None:
    setups = [([3, 1, 4], 4), ([3, 1, 4], 5), ([3, 1, 5], 4), ([1, 3, 4], 4)]
    assert len({int(started(*setup).state["key"]) for setup in setups}) == len(setups)


@pytest.mark.parametrize(
    ("row", "threshold", "gain"),
    [
        ([1, 2], "1/1", 0),
        ([1, 2], "2/3", 1),
        ([1, 2], "4/3", -1),
        ([1, 2, 3], "1/2", 0),  # 3 against 6/2
        ([333, 333, 333], "666/999", 0),
        ([333, 333, 333], "667/999", -1),
        ([333, 333, 333], "665/999", 1),
        ([100, 100, 100], "mean", 1),
        ([1, 1, 998 - 1], 2, 0),
    ],
)
def test_a_hair_above_is_above_and_the_threshold_itself_is_neither(
    row: list[int], threshold: int | str, gain: int
) -> None:
    assert op.move_score(started(row, threshold).state, 0) == gain


def test_a_tenth_is_compared_as_a_tenth() -> None:
    """7/10 of 90 is 63, but slightly less in binary floating point."""
    assert 0.7 * 90 < 63
    assert op.move_score(started([30, 33, 27], "7/10").state, 0) == 0


@pytest.mark.parametrize("seat", [0, 1])
def test_whoever_stays_has_won(seat: int) -> None:
    play = started([9, 9, 1, 1], 10)
    play.push(0)
    play.forfeit(seat)
    assert play.outcome is not None
    assert play.outcome.scores == (float(seat == 1), float(seat == 0))
    assert play.outcome.ranks == (1 + (seat == 0), 1 + (seat == 1))
    assert play.outcome.reason == "dropped"
    assert play.legal == []


def test_nothing_changes_for_a_play_that_is_over() -> None:
    play = started([9, 9], 10)
    play.push(0)
    before = play.state.tobytes()
    play.forfeit(0)
    assert play.state.tobytes() == before
    with pytest.raises(GameError, match="expected a seat from 0 to 1, not 2"):
        play.forfeit(2)


def test_equal_scores_are_a_draw() -> None:
    play = started([5, 5, 5], 1)
    play.push(0)
    play.push(0)
    assert play.outcome is not None
    assert (play.outcome.ranks, play.outcome.scores) == ((1, 1), (0.5, 0.5))


def test_holding_a_seat_leaves_the_turn_with_it() -> None:
    play = started([9, 9, 9], 10)
    held = op.set_side_to_move(play.state, 1)
    assert held == play.state["side"] - 1 == 0
    assert play.state["key"] == op.compute_key(play.state)
    op.set_side_to_move(play.state, held)
    assert GAME.to_act(play.state) == 0


def test_a_state_is_small() -> None:
    assert rules.STATE.itemsize < 640
