"""The experiment that learns distances of holes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.evaluation import distances
from kibitz_search.chinese_checkers.hole_arrays import GOAL
from kibitz_training import journal
from kibitz_training.chinese_checkers import learned
from kibitz_training.chinese_checkers.learned import LearnedParameters
from kibitz_training.chinese_checkers.plan_games import PlanGames
from kibitz_training.experiment import TrainingRun


class Silent:
    def progress(self, done: int, total: int, text: str) -> None:
        pass

    def say(self, text: str) -> None:
        pass


def learn(out: Path, generations: int, seed: int = 3) -> bytes:
    """Run the experiment briefly; return its weights."""
    out.mkdir(exist_ok=True)
    parameters = LearnedParameters(population=4, generations=generations, openings=1, test=0)
    learned.run(parameters, TrainingRun(out, seed, 1, "a command", Silent()))
    file = weights_file.read(out / learned.BEST)
    assert file.command == "a command"
    return json.dumps(file.weights).encode()


def test_at_zero_it_is_stragglers_on_even_rows() -> None:
    array = learned.array_of(np.zeros(learned.SIZE))
    shape, usual = PlanGames(2).shape, distances("stragglers")
    even = [h for h in range(shape.holes) if shape.steps(h, shape.tips[GOAL]) % 2 == 0]
    assert array[even] == pytest.approx(usual[even], abs=1e-3)


def test_an_array_is_the_same_left_and_right() -> None:
    array = learned.array_of(np.random.default_rng(1).standard_normal(learned.SIZE))
    shape = PlanGames(2).shape
    middle = shape.points[shape.tips[GOAL]][0]
    for hole, (x, y) in enumerate(shape.points):
        assert array[hole] == pytest.approx(array[shape.ids[(2 * middle - x, y)]])


@pytest.mark.slow
def test_a_run_that_was_ended_comes_to_the_same(tmp_path: Path) -> None:
    whole = learn(tmp_path / "whole", 3)
    learn(tmp_path / "again", 1)
    with open(tmp_path / "again" / journal.JOURNAL, "ab") as file:
        file.write(b"0123")  # a torn line
    assert learn(tmp_path / "again", 3) == whole
    assert learn(tmp_path / "other", 3, seed=4) != whole


def test_a_journal_of_another_seed_is_refused(tmp_path: Path) -> None:
    learn(tmp_path, 1)
    with pytest.raises(journal.JournalError, match="seed"):
        learn(tmp_path, 2, seed=4)


@pytest.mark.slow
def test_the_result_is_tested_in_openings_of_its_own(tmp_path: Path) -> None:
    said: list[str] = []

    class Listener(Silent):
        def say(self, text: str) -> None:
            said.append(text)

    parameters = LearnedParameters(population=4, generations=1, openings=1, test=10)
    learned.run(parameters, TrainingRun(tmp_path, 3, 1, "a command", Listener()))
    assert re.fullmatch(
        r"best\.json against stragglers: ahead in \d+\.\d% of 20 games \(.* to .*\)", said[-1]
    )
