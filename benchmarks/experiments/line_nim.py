"""The experiments of "AI Capstone assignment2" on Line-Nim."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Player
from kibitz_games.compiled import operations as op
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.line_nim.evaluation import outcome
from kibitz_search.line_nim.reference_agent import CROWDED, ReferenceAgent
from kibitz_search.training.figures import line_chart

GAME = "line-nim"
SECONDS = 0.03
SHALLOW = 5


def win_and_loss(scale: Scale) -> Measured:
    """Play the report's player against minimax that scores nothing but won and lost."""
    maps = scale.choose(60, 400)
    own = Player(ReferenceAgent, seconds=SECONDS)
    others = {
        f"as deep as {1000 * SECONDS:.0f} ms allow": Player(Minimax, outcome, SECONDS),
        f"{SHALLOW} plies at most": Player(Minimax, outcome, SECONDS, SHALLOW),
    }
    rows, shares = [], []
    for name, other in others.items():
        won = sum(_pair(own, other, seed) for seed in range(maps))
        percent, interval = matches.share(won, 2 * maps)
        rows.append((name, str(2 * maps), f"{won}-{2 * maps - won}", percent, interval))
        shares.append(f"{percent} ({interval}) against one that looks {name}")
    return Measured(
        found=f"With {1000 * SECONDS:.0f} ms a move for both, on {maps} maps with the seats "
        f"swapped, the report's player wins {' and '.join(shares)}.",
        heads=("minimax looks", "games", "won-lost", "the report's player", "95% interval"),
        rows=tuple(rows),
    )


def _pair(own: Player, other: Player, seed: int) -> int:
    """Return how many games of the two on one map the first player wins."""
    return sum(_won(own, other, seed, seat) for seat in (0, 1))


def _won(own: Player, other: Player, seed: int, seat: int) -> bool:
    game, state = matches.start(GAME, 2, seed)
    players = [own, other] if seat == 0 else [other, own]
    ended = matches.play(game, state, [each.chooser(state) for each in players], seed)
    return ended.ranks[seat] < ended.ranks[1 - seat]


def pruning(scale: Scale) -> Measured:
    """Count the positions that minimax and alpha-beta look at, depth by depth."""
    deepest = scale.choose(7, 9)
    positions = [*_positions(scale.choose(7, 21))]
    whole = [_nodes(Minimax, positions, depth) for depth in range(1, deepest + 1)]
    order = {"strict": True}
    pruned = [_nodes(AlphaBeta, positions, depth, **order) for depth in range(1, deepest + 1)]
    rows = [
        (str(depth), f"{a:,.0f}", f"{b:,.0f}", f"{a / b:.1f}")
        for depth, (a, b) in enumerate(zip(whole, pruned, strict=True), 1)
    ]
    reached = _within(pruned, whole[SHALLOW - 1])
    chart = line_chart(
        "Positions looked at, powers of ten",
        {
            "minimax": [math.log10(each) for each in whole],
            "alpha-beta": [math.log10(each) for each in pruned],
        },
        across="plies, from 1 on (0 on the axis)",
        up="log10 of positions",
        low=0,
    )
    return Measured(
        found=f"On {len(positions)} positions of {CROWDED - 3} to {CROWDED} moves, where the "
        f"report begins to search, alpha-beta looks at a {whole[-1] / pruned[-1]:,.0f}th of "
        f"minimax's positions at {deepest} plies. With as many positions as minimax needs for "
        f"{SHALLOW} plies it finishes {reached}.",
        heads=("plies", "minimax (median)", "alpha-beta (median)", "ratio"),
        rows=tuple(rows),
        figures={"Positions by depth, without pruning and with it": chart},
    )


def _within(counts: list[float], budget: float) -> int:
    """Return the deepest search of no more positions than a budget."""
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
    """Return after how many random plies no more than `CROWDED` moves are left."""
    plies = 0
    while True:
        game, state = matches.start(GAME, 2, seed)
        matches.scatter(game, state, plies, seed)
        if game.outcome(state) is not None or game.count_legal(state) <= CROWDED:
            return plies
        plies += 1


def _nodes(kind: Any, positions: list[np.record], depth: int, **parameters: Any) -> float:
    """Return the median of the positions that one search to a depth looks at."""
    limits = SearchLimits(depth=depth)
    counts: list[int] = []
    for state in positions:
        ev = outcome(state)
        if op.terminal(state):
            raise AssertionError("a position to search is not over")
        counts.append(kind(state, **parameters).search(state, ev, limits).nodes)
    return float(statistics.median(counts))
