"""States with generic keys and undo, for games that do not have to be the fastest.

`state_type` declares such a state. Its fields lie in memory in this order:

    key | position, side | ply, seats, end, winner, forfeited, saved, hashed | other | past

The *position* are the fields that the rest of the play depends on; the key is a hash of them and of
the seat to act. `past` has a copy of everything before it for each ply that was played. So a game
only implements the effect of an action (`operations.apply`), and `operations.play` and
`operations.undo` follow: `play` keeps a copy, applies the action, counts the ply and hashes the
position; `undo` puts the copy back. That costs some 50 ns a ply for a position of 50 bytes, and
makes a state `max_plies` times as large. A game that wants to be faster implements play, undo and
compute_key itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.mode import compiled
from kibitz_games.compiled.records import new, record_type, words_of

WORD = 8
"""Bytes of a word: states are copied and hashed word by word."""
_HEADER: tuple[tuple[Any, ...], ...] = (
    ("ply", np.int64),
    ("seats", np.int32),
    ("end", np.int32),  # index of the reason for the end, 0 while the play goes on
    ("winner", np.int32),  # a seat; -1 for none
    ("forfeited", np.int32),  # a seat that left the play; -1 for none
    ("saved", np.int32),  # words that `past` keeps for each ply
    ("hashed", np.int32),  # words at the beginning that the key is made of, itself included
)


def state_type(
    name: str,
    *,
    position: Sequence[tuple[Any, ...]],
    other: Sequence[tuple[Any, ...]] = (),
    max_plies: int,
    source: str,
) -> np.dtype[Any]:
    """Return the type of the states of a game.

    Fields are ``(name, type)`` or ``(name, type, shape)``, as numpy takes them: `position` has
    those that the rest of the play depends on, `other` what is remembered besides. `max_plies`
    bounds the length of a play; `source` is the ``__file__`` of the module with the rules.
    """
    fields = [("key", np.uint64), *position, ("side", np.int32), *_HEADER, *other]
    words = -(-np.dtype([*fields, ("past", np.uint64)], align=True).fields["past"][1] // WORD)  # type: ignore[index]
    return record_type(name, [*fields, ("past", np.uint64, (max_plies, int(words)))], source=source)


def new_state(dtype: np.dtype[Any], seats: int) -> Any:
    """Return a state at ply 0 with seat 0 to act and all of the game's own fields 0.

    Its key is not made yet: that is `operations.compute_key`, once the position is set up.
    """
    assert dtype.fields is not None
    st: Any = new(dtype)
    st["seats"], st["winner"], st["forfeited"] = seats, -1, -1
    st["saved"] = dtype["past"].shape[1]
    st["hashed"] = dtype.fields["ply"][1] // WORD
    return st


def words(st: Any, count: Int) -> Any:
    """Return the first `count` words of a state that `state_type` declared, to read and write."""
    return words_of(st, int(count)) if isinstance(st, np.record) else st.words


if compiled():
    from numba import carray, types  # type: ignore[attr-defined]
    from numba.extending import intrinsic, overload

    @intrinsic
    def _address(typingctx: Any, record: Any) -> Any:
        """Return the address of a record, as a pointer to its words."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(types.uint64)(record), codegen  # type: ignore[no-untyped-call]

    @overload(words, strict=False)
    def _words(st: Any, count: Any) -> Any:
        address: Any = _address
        return lambda st, count: carray(address(st), (count,))


_u64: Any = np.uint64 if compiled() else int
_MASK, _MULTIPLIER, _SHIFT = _u64(2**64 - 1), _u64(0x9E3779B97F4A7C15), _u64(32)


@kernel
def hash_words(data: Any, first: Int, end: Int) -> Any:
    """Return a 64-bit hash of the words from `first` up to before `end`.

    Each word is mixed in by a multiplication and a shift, as in splitmix64 (Steele, Lea and Flood,
    2014), so that all bits of the hash depend on all of the words.
    """
    mixed = _MULTIPLIER
    for i in range(first, end):
        mixed = ((mixed ^ _u64(data[i])) * _MULTIPLIER) & _MASK
        mixed = mixed ^ (mixed >> _SHIFT)
    return (mixed * _MULTIPLIER) & _MASK


@kernel
def save(st: Any) -> None:
    """Copy the state into the row of its ply in `past`."""
    ply, past, count = st.ply, st.past, st.saved
    data = words(st, count)
    for i in range(count):
        past[ply, i] = data[i]


@kernel
def restore(st: Any) -> None:
    """Restore the state of one ply before."""
    ply, past, count = st.ply - 1, st.past, st.saved
    data = words(st, count)
    for i in range(count):
        data[i] = past[ply, i]
        past[ply, i] = 0


@kernel
def end_play(st: Any, end: Int, winner: Int) -> None:
    """End the play: `end` is an index of `Game.reasons`, `winner` a seat or -1 for a draw."""
    st.end = end
    st.winner = winner
    st.side = -1
