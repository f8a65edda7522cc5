"""Experiments on the practical assignment about number merge."""

from __future__ import annotations

from collections import Counter
from functools import partial

from benchmarks.experiments import matches
from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.merge_tree import result


def whole_tree(scale: Scale) -> Measured:
    """Play the full tree against perfect play, as first and as second player."""
    games = scale.choose(200, 600)
    rows, first = [], ""
    for seat, place in ((0, "first"), (1, "second")):
        match = partial(result, "the mean", "perfect play", seat, "correct tree")
        counts = Counter(map(match, range(games)))
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
