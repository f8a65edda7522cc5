"""L-BFGS compared with the solution of linear equations, and on a function with a known minimum."""

from __future__ import annotations

import numpy as np
import pytest

from kibitz_training.five_in_a_row.descent import minimize


@pytest.mark.parametrize("estimate", [1.0, 100.0])
def test_the_minimum_of_a_parabola_solves_its_equations(estimate: float) -> None:
    source = np.random.default_rng(1)
    rows = source.normal(size=(80, 30)) * np.geomspace(0.1, 10, 30)
    bend, aim = rows.T @ rows + np.eye(30), source.normal(size=30)

    def function(point: np.ndarray) -> tuple[float, np.ndarray]:
        return float(point @ bend @ point / 2 - aim @ point), bend @ point - aim

    found = minimize(function, estimate * np.diag(bend), 500)
    best = np.linalg.solve(bend, aim)
    assert function(found)[0] == pytest.approx(function(best)[0], rel=1e-4)


def test_a_step_that_is_too_long_is_shortened() -> None:
    def function(point: np.ndarray) -> tuple[float, np.ndarray]:
        far = point - 3.0
        return float(np.logaddexp(far, -far).sum()), np.tanh(far)

    # The estimate asks for a first step a thousand times as long as the best one.
    assert minimize(function, np.full(4, 1e-3), 100) == pytest.approx(np.full(4, 3.0), abs=0.01)
