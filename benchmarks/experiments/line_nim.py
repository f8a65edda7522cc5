"""Experiments on "AI Capstone assignment2", about Line-Nim."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Player
from kibitz_search.algorithms.alphabeta import AlphaBeta
from kibitz_search.algorithms.limits import SearchLimits
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.algorithms.result import WIN_SCORE, SearchResult
from kibitz_search.line_nim.evaluation import outcome, parts
from kibitz_search.line_nim.reference_agent import CROWDED, MAX_DEPTH, MIN_DEPTH, ReferenceAgent
from kibitz_training.figures import line_chart

GAME = "line-nim"
SECONDS = 0.03
SHALLOW = 5
THRESHOLDS = (10, 14, 18, 22, 26, 32, 40)
"""The tested thresholds: with more moves than this, the player moves at random."""


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
    """Return how many of the two games on a map `own` wins."""
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
    # A strict search would use its table for move ordering only, and reductions cut depth.
    table = [
        _nodes(AlphaBeta, positions, depth, reductions=False) for depth in range(1, MAX_DEPTH + 1)
    ]
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
        f"ordering completes {_within(table, budget)}. A search ends early if it finds the winner.",
        heads=("plies", *(f"{name} (median)" for name in columns)),
        rows=tuple(rows),
        figures={"Positions by depth, with and without pruning": chart},
    )


def threshold(scale: Scale) -> Measured:
    """Compare different numbers of moves at which the report's player begins to search."""
    maps, usual = scale.choose(60, 300), Player(ReferenceAgent, seconds=SECONDS)
    rows = []
    for crowded in THRESHOLDS:
        seen = Depths()
        own = Player(
            ReferenceAgent, seconds=SECONDS, parameters={"crowded": crowded}, watch=seen.add
        )
        won = sum(_pair(own, usual, seed) for seed in range(maps))
        percent, interval = matches.share(won, 2 * maps)
        late = [seen.unfinished(depth) for depth in (MIN_DEPTH, MAX_DEPTH)]
        rows.append((str(crowded), str(2 * maps), percent, interval, str(len(seen.found)), *late))
    usual_row = rows[THRESHOLDS.index(CROWDED)]
    best = max(rows, key=lambda row: float(row[2].rstrip("%")))
    return Measured(
        found=f"With {1000 * SECONDS:.0f} ms per move and a threshold of {CROWDED}, "
        f"{usual_row[5]} of the searches do not complete {MIN_DEPTH} plies, and {usual_row[6]} do "
        f"not complete {MAX_DEPTH}. A threshold of {best[0]} scores highest against this one: "
        f"{best[2]} ({best[3]}).",
        heads=(
            "threshold",
            "games",
            f"score against {CROWDED}",
            "95% interval",
            "searches",
            f"{MIN_DEPTH} plies unfinished",
            f"{MAX_DEPTH} plies unfinished",
        ),
        rows=tuple(rows),
    )


@dataclass
class Depths:
    """The depths that searches have completed; finding the winner counts as the maximum depth."""

    found: list[int] = field(default_factory=list)

    def add(self, result: SearchResult) -> None:
        """Add the depth of a search; random moves do not count."""
        if result.nodes:
            self.found.append(MAX_DEPTH if abs(result.value) == WIN_SCORE else result.depth)

    def unfinished(self, depth: int) -> str:
        """Return the share of searches that did not complete `depth` plies."""
        late = sum(each < depth for each in self.found)
        return f"{100 * late / len(self.found):.1f}%" if self.found else "–"


def depths(scale: Scale) -> Measured:
    """Play the report's player at each depth against itself at the lowest depth."""
    maps, least = scale.choose(40, 300), Player(ReferenceAgent, depth=MIN_DEPTH)
    rows = []
    for depth in range(MIN_DEPTH + 1, MAX_DEPTH + 1):
        own = Player(ReferenceAgent, depth=depth)
        won = sum(_pair(own, least, seed) for seed in range(maps))
        percent, interval = matches.share(won, 2 * maps)
        rows.append((str(depth), str(2 * maps), percent, interval))
    return Measured(
        found=f"Without a clock, {MAX_DEPTH} plies score {rows[-1][2]} ({rows[-1][3]}) against "
        f"{MIN_DEPTH} plies.",
        heads=("plies", "games", f"score against {MIN_DEPTH} plies", "95% interval"),
        rows=tuple(rows),
    )


def alphabeta(scale: Scale) -> Measured:
    """Play alpha-beta with a transposition table against the report's player."""
    maps, capstone = scale.choose(20, 200), Player(ReferenceAgent, seconds=SECONDS)
    rows = []
    for name, ev in (("wins and losses", outcome), ("small components", parts)):
        own = Player(AlphaBeta, ev, SECONDS)
        won = sum(_pair(own, capstone, seed) for seed in range(maps))
        percent, interval = matches.share(won, 2 * maps)
        rows.append((name, str(2 * maps), f"{won}-{2 * maps - won}", percent, interval))
    return Measured(
        found=f"With {1000 * SECONDS:.0f} ms per move for both, alpha-beta scores {rows[0][3]} "
        f"({rows[0][4]}) against the report's player if it evaluates only wins and losses, and "
        f"{rows[1][3]} ({rows[1][4]}) if it uses the theory of small components.",
        heads=("evaluation", "games", "won-lost", "score", "95% interval"),
        rows=tuple(rows),
    )


def _count(column: Sequence[float], depth: int) -> str:
    return f"{column[depth - 1]:,.0f}" if depth <= len(column) else "–"


def _within(counts: Sequence[float], budget: float) -> int:
    """Return the greatest depth that visits at most `budget` positions."""
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
