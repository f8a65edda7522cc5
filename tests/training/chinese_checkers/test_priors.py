"""The experiment that learns priors of moves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kibitz_search import weights
from kibitz_search.chinese_checkers import weights_file
from kibitz_search.chinese_checkers.learned import distances_for
from kibitz_training import journal
from kibitz_training.chinese_checkers import priors
from kibitz_training.chinese_checkers.priors import PriorParameters
from kibitz_training.experiment import TrainingRun


class Silent:
    def progress(self, done: int, total: int, text: str) -> None:
        pass

    def say(self, text: str) -> None:
        pass


def learn(out: Path, *, games: int = 20, seed: int = 3, threads: int = 1) -> weights.WeightsFile:
    """Run the experiment briefly; return the file."""
    out.mkdir(exist_ok=True)
    parameters = PriorParameters(games=games, iterations=10)
    priors.run(parameters, TrainingRun(out, seed, threads, "a command", Silent()))
    return weights_file.read(out / priors.BEST)


@pytest.mark.slow
def test_a_run_that_was_ended_comes_to_the_same(tmp_path: Path) -> None:
    whole = learn(tmp_path / "whole", threads=2)
    assert whole.kind == weights_file.GUIDED
    assert tuple(whole.weights[:121]) == distances_for(2)
    learn(tmp_path / "again", games=10)
    with open(tmp_path / "again" / journal.JOURNAL, "ab") as file:
        file.write(b"0123")  # a torn line
    assert learn(tmp_path / "again").hash == whole.hash
    assert learn(tmp_path / "other", seed=4, games=2).hash != whole.hash


@pytest.mark.slow
@pytest.mark.parametrize(
    ("games", "said"),
    [
        ([[0]], "expected a legal action at ply 0, not 0"),
        ([], "expected 10 games"),
        (None, "not iterable"),
        ([[None]], "int"),
    ],
)
def test_a_journal_without_games_is_refused(tmp_path: Path, games: object, said: str) -> None:
    learn(tmp_path, games=2)
    path = tmp_path / journal.JOURNAL
    header = path.read_bytes().splitlines(keepends=True)[0]
    line = journal.encode({"number": 0, "games": games})
    path.write_bytes(header + line)
    with pytest.raises(journal.JournalError, match=f"batch 0: .*{said}"):
        learn(tmp_path, games=2)


def test_a_file_with_too_few_numbers_is_refused(tmp_path: Path) -> None:
    file = learn(tmp_path, games=2)
    short = json.loads(file.model_dump_json(by_alias=True)) | {"weights": file.weights[:-1]}
    path = tmp_path / "short.json"
    path.write_text(json.dumps(short | {"hash": ""}), encoding="utf-8")
    with pytest.raises(weights.WeightsError, match="expected 363 weights, three per hole"):
        weights_file.read(path)
