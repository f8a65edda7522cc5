"""Fitting class weights to games: the features equal the search's, and the fit is correct."""

from __future__ import annotations

import dataclasses
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
from kibitz_search.five_in_a_row.pattern_board import SHAPES
from kibitz_search.five_in_a_row.weights_file import SIZE
from kibitz_training import game_batches
from kibitz_training.experiment import TrainingRun
from kibitz_training.five_in_a_row import pattern_fit, pattern_games, patterns
from kibitz_training.five_in_a_row.pattern_games import Choices, Leaves, PlayedGame
from kibitz_training.five_in_a_row.patterns import PatternParameters
from kibitz_training.journal import JournalError, encode

FEW = 200
"""The positions per search, enough for a legal move."""
BOARD = 10
NOTHING, ONE = np.zeros(0, np.int64), np.zeros(1, np.int64)
NO_CHOICES = Choices(NOTHING, NOTHING, NOTHING, NOTHING)
EMPTY = Leaves(NOTHING, NOTHING, NOTHING, ONE, ONE + 0.5, ONE + 1.0)
"""A position without cells."""


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
    leaves, choices = pattern_games.studied(game, size, 100.0)
    assert len(leaves.threats) == len(leaves.chances) <= len(game.values)
    assert len(choices.chosen) <= len(game.moves) - game.opening


def test_a_proven_win_ends_with_its_first_move() -> None:
    games = [pattern_games.play(seed, 15, FEW) for seed in range(5)]
    for game in games:
        assert game.result == len(game.moves) % 2  # the winner has the last move
    proven = {len(game.moves) - game.opening - len(game.values) for game in games}
    assert 1 in proven
    assert proven <= {0, 1}  # 0 if the loser's search has proven it


def test_a_search_values_positions_by_the_numbers_and_the_weights(games: list[PlayedGame]) -> None:
    tb = kinds.vocabulary(False)
    drawn = np.random.default_rng(1).integers(-300, 300, SIZE).astype(float)
    ev: Any = weights_file.with_numbers(drawn)
    leaves, _ = pattern_games.studied(games[0], BOARD, 100.0)
    found = pattern_fit.values(leaves, drawn)
    searched = list[int]()
    fd: Any = pattern_board.empty_board(BOARD, False, tb, ev.worth)
    for number, move in enumerate(games[0].moves):
        counted = pattern_games.numbers(fd, tb) @ drawn[: 2 * SHAPES]
        value = int(threat.evaluate(fd, ev))
        assert value == counted + ev.threats[threat.threats_mask(fd)]
        if number >= games[0].opening and not threat.won_by_threats(fd):
            searched += [] if fd.counts[1 - fd.side, kinds.FIVE] else [value]
        pattern_board.place_stone(fd, tb, np.int64(pattern_board.cell_of(fd, move)))
    assert searched[: len(found)] == found.tolist()


def test_choices_tell_what_each_move_makes_and_denies(games: list[PlayedGame]) -> None:
    tb = kinds.vocabulary(False)
    _, choices = pattern_games.studied(games[0], BOARD, 100.0)
    fd: Any = pattern_board.empty_board(BOARD, False, tb)
    chosen = list[tuple[int, int]]()
    for number, move in enumerate(games[0].moves):
        cell = np.int64(pattern_board.cell_of(fd, move))
        if number >= games[0].opening:
            made, denied = pattern_board.shapes_of(fd, tb, np.array([cell])).ravel().tolist()
            chosen.append((made, denied))
        pattern_board.place_stone(fd, tb, cell)
    pairs = zip(choices.attack[choices.chosen], choices.defend[choices.chosen], strict=True)
    told = [(int(attack), int(defend)) for attack, defend in pairs]
    assert told
    rest = iter(chosen)
    assert all(pair in rest for pair in told)  # in this order, without forced moves


def test_chances_end_with_the_result_and_lean_on_the_searches() -> None:
    lost = PlayedGame(3, tuple(range(7)), (0.0, 0.0, 0.0, 0.0), 0.0)
    early, *_, last = pattern_games._returns(lost, 100.0)
    assert last == pytest.approx(0.5 * 0.15)
    assert last < early < 0.5
    sure = PlayedGame(2, tuple(range(4)), (1e4, -1e4), 1.0)
    assert pattern_games._returns(sure, 100.0) == pytest.approx([1.0, 1.0])


def test_the_fit_finds_worth_that_made_the_chances() -> None:
    source = np.random.default_rng(3)
    positions, entries = 4000, 12
    column = source.integers(0, 2 * SHAPES, positions * entries)
    column[::2] = source.choice([900, 950, SHAPES + 900], positions * entries // 2)
    wanted = pattern_fit.usual_numbers()
    wanted[900] += 60
    wanted[SHAPES + 900] -= 40
    leaves = Leaves(
        np.repeat(np.arange(positions), entries),
        column,
        source.integers(-3, 4, positions * entries),
        np.zeros(positions, np.int64),
        np.zeros(positions),
        np.full(positions, 1e3),
    )
    logits = pattern_fit.values(leaves, wanted) / 100
    leaves = dataclasses.replace(leaves, chances=1 / (1 + np.exp(-logits)))
    found = pattern_fit.fit(leaves, NO_CHOICES)
    scale = pattern_fit.fit_scale(leaves) / 100
    for shape in (900, 950, SHAPES + 900):
        assert found[shape] == pytest.approx(wanted[shape] * scale, abs=2)
    assert pattern_fit.loss(leaves, found) < pattern_fit.loss(leaves, pattern_fit.usual_numbers())


def test_the_fit_finds_the_order_that_chose_the_moves() -> None:
    source = np.random.default_rng(4)
    positions, moves = 3000, 10
    classes = (kinds.TWO, kinds.OPEN_TWO, kinds.CLOSED, kinds.OPEN_THREE)
    shapes = np.array([int(np.argmax(kinds.together() == each)) for each in classes])
    attack, defend = source.integers(0, len(shapes), (2, positions, moves))
    chosen = (attack - 0.4 * defend + source.gumbel(size=attack.shape)).argmax(axis=1)
    starts = np.arange(positions) * moves
    choices = Choices(shapes[attack.ravel()], shapes[defend.ravel()], starts, starts + chosen)
    found = pattern_fit.fit(EMPTY, choices)
    made, denied = (each / kinds.ORDER_UNIT for each in weights_file.split(found)[2:4])
    assert made[shapes] - made[shapes[0]] == pytest.approx(np.arange(4), abs=0.3)
    assert denied[shapes] - denied[shapes[0]] == pytest.approx(-0.4 * np.arange(4), abs=0.3)
    usual = pattern_fit.usual_numbers()
    first, before = (pattern_fit.among_first(choices, each, 1) for each in (found, usual))
    assert first > before


def test_what_no_position_tells_of_stays_as_it_was() -> None:
    found = pattern_fit.fit(EMPTY, NO_CHOICES)
    usual = pattern_fit.usual_numbers()
    assert found[: 2 * SHAPES].tolist() == usual[: 2 * SHAPES].tolist()
    assert weights_file.split(found)[-1].tolist() == weights_file.split(usual)[-1].tolist()


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
