"""`kibitz train`: what it leaves, that it goes on after an interruption, and what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import filelock
import pytest
from click.testing import CliRunner, Result

from kibitz.commands.train import train
from kibitz_search.experiments import EXPERIMENTS

GENETIC = "chinese-checkers/genetic"
CHARTS = ("fitness.svg", "wins.svg", "array-first.svg", "array-fittest.svg", "array-best.svg")


def call(out: Path, spec: str = GENETIC, *words: str) -> Result:
    return CliRunner().invoke(train, [spec, "--out", str(out), *words])


def test_an_interrupted_run_goes_on_to_the_same_array(tmp_path: Path) -> None:
    spec, seed = f"{GENETIC}:generations=40,population=10,test=0", "--seed=5"
    assert call(tmp_path / "one", spec, seed).exit_code == 0
    assert call(tmp_path / "two", spec, seed, "--threads=1").exit_code == 0
    journal = tmp_path / "two" / "journal.jsonl"
    expected = journal.read_bytes()
    assert (tmp_path / "one" / "journal.jsonl").read_bytes() == expected
    journal.write_bytes(expected[: len(expected) * 2 // 3])
    (tmp_path / "two" / "best.json").unlink()
    assert call(tmp_path / "two", spec, seed).exit_code == 0
    assert journal.read_bytes() == expected
    for name in ("fittest.json", "best.json"):
        files = [json.loads((tmp_path / out / name).read_text()) for out in ("one", "two")]
        assert files[0] | {"command": "", "date": ""} == files[1] | {"command": "", "date": ""}
    assert files[1]["command"] == (
        f"kibitz train {GENETIC}:population=10,generations=40,test=0 --seed 5 --out two"
    )
    for name in CHARTS:
        assert (tmp_path / "two" / name).read_text().endswith("</svg>\n")


def test_the_best_is_tested_against_the_judges(tmp_path: Path) -> None:
    done = call(tmp_path, f"{GENETIC}:generations=2,seats=3,test=20")
    assert done.exit_code == 0
    for judge in ("hand", "euclid", "stragglers", "mobility"):
        assert f"best.json against {judge}: won " in done.output


def test_a_damaged_journal_is_named(tmp_path: Path) -> None:
    spec = f"{GENETIC}:generations=3,test=0"
    assert call(tmp_path, spec).exit_code == 0
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b"mean", b"moan", 1))
    done = call(tmp_path, spec)
    assert done.exit_code == 1
    assert f"{path}, line 3: damaged, its check sum does not agree" in done.output


def test_other_settings_in_the_same_directory_are_refused(tmp_path: Path) -> None:
    spec = f"{GENETIC}:generations=3,test=0"
    assert call(tmp_path, spec).exit_code == 0
    done = call(tmp_path, f"{spec},population=30")
    assert done.exit_code == 1
    assert "was begun with population = 20, not 30" in done.output
    assert call(tmp_path, spec.replace("=3", "=4")).exit_code == 0


def test_two_runs_do_not_share_a_directory(tmp_path: Path) -> None:
    with filelock.FileLock(tmp_path / "lock"):
        done = call(tmp_path)
    assert done.exit_code == 1
    assert f"{tmp_path}: another run is going on here" in done.output


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            "chinese-checkers/genetics",
            "no experiment 'chinese-checkers/genetics'; expected one that `kibitz train --list` "
            "shows; did you mean chinese-checkers/genetic",
        ),
        ("nim", "no experiment 'nim'"),
        (f"{GENETIC}:population=1", "population: expected a whole number from 2 to 10000, not '1'"),
        (f"{GENETIC}:seats=two", "seats: expected a whole number from 2 to 6, not 'two'"),
        (f"{GENETIC}:judge=me", "judge: expected hand or euclid or stragglers or mobility"),
        (f"{GENETIC}:popultion=3", "no parameter 'popultion'; there are seats, population,"),
        (f"{GENETIC}:seats", "seats: expected seats=value, not 'seats'"),
        (f"{GENETIC}:seats=2,seats=2", "seats: expected it once, not twice"),
        (f"{GENETIC}:lowest=9,highest=3", "highest: expected at least the lowest, 9"),
    ],
)
def test_what_cannot_be_is_a_mistake_of_the_command_line(
    tmp_path: Path, spec: str, sentence: str
) -> None:
    done = call(tmp_path / "run", spec)
    assert done.exit_code == 2
    assert sentence in " ".join(done.output.split())
    assert not (tmp_path / "run").exists()


def test_the_list_names_every_experiment_with_its_parameters() -> None:
    done = CliRunner().invoke(train, ["--list"])
    assert done.exit_code == 0
    for name, experiment in EXPERIMENTS.items():
        assert f"{name}  {experiment.summary}" in done.output
    assert "  population=20\n      individuals in a generation (a whole number" in done.output


def test_an_experiment_and_a_directory_are_needed() -> None:
    for words, sentence in (
        ([], "expected an experiment; `kibitz train --list` shows them"),
        ([GENETIC], "expected --out, a directory for what the experiment finds"),
    ):
        done = CliRunner().invoke(train, words)
        assert done.exit_code == 2
        assert sentence in " ".join(done.output.split())


@pytest.mark.e2e
def test_a_killed_run_goes_on_to_the_same_array(tmp_path: Path) -> None:
    """Killed with signal 9, again and again, each time when it has come a little further."""
    spec = f"{GENETIC}:generations=150,population=10,test=0"
    command = [sys.executable, "-m", "kibitz", "train", spec, "--seed", "4", "--out"]
    journal = tmp_path / "killed" / "journal.jsonl"
    for length in (1, 20_000):
        run = subprocess.Popen([*command, str(tmp_path / "killed")], stderr=subprocess.DEVNULL)
        while not journal.exists() or journal.stat().st_size < length:
            assert run.poll() is None
            time.sleep(0.005)
        run.kill()
        run.wait()
    for name in ("killed", "whole"):
        done = subprocess.run([*command, str(tmp_path / name)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert journal.read_bytes() == (tmp_path / "whole" / "journal.jsonl").read_bytes()
    for file in ("fittest.json", "best.json"):
        arrays = [
            json.loads((tmp_path / name / file).read_text())["weights"]
            for name in ("killed", "whole")
        ]
        assert arrays[0] == arrays[1]


@pytest.mark.e2e
def test_the_table_imports_nothing_heavy() -> None:
    program = (
        "import sys\nimport kibitz.commands.train, kibitz_search.experiments\n"
        "sys.exit(' '.join({'numpy', 'numba', 'asyncio'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
