"""Operations on game states, dispatched on the type of their first argument.

A search is written once, for all games, against the functions of this module. In plain mode an
operation looks up the implementation by the dtype of its first argument; in compiled mode numba
does the same while it compiles, so that a call costs what a direct call costs.

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

- `st` is the state record that `Game.start` returns; `ws` a record from `workspace`. Both are
  changed in place. Copy a state with ``state.copy()`` before you search: undo restores it, but
  a search that was stopped half-way may leave it as it is.
- Every state has these fields: ``key`` (uint64, hash of the position and of the side to move),
  ``side`` (seat to act, -1 when the play is over), ``seats`` (how many), ``ply``.
- Call a self-recursive kernel with values of the types that it calls itself with: wrap integers
  in ``np.int64(...)`` both at the entry and inside. Never make two kernels call each other in
  a circle: the cached machine code of such a pair crashes the next process.
- numpy and numba disagree on mixed integer widths: wrap what you load from a record or an
  array in ``np.int64(...)`` before you compute with it (keys stay ``np.uint64``).
- Global arrays are frozen when the kernel is compiled. Weights belong in an *evaluation record*
  (`kernels.record`), whose type selects the implementation of `evaluate`.
- Machine code does not check array bounds. Lists of moves have room for `max_actions`, vectors over
  seats for all seats: Python that calls an operation with a smaller one gets a `ValueError`; a
  kernel writes past the end.
- Look at ``ws.stop`` every few hundred nodes and return when it is not zero: another thread
  sets it when the time is up. Kernels release the interpreter's lock while they run.

The operations
--------------
============================  ==================================================================
`generate(st, moves)`         write the legal actions into `moves` (int32), return how many;
                              a forced pass is an action, and a play that is over has none
`play(st, m)`                 apply a legal action
`undo(st, m)`                 take back `m`, the last action played
`apply(st, m)`                what `m` changes in the position, who acts next and whether the play
                              is over, of a state that `snapshot.state_type` declared; `play`
                              does the rest
`compute_key(st)`             the key from scratch; equal to ``st.key``
`terminal(st)`                whether the play is over (``st.side < 0``)
`to_act(st)`                  the seat to act, -1 when over
`returns(st, out)`            when over: write each seat's score, 0.0 (worst) to 1.0, into `out`
                              (float64, at least `seats` long)
`forfeit(st, seat)`           take a seat out of a play that goes on
`in_contention(st, seat)`     whether the place of `seat` is still open: it has neither finished nor
                              dropped out
`move_score(st, m)`           a quick guess how good `m` is for the seat to act; larger is better,
                              any integer; for sorting moves and for biasing playouts
`policy_weight(st, m)`        how likely the game's own random player takes `m` (float64), relative
                              to its other actions
`tactical_moves(st, moves)`   write into `moves` the actions among which the best one is sure to be
                              where something is about to happen, return how many; 0 where the
                              position may be judged as it stands
`generate_stage(st, k, moves)`  write the k-th part of the legal actions and return how many; -1
                              where there is none
`set_side_to_move(st, seat)`  make `seat` the one to act and return (int64) the seat that was; for
                              searches in which the others stand still. Not on a play that is
                              over; call it again with the answer before `undo`
`evaluate(ev, st, seat)`      the worth (float64) of the position to `seat` by the evaluation record
                              `ev`; larger is better. It judges the seat's own prospects:
                              a search subtracts the opponents' where it wants a difference
`eval_delta(ev, st, m)`       what `m` adds (float64) to the worth of the position to the seat to
                              act less its worth to the other one, in a play of two; nan where only
                              playing it tells, as when it may end the play. Much quicker than to
                              play, evaluate and undo
`move_prior(ev, st, m)`       how promising `m` is for the seat to act (float64); larger is better.
                              For biasing playouts, the order in which a tree grows, and the replies
                              that searches for many seats look at; `move_score` where an evaluation
                              does not know better
`observe(st, seat, out)`      write the numbers of ``Game.features`` for `seat` into `out` (float32,
                              flat), from what that seat may know and nothing else
`points(st, out)`             write what each seat has by the game's own count into `out` (float64),
                              in a game that counts
`num_dense(st)`               how many actions there are in plays like this one, numbered densely
`dense_index(st, m)`          the dense number of action `m`, from 0 to ``num_dense(st) - 1``
`dense_action(st, index)`     the action that has a dense number
============================  ==================================================================

A game needs `generate`, and either `apply` or all of `play`, `undo` and `compute_key`. Everything
else has a default, except `set_side_to_move`, without which some searches do not play a game: check
with ``offers(state.dtype, "set_side_to_move")``. The defaults of `play`, `undo`, `compute_key`,
`returns` and `forfeit` are for states that `snapshot.state_type` declared; that of `points` counts
nothing, and that of `observe` raises: ask `offers`, or use `core.learning.observe`, which then goes
through the view. Actions that are no denser than they are numbered need no `dense_index`.
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
"""A numpy record; its fields depend on its dtype, so its type says nothing to a type checker."""
Moves: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
Values: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Planes: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"

MAX_SEATS = 6
"""Arrays over seats in records and workspaces are so long."""

i64 = kernels.int64_cast()
_max_actions: dict[Any, int] = {}


def _check_moves(st: Record, *others: Any) -> None:
    """Raise `ValueError` where `moves`, the last argument, may not have room for all actions."""
    room, needed = len(others[-1]), _max_actions.get(st.dtype, 0)
    if room < needed:
        raise ValueError(f"moves: expected room for {needed} actions, not for {room}")


def _check_out(st: Record, out: Values) -> None:
    """Raise `ValueError` where `out` has no room for all seats."""
    if len(out) < st.seats:
        raise ValueError(f"out: expected room for {int(st.seats)} seats, not for {len(out)}")


_writes_moves = functools.partial(checked, _check_moves)
_writes_seats = checked(_check_out, default_operation)


@_writes_moves(operation)
def generate(st: Record, moves: Moves) -> Any:
    """Write the legal actions into `moves` and return how many there are."""


@operation
def apply(st: Record, m: Int) -> None:
    """Change the position, the seat to act and the end as a legal action does."""


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
    """Return whether the play is over."""
    return bool(st.side < 0)


@default_operation
def to_act(st: Record) -> Int:
    """Return the seat to act, or -1 when the play is over."""
    return i64(st.side)


@_writes_seats
def returns(st: Record, out: Values) -> None:
    """Write the score of each seat, 0.0 to 1.0, into `out`; the play must be over."""
    for seat in range(st.seats):
        out[seat] = 0.5
        if st.winner >= 0:
            out[seat] = 1.0 if st.winner == seat else 0.0


@default_operation
def forfeit(st: Record, seat: Int) -> None:
    """Take a seat out of a play of two that goes on: the other one has won."""
    st.forfeited = seat
    snapshot.end_play(st, i64(-1), i64(1 - seat))
    st.key = compute_key(st)


@default_operation
def in_contention(st: Record, seat: Int) -> bool:
    """Return whether the place of a seat is still open; by default it is."""
    return True


@default_operation
def move_score(st: Record, m: Int) -> Int:
    """Return a quick guess how good `m` is for the seat to act; larger is better."""
    return i64(0)


@operation
def set_side_to_move(st: Record, seat: Int) -> Any:
    """Make `seat` the one to act; return the seat that was."""


@default_operation
def policy_weight(st: Record, m: Int) -> float:
    """Return how likely the game's own random player takes `m`, relative to its others."""
    return 1.0


@operation
def evaluate(ev: Record, st: Record, seat: Int) -> Any:
    """Return the worth of the position to `seat` by the evaluation record `ev`."""


@default_operation
def eval_delta(ev: Record, st: Record, m: Int) -> Any:
    """Return what `m` adds to the mover's worth less the other's; nan if unknown."""
    return np.nan


@default_operation
def move_prior(ev: Record, st: Record, m: Int) -> float:
    """Return how promising `m` is for the seat to act, by the evaluation record `ev`."""
    return float(move_score(st, m))


@_writes_moves(default_operation)
def tactical_moves(st: Record, moves: Moves) -> Any:
    """Write the tactical actions of a critical position, and return how many."""
    return np.int64(0)


@_writes_moves(default_operation)
def generate_stage(st: Record, k: Int, moves: Moves) -> Any:
    """Write the k-th part of the legal actions and return how many; -1 where there is none."""
    return np.int64(generate(st, moves)) if k == 0 else np.int64(-1)


@default_operation
def observe(st: Record, seat: Int, out: Planes) -> None:
    """Write the numbers of ``Game.features`` for `seat` into `out`; raise if not implemented."""
    raise TypeError("no 'observe' for records of this type: use core.learning.observe")


@_writes_seats
def points(st: Record, out: Values) -> None:
    """Write each seat's points into `out`, as the game counts them."""
    for seat in range(st.seats):
        out[seat] = 0.0


@operation
def num_dense(st: Record) -> Any:
    """Return how many actions there are in plays like this one."""


@default_operation
def dense_index(st: Record, m: Int) -> Any:
    """Return the dense number of an action."""
    return i64(m)


@default_operation
def dense_action(st: Record, index: Int) -> Any:
    """Return the action that has a dense number."""
    return i64(index)


NAMES = dispatch.names()
"""The names of all operations."""


def implement(
    dtype: np.dtype[Any], *, max_actions: int | None = None, **implementations: Callable[..., Any]
) -> None:
    """Give the records of type `dtype` their implementations, by operation name.

    A game's state type needs `max_actions`, an upper bound on the number of actions in one
    position, and what the head of this module says; an evaluation record needs only ``evaluate``.
    Raises `TypeError` for what is missing or unknown.
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
    """Return whether records of type `dtype` have an own implementation of operation `name`."""
    return dispatch.implementation(name, dtype) is not None


def max_actions(dtype: np.dtype[Any]) -> int:
    """Return an upper bound on the number of actions in one position of a game."""
    try:
        return _max_actions[dtype]
    except KeyError:
        raise dispatch.missing("game", dtype) from None


def workspace_type(
    state: np.record, *, depth: int, extra: Sequence[tuple[Any, ...]] = (), source: str = __file__
) -> np.dtype[Any]:
    """Return the record type of a workspace for searches of `state` down to `depth` plies.

    Its fields are these, and `extra`:

    - ``stop`` (int64): set it to end the search
    - ``nodes`` (int64), and ``most`` (int64): the nodes after which to end it, 0 for no limit
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
    """Return a new workspace, every byte zero; see `workspace_type` for its fields."""
    return kernels.new(workspace_type(state, depth=depth, extra=extra, source=source))
