"""Tables of Chinese Checkers: how they are played, and what the stored results say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import machine
from benchmarks.experiments import matches
from benchmarks.strength import tables
from benchmarks.strength.tables import Table, TableResult

STORED = tables.load_results()
CHAMPION = "champion"


def result(**other: Any) -> TableResult:
    given = {"seats": 3, "seconds": 0.05, "subject": "a", "other": "b", "games": 9, "firsts": 3.0}
    given |= {"commit": "0123456789ab", "date": "2026-11-28"}
    return TableResult.model_validate(given | other)


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: "-".join(map(str, stored.table)))
def test_no_bot_beats_the_champion(stored: TableResult) -> None:
    """The champion is not behind among others, and no other bot is ahead among champions."""
    assert CHAMPION in {stored.subject, stored.other}
    low, high = stored.bounds
    if stored.subject == CHAMPION:
        assert high >= stored.fair
    else:
        assert low <= stored.fair


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_the_champion_is_ahead_among_planners(seats: int) -> None:
    (stored,) = [each for each in STORED if each.table == Table(seats, 0.05, CHAMPION, "planner")]
    assert stored.games >= 120
    assert stored.bounds[0] > stored.fair


def test_openings_are_the_units_of_the_interval() -> None:
    low, high = result(openings=[3.0, 0.0, 0.0]).bounds
    assert low < result(openings=[1.0, 1.0, 1.0]).bounds[0] < 1 / 3
    assert (low, high) == pytest.approx(result().bounds, abs=0.03)


def test_results_are_stored_one_for_each_table(tmp_path: Path) -> None:
    path = tmp_path / "tables.jsonl"
    assert tables.load_results(path) == []
    first, again, second = result(), result(firsts=4.0), result(seats=2)
    for each in (first, again, second):
        tables.save(each, path)
    assert tables.load_results(path) == [second, again]


def test_the_subject_plays_every_seat_of_every_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[tuple[int, str]]()

    def chooser(spec: str, start: Any, seconds: float) -> str:
        return spec

    def first_place(game: Any, state: Any, choosers: list[str], own: int, number: int) -> float:
        assert [spec == "x" for spec in choosers] == [seat == own for seat in range(3)]
        seen.append((own, state.tobytes().hex()))
        return float(own)

    monkeypatch.setattr(tables, "_chooser", chooser)
    monkeypatch.setattr(tables, "_first_place", first_place)
    assert list(tables.play_games(Table(3, 0.01, "x", "y"), 6)) == [0, 1, 2, 0, 1, 2]
    openings = [opening for _, opening in seen]
    assert openings[0] == openings[1] == openings[2] != openings[3] == openings[5]


def test_a_game_is_over_once_the_first_player_has_finished() -> None:
    game, state = matches.start(tables.GAME, 2, 0)
    matches.scatter(game, state, 2, 1)
    choosers = [tables._chooser("greedy-hand", state, 1.0) for _ in range(2)]
    part = tables._first_place(game, state, choosers, 0, 0)
    assert part in (0.0, 1.0)
    assert part == float(int(state["rank"][0]) == 1)
    assert int(state["placed"]) >= 1


def test_the_command_prints_and_stores(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables, "play_games", lambda table, games: iter([1.0, 0.0, 0.5]))
    stored = list[TableResult]()
    monkeypatch.setattr(tables, "save", stored.append)
    monkeypatch.setattr(machine, "last_commit_of", lambda folders: "0123456789ab")
    tables.main(["--seats", "3", "--time", "0.1", "--games", "3", "--write", "x", "y"])
    assert "1.5 of 3 first" in capsys.readouterr().out
    (only,) = stored
    assert (only.table, only.games, only.firsts) == (Table(3, 0.1, "x", "y"), 3, 1.5)
    assert only.openings == [1.5]
    assert only.bounds[0] < 0.5 < only.bounds[1]
