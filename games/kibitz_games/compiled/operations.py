"""Operations on game states, dispatched on the type of their first argument.

A search is written once, for all games, with the functions of this module. In plain mode, an
operation looks up the implementation by the dtype of its first argument. In compiled mode, numba
resolves it at compile time, so a call costs as much as a direct call.

How to write a search
---------------------
::

    from kibitz_games.compiled import operations as op
    from kibitz_games.compiled.kernels import kernel

    @kernel
    def perft(st, ws, depth):
        moves = ws.moves[depth]
        n = op.generate(st, moves)
        if depth <= 1:
            return np.int64(n)
        total = np.int64(0)
        for i in range(n):
            m = np.int64(moves[i])
            op.play(st, m)
            total += perft(st, ws, np.int64(depth - 1))
            op.undo(st, m)
        return total

    ws = op.workspace(state, depth=8)
    perft(state, ws, np.int64(4))

- `st` is the state record that `Game.start` returns; `ws` is a record from `workspace`. Kernels
  change both in place. Copy a state with ``state.copy()`` before searching it: a search that is
  stopped early may return without undoing its moves.
- Every state has these fields: ``key`` (uint64, hash of the position and the seat to act), ``side``
  (seat to act, -1 when the match is over), ``seats`` (the number of seats) and ``ply``.
- Call a recursive kernel with the same types as in its recursive calls: wrap integers in
  ``np.int64(...)`` both at the entry and inside. Never write mutually recursive kernels: their
  cached machine code crashes the next process.
- numpy and numba disagree on mixed integer widths: wrap values that you load from a record or an
  array in ``np.int64(...)`` before you compute with them (keys stay ``np.uint64``).
- Global arrays are constants that are frozen when the kernel is compiled. Put weights into an
  *evaluation record* (`records.record_type`), whose type selects the implementation of `evaluate`.
- Machine code does not check array bounds. Lists of moves must have room for `max_actions`, vectors
  over seats for all seats. Operations called from Python raise `ValueError` for smaller arrays;
  operations called from kernels write past the end.
- Check ``ws.stop`` every few hundred nodes, and return if it is not zero: another thread sets it on
  timeout. Kernels release the interpreter's lock while they run.

The operations
--------------
============================  ==================================================================
`generate(st, moves)`         write the legal actions into `moves` (int32), return their number; a
                              forced pass is an action, and there are no actions when the match is
                              over
`play(st, m)`                 apply a legal action
`undo(st, m)`                 take back the last action `m`
`apply(st, m)`                update the position, the seat to act and the end of the match for `m`,
                              in a state declared by `snapshot.state_type`; `play` does the rest
`compute_key(st)`             the key computed from scratch, equal to ``st.key``
`terminal(st)`                whether the match is over (``st.side < 0``)
`to_act(st)`                  the seat to act, or -1 at the end
`returns(st, out)`            write each seat's final score, 0.0 to 1.0, into `out`
                              (float64, at least `seats` long)
`forfeit(st, seat)`           remove a seat from an unfinished match
`in_contention(st, seat)`     whether `seat` has neither finished nor dropped out
`move_score(st, m)`           a quick estimate of how good `m` is for the seat to act (any integer,
                              larger is better); for sorting moves and biasing playouts
`policy_weight(st, m)`        the probability (float64) with which the game's random player plays
                              `m`, relative to its other actions
`tactical_moves(st, moves)`   write a set of actions that contains the best one in a critical
                              position, return their number; 0 if the position is quiet
`generate_stage(st, k, moves)`  write the k-th stage of the legal actions and return their number;
                              -1 after the last stage
`set_side_to_move(st, seat)`  make `seat` the seat to act and return (int64) the previous one, for
                              searches in which the other seats do not move. Must not be called
                              after the end; call it again with the returned seat before `undo`
`evaluate(ev, st, seat)`      the value (float64) of the position for `seat`, computed with the
                              evaluation record `ev`; larger is better. It covers the seat's own
                              prospects: searches subtract the opponents' values if they need a
                              difference
`eval_delta(ev, st, m)`       the change (float64) that `m` causes in the value for the seat to act
                              minus the value for the opponent, with two seats; nan if it cannot be
                              predicted, for example because `m` may end the match. Much faster than
                              play, evaluate and undo
`move_prior(ev, st, m)`       how promising `m` is for the seat to act (float64); larger is better.
                              For biasing playouts, for the expansion order of trees, and for
                              choosing the replies in multiplayer searches; defaults to `move_score`
`observe(st, seat, out)`      write ``Game.features`` for `seat` into `out` (float32, flat), using
                              only information that the seat may see
`points(st, out)`             write each seat's points into `out` (float64), in games that count
                              points
`num_dense(st)`               the number of dense actions for matches with this setup
`dense_index(st, m)`          the dense number of action `m`, from 0 to ``num_dense(st) - 1``
`dense_action(st, index)`     the action for a dense number
============================  ==================================================================

A game must implement `generate`, and either `apply` or all of `play`, `undo` and `compute_key`. The
other operations are optional. Some searches require `set_side_to_move`, whose default raises an
error: check with ``offers(state.dtype, "set_side_to_move")``. The defaults of `play`, `undo`,
`compute_key`, `returns` and `forfeit` require states declared by `snapshot.state_type`. The default
of `points` writes zeros, and that of `observe` raises an error: check `offers`, or use
`core.learning.observe`, which falls back to the view. Games whose actions are already dense need no
`dense_index`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from kibitz_games.compiled import dispatch, kernels, snapshot
from kibitz_games.compiled.dispatch import checked, default_operation, operation
from kibitz_games.compiled.kernels import Int

Record: TypeAlias = Any
"""A numpy record. Its fields depend on its dtype, so type checkers cannot check them."""
Moves: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
Values: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Planes: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"

MAX_SEATS = 6
"""The length of arrays over seats in records and workspaces."""

i64 = kernels.int64_cast()
_max_actions: dict[Any, int] = {}


def _check_moves(st: Record, *others: Any) -> None:
    """Raise `ValueError` if `moves`, the last argument, may be too small for all actions."""
    room, needed = len(others[-1]), _max_actions.get(st.dtype, 0)
    if room < needed:
        raise ValueError(f"moves: expected room for {needed} actions, not for {room}")


def _check_out(st: Record, out: Values) -> None:
    """Raise `ValueError` if `out` is too small for all seats."""
    if len(out) < st.seats:
        raise ValueError(f"out: expected room for {int(st.seats)} seats, not for {len(out)}")


_writes_moves = functools.partial(checked, _check_moves)
_writes_seats = checked(_check_out, default_operation)


@_writes_moves(operation)
def generate(st: Record, moves: Moves) -> Any:
    """Write the legal actions into `moves` and return their number."""


@operation
def apply(st: Record, m: Int) -> None:
    """Update the position, the seat to act and the end of the match for a legal action."""


@default_operation
def compute_key(st: Record) -> Any:
    """Return the key of the position, computed from scratch."""
    return snapshot.hash_words(snapshot.words(st, i64(st.hashed)), 1, i64(st.hashed))


@default_operation
def play(st: Record, m: Int) -> None:
    """Apply a legal action."""
    snapshot.save(st)
    apply(st, m)
    st.ply += 1
    st.key = compute_key(st)


@default_operation
def undo(st: Record, m: Int) -> None:
    """Take back `m`, the last action played."""
    snapshot.restore(st)


@default_operation
def terminal(st: Record) -> bool:
    """Return whether the match is over."""
    return bool(st.side < 0)


@default_operation
def to_act(st: Record) -> Int:
    """Return the seat to act, or -1 when the match is over."""
    return i64(st.side)


@_writes_seats
def returns(st: Record, out: Values) -> None:
    """Write the score of each seat, 0.0 to 1.0, into `out`; the match must be over."""
    for seat in range(st.seats):
        out[seat] = 0.5
        if st.winner >= 0:
            out[seat] = 1.0 if st.winner == seat else 0.0


@default_operation
def forfeit(st: Record, seat: Int) -> None:
    """Remove a seat from an unfinished match for two; the other seat wins."""
    st.forfeited = seat
    snapshot.end_play(st, i64(-1), i64(1 - seat))
    st.key = compute_key(st)


@default_operation
def in_contention(st: Record, seat: Int) -> bool:
    """Return whether a seat has neither finished nor dropped out; by default True."""
    return True


@default_operation
def move_score(st: Record, m: Int) -> Int:
    """Return a quick estimate of how good `m` is for the seat to act; larger is better."""
    return i64(0)


@default_operation
def set_side_to_move(st: Record, seat: Int) -> Any:
    """Make `seat` the seat to act, return the previous one; `TypeError` if not implemented."""
    raise TypeError("'set_side_to_move' is not implemented for this record type")


@default_operation
def policy_weight(st: Record, m: Int) -> float:
    """Return the relative probability with which the game's random player plays `m`."""
    return 1.0


@operation
def evaluate(ev: Record, st: Record, seat: Int) -> Any:
    """Return the value of the position for `seat`, computed with the evaluation record `ev`."""


@default_operation
def eval_delta(ev: Record, st: Record, m: Int) -> Any:
    """Return how much `m` changes the mover's value minus the opponent's; nan if unknown."""
    return np.nan


@default_operation
def move_prior(ev: Record, st: Record, m: Int) -> float:
    """Return how promising `m` is for the seat to act, according to the evaluation record `ev`."""
    return float(move_score(st, m))


@_writes_moves(default_operation)
def tactical_moves(st: Record, moves: Moves) -> Any:
    """Write the tactical actions of a critical position, and return their number."""
    return np.int64(0)


@_writes_moves(default_operation)
def generate_stage(st: Record, k: Int, moves: Moves) -> Any:
    """Write the k-th stage of the legal actions and return their number; -1 after the last one."""
    return np.int64(generate(st, moves)) if k == 0 else np.int64(-1)


@default_operation
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write ``Game.features`` for `seat` into `out`; raise `TypeError` if not implemented."""
    raise TypeError("'observe' is not implemented for this record type: use core.learning.observe")


@_writes_seats
def points(st: Record, out: Values) -> None:
    """Write each seat's points into `out`."""
    for seat in range(st.seats):
        out[seat] = 0.0


@operation
def num_dense(st: Record) -> Any:
    """Return the number of dense actions for matches with this setup."""


@default_operation
def dense_index(st: Record, m: Int) -> Any:
    """Return the dense number of an action."""
    return i64(m)


@default_operation
def dense_action(st: Record, index: Int) -> Any:
    """Return the action for a dense number."""
    return i64(index)


NAMES = dispatch.names()
"""The names of all operations."""


def implement(
    dtype: np.dtype[Any], *, max_actions: int | None = None, **implementations: Callable[..., Any]
) -> None:
    """Register implementations of operations for records of type `dtype`.

    A game's state type requires `max_actions`, an upper bound on the number of actions in one
    position, and the operations listed in the module docstring; an evaluation record requires only
    ``evaluate``. Raises `TypeError` for missing or unknown operations.
    """
    if unknown := implementations.keys() - set(NAMES):
        raise TypeError(f"unknown operations: {', '.join(sorted(unknown))}")
    if max_actions is not None:
        own = {"generate", "play", "undo", "compute_key"}
        needed = {"generate", "apply"} if "apply" in implementations else own
        if lacking := needed - implementations.keys():
            raise TypeError(f"a game must implement {', '.join(sorted(lacking))}")
        _max_actions[dtype] = max_actions
    for name, implementation in implementations.items():
        dispatch.set_implementation(name, dtype, implementation)


def offers(dtype: np.dtype[Any], name: str) -> bool:
    """Return whether operation `name` has been implemented for records of type `dtype`."""
    return dispatch.implementation(name, dtype) is not None


def max_actions(dtype: np.dtype[Any]) -> int:
    """Return the upper bound on the number of actions in one position of a game."""
    try:
        return _max_actions[dtype]
    except KeyError:
        raise dispatch.missing("game", dtype) from None


def workspace_type(
    state: np.record, *, depth: int, extra: Sequence[tuple[Any, ...]] = (), source: str = __file__
) -> np.dtype[Any]:
    """Return the record type of a workspace for searches of `state` down to `depth` plies.

    Its fields are `extra` and the following:

    - ``stop`` (int64): set it to stop the search
    - ``nodes`` (int64): the nodes so far; ``most`` (int64): the limit on nodes, or 0 for no limit
    - ``moves`` (int32, [depth + 1, widest]) and ``scores`` (int64, same shape): for generation and
      ordering
    - ``values`` (float64, [depth + 1, 6]): for vectors over seats
    - ``line`` and ``lengths`` (int32, [depth + 1, depth + 1] and [depth + 1]): for principal
      variations

    `source` is the ``__file__`` of the module whose kernels use the extra fields.
    """
    rows, width = depth + 1, max_actions(state.dtype)
    fields = [
        ("stop", np.int64),
        ("nodes", np.int64),
        ("most", np.int64),
        ("values", np.float64, (rows, MAX_SEATS)),
        ("scores", np.int64, (rows, width)),
        ("moves", np.int32, (rows, width)),
        ("line", np.int32, (rows, rows)),
        ("lengths", np.int32, (rows,)),
        *extra,
    ]
    return kernels.record_type("workspace", fields, source=source)


def workspace(
    state: np.record, *, depth: int, extra: Sequence[tuple[Any, ...]] = (), source: str = __file__
) -> Record:
    """Return a new workspace, filled with zeros; see `workspace_type` for its fields."""
    return kernels.new(workspace_type(state, depth=depth, extra=extra, source=source))
