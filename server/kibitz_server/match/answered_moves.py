"""The moves of a match by request id, which allow idempotent answers to resent moves.

A lost connection may lose answers too; the client then resends those moves with the same ids and
plies. The match may have continued meanwhile, and a player may run several programs. So the match
remembers every move until its end, and never refuses a move that is in the log. Moves are packed in
ply order, 18 bytes each, because a long match has hundreds.
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
    """Return the number of a move's entry, or None if it has none."""
    for at in range(len(moves) - _MOVE.size, -1, -_MOVE.size):
        move = _MOVE.unpack_from(moves, at)
        if move[0] <= ply:
            return int(move[3]) if move[:3] == (ply, seat, request) else None
    return None


def without_seat(moves: bytes | bytearray, seat: int) -> bytearray:
    """Return the moves without those of a seat whose new player starts with new request ids."""
    return packed(move for move in unpacked(moves) if move[1] != seat)
