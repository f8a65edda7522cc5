"""Evaluations split into parts are bit-identical to complete ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from kibitz_search.chinese_checkers.evaluation import EVALUATIONS, distances
from kibitz_search.tanks import networks
from kibitz_training.chinese_checkers import hole_games
from kibitz_training.parts import computed
from kibitz_training.tanks import network_games

Task = Callable[[dict[str, Any]], dict[str, Any]]


class InProcess:
    """Computes locally through JSON, like workers."""

    def __init__(self, task: Task, size: int) -> None:
        self._task = task
        self.size = size
        self.parts = 0

    def run(self, task: str, given: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        self.parts += len(given)
        return [json.loads(json.dumps(self._task(json.loads(json.dumps(each))))) for each in given]


@pytest.mark.parametrize("size", [1, 2, 3, 9])
def test_a_batch_is_cut_into_parts_and_put_together(size: int) -> None:
    def double(given: dict[str, Any]) -> dict[str, Any]:
        return {"out": [[2 * each, given["bias"]] for each in given["x"]]}

    compute = InProcess(double, size)
    out = computed(compute, "double", {"bias": 1}, {"x": [0.1, 0.2, 0.3, 0.4]}, (2,))
    assert out.tolist() == [[0.2, 1], [0.4, 1], [0.6, 1], [0.8, 1]]
    assert compute.parts == min(size, 4)


def test_networks_play_the_same_games_elsewhere() -> None:
    source = np.random.default_rng(1)
    weights = source.normal(size=(3, networks.EYES_WEIGHTS))
    seeds = source.integers(0, 2**63, size=(3, 2))
    here = network_games.NetworkGames("eyes", turns=5)
    compute = InProcess(network_games.play_task, 2)
    elsewhere = network_games.NetworkGames("eyes", turns=5, compute=compute)
    one, other = (each.play(weights, [0, 1], seeds) for each in (here, elsewhere))
    assert one.tobytes() == other.tobytes()
    assert compute.parts == 2


@pytest.mark.slow
def test_arrays_play_the_same_games_elsewhere() -> None:
    """Slow, because the games are on a full star and may have to be compiled."""
    judge = next(iter(EVALUATIONS))
    size = distances(judge).size
    arrays = np.random.default_rng(2).integers(1, 25, size=(3, size)).astype(np.float64)
    compute = InProcess(hole_games.play_task, 2)
    one = hole_games.against(judge).play(arrays, [1, 2**63 + 5, 3], 0, 2)
    other = hole_games.against(judge, compute=compute).play(arrays, [1, 2**63 + 5, 3], 0, 2)
    assert one.tobytes() == other.tobytes()
