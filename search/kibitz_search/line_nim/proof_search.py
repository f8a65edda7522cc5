"""A search for the winner of a sum of components that is too large for a table.

It is a depth-first search with a transposition table keyed by the names of positions (see
`components`), so each sum is searched once, regardless of its location on the board and of the
moves that led to it. At each position, all successors are first checked against theory and the
table. Only undecided successors are searched, those with small components first. The table contains
only proven positions, so it remains valid in later turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Record
from kibitz_search.line_nim.bitboard import MAX_CELLS
from kibitz_search.line_nim.components import LINES, LOST, UNKNOWN, WON, analyse

WORKSPACE = kernels.record_type(
    "line_nim_proof",
    [
        ("stop", np.int64),
        ("nodes", np.int64),
        ("masks", np.uint64, (MAX_CELLS + 1, LINES)),  # successors at each ply
        ("names", np.uint64, (MAX_CELLS + 1, LINES)),
        ("weights", np.int64, (MAX_CELLS + 1, LINES)),  # lower weights are searched first
    ],
    source=__file__,
)

Words = np.ndarray[Any, np.dtype[np.uint64]]
"""A table of names, shifted left by one; the lowest bit is 1 if the mover has lost."""


@kernel
def probe(known: Words, name: Any) -> Int:
    """Return the verdict in the table for a position, or `UNKNOWN`."""
    entry = known[np.int64(name & np.uint64(known.shape[0] - 1))]
    if entry >> np.uint64(1) != name or entry == np.uint64(0):
        return np.int64(UNKNOWN)
    return np.int64(entry & np.uint64(1))


@kernel
def _remember(known: Words, name: Any, verdict: Int) -> Int:
    """Store the verdict for a proven position, and return it."""
    slot = np.int64(name & np.uint64(known.shape[0] - 1))
    known[slot] = (name << np.uint64(1)) | np.uint64(verdict)
    return np.int64(verdict)


@kernel
def judge(ch: Record, known: Words, mask: Any) -> Any:
    """Return the name of a position; set ``ch.verdict`` from theory or the table."""
    name = analyse(ch, mask)
    if ch.verdict == UNKNOWN:
        ch.verdict = probe(known, name)
    return name


@kernel
def _open(ch: Record, ws: Record, known: Words, mask: Any, ply: Int) -> Int:
    """Write the undecided successors at a ply, best first; return their number, or -1 for a win."""
    count = np.int64(0)
    for k in range(ch.count):
        line = ch.lines[k]
        if line & ~mask != np.uint64(0):
            continue
        after = mask ^ line
        name = judge(ch, known, after)
        if ch.verdict == LOST:
            return np.int64(-1)
        if ch.verdict == WON:
            continue
        fresh = True
        for i in range(count):
            fresh = fresh and ws.names[ply, i] != name
        if not fresh:
            continue
        weight, at = np.int64(ch.largest), count
        while at > 0 and ws.weights[ply, at - 1] > weight:
            ws.masks[ply, at] = ws.masks[ply, at - 1]
            ws.names[ply, at] = ws.names[ply, at - 1]
            ws.weights[ply, at] = ws.weights[ply, at - 1]
            at -= 1
        ws.masks[ply, at] = after
        ws.names[ply, at] = name
        ws.weights[ply, at] = weight
        count += 1
    return count


@kernel
def prove(ch: Record, ws: Record, known: Words, mask: Any, name: Any, ply: Int) -> Int:
    """Return whether the mover has `WON` or `LOST`, or `UNKNOWN` if stopped.

    The position must be undecided by `judge`, which returned `name`.
    """
    ws.nodes += 1
    count = _open(ch, ws, known, mask, ply)
    if count < 0:
        return _remember(known, name, np.int64(WON))
    for i in range(count):
        if ws.stop != 0:
            return np.int64(UNKNOWN)
        after = ws.masks[ply, i]
        verdict = prove(ch, ws, known, after, ws.names[ply, i], np.int64(ply + 1))
        if verdict == UNKNOWN:
            return np.int64(UNKNOWN)
        if verdict == LOST:
            return _remember(known, name, np.int64(WON))
    return _remember(known, name, np.int64(LOST))
