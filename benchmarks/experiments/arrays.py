"""Pictures of the arrays of distances that come with the package."""

from __future__ import annotations

import numpy as np

from benchmarks.experiments.experiment import Measured, Scale
from benchmarks.experiments.shipped import WEIGHTS
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import EVOLVED, distances
from kibitz_search.chinese_checkers.hole_arrays import Array
from kibitz_training.chinese_checkers import genetic_figures


def arrays(scale: Scale) -> Measured:
    """Draw the hand-tuned, the Euclidean and the evolved distances on the star."""
    found: dict[str, Array] = {
        "The hand-tuned distances": distances("hand"),
        "The Euclidean distances": distances("euclid"),
    }
    for seats, name in EVOLVED.items():
        file = weights_file.read(WEIGHTS / f"{name}.json")
        found[f"The evolved distances for {seats} players"] = np.array(file.weights, np.float64)
    return Measured(
        found="The darker a hole, the closer a peg in it is to a win. The corner with the "
        "darkest holes is the goal.",
        heads=("array", "smallest", "largest"),
        rows=tuple(
            (title, f"{array.min():.1f}", f"{array.max():.1f}") for title, array in found.items()
        ),
        figures={title: genetic_figures.star(title, array) for title, array in found.items()},
    )
