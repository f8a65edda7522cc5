"""Runs that are interrupted at any byte resume to the same journal; damage is reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kibitz_training.evolution import Array, Generation, Judgement, evolve
from kibitz_training.genetic import Genetic, Settings, Template
from kibitz_training.journal import Journal, JournalError, encode

TEMPLATE = Template(np.full(6, np.nan), np.zeros(6, np.bool_))
SETTINGS = Settings(population=6, seed=2)
HEADER = {"experiment": "sums", "seed": 2}
LENGTH = 60


def judge(population: Array, generation: int) -> Judgement:
    """Prefer small sums, with random noise per generation."""
    noise = np.random.default_rng(generation).normal(size=len(population))
    fitness = -population.sum(axis=1) + noise
    return Judgement(fitness, {"wins": int((fitness > -20).sum())})


def run(path: Path, generations: int = LENGTH, settings: Settings = SETTINGS) -> list[Generation]:
    with Journal(path, HEADER) as journal:
        return list(evolve(Genetic(settings, TEMPLATE), journal, generations, judge))


def assert_same(one: list[Generation], other: list[Generation]) -> None:
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.population, b.population)
        np.testing.assert_array_equal(a.fitness, b.fitness)
        assert (a.number, a.counts) == (b.number, b.counts)


def test_a_run_that_is_cut_off_at_any_byte_comes_to_the_same_end(tmp_path: Path) -> None:
    whole = run(tmp_path / "one")
    expected = (tmp_path / "one").read_bytes()
    source = np.random.default_rng(1)
    cuts = [0, 1, 40, len(expected) - 1, *source.integers(len(expected), size=40).tolist()]
    for cut in cuts:
        path = tmp_path / f"cut-{cut}"
        path.write_bytes(expected[:cut])
        assert_same(run(path), whole)
        assert path.read_bytes() == expected


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path: Path) -> None:
    run(tmp_path / "long")
    run(tmp_path / "short", 33)
    run(tmp_path / "short")
    assert (tmp_path / "short").read_bytes() == (tmp_path / "long").read_bytes()


def test_a_shorter_run_ends_where_it_says_in_the_journal_of_a_longer_one(tmp_path: Path) -> None:
    whole = run(tmp_path / "long")
    expected = (tmp_path / "long").read_bytes()
    assert_same(run(tmp_path / "long", 33), whole[:33])
    assert (tmp_path / "long").read_bytes() == expected


def test_nobody_in_the_journal_is_judged_again(tmp_path: Path) -> None:
    whole = run(tmp_path / "run")

    def never(population: Array, generation: int) -> Judgement:
        raise AssertionError(f"generation {generation} is judged again")

    with Journal(tmp_path / "run", HEADER) as journal:
        again = list(evolve(Genetic(SETTINGS, TEMPLATE), journal, LENGTH, never))
    assert_same(again, whole)


def test_the_fittest_of_a_generation(tmp_path: Path) -> None:
    for generation in run(tmp_path / "run", 5):
        noise = np.random.default_rng(generation.number).normal(size=SETTINGS.population)
        assert np.isclose(generation.fitness.max() + generation.fittest.sum(), noise).any()


def test_damage_is_an_error_that_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "run"
    run(path)
    lines = path.read_bytes().split(b"\n")
    for number in (0, 1, 7):
        damaged = lines.copy()
        damaged[number] = damaged[number].replace(b"e", b"f", 1)
        path.write_bytes(b"\n".join(damaged))
        with pytest.raises(JournalError, match=rf"{path}, line {number + 1}: damaged"):
            Journal(path, HEADER)
    path.write_bytes(b"\n".join(lines[:3] + lines[4:]))
    with pytest.raises(JournalError, match="line 4: expected entry number 2"):
        Journal(path, HEADER)


def test_the_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    run(tmp_path / "run", 2)
    with pytest.raises(JournalError, match="was started with seed = 2, not 3"):
        Journal(tmp_path / "run", HEADER | {"seed": 3})
    (tmp_path / "other").write_text("a file of somebody")
    with pytest.raises(JournalError, match="expected the journal of a training run"):
        Journal(tmp_path / "other", HEADER)
    assert (tmp_path / "other").read_text() == "a file of somebody"


def test_a_generation_that_comes_out_otherwise_is_an_error(tmp_path: Path) -> None:
    """As with another version that draws other numbers from the same seed."""
    run(tmp_path / "run")
    other = Settings(population=6, seed=2, keep_survivors=True)
    with pytest.raises(JournalError, match="generation 1 differs from the journal"):
        run(tmp_path / "run", settings=other)


@pytest.mark.parametrize("fitness", [[0.5], [None] * 6, [float("nan")] * 6, "rubbish"])
def test_a_journal_without_a_fitness_for_everybody_is_refused(
    tmp_path: Path, fitness: object
) -> None:
    path = tmp_path / "run"
    run(path, 1)
    with Journal(path, HEADER) as journal:
        entry = dict(journal.entries[0])
    header = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(header + encode(entry | {"fitness": fitness}))
    with pytest.raises(JournalError, match="generation 0: expected the fitness of 6 individuals"):
        run(path)
