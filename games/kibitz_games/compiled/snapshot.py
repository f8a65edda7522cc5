"""States with generic keys and undo, for games in which speed is not critical.

`state_type` declares such a state. The order of its fields in memory is:

    key | position, side | ply, seats, end, winner, forfeited, saved, hashed | other | past

The *position* consists of the fields that determine the rest of the match; the key is a hash of
these fields and the seat to act. `past` contains a copy of all fields before it for each ply
played. A game therefore only implements the effect of an action (`operations.apply`). The default
`operations.play` saves a copy, applies the action, counts the ply and hashes the position, and
`operations.undo` restores the copy. This costs about 50 ns per ply for a position of 50 bytes, and
makes a state `max_plies` times as large. For more speed, a game can implement `play`, `undo` and
`compute_key` itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.mode import compiled
from kibitz_games.compiled.records import new, record_type, words_of

WORD = 8
"""The bytes in a word: states are copied and hashed word by word."""
_HEADER: tuple[tuple[Any, ...], ...] = (
    ("ply", np.int64),
    ("seats", np.int32),
    ("end", np.int32),  # index of the reason for the end, 0 until the match ends
    ("winner", np.int32),  # a seat, or -1
    ("forfeited", np.int32),  # a seat that left the match, or -1
    ("saved", np.int32),  # words saved in `past` for each ply
    ("hashed", np.int32),  # words at the start that the key covers, including the key itself
)


def state_type(
    name: str,
    *,
    position: Sequence[tuple[Any, ...]],
    other: Sequence[tuple[Any, ...]] = (),
    max_plies: int,
    source: str,
) -> np.dtype[Any]:
    """Return the type of a game's states.

    Fields are ``(name, type)`` or ``(name, type, shape)``, as in numpy: `position` lists those that
    determine the rest of the match, `other` all other fields. `max_plies` bounds the length of a
    match; `source` is the ``__file__`` of the module with the rules.
    """
    fields = [("key", np.uint64), *position, ("side", np.int32), *_HEADER, *other]
    words = -(-np.dtype([*fields, ("past", np.uint64)], align=True).fields["past"][1] // WORD)  # type: ignore[index]
    return record_type(name, [*fields, ("past", np.uint64, (max_plies, int(words)))], source=source)


def new_state(dtype: np.dtype[Any], seats: int) -> Any:
    """Return a state at ply 0 with seat 0 to act and all of the game's own fields 0.

    Set its key to `operations.compute_key` once the position is set up.
    """
    assert dtype.fields is not None
    st: Any = new(dtype)
    st["seats"], st["winner"], st["forfeited"] = seats, -1, -1
    st["saved"] = dtype["past"].shape[1]
    st["hashed"] = dtype.fields["ply"][1] // WORD
    return st


def words(st: Any, count: Int) -> Any:
    """Return a writable view of the first `count` words of a state declared by `state_type`."""
    return words_of(st, int(count)) if isinstance(st, np.record) else st.words


if compiled():
    from numba import carray, types
    from numba.extending import intrinsic, overload

    @intrinsic  # type: ignore[untyped-decorator]
    def _address(typingctx: Any, record: Any) -> Any:
        """Return the address of a record as a pointer to words."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(types.uint64)(record), codegen

    @overload(words, strict=False)  # type: ignore[untyped-decorator]
    def _words(st: Any, count: Any) -> Any:
        address: Any = _address
        return lambda st, count: carray(address(st), (count,))


_u64: Any = np.uint64 if compiled() else int
_MASK, _MULTIPLIER, _SHIFT = _u64(2**64 - 1), _u64(0x9E3779B97F4A7C15), _u64(32)


@kernel
def hash_words(data: Any, first: Int, end: Int) -> Any:
    """Return a 64-bit hash of the words from `first` to `end`, exclusive.

    Each word is mixed in with multiplications and shifts as in splitmix64 (Steele, Lea and Flood,
    2014), so that all bits of the hash depend on all words.
    """
    mixed = _MULTIPLIER
    for i in range(first, end):
        mixed = ((mixed ^ _u64(data[i])) * _MULTIPLIER) & _MASK
        mixed = mixed ^ (mixed >> _SHIFT)
    return (mixed * _MULTIPLIER) & _MASK


@kernel
def save(st: Any) -> None:
    """Copy the state into row `ply` of `past`."""
    ply, past, count = st.ply, st.past, st.saved
    data = words(st, count)
    for i in range(count):
        past[ply, i] = data[i]


@kernel
def restore(st: Any) -> None:
    """Restore the state before the last ply."""
    ply, past, count = st.ply - 1, st.past, st.saved
    data = words(st, count)
    for i in range(count):
        data[i] = past[ply, i]
        past[ply, i] = 0


@kernel
def end_play(st: Any, end: Int, winner: Int) -> None:
    """End the match: `end` is an index into `Game.reasons`, `winner` a seat or -1 for a draw."""
    st.end = end
    st.winner = winner
    st.side = -1
