"""Fitting class weights to games: the features equal the search's, and the fit is correct."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_games.five_in_a_row import geometry as geo
from kibitz_search.five_in_a_row import (
    pattern_board,
    threat,
    weights_file,
)
from kibitz_search.five_in_a_row import pattern_classes as kinds
from kibitz_search.five_in_a_row.weights_file import SIZE
from kibitz_training import game_batches
from kibitz_training.experiment import TrainingRun
from kibitz_training.five_in_a_row import pattern_fit, pattern_games, patterns
from kibitz_training.five_in_a_row.pattern_games import PlayedGame
from kibitz_training.five_in_a_row.patterns import PatternParameters
from kibitz_training.journal import JournalError, encode

FEW = 200
"""The positions per search, enough for a legal move."""
BOARD = 10


@pytest.fixture(scope="module")
def games() -> list[PlayedGame]:
    return [pattern_games.play(seed, BOARD, FEW) for seed in range(4)]


class Said:
    """Stores the output of a run."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def progress(self, done: int, total: int, text: str) -> None:
        self.lines.append(f"{done} of {total}")

    def say(self, text: str) -> None:
        self.lines.append(text)


def training(out: Path, seed: int = 5, threads: int = 1) -> TrainingRun:
    return TrainingRun(out, seed, threads, "kibitz train five-in-a-row/patterns", Said())


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Runs with so few games that all fit in one batch."""
    monkeypatch.setattr(game_batches, "BATCH", 3)
    monkeypatch.setattr(game_batches, "HELD_BACK", 3)
    return 3


def test_a_seed_says_which_game_is_played(games: list[PlayedGame]) -> None:
    assert pattern_games.play(0, BOARD, FEW) == games[0]
    assert len({game.moves for game in games}) == 4


@pytest.mark.parametrize("size", [pattern_games.MIDDLE, 15, geo.LARGEST])
def test_games_are_played_on_boards_of_any_size(size: int) -> None:
    game = pattern_games.play(1, size, 100)
    assert max(max(geo.place(move)) for move in game.moves) < size
    rows, chances = pattern_games.positions(game, size, 100.0)
    assert len(rows) == len(chances) <= len(game.values)


def test_a_search_values_positions_by_the_numbers_and_the_weights(games: list[PlayedGame]) -> None:
    tb = kinds.vocabulary(False)
    fd: Any = pattern_board.empty_board(BOARD, False, tb)
    source = np.random.default_rng(1)
    drawn = source.integers(-300, 300, SIZE).astype(float)
    drawn[0] = drawn[kinds.FIVE] = 0.0  # a class with weight zero, also in the search
    ev = weights_file.with_numbers(drawn)
    for move in games[0].moves:
        assert threat.evaluate(fd, ev) == pattern_games.numbers(fd) @ drawn
        pattern_board.place_stone(fd, tb, np.int64(pattern_board.cell_of(fd, move)))


def test_chances_end_with_the_result_and_lean_on_the_searches() -> None:
    lost = PlayedGame(3, tuple(range(7)), (0.0, 0.0, 0.0, 0.0), 0.0)
    early, *_, last = pattern_games._returns(lost, 100.0)
    assert last == pytest.approx(0.5 * 0.15)
    assert last < early < 0.5
    sure = PlayedGame(2, tuple(range(4)), (1e4, -1e4), 1.0)
    assert pattern_games._returns(sure, 100.0) == pytest.approx([1.0, 1.0])


def test_the_fit_finds_weights_that_made_the_chances() -> None:
    source = np.random.default_rng(3)
    rows = source.integers(-3, 4, (4000, SIZE)).astype(float)
    wanted = pattern_fit.usual_numbers()
    wanted[3] += 60
    wanted[20] -= 40
    scale = pattern_fit.fit_scale(rows, 1 / (1 + np.exp(-rows @ wanted / 1000)))
    chances = 1 / (1 + np.exp(-rows @ wanted / 1000))
    found = pattern_fit.fit(rows, chances, np.full(len(rows), 1e4))
    assert found[3] - found[2] == pytest.approx((wanted[3] - wanted[2]) * scale / 1000, rel=0.1)
    assert pattern_fit.loss(rows, chances, found) <= pattern_fit.loss(
        rows, chances, pattern_fit.usual_numbers()
    )


def test_what_no_position_tells_of_stays_as_it_was() -> None:
    rows = np.zeros((50, SIZE))
    found = pattern_fit.fit(rows, np.full(50, 0.5), np.ones(50))
    assert np.rint(found).tolist() == pattern_fit.usual_numbers().tolist()


@pytest.mark.slow
def test_a_run_leaves_weights_and_goes_on_where_it_was_ended(tmp_path: Path, few: int) -> None:
    parameters = PatternParameters(size=BOARD, games=few, nodes=FEW)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for out in (whole, broken):
        out.mkdir()
        patterns.run(parameters, training(out, threads=1 if out is whole else 2))
    file = weights_file.read(whole / "best.json")
    assert file.hash == weights_file.read(broken / "best.json").hash
    assert (file.seed, file.command) == (5, "kibitz train five-in-a-row/patterns")
    journal = broken / "journal.jsonl"
    before = journal.read_bytes()
    journal.write_bytes(before[:-7])
    patterns.run(parameters, training(broken))
    assert journal.read_bytes() == before
    assert weights_file.read(broken / "best.json").hash == file.hash


def test_a_journal_that_holds_no_games_is_named(tmp_path: Path, few: int) -> None:
    parameters = PatternParameters(size=BOARD, games=few, nodes=FEW)
    patterns.run(parameters, training(tmp_path))
    journal = tmp_path / "journal.jsonl"
    header = journal.read_bytes().splitlines(keepends=True)[0]
    entry = {"number": 0, "games": [["rubbish"]] * few}
    journal.write_bytes(header + encode(entry))
    with pytest.raises(JournalError, match="batch 0: expected games"):
        patterns.run(parameters, training(tmp_path))
