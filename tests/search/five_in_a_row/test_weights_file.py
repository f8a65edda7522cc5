"""Files of class weights: valid files play, and invalid files are refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_bots import SpecError, load
from kibitz_bots.catalog.from_file import find_trained
from kibitz_bots.running import inprocess
from kibitz_games.compiled import kernels
from kibitz_games.core import registry
from kibitz_search.five_in_a_row import pattern_classes as kinds
from kibitz_search.five_in_a_row import weights_file
from kibitz_search.five_in_a_row.weights_file import SIZE
from kibitz_search.weights import WeightsError, text_of
from tests.search.five_in_a_row import cases

USUAL: list[float] = weights_file.joined(kinds.usual(kernels.new(kinds.WEIGHTS))).tolist()
BOARD = 10
"""The default board size, for which the test files are made."""


def test_numbers_come_back_from_an_evaluation_record() -> None:
    numbers = np.arange(SIZE, dtype=np.float64)
    assert weights_file.joined(weights_file.with_numbers(numbers)).tolist() == numbers.tolist()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"weights": [0.0] * (SIZE - 1)}, f"expected {SIZE} weights, not {SIZE - 1}"),
        ({"weights": [0.0] * (SIZE - 1) + [1e5]}, "expected weights from -20000 to 20000"),
        ({"shape": {"shapes": 3}}, "expected the shape"),
        ({"shape": {"board": "x"}}, "expected the shape"),
        ({"kind": "hole-distances"}, "expected the kind cell-shapes"),
        ({"game": "tanks"}, "expected the game five-in-a-row"),
    ],
)
def test_a_file_of_something_else_is_refused(
    tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    file = weights_file.file_of(USUAL, BOARD)
    content = file.model_dump(mode="json") | {"hash": ""} | change
    path = tmp_path / "best.json"
    path.write_text(json.dumps(content))
    with pytest.raises(WeightsError, match=sentence):
        weights_file.read(path)


def test_a_file_plays_at_once(tmp_path: Path) -> None:
    path = tmp_path / "best.json"
    numbers = weights_file.joined(weights_file.fitted(cases.start(size=BOARD)))
    path.write_text(text_of(weights_file.file_of(numbers.tolist(), BOARD)))
    make = find_trained(f"five-in-a-row/threat-weights:depth=2,file={path}")
    assert make is not None
    played, usual = (
        inprocess.play_locally("five-in-a-row", bot, bot, options={"opening": ["e5", "f6"]}, seed=1)
        for bot in (make, load("five-in-a-row/threat:depth=2"))
    )
    assert played.history == usual.history
    with pytest.raises(SpecError, match="expected a weights file"):
        find_trained("five-in-a-row/threat-weights")
    with pytest.raises(SpecError, match="no parameter 'width'"):
        find_trained(f"five-in-a-row/threat-weights:width=2,file={path}")


def test_weights_for_one_size_of_board_do_not_play_on_another(tmp_path: Path) -> None:
    made = weights_file.evaluation(weights_file.file_of(USUAL, BOARD), tmp_path / "best.json")
    game = registry.get("five-in-a-row")
    options = game.Options.model_validate({"size": 15})
    with pytest.raises(ValueError, match=r"best\.json: .* for boards of size 10, not 15"):
        made(game.start(options, 2, game.deal(options, 2, 0)))


def test_a_board_has_the_weights_of_the_nearest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {size: np.full(SIZE, float(size)) for size in (10, 15)}
    monkeypatch.setattr(weights_file, "_shipped", lambda: numbers)
    for size, nearest in ((5, 10), (10, 10), (12, 10), (13, 15), (20, 15)):
        found = weights_file.joined(weights_file.fitted(cases.start(size=size)))
        assert set(found) == {nearest}


def test_the_weights_that_ship_are_those_for_tournaments() -> None:
    path = weights_file.WEIGHTS / "board-15.json"
    file = weights_file.read(path)
    assert file.command.startswith("kibitz train five-in-a-row/patterns:size=15")
    found = weights_file.joined(weights_file.fitted(cases.start(size=15)))
    assert found.tolist() == file.weights
