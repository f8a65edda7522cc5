"""Split a batch into parts for workers, and combine their answers.

Each individual of a batch is computed only from its own numbers and seeds, so the parts give
bit-identical results to the whole.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kibitz_training.evolution import Array
from kibitz_training.experiment import Compute


def computed(
    compute: Compute,
    task: str,
    common: dict[str, Any],
    batches: dict[str, Any],
    shape: tuple[int, ...],
) -> Array:
    """Return the results of a task for a batch: an array of `shape` for each individual.

    The first axis of every array in `batches` is the individual; all parts get `common`.
    """
    columns = {name: np.asarray(values) for name, values in batches.items()}
    count = len(next(iter(columns.values())))
    ends = np.linspace(0, count, min(compute.size, count) + 1).astype(int).tolist()
    given = [
        common | {name: values[first:end].tolist() for name, values in columns.items()}
        for first, end in pairwise(ends)
    ]
    answers = compute.run(task, given)
    parts = [np.array(answer["out"], np.float64).reshape(-1, *shape) for answer in answers]
    found: Array = np.concatenate(parts) if parts else np.zeros((0, *shape))
    return found
