"""The moves of a match by the requests that they came in, for those that are sent again.

A connection that is lost takes answers with it, and its client sends those moves again, under the
same ids and for the same plies. It may have moved on meanwhile, and a player may have several
programs: so each move of a match is known for as long as the match is, and none that is in the
log is ever refused.

They are kept packed, in the order of their plies: 18 bytes each, for a long match has hundreds.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final, TypeAlias

AnsweredMove: TypeAlias = tuple[int, int, int, int]
"""The ply of a move, its seat, the id of its request, and the number of its entry."""
_MOVE: Final = Struct("<IHqI")
pack_move: Final = _MOVE.pack
"""Pack a move, given by what an `AnsweredMove` has."""


def packed(moves: Iterable[AnsweredMove]) -> bytearray:
    """Return moves packed."""
    return bytearray().join(pack_move(*move) for move in moves)


def unpacked(moves: bytes | bytearray) -> list[AnsweredMove]:
    """Return the moves that were packed."""
    return list(_MOVE.iter_unpack(moves))


def find_entry(moves: bytes | bytearray, ply: int, seat: int, request: int) -> int | None:
    """Return the number of the entry that a move became; None where it became none."""
    for at in range(len(moves) - _MOVE.size, -1, -_MOVE.size):
        move = _MOVE.unpack_from(moves, at)
        if move[0] <= ply:
            return int(move[3]) if move[:3] == (ply, seat, request) else None
    return None


def without_seat(moves: bytes | bytearray, seat: int) -> bytearray:
    """Return the moves but for those of a seat, which somebody else has now: its ids begin anew."""
    return packed(move for move in unpacked(moves) if move[1] != seat)
