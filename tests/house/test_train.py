"""`kibitz train`: its files, resuming after an interruption, and its refusals."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import filelock
import pytest
from click.testing import CliRunner, Result

from kibitz.cli import kibitz
from kibitz_training.chinese_checkers import genetic_selection
from kibitz_training.experiments import EXPERIMENTS

GENETIC = "chinese-checkers/genetic"
CHARTS = ("fitness.svg", "wins.svg", "array-first.svg", "array-fittest.svg", "array-best.svg")


@pytest.fixture(autouse=True)
def few_games_of_selection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the final populations play few games, since only the output files are tested."""
    monkeypatch.setattr(genetic_selection, "ROUNDS", ((4, 16), (16, 1)))


def call(out: Path, spec: str = GENETIC, *words: str) -> Result:
    return CliRunner().invoke(kibitz, ["train", spec, "--out", str(out), *words])


def test_an_interrupted_run_goes_on_to_the_same_array(tmp_path: Path) -> None:
    spec, seed = f"{GENETIC}:generations=12,population=6,test=0", "--seed=5"
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
        f"kibitz train {GENETIC}:population=6,generations=12,test=0 --seed 5 --out two"
    )
    for name in CHARTS:
        assert (tmp_path / "two" / name).read_text().endswith("</svg>\n")


def test_the_best_is_tested_against_the_judges(tmp_path: Path) -> None:
    done = call(tmp_path, f"{GENETIC}:generations=2,population=4,seats=3,test=4")
    assert done.exit_code == 0
    for judge in ("hand", "euclid", "stragglers", "mobility"):
        assert f"best.json against {judge}: won " in done.output


def test_a_damaged_journal_is_named(tmp_path: Path) -> None:
    spec = f"{GENETIC}:generations=3,population=4,test=0"
    assert call(tmp_path, spec).exit_code == 0
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b"wins", b"wons", 1))
    done = call(tmp_path, spec)
    assert done.exit_code == 1
    assert f"{path}, line 2: damaged (wrong checksum)" in done.output


def test_other_settings_in_the_same_directory_are_refused(tmp_path: Path) -> None:
    spec = f"{GENETIC}:generations=3,population=4,test=0"
    assert call(tmp_path, spec).exit_code == 0
    done = call(tmp_path, spec.replace("population=4", "population=30"))
    assert done.exit_code == 1
    assert "was started with population = 4, not 30" in done.output
    assert call(tmp_path, spec.replace("=3", "=4")).exit_code == 0


def test_two_runs_do_not_share_a_directory(tmp_path: Path) -> None:
    with filelock.FileLock(tmp_path / "lock"):
        done = call(tmp_path)
    assert done.exit_code == 1
    assert f"{tmp_path}: another run is using this directory" in done.output


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        (
            "chinese-checkers/genetics",
            "unknown experiment 'chinese-checkers/genetics' (see `kibitz train --list`); did you "
            "mean chinese-checkers/genetic",
        ),
        ("nim", "unknown experiment 'nim'"),
        (f"{GENETIC}:population=1", "population: expected greater than or equal to 2, not '1'"),
        (f"{GENETIC}:seats=two", "seats: expected a valid integer"),
        (f"{GENETIC}:judge=me", "judge: expected 'hand', 'euclid', 'stragglers' or 'mobility'"),
        (
            f"{GENETIC}:popultion=3",
            "unknown parameter 'popultion'; the parameters are seats, population,",
        ),
        (f"{GENETIC}:seats", "seats: expected seats=value, not 'seats'"),
        (f"{GENETIC}:seats=2,seats=2", "seats: given twice"),
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
    done = CliRunner().invoke(kibitz, ["train", "--list"])
    assert done.exit_code == 0
    for name, load in EXPERIMENTS.items():
        assert f"{name}  {load().summary}" in done.output
    assert "  population=1000\n      individuals per generation (a whole number" in done.output


def test_an_experiment_and_a_directory_are_needed() -> None:
    for words, sentence in (
        ([], "expected an experiment; see `kibitz train --list`"),
        ([GENETIC], "expected --out, a directory for the results"),
    ):
        done = CliRunner().invoke(kibitz, ["train", *words])
        assert done.exit_code == 2
        assert sentence in " ".join(done.output.split())


def test_another_experiment_in_the_same_directory_is_refused(tmp_path: Path) -> None:
    assert call(tmp_path, f"{GENETIC}:generations=1,test=0").exit_code == 0
    done = call(tmp_path, "chinese-checkers/learned")
    assert done.exit_code == 1
    assert (
        "was started with experiment = 'chinese-checkers/genetic', not 'chinese-checkers/learned'"
        in done.output
    )


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").write_text("of somebody")
    done = CliRunner().invoke(kibitz, ["train", GENETIC, "--out", str(tmp_path / "file" / inside)])
    assert done.exit_code in (1, 2)
    assert f"{tmp_path / 'file'}" in done.output
    assert "irectory" in done.output
    assert (tmp_path / "file").read_text() == "of somebody"


def test_what_is_in_the_place_of_the_journal_is_named(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").mkdir()
    done = call(tmp_path)
    assert done.exit_code == 1
    assert f"{tmp_path / 'journal.jsonl'}: expected a file with the journal" in done.output


def test_what_is_in_the_place_of_a_result_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    spec = f"{GENETIC}:generations=2,population=10,test=0"
    (tmp_path / "best.json").mkdir()
    done = call(tmp_path, spec)
    assert done.exit_code == 1
    assert f"{tmp_path / 'best.json'}: cannot be written (Is a directory)" in done.output
    assert "run the same command again to resume" in done.output
    (tmp_path / "best.json").rmdir()
    assert call(tmp_path, spec).exit_code == 0
    assert json.loads((tmp_path / "best.json").read_text())["kind"] == "hole-distances"


KILLED = {
    f"{GENETIC}:generations=150,population=10,test=0": ("fittest.json", "best.json"),
    "tanks/neuroevolution:generations=60,population=8,games=4,test=4": ("best.json",),
}


@pytest.mark.e2e
@pytest.mark.parametrize("spec", KILLED)
def test_a_killed_run_goes_on_to_the_same_array(tmp_path: Path, spec: str) -> None:
    """The run is killed repeatedly with SIGKILL, each time a little later."""
    command = [sys.executable, "-m", "kibitz", "train", spec, "--seed", "4", "--out"]
    journal = tmp_path / "killed" / "journal.jsonl"
    for length in (1, 4_000):
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
    for file in KILLED[spec]:
        arrays = [
            json.loads((tmp_path / name / file).read_text())["weights"]
            for name in ("killed", "whole")
        ]
        assert arrays[0] == arrays[1]


@pytest.mark.e2e
def test_a_run_on_a_full_disk_is_told_so_and_goes_on_later(tmp_path: Path) -> None:
    """A file size limit simulates a full disk; compilation is done before."""
    spec = f"{GENETIC}:generations=60,population=10,test=0"
    command = [sys.executable, "-m", "kibitz", "train", spec, "--seed", "4", "--out"]

    def go(name: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
        def keep_small() -> None:
            assert limit is not None
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.run(
            [*command, str(tmp_path / name)],
            preexec_fn=None if limit is None else keep_small,
            capture_output=True,
            text=True,
        )

    assert go("whole").returncode == 0
    for limit in (100, 9_000):
        done = go("small", limit)
        assert done.returncode == 1
        path = tmp_path / "small" / "journal.jsonl"
        assert f"{path}: cannot be written (File too large)" in done.stderr
        assert "Traceback" not in done.stderr
        assert path.stat().st_size == limit
    assert go("small").returncode == 0
    for file in ("journal.jsonl", "array-best.svg"):
        parts = [(tmp_path / name / file).read_bytes() for name in ("small", "whole")]
        assert parts[0] == parts[1]


@pytest.mark.e2e
def test_two_runs_at_once_in_one_directory(tmp_path: Path) -> None:
    spec = f"{GENETIC}:generations=100000,population=10,test=0"
    command = [sys.executable, "-m", "kibitz", "train", spec, "--out", str(tmp_path)]
    first = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        while not (tmp_path / "journal.jsonl").exists():
            assert first.poll() is None
            time.sleep(0.005)
        second = subprocess.run(command, capture_output=True, text=True)
        assert second.returncode == 1
        assert f"{tmp_path}: another run is using this directory" in second.stderr
    finally:
        first.kill()
        first.wait()


@pytest.mark.e2e
def test_the_table_imports_nothing_heavy() -> None:
    program = (
        "import sys\nimport kibitz.commands.train, kibitz_training.experiments\n"
        "sys.exit(' '.join({'numpy', 'numba', 'asyncio'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
