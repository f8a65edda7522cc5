"""Files of networks for Tanks: the kinds, and the player and evaluation for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kibitz_games.compiled import kernels
from kibitz_search import weights
from kibitz_search.algorithms.interface import Evaluation
from kibitz_search.tanks import networks
from kibitz_search.tanks.networks import EyesNetwork, ReportNetwork
from kibitz_search.weights import WeightsError, WeightsFile

GAME, REPORT, EYES = "tanks", "report-network", "eyes-network"
SCALES = {"codes": 1.0, "scaled": 0.1}
"""The scale of the inputs, by input format."""
SHIPPED = Path(__file__).parent / "weights"


def report_file(numbers: list[float], reading: str) -> WeightsFile:
    """Return a weights file of the report's network."""
    shape: dict[str, int | str] = {"inputs": 225, "hidden": 10, "outputs": 7, "input": reading}
    return WeightsFile(game=GAME, kind=REPORT, shape=shape, weights=numbers)


def eyes_file(numbers: list[float]) -> WeightsFile:
    """Return a weights file of an egocentric network."""
    shape: dict[str, int | str] = {
        "inputs": networks.LOOKS,
        "hidden": networks.NEURONS,
        "outputs": networks.WORTHS,
    }
    return WeightsFile(game=GAME, kind=EYES, shape=shape, weights=numbers)


def read(path: Path) -> WeightsFile:
    """Read a network of either kind, or raise `WeightsError`."""
    file = weights.load(path, game=GAME, kind=(EYES, REPORT))
    _check(path, file)
    return file


def _check(path: Path, file: WeightsFile) -> None:
    """Raise `WeightsError` for an unknown network shape."""
    reading = str(file.shape.get("input"))
    if file.kind == REPORT and reading not in SCALES:
        raise WeightsError(f"{path}: expected the input codes or scaled, not {reading}")
    same = eyes_file([0.0]) if file.kind == EYES else report_file([0.0], reading)
    count = networks.EYES_WEIGHTS if file.kind == EYES else networks.REPORT_WEIGHTS
    if file.shape != same.shape:
        raise WeightsError(f"{path}: expected a network of {same.shape}, not {file.shape}")
    if len(file.weights) != count:
        raise WeightsError(f"{path}: expected {count} weights, not {len(file.weights)}")


def player(file: WeightsFile) -> type[EyesNetwork] | type[ReportNetwork]:
    """Return the player class for a network of the file's kind."""
    return EyesNetwork if file.kind == EYES else ReportNetwork


def evaluation(file: WeightsFile, path: Path | None = None) -> Evaluation:
    """Return the evaluation for a network, which plays on all boards."""
    ev: Any = kernels.new(player(file).network)
    ev["weights"] = file.weights
    if file.kind == REPORT:
        ev["scale"] = SCALES[str(file.shape["input"])]
    record: np.record = ev
    return lambda _: record


def shipped(name: str) -> Evaluation:
    """Return the evaluation for a network in the package."""
    return evaluation(read(SHIPPED / f"{name}.json"))
