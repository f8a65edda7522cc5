"""Measuring levels: seating, scoring, and stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import levels as command
from kibitz_bots import levels
from kibitz_bots.levels import Level, LevelTable
from kibitz_bots.running.inprocess import play_locally
from kibitz_games.core.position import Position


@pytest.fixture(autouse=True)
def commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Determine the commit without starting a process."""
    monkeypatch.setattr(command, "commit", lambda: "0123456789ab")


def finished(game: str, bots: Sequence[str], seed: int) -> Position:
    """Return a game of random players regardless of the bots."""
    return play_locally(game, *[f"{game}/random:seed={seed}"] * len(bots), seed=seed)


def test_the_two_games_of_a_pair_swap_the_seats() -> None:
    assert command.seated("u", "l", 3, 0) == ["u", "l", "u"]
    assert command.seated("u", "l", 3, 1) == ["l", "u", "l"]


def test_the_scores_of_both_sides_add_up() -> None:
    for game, seats in (("connect-four", 2), ("tanks", 4)):
        end = finished(game, ["-"] * seats, 1)
        assert command.score_of(end, 0) + command.score_of(end, 1) == pytest.approx(1.0)


def test_a_winner_scores_all() -> None:
    end = finished("line-nim", ["-", "-"], 3)
    assert end.outcome is not None
    winner = end.outcome.ranks.index(1)
    assert command.score_of(end, winner) == 1.0


def test_a_ladder_gets_its_scores(capsys: pytest.CaptureFixture[str]) -> None:
    played: list[tuple[tuple[str, ...], int]] = []

    def play(game: str, bots: Sequence[str], seed: int) -> Position:
        played.append((tuple(bots), seed))
        return finished(game, bots, seed)

    (ladder,) = command.measured("line-nim", 2, [Level(bot="a"), Level(bot="b")], 4, play)
    assert played == [(("b", "a"), 0), (("a", "b"), 0), (("b", "a"), 1), (("a", "b"), 1)]
    assert ladder[0] == Level(bot="a")
    # The same random games with the seats swapped: each side has half.
    assert (ladder[1].bot, ladder[1].score, ladder[1].games) == ("b", 0.5, 4)
    assert "outside" in capsys.readouterr().out


def test_scores_of_enough_games_are_kept() -> None:
    ladder = [Level(bot="a"), Level(bot="b", score=0.7, games=4), Level(bot="c", score=1, games=2)]
    (again,) = command.measured("line-nim", 2, ladder, 4, finished, kept=4)
    assert again[1] == ladder[1]
    assert (again[2].bot, again[2].score, again[2].games) == ("c", 0.5, 4)


def test_an_unknown_game_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["no-game"]) == 2
    assert "no-game" in capsys.readouterr().err


@pytest.mark.parametrize("write", [False, True])
def test_scores_are_kept_if_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: bool
) -> None:
    path = tmp_path / "levels.json"
    bots = ("line-nim/random", "line-nim/mcts:iterations=10")
    before = LevelTable(games={"line-nim": {2: tuple(Level(bot=bot) for bot in bots)}})
    path.write_text(before.model_dump_json(), encoding="utf-8")
    monkeypatch.setattr(levels, "FILE", path)
    monkeypatch.setattr(command, "_play", finished)
    levels.table.cache_clear()
    try:
        assert command.main(["--number", "2", *(["--write"] if write else [])]) == 0
    finally:
        levels.table.cache_clear()
    kept = LevelTable.model_validate_json(path.read_bytes()).games["line-nim"][2]
    assert (kept[1].score is not None) is write
