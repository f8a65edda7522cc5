"""Resent moves are recognized by ply, seat and request."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kibitz_server.match.answered_moves import (
    AnsweredMove,
    find_entry,
    pack_move,
    packed,
    unpacked,
    without_seat,
)

MOVES: list[AnsweredMove] = [(0, 0, 7, 1), (1, 1, 7, 2), (3, 0, 2**53 - 1, 5), (4, 1, 0, 9)]


def test_a_move_is_found_by_all_that_it_is() -> None:
    moves = packed(MOVES)
    assert [find_entry(moves, *move[:3]) for move in MOVES] == [1, 2, 5, 9]
    assert find_entry(moves, 0, 1, 7) is None  # another seat's
    assert find_entry(moves, 1, 1, 8) is None  # another request
    assert find_entry(moves, 2, 0, 7) is None  # no move there has an id
    assert find_entry(moves, 5, 0, 7) is None
    assert find_entry(b"", 0, 0, 7) is None


def test_what_another_player_sent_from_a_seat_is_left_out() -> None:
    assert unpacked(without_seat(packed(MOVES), 0)) == [move for move in MOVES if move[1] == 1]


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 2**53 - 1), st.integers(1, 2**31))))
def test_what_is_kept_is_what_came(given: list[tuple[int, int, int]]) -> None:
    moves = bytearray()
    for ply, each in enumerate(given):
        moves += pack_move(ply, *each)
    assert unpacked(moves) == [(ply, *each) for ply, each in enumerate(given)]
    assert packed(unpacked(moves)) == moves
