"""The moves of a match by request id, which allow idempotent answers to resent moves.

If a connection breaks before an answer arrives, the client resends the move with the same id and
ply. By then the match may be many moves further. So the match remembers every move until its end,
and never refuses a move that is in the log. Moves are packed in ply order, 18 bytes each, because a
long match has hundreds.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final, TypeAlias

AnsweredMove: TypeAlias = tuple[int, int, int, int]
"""A move's ply, seat, request id and entry number."""
_MOVE: Final = Struct("<IHqI")
pack_move: Final = _MOVE.pack
"""Packs the fields of an `AnsweredMove`."""


def packed(moves: Iterable[AnsweredMove]) -> bytearray:
    """Return the moves in packed form."""
    return bytearray().join(pack_move(*move) for move in moves)


def unpacked(moves: bytes | bytearray) -> list[AnsweredMove]:
    """Return the moves from packed form."""
    return list(_MOVE.iter_unpack(moves))


def find_entry(moves: bytes | bytearray, ply: int, seat: int, request: int) -> int | None:
    """Return the number of the entry that a move became, or None if it is not in the log."""
    for at in range(len(moves) - _MOVE.size, -1, -_MOVE.size):
        move = _MOVE.unpack_from(moves, at)
        if move[0] <= ply:
            return int(move[3]) if move[:3] == (ply, seat, request) else None
    return None


def without_seat(moves: bytes | bytearray, seat: int) -> bytearray:
    """Return the moves of all other seats; the seat's new player starts with new request ids."""
    return packed(move for move in unpacked(moves) if move[1] != seat)
