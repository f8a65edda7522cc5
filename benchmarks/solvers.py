"""The solvers for `benchmarks.search`: CPU seconds for a full table.

Line-Nim: a table of all subsets of a position's cells. Number merge: the values of all sets of
boundaries of a row.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_games.core import registry
from kibitz_games.line_nim import maps
from kibitz_search.line_nim import proof_search
from kibitz_search.line_nim import retrograde as subsets
from kibitz_search.line_nim.bitboard import CellBitboard
from kibitz_search.number_merge import retrograde as boundaries
from kibitz_search.number_merge.boundaries import BoundarySet


def island(cells: int, seed: int) -> float:
    """Return the CPU seconds to build the table of all subsets of a map."""
    began = time.process_time()
    board = CellBitboard(maps.grow(seed, cells))
    plan = subsets.LineMasks(board.lines, board.size)
    lost, middle = np.zeros(plan.words, np.uint64), np.int64(plan.middle)
    ws: Any = kernels.new(proof_search.WORKSPACE)
    subsets.fill(lost, plan.far, plan.start, plan.near, plan.push, middle, ws)
    return time.process_time() - began


def row(length: int, seed: int) -> float:
    """Return the CPU seconds to build the table of all sets of boundaries of a row."""
    game: Any = registry.get("number-merge")
    options = game.Options(length=length, threshold="1/3")
    whole = BoundarySet(game.start(options, 2, game.deal(options, 2, seed)))
    began = time.process_time()
    worths = np.zeros(1 << whole.boundaries, np.int8)
    boundaries.fill(worths, whole.gains, kernels.new(boundaries.WORKSPACE))
    return time.process_time() - began
