"""The lines with players and their engines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kibitz_clients.matches.recorded_match import load_record
from kibitz_clients.palette import DARK
from kibitz_clients.render.match_picture import frame_scene
from kibitz_clients.tui.widgets import moves, seats
from kibitz_games.core import registry
from kibitz_protocol.wire.clocks import TimeControl

RECORD = Path(__file__).parents[3] / "docs" / "images" / "five-in-a-row.jsonl"


def test_a_line_has_the_stone_that_its_seat_plays_with() -> None:
    recorded = load_record(RECORD, {"five-in-a-row": registry.get("five-in-a-row")})
    frame = recorded.timeline.newest
    colours = frame_scene(recorded.game, frame).colours
    assert colours == ("white", "black")
    lines = seats.render(recorded.timeline, frame, 0, 40, DARK, colours).plain.splitlines()
    assert [line.split()[:2] for line in lines] == [["○", "greedy"], ["●", "greedy-2"]]
    assert [line.split()[-1] for line in lines] == ["2nd", "1st"]
    assert {len(line) for line in lines} == {39}


def test_a_step_has_the_stone_that_was_put() -> None:
    recorded = load_record(RECORD, {"five-in-a-row": registry.get("five-in-a-row")})
    first, second = recorded.timeline.steps[1:3]
    colours = frame_scene(recorded.game, first).colours
    assert moves.step_line(recorded.game, first, DARK, colours).plain.split()[:3] == [
        "1",
        "●",
        "f5",
    ]
    assert moves.step_line(recorded.game, second, DARK, colours).plain.split()[:3] == [
        "2",
        "○",
        "f6",
    ]


def test_where_pieces_have_no_colours_there_is_the_glyph_alone() -> None:
    recorded = load_record(RECORD, {"five-in-a-row": registry.get("five-in-a-row")})
    lines = seats.render(
        recorded.timeline, recorded.timeline.newest, 0, 40, DARK
    ).plain.splitlines()
    assert [line.split()[:2] for line in lines] == [["●", "greedy"], ["▲", "greedy-2"]]


def test_four_names_beside_a_small_board_are_different_and_not_clipped() -> None:
    record = RECORD.with_name("tanks.jsonl")
    timeline = load_record(record, {"tanks": registry.get("tanks")}).timeline
    names = ("house alphabeta-deep-1", "house alphabeta-deep-2", "house random", "mcts-1000")
    players = tuple(
        player.model_copy(update={"name": name, "kind": "house"})
        for player, name in zip(timeline.info.seats, names, strict=True)
    )
    timeline.info = replace(timeline.info, seats=players)
    lines = seats.compact_lines(timeline, timeline.steps[0], 0, 10, 4, DARK)
    assert [line.plain[3:].rstrip() for line in lines] == [
        "alph…-1",
        "alph…-2",
        "random",
        "mcts…00",
    ]


@pytest.mark.parametrize(("main_ms", "low"), [(5_000, True), (60_000, False)])
def test_only_the_clock_that_runs_is_marked_as_low(main_ms: int, low: bool) -> None:
    recorded = load_record(RECORD, {"five-in-a-row": registry.get("five-in-a-row")})
    timeline, frame = recorded.timeline, recorded.timeline.steps[1]
    timeline.info = replace(timeline.info, time_control=TimeControl(main_ms=main_ms))
    marked = [seats._right(timeline, frame, seat, 0)[1] for seat in (0, 1)]
    assert marked == [low and seat == frame.to_act for seat in (0, 1)]
