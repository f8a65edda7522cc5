"""Experiments on the practical assignment about number merge."""

from __future__ import annotations

from collections import Counter

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.matches import Player
from kibitz_search.algorithms.minimax import Minimax
from kibitz_search.number_merge.evaluation import points
from kibitz_search.number_merge.solver import NumberMergeSolver

GAME = "number-merge"


def whole_tree(scale: Scale) -> Measured:
    """Play the full tree against perfect play, as first and as second player."""
    games = scale.choose(200, 600)
    rows, first = [], ""
    for seat, place in ((0, "first"), (1, "second")):
        counts = Counter(_result(seed, seat) for seed in range(games))
        percent, interval = matches.share(counts["won"], games)
        first = first or percent
        score = f"{counts['won']}-{counts['drawn']}-{counts['lost']}"
        rows.append((place, str(games), score, percent, interval))
    return Measured(
        found=f"With these errors fixed, the full tree of a row of six wins {first} of its games "
        f"as first player against perfect play. As second player it can only win if the opponent "
        f"errs.",
        heads=("the tree plays", "games", "won-drawn-lost", "won", "95% interval"),
        rows=tuple(rows),
    )


def _result(seed: int, seat: int) -> str:
    game, state = matches.start(GAME, 2, seed, preset="classic")
    own, other = Player(Minimax, points), Player(NumberMergeSolver)
    players = [own, other] if seat == 0 else [other, own]
    ended = matches.play(game, state, [player.chooser(state) for player in players], seed)
    difference = ended.ranks[1 - seat] - ended.ranks[seat]
    return "won" if difference > 0 else "lost" if difference < 0 else "drawn"
