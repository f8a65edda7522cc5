"""Runs that are cut off at any byte go on to the same journal; damage is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kibitz_search.chinese_checkers.evolution import Fitness
from kibitz_search.training import run
from kibitz_search.training.genetic import Array, Settings, Template
from kibitz_search.training.journal import Journal, JournalError

TEMPLATE = Template(np.full(6, np.nan), np.zeros(6, np.bool_))
SETTINGS = Settings(population=6, generations=60, seed=2, patience=9)
HEADER = {"game": "sums", "seed": 2}


def judge(population: Array, generation: int) -> Fitness:
    """Prefer small sums, with some chance of the generation's own."""
    noise = np.random.default_rng(generation).normal(size=len(population))
    score = -population.sum(axis=1) + noise
    wins, games = (score > -20).astype(float), np.full(len(population), 2.0)
    return Fitness(score, wins, games, games, games)


def whole(path: Path) -> run.Stage:
    with Journal(path, HEADER) as journal:
        *_, (stage, _) = run.run(SETTINGS, TEMPLATE, judge, journal)
    return stage


def test_a_run_that_is_cut_off_at_any_byte_comes_to_the_same_end(tmp_path: Path) -> None:
    stage = whole(tmp_path / "one")
    expected = (tmp_path / "one").read_bytes()
    source = np.random.default_rng(1)
    cuts = [0, 1, 40, len(expected) - 1, *source.integers(len(expected), size=40).tolist()]
    for cut in cuts:
        path = tmp_path / f"cut-{cut}"
        path.write_bytes(expected[:cut])
        again = whole(path)
        assert path.read_bytes() == expected
        np.testing.assert_array_equal(again.best, stage.best)
        assert again.best_fitness == stage.best_fitness
        assert again.best_generation == stage.best_generation


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path: Path) -> None:
    whole(tmp_path / "long")
    short = Settings(population=6, generations=33, seed=2, patience=9)
    with Journal(tmp_path / "short", HEADER) as journal:
        list(run.run(short, TEMPLATE, judge, journal))
    whole(tmp_path / "short")
    assert (tmp_path / "short").read_bytes() == (tmp_path / "long").read_bytes()


def test_a_shorter_run_ends_where_it_says_in_the_journal_of_a_longer_one(tmp_path: Path) -> None:
    whole(tmp_path / "long")
    expected = (tmp_path / "long").read_bytes()
    for generations in (33, 50):
        short = Settings(population=6, generations=generations, seed=2, patience=9)
        stages = []
        for name in ("long", f"short-{generations}"):
            with Journal(tmp_path / name, HEADER) as journal:
                stage = run.resume(short, TEMPLATE, journal)
                for following, _ in run.run(short, TEMPLATE, judge, journal):
                    stage = following
                stages.append(stage)
        np.testing.assert_array_equal(stages[0].best, stages[1].best)
        np.testing.assert_array_equal(stages[0].population, stages[1].population)
        assert stages[0].generation == stages[1].generation == generations
    assert (tmp_path / "long").read_bytes() == expected


def test_the_fittest_of_any_generation_is_found_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "run", HEADER) as journal:
        entries = [entry for _, entry in run.run(SETTINGS, TEMPLATE, judge, journal)]
        for generation in (0, 24, 25, 59):
            found = run.fittest_of(SETTINGS, TEMPLATE, journal, judge, generation)
            noise = np.random.default_rng(generation).normal(size=SETTINGS.population)
            best = entries[generation]["best"]
            assert np.isclose(best + found.sum(), noise).any()


def test_a_hopeless_population_is_given_up(tmp_path: Path) -> None:
    def nobody(population: Array, generation: int) -> Fitness:
        nothing = np.zeros(len(population))
        return Fitness(-population.sum(axis=1), nothing, nothing + 2, nothing, nothing)

    with Journal(tmp_path / "run", HEADER) as journal:
        entries = [entry for _, entry in run.run(SETTINGS, TEMPLATE, nobody, journal)]
    given_up = [entry["generation"] for entry in entries if "hopeless" in entry]
    assert given_up == [9, 19, 29, 39, 49, 59]


def test_damage_is_an_error_that_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "run"
    whole(path)
    lines = path.read_bytes().split(b"\n")
    for number in (0, 1, 7):
        damaged = lines.copy()
        damaged[number] = damaged[number].replace(b"e", b"f", 1)
        path.write_bytes(b"\n".join(damaged))
        with pytest.raises(JournalError, match=rf"{path}, line {number + 1}: damaged"):
            Journal(path, HEADER)
    path.write_bytes(b"\n".join(lines[:3] + lines[4:]))
    with pytest.raises(JournalError, match="line 4: expected generation 1, or its population"):
        Journal(path, HEADER)


def test_the_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    whole(tmp_path / "run")
    with pytest.raises(JournalError, match="was begun with seed = 2, not 3"):
        Journal(tmp_path / "run", HEADER | {"seed": 3})
    (tmp_path / "other").write_text("a file of somebody")
    with pytest.raises(JournalError, match="expected the journal of a training run"):
        Journal(tmp_path / "other", HEADER)
    assert (tmp_path / "other").read_text() == "a file of somebody"


def test_a_generation_that_comes_out_otherwise_is_an_error(tmp_path: Path) -> None:
    whole(tmp_path / "run")

    def otherwise(population: Array, generation: int) -> Fitness:
        return judge(population, generation + 1)

    with (
        Journal(tmp_path / "run", HEADER) as journal,
        pytest.raises(JournalError, match="generation 50 came out otherwise"),
    ):
        list(run.run(SETTINGS, TEMPLATE, otherwise, journal))
