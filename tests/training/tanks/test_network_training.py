"""The experiments that train networks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kibitz_games.compiled.mode import compiled
from kibitz_search.tanks import networks
from kibitz_training.experiment import TrainingRun
from kibitz_training.journal import JOURNAL, JournalError
from kibitz_training.tanks import network_training


class _Said:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def progress(self, done: int, total: int, text: str) -> None:
        pass

    def say(self, text: str) -> None:
        self.lines.append(text)


def _run(out: Path, threads: int = 1) -> TrainingRun:
    out.mkdir(exist_ok=True)
    return TrainingRun(out, 3, threads, "kibitz train ...", _Said())


@pytest.mark.slow
@pytest.mark.skipif(not compiled(), reason="a thousand turns for each game")
def test_each_generation_is_saved_with_the_fittest_first(tmp_path: Path) -> None:
    parameters = network_training.ReportParameters(population=4, generations=2, test=4, save=True)
    given = _run(tmp_path / "run")
    network_training.run_report(parameters, given)
    entries = (given.out / JOURNAL).read_text().splitlines()[1:]
    assert len(entries) == 2
    for number, line in enumerate(entries, 1):
        saved = np.load(given.out / f"generation-{number}.npz")
        fitness = json.loads(line.partition(" ")[2])["fitness"]
        assert saved["scores"].tolist() == sorted(fitness, reverse=True)
        assert saved["population"].shape == (4, networks.REPORT_WEIGHTS)
    best = json.loads((given.out / "best.json").read_text())["weights"]
    assert np.array_equal(saved["population"][0], best)


@pytest.mark.slow
@pytest.mark.skipif(not compiled(), reason="a thousand turns for each game")
@pytest.mark.parametrize("name", ["report", "eyes"])
def test_a_run_that_was_cut_off_goes_on_to_the_same_network(tmp_path: Path, name: str) -> None:
    def go(given: TrainingRun, generations: int) -> None:
        if name == "report":
            network_training.run_report(
                network_training.ReportParameters(population=4, generations=generations, test=8),
                given,
            )
        else:
            network_training.run_neuroevolution(
                network_training.NeuroevolutionParameters(
                    population=4, games=4, generations=generations, test=8
                ),
                given,
            )

    whole, cut = _run(tmp_path / "whole", threads=2), _run(tmp_path / "cut")
    go(whole, 13)
    go(cut, 11)
    data = (cut.out / JOURNAL).read_bytes()
    (cut.out / JOURNAL).write_bytes(data[:-20])
    go(cut, 13)
    files = [json.loads((each.out / "best.json").read_text()) for each in (whole, cut)]
    assert files[0] == files[1]
    assert (whole.out / "journal.jsonl").read_bytes() == (cut.out / "journal.jsonl").read_bytes()
    assert "8 games, every seat in turn" in whole.reporter.lines[-1]  # type: ignore[attr-defined]
    other = TrainingRun(cut.out, 4, 1, "", _Said())
    with pytest.raises(JournalError, match="seed = 3, not 4"):
        go(other, 13)
