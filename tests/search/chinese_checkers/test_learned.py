"""The learned evaluation: its files and where they apply."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from kibitz_games.core import registry
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import WEIGHTS, stragglers
from kibitz_search.chinese_checkers.learned import guided, learned


def start(seats: int, **options: Any) -> np.record:
    game: Any = registry.get("chinese-checkers")
    state: np.record = game.start(game.Options(**options), seats, {})
    return state


@pytest.mark.parametrize("seats", range(2, 7))
def test_a_file_says_how_it_was_made_and_for_how_many(seats: int) -> None:
    path: Any = files(weights_file.__package__) / "weights" / f"learned-{seats}.json"
    file = weights_file.read(path)
    assert file.shape["seats"] == seats
    assert file.command.startswith("kibitz train chinese-checkers/learned:")
    assert f"seats={seats}" in file.command or seats == 2  # the default is omitted
    assert path.stat().st_size < 100_000


@pytest.mark.parametrize("seats", range(2, 7))
def test_guided_weights_are_those_of_their_training_with_other_priors(seats: int) -> None:
    path: Any = files(weights_file.__package__) / "weights" / f"guided-{seats}.json"
    assert weights_file.read(path).command.startswith("kibitz train chinese-checkers/priors")
    trained_with = learned if seats in (2, 4) else stragglers
    ev, usual = guided(start(seats)), trained_with(start(seats))
    assert (ev["weights"] == usual["weights"]).all()
    assert (ev["leave"] != usual["leave"]).any()
    assert (ev["enter"] != usual["enter"]).any()


def test_without_priors_the_guided_weights_are_the_learned_ones() -> None:
    state = start(2, board="rhombus")
    assert guided(state).tobytes() == learned(state).tobytes()


@pytest.mark.parametrize("seats", range(2, 7))
def test_it_shares_the_record_of_the_other_weights(seats: int) -> None:
    ev: Any = learned(start(seats))
    assert ev.dtype == WEIGHTS
    assert (ev.weights != stragglers(start(seats))["weights"]).any()


@pytest.mark.parametrize(
    ("seats", "options"), [(2, {"board": "rhombus"}), (3, {"size": 3}), (6, {"size": 2})]
)
def test_where_nothing_was_learned_it_is_stragglers(seats: int, options: dict[str, Any]) -> None:
    state = start(seats, **options)
    assert (learned(state)["weights"] == stragglers(state)["weights"]).all()
