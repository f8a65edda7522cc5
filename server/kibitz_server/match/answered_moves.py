"""The moves of a match by their request ids, to answer resent moves idempotently.

When a connection is lost, answers are lost with it, and the client resends those moves with the
same ids and plies. The match may have continued meanwhile, and a player may run several programs.
So every move of a match is remembered for the whole match, and no move that is in the log is ever
refused.

They are packed in the order of their plies, 18 bytes each, because a long match has hundreds.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final, TypeAlias

AnsweredMove: TypeAlias = tuple[int, int, int, int]
"""The ply of a move, its seat, the id of its request, and the number of its entry."""
_MOVE: Final = Struct("<IHqI")
pack_move: Final = _MOVE.pack
"""Pack a move, given by the fields of an `AnsweredMove`."""


def packed(moves: Iterable[AnsweredMove]) -> bytearray:
    """Return moves packed."""
    return bytearray().join(pack_move(*move) for move in moves)


def unpacked(moves: bytes | bytearray) -> list[AnsweredMove]:
    """Return the moves that were packed."""
    return list(_MOVE.iter_unpack(moves))


def find_entry(moves: bytes | bytearray, ply: int, seat: int, request: int) -> int | None:
    """Return the number of the entry that a move became, or None."""
    for at in range(len(moves) - _MOVE.size, -1, -_MOVE.size):
        move = _MOVE.unpack_from(moves, at)
        if move[0] <= ply:
            return int(move[3]) if move[:3] == (ply, seat, request) else None
    return None


def without_seat(moves: bytes | bytearray, seat: int) -> bytearray:
    """Return the moves without those of a seat that changed hands: its request ids start anew."""
    return packed(move for move in unpacked(moves) if move[1] != seat)
