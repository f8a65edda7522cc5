"""Operations on game states, dispatched on the type of their first argument.

A search is written once, for all games, against the functions of this module. In plain mode an
operation looks up the implementation by the dtype of its first argument; in compiled mode numba
does the same while it compiles, so that a call costs what a direct call costs.

How to write a search
---------------------
::

    from kibitz_games import operations as op
    from kibitz_games.kernels import kernel

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
- Look at ``ws.stop`` every few hundred nodes and return when it is not zero: another thread
  sets it when the time is up. Kernels release the interpreter's lock while they run.

The operations
--------------
============================  ==================================================================
`generate(st, moves)`         write the legal actions into `moves` (int32), return how many;
                              a forced pass is an action, and a play that is over has none
`play(st, m)`                 apply a legal action
`undo(st, m)`                 take back `m`, the last action played
`terminal(st)`                whether the play is over (``st.side < 0``)
`to_act(st)`                  the seat to act, -1 when over
`returns(st, out)`            when over: write each seat's score, 0.0 (worst) to 1.0, into `out`
                              (float64, at least `seats` long)
`order(st, m)`                a quick guess how good `m` is for the seat to act; larger is better,
                              any integer; for sorting moves and for biasing playouts
`hold(st, seat)`              make `seat` the one to act and return (int64) the seat that was; for
                              searches in which the others stand still. Not on a play that is
                              over; call it again with the answer before `undo`
`fresh_key(st)`               the key from scratch; equal to ``st.key``
`evaluate(ev, st, seat)`      the worth (float64) of the position to `seat` by the evaluation record
                              `ev`; larger is better. It judges the seat's own prospects:
                              a search subtracts the opponents' where it wants a difference
`weigh(st, m)`                how likely the game's own random player takes `m` (float64), relative
                              to its other actions; where it is missing, all are as likely
`foresee(ev, st, m)`          what `m` adds (float64) to the worth of the position to the seat to
                              act less its worth to the other one, in a play of two; nan where only
                              playing it tells, as when it may end the play. Much quicker than to
                              play, evaluate and undo; where it is missing, always nan
`urgent(st, moves)`           write into `moves` the actions among which the best one is sure to be
                              where something is about to happen, return how many; 0 where the
                              position may be judged as it stands, and always 0 where it is missing
============================  ==================================================================

The last five and `hold` are optional: `offers(state.dtype, "hold")` tells. All others are there
for every game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from kibitz_games import kernels
from kibitz_games.kernels import Int

Record: TypeAlias = Any
"""A numpy record; its fields depend on its dtype, so its type says nothing to a type checker."""
Moves: TypeAlias = "np.ndarray[Any, np.dtype[np.int32]]"
Values: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"

MAX_SEATS = 6
"""Arrays over seats in records and workspaces are so long."""
OPTIONAL = frozenset({"hold", "weigh", "evaluate", "foresee", "urgent", "portion"})

_tables: dict[str, dict[Any, Callable[..., Any]]] = {}
_widths: dict[Any, int] = {}


def _missing(name: str, dtype: Any) -> TypeError:
    label = dtype.names[-1] if getattr(dtype, "names", None) else dtype
    return TypeError(f"no {name!r} for records of type {label}")


def _operation(function: Callable[..., Any], instead: Callable[..., Any] | None = None) -> Any:
    """Turn a bare signature into a generic function with a table of its own.

    Where a type has no implementation, `instead` is used.
    """
    name = function.__name__
    table = _tables.setdefault(name, {})

    def dispatch(*args: Any) -> Any:
        implementation = table.get(args[0].dtype, instead)
        if implementation is None:
            raise _missing(name, args[0].dtype)
        return implementation(*args)

    dispatch.__name__ = dispatch.__qualname__ = name
    dispatch.__doc__ = function.__doc__
    if kernels.compiled():
        _overload(dispatch, table, instead, function.__code__.co_argcount)
    return dispatch


def _hook(function: Callable[..., Any]) -> Any:
    """Turn a function into an operation that does what its body says where a type has none."""
    return _operation(function, kernels.kernel(function))


def _overload(
    dispatch: Callable[..., Any], table: dict[Any, Any], instead: Any, arity: int
) -> None:
    """Teach numba to resolve calls of `dispatch` by the record type of the first argument."""
    from numba.extending import overload

    def one(a: Any) -> Any:
        chosen = table.get(a, instead)
        return None if chosen is None else lambda a: chosen(a)

    def two(a: Any, b: Any) -> Any:
        chosen = table.get(a, instead)
        return None if chosen is None else lambda a, b: chosen(a, b)

    def three(a: Any, b: Any, c: Any) -> Any:
        chosen = table.get(a, instead)
        return None if chosen is None else lambda a, b, c: chosen(a, b, c)

    options: Any = kernels.FLAGS
    overload(dispatch, jit_options=options, strict=False)((one, two, three)[arity - 1])


@_operation
def generate(st: Record, moves: Moves) -> Any:
    """Write the legal actions into `moves` and return how many there are."""


@_operation
def play(st: Record, m: Int) -> None:
    """Apply a legal action."""


@_operation
def undo(st: Record, m: Int) -> None:
    """Take back `m`, the last action played."""


@_operation
def terminal(st: Record) -> Any:
    """Return whether the play is over."""


@_operation
def to_act(st: Record) -> Any:
    """Return the seat to act, or -1 when the play is over."""


@_operation
def returns(st: Record, out: Values) -> None:
    """Write the score of each seat, 0.0 to 1.0, into `out`; the play must be over."""


@_operation
def order(st: Record, m: Int) -> Any:
    """Return a quick guess how good `m` is for the seat to act; larger is better."""


@_operation
def hold(st: Record, seat: Int) -> Any:
    """Make `seat` the one to act; return the seat that was."""


@_operation
def weigh(st: Record, m: Int) -> Any:
    """Return how likely the game's own random player takes `m`, relative to its others."""


@_operation
def fresh_key(st: Record) -> Any:
    """Return the key of the position, computed from scratch."""


@_operation
def evaluate(ev: Record, st: Record, seat: Int) -> Any:
    """Return the worth of the position to `seat` by the evaluation record `ev`."""


@_hook
def foresee(ev: Record, st: Record, m: Int) -> Any:
    """Return what `m` adds to the mover's worth less the other's; nan where only playing tells."""
    return np.nan


@_hook
def urgent(st: Record, moves: Moves) -> Any:
    """Write the actions that matter where something is about to happen, and return how many."""
    return np.int64(0)


@_hook
def portion(st: Record, k: Int, moves: Moves) -> Any:
    """Write the k-th part of the legal actions and return how many; -1 where there is none."""
    return np.int64(generate(st, moves)) if k == 0 else np.int64(-1)


NAMES = tuple(_tables)
"""The names of all operations."""


def implement(
    dtype: np.dtype[Any], *, widest: int | None = None, **implementations: Callable[..., Any]
) -> None:
    """Give the records of type `dtype` their implementations, by operation name.

    A game's state type needs all but the `OPTIONAL` ones and `widest`, an upper bound on the
    number of actions in one position; an evaluation record needs only ``evaluate``.
    """
    if unknown := implementations.keys() - _tables.keys():
        raise TypeError(f"unknown operations: {', '.join(sorted(unknown))}")
    if widest is not None:
        if lacking := _tables.keys() - implementations.keys() - OPTIONAL:
            raise TypeError(f"a game must implement {', '.join(sorted(lacking))}")
        _widths[dtype] = widest
    for name, implementation in implementations.items():
        _tables[name][dtype] = implementation
        if kernels.compiled():
            _tables[name][_numba_type(dtype)] = implementation


def _numba_type(dtype: np.dtype[Any]) -> Any:
    import numba

    return numba.from_dtype(dtype)


def offers(dtype: np.dtype[Any], name: str) -> bool:
    """Return whether records of type `dtype` have an implementation of operation `name`."""
    return dtype in _tables[name]


def widest(dtype: np.dtype[Any]) -> int:
    """Return an upper bound on the number of actions in one position of a game."""
    try:
        return _widths[dtype]
    except KeyError:
        raise _missing("game", dtype) from None


def workspace_type(
    state: np.record, *, depth: int, extra: Sequence[tuple[Any, ...]] = (), source: str = __file__
) -> np.dtype[Any]:
    """Return the record type of a workspace for searches of `state` down to `depth` plies.

    Fields: ``stop`` (int64, set it to end the search), ``nodes`` (int64), ``moves`` (int32,
    [depth + 1, widest]) and ``scores`` (int64, same shape) for generation and ordering,
    ``values`` (float64, [depth + 1, 6]) for vectors over seats, ``line`` and ``lengths`` for
    principal variations (int32, [depth + 1, depth + 1] and [depth + 1]), and `extra`. Give the
    ``__file__`` of the module whose kernels use the extra fields as `source`.
    """
    rows, width = depth + 1, widest(state.dtype)
    fields = [
        ("stop", np.int64),
        ("nodes", np.int64),
        ("values", np.float64, (rows, MAX_SEATS)),
        ("scores", np.int64, (rows, width)),
        ("moves", np.int32, (rows, width)),
        ("line", np.int32, (rows, rows)),
        ("lengths", np.int32, (rows,)),
        *extra,
    ]
    return kernels.record("workspace", fields, source=source)


def workspace(
    state: np.record, *, depth: int, extra: Sequence[tuple[Any, ...]] = (), source: str = __file__
) -> Record:
    """Return a new workspace, every byte zero; see `workspace_type` for its fields."""
    return kernels.new(workspace_type(state, depth=depth, extra=extra, source=source))


def warm(state: np.record) -> None:
    """Compile or load every operation for the type of `state` by calling each of them once.

    `state` must not be over; it is left as it was.
    """
    st, out = state.copy(), np.zeros(MAX_SEATS)
    moves = np.zeros(widest(st.dtype), np.int32)
    generate(st, moves)
    action = int(moves[0])
    order(st, action)
    seat = to_act(st)
    if offers(st.dtype, "hold"):
        hold(st, hold(st, seat))
    if offers(st.dtype, "weigh"):
        weigh(st, action)
    urgent(st, moves)
    portion(st, 0, moves)
    play(st, action)
    undo(st, action)
    terminal(st)
    fresh_key(st)
    returns(st, out)
