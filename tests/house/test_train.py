"""`kibitz train`: what it leaves, that it goes on after an interruption, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kibitz.commands.train import train


def call(out: Path, *words: str) -> Result:
    return CliRunner().invoke(train, ["chinese-checkers", "--out", str(out), "--test=0", *words])


def test_an_interrupted_run_goes_on_to_the_same_array(tmp_path: Path) -> None:
    words = ("--generations=40", "--population=10", "--seed=5")
    assert call(tmp_path / "one", *words).exit_code == 0
    assert call(tmp_path / "two", "--threads=1", *words).exit_code == 0
    journal = tmp_path / "two" / "journal.jsonl"
    expected = journal.read_bytes()
    assert (tmp_path / "one" / "journal.jsonl").read_bytes() == expected
    journal.write_bytes(expected[: len(expected) * 2 // 3])
    (tmp_path / "two" / "best.json").unlink()
    assert call(tmp_path / "two", *words).exit_code == 0
    assert journal.read_bytes() == expected
    files = [json.loads((tmp_path / name / "best.json").read_text()) for name in ("one", "two")]
    assert files[0]["hash"] == files[1]["hash"]
    assert files[0]["weights"] == files[1]["weights"]
    for name in ("fitness.svg", "wins.svg", "array.svg"):
        assert (tmp_path / "two" / name).read_text().endswith("</svg>\n")


def test_the_best_is_tested_against_the_judges(tmp_path: Path) -> None:
    done = call(tmp_path, "--generations=2", "--seats=3", "--test=20")
    assert done.exit_code == 0
    for judge in ("hand", "euclid", "stragglers"):
        assert f"against {judge}: won " in done.output


def test_a_damaged_journal_is_named(tmp_path: Path) -> None:
    assert call(tmp_path, "--generations=3").exit_code == 0
    path = tmp_path / "journal.jsonl"
    path.write_bytes(path.read_bytes().replace(b"mean", b"moan", 1))
    done = call(tmp_path, "--generations=3")
    assert done.exit_code == 1
    assert f"{path}, line 3: damaged, its check sum does not agree" in done.output


def test_other_settings_in_the_same_directory_are_refused(tmp_path: Path) -> None:
    assert call(tmp_path, "--generations=3").exit_code == 0
    done = call(tmp_path, "--generations=3", "--population=30")
    assert done.exit_code == 1
    assert "was begun with population = 20, not 30" in done.output


@pytest.mark.parametrize(
    "words", [["--population=1"], ["--generations=0"], ["--patience=0"], ["--seed=-1"]]
)
def test_impossible_parameters_are_mistakes_of_the_command_line(
    tmp_path: Path, words: list[str]
) -> None:
    done = call(tmp_path, *words)
    assert done.exit_code == 2
    assert "expected a number from" in done.output
