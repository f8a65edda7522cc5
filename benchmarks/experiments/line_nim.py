"""Experiments on "AI Capstone assignment2", about Line-Nim."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Player
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.line_nim.evaluation import outcome
from kibitz_search.line_nim.reference_agent import CROWDED, MAX_DEPTH, ReferenceAgent
from kibitz_training.figures import line_chart

GAME = "line-nim"
SECONDS = 0.03
SHALLOW = 5


def win_and_loss(scale: Scale) -> Measured:
    """Play the report's player against a minimax that scores only wins and losses."""
    maps = scale.choose(60, 400)
    own = Player(ReferenceAgent, seconds=SECONDS)
    others = {
        f"as deep as {1000 * SECONDS:.0f} ms allow": Player(Minimax, outcome, SECONDS),
        f"at most {SHALLOW} plies": Player(Minimax, outcome, SECONDS, SHALLOW),
    }
    rows, shares = [], []
    for name, other in others.items():
        won = sum(_pair(own, other, seed) for seed in range(maps))
        percent, interval = matches.share(won, 2 * maps)
        rows.append((name, str(2 * maps), f"{won}-{2 * maps - won}", percent, interval))
        shares.append(f"{percent} ({interval}) against a minimax that searches {name}")
    return Measured(
        found=f"With {1000 * SECONDS:.0f} ms per move for both players, on {maps} maps played from "
        f"both seats, the report's player wins {' and '.join(shares)}.",
        heads=("minimax depth", "games", "won-lost", "the report's player", "95% interval"),
        rows=tuple(rows),
    )


def _pair(own: Player, other: Player, seed: int) -> int:
    """Return how many of the two games on one map `first` wins."""
    return sum(_won(own, other, seed, seat) for seat in (0, 1))


def _won(own: Player, other: Player, seed: int, seat: int) -> bool:
    game, state = matches.start(GAME, 2, seed)
    players = [own, other] if seat == 0 else [other, own]
    ended = matches.play(game, state, [player.chooser(state) for player in players], seed)
    return ended.ranks[seat] < ended.ranks[1 - seat]


def pruning(scale: Scale) -> Measured:
    """Count the positions that a search visits at each depth, with and without pruning."""
    positions = [*_positions(scale.choose(7, 21))]
    whole = [_nodes(Minimax, positions, depth) for depth in range(1, scale.choose(6, 8) + 1)]
    pruned = [_nodes(ReferenceAgent, positions, depth) for depth in range(1, MAX_DEPTH + 1)]
    table = [_nodes(AlphaBeta, positions, depth, strict=True) for depth in range(1, MAX_DEPTH + 1)]
    columns = {"minimax": whole, "the report's alpha-beta": pruned, "with a table": table}
    rows = [
        (str(depth), *(_count(column, depth) for column in columns.values()))
        for depth in range(1, MAX_DEPTH + 1)
    ]
    chart = line_chart(
        "Positions visited, by search depth in plies",
        {name: [0.0, *map(math.log10, column)] for name, column in columns.items()},
        across="plies",
        up="powers of ten",
        low=0,
    )
    budget, last = whole[SHALLOW - 1], len(whole)
    return Measured(
        found=f"On {len(positions)} positions with {CROWDED - 3} to {CROWDED} moves, where the "
        f"report's player begins to search, minimax visits {whole[-1] / pruned[last - 1]:,.0f} "
        f"times as many positions as the report's alpha-beta at {last} plies. With the number of "
        f"positions that minimax needs for {SHALLOW} plies, the report's alpha-beta completes "
        f"{_within(pruned, budget)} plies, and a version with a transposition table and move "
        f"ordering completes {_within(table, budget)}. A search ends early if it sees who wins.",
        heads=("plies", *(f"{name} (median)" for name in columns)),
        rows=tuple(rows),
        figures={"Positions by depth, with and without pruning": chart},
    )


def _count(column: Sequence[float], depth: int) -> str:
    return f"{column[depth - 1]:,.0f}" if depth <= len(column) else "–"


def _within(counts: Sequence[float], budget: float) -> int:
    """Return the greatest depth with no more positions than a budget."""
    return max(depth for depth, count in enumerate(counts, 1) if count <= budget)


def _positions(count: int) -> Iterator[np.record]:
    """Yield positions in which the report's player begins to search."""
    seed = 0
    while count:
        game, state = matches.start(GAME, 2, seed)
        matches.scatter(game, state, _plies_to_crowded(seed), seed)
        seed += 1
        if game.outcome(state) is None and CROWDED - 3 <= game.count_legal(state) <= CROWDED:
            count -= 1
            yield state


def _plies_to_crowded(seed: int) -> int:
    """Return the number of random plies after which at most `CROWDED` moves are left."""
    plies = 0
    while True:
        game, state = matches.start(GAME, 2, seed)
        matches.scatter(game, state, plies, seed)
        if game.outcome(state) is not None or game.count_legal(state) <= CROWDED:
            return plies
        plies += 1


def _nodes(kind: Any, positions: list[np.record], depth: int, **parameters: Any) -> float:
    """Return the median number of positions that a search to a given depth visits."""
    limits = SearchLimits(depth=depth)
    counts: list[int] = []
    for state in positions:
        ev = outcome(state)
        counts.append(kind(state, **parameters).search(state, ev, limits).nodes)
    return float(statistics.median(counts))
