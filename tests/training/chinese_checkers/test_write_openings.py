"""Writing the opening book: candidates, their games, and the file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from kibitz_games.compiled import kernels
from kibitz_search.chinese_checkers.opening import line_of, mirrored
from kibitz_training.chinese_checkers import write_openings
from kibitz_training.chinese_checkers.write_openings import Measured

LINE = "9-17 2-29 3-41"


def test_candidates_begin_differently_and_are_no_mirror_images() -> None:
    found = list(write_openings.crossings(16, 3))
    lines = {line_of(text) for text, _ in found}
    assert len(lines) == len(found) > 3
    assert len({line[0] for line in lines}) == len(lines)
    assert not {mirrored(line) for line in lines} & lines
    assert all(len(text.split()) == 3 and length > 20 for text, length in found)


@pytest.mark.skipif(not kernels.compiled(), reason="plain searches would play for minutes")
@pytest.mark.parametrize("seats", [2, 3])
def test_a_game_is_repeatable_and_scores_later_opponents(seats: int) -> None:
    scores = [write_openings.score(line_of(LINE), seats, 0, 1, seed) for seed in (1, 1, 2)]
    assert scores[0] == scores[1]
    assert all(2 * (seats - 1) * score in range(2 * seats - 1) for score in scores)


def test_the_seat_of_a_line_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    played = list[tuple[int, int, int]]()

    def score(line: object, seats: int, own: int, depth: int, seed: int) -> float:
        played.append((seats, own, seed))
        return float(own == 0)

    monkeypatch.setattr(write_openings, "score", score)
    assert write_openings.measured(LINE, 30, 4, 1, 7) == Measured(LINE, 30, 0.5, 8)
    assert played[:4] == [(2, 0, 7), (2, 1, 7), (2, 0, 8), (2, 1, 8)]
    assert played[4:] == [(3, 0, 7), (3, 1, 7), (3, 2, 7), (3, 0, 8)]


def test_the_best_lines_are_written_with_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scores = {"9-17": 0.6, "8-17": 0.4, "7-15": 0.8, "6-15": 0.5}
    monkeypatch.setattr(write_openings, "crossings", lambda *_: [(text, 30) for text in scores])
    monkeypatch.setattr(
        write_openings, "measured", lambda text, length, *_: Measured(text, length, scores[text], 8)
    )
    out = tmp_path / "book.json"
    monkeypatch.setattr(sys, "argv", ["write", "--lines", "2", "--out", str(out)])
    write_openings.main()
    read = json.loads(out.read_text())
    assert [line["moves"] for line in read["lines"]] == ["7-15", "9-17"]
    assert " --lines 2 " in read["made by"]
    assert "--seed 1" in read["made by"]
