"""Recorded matches from other viewers' perspectives, equal to what the server showed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz_clients.matches import recorded_match
from kibitz_clients.matches.timeline import MatchInfo, Timeline
from kibitz_clients.palette import DARK
from kibitz_clients.render import match_picture
from kibitz_clients.tui.kibitz_app import KibitzApp
from kibitz_clients.tui.widgets.moves import step_line
from kibitz_clients.wording import descriptions, line_output
from kibitz_games.core.game import Game
from kibitz_protocol.wire.messages import Finished, Snapshot
from kibitz_protocol.wire.recordfile import Record, write_record
from kibitz_protocol.wire.records import (
    Cause,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Moved,
    Noted,
    Result,
    SeatResult,
    Setup,
)
from kibitz_protocol.wire.visibility import PUBLIC, REFEREE
from kibitz_server.match.visibility import replay as replay_entries
from tests.clients.pilots import settle, until
from tests.server.match import toy_games
from tests.tools.fake_connection import FakeServerConnection

VEIL = toy_games.variant(toy_games.Veil, on_flag="skip")
VIEWPOINTS = (None, PUBLIC, 0, 1, 2)


def setup(game: Game) -> Setup:
    deal = game.deal(game.Options(), 3, 7)
    return toy_games.setup(game, 3, clock="10+1", deal=deal)


def course(game: Game) -> list[Entry]:
    """Return a match with a move, a pass, a note, a move, and a crash."""
    return [
        moved(1, 0, 0, 2),
        Flagged(seq=2, at_ms=12_000, ply=1, seat=1, elapsed_ms=11_000),
        Noted(seq=3, at_ms=12_100, seat=2, text="a secret"),
        moved(4, 2, 2, 0),
        Forfeited(seq=5, at_ms=12_900, seat=0, cause=Cause.CRASH, detail="my hand is 3"),
        moved(6, 3, 1, 1),
    ]


def moved(seq: int, ply: int, seat: int, card: int) -> Moved:
    at = {1: 500, 4: 12_800, 6: 13_400}[seq]
    return Moved(seq=seq, at_ms=at, ply=ply, seat=seat, action={"card": card}, elapsed_ms=500)


@pytest.fixture
def record() -> Record:
    return Record(setup(VEIL), tuple(course(VEIL)), None, "")


@pytest.mark.parametrize("viewpoint", VIEWPOINTS)
def test_everybody_saw_then_what_a_record_shows_now(record: Record, viewpoint: int | None) -> None:
    """A record yields the same events as the server's own gate, for viewers with views."""
    viewer = REFEREE if viewpoint is None else viewpoint
    sights = list(replay_entries(VEIL, record.setup, record.entries))
    shown = [sight.event(viewer, "every") for sight in sights]
    here = list(recorded_match.events(VEIL, record, viewpoint))
    for told, live in zip(here, shown, strict=True):
        if viewpoint is None and isinstance(told.entry, Noted):
            continue  # only the owner may read a record with notes
        assert told.entry == live.entry
        assert (told.ply, told.to_act, told.view) == (live.ply, live.to_act, live.view)
        assert told.clocks == live.clocks


def test_a_turn_that_passes_is_a_ply_and_leaves_the_increment(record: Record) -> None:
    frame = recorded_match.build_timeline(VEIL, record).frame(2)
    assert frame is not None
    assert (frame.ply, frame.to_act, frame.is_turn) == (2, 2, True)
    assert frame.clocks is not None
    assert frame.clocks[1].main_ms == 1_000
    assert descriptions.step_text(VEIL, frame) == "time is up; turn skipped"
    assert descriptions.entry_text(None, course(VEIL)[1]) == "time is up"


def test_a_flag_in_the_wrong_turn_is_no_record(record: Record) -> None:
    wrong = Flagged(seq=2, at_ms=600, ply=1, seat=2, elapsed_ms=1)
    with pytest.raises(ValueError, match="expected ply 1 of seat 2, not ply 1 of seat 3"):
        recorded_match.build_timeline(
            VEIL, Record(record.setup, (record.entries[0], wrong), None, "")
        )


def test_hidden_entries_with_a_ply_are_moves_of_the_seat_whose_turn_it_was(record: Record) -> None:
    steps = recorded_match.build_timeline(VEIL, record, viewpoint=2).steps
    assert [step.seq for step in steps] == [0, 1, 2, 4, 5, 6]
    said = [(descriptions.acting_seat(step), descriptions.step_text(VEIL, step)) for step in steps]
    assert said == [
        (None, ""),
        (0, "a hidden move"),
        (1, "a hidden move"),
        (2, "0"),
        (0, "out: crashed"),
        (1, "a hidden move"),
    ]
    assert step_line(VEIL, steps[1], DARK).plain == "  1 ● a hidden move"
    assert step_line(VEIL, steps[2], DARK).plain == "  2 ▲ a hidden move"


def test_the_mover_is_found_in_whatever_order_events_come(record: Record) -> None:
    events = list(recorded_match.events(VEIL, record, 2))
    timeline = Timeline(MatchInfo.of(record.setup))
    timeline.set_start({"turn": 0, "played": [0, 0, 0]}, 0)
    for event in reversed(events):
        timeline._insert(timeline._frame_of(event))
    movers = [frame.mover for frame in timeline.frames]
    assert movers == [None, 0, 1, None, None, None, 1]


def test_a_seat_that_is_not_there_has_no_eyes(record: Record) -> None:
    with pytest.raises(ValueError, match="expected a seat from 1 to 3, not 4"):
        recorded_match.build_timeline(VEIL, record, viewpoint=3)


def test_looking_through_other_eyes_keeps_the_numbers(record: Record) -> None:
    timeline = recorded_match.build_timeline(VEIL, record)
    assert timeline.viewpoint is None
    numbers = [frame.seq for frame in timeline.frames]
    for viewpoint in VIEWPOINTS[1:]:
        timeline.set_viewpoint(viewpoint)
        assert (
            timeline.frames
            == recorded_match.build_timeline(VEIL, record, viewpoint=viewpoint).frames
        )
        assert [frame.seq for frame in timeline.frames] == numbers
    with pytest.raises(AssertionError, match="only a record"):
        Timeline(MatchInfo.of(record.setup)).set_viewpoint(0)


def test_lines_and_pictures_of_one_seat_hide_what_it_did_not_know(
    record: Record, tmp_path: Path
) -> None:
    path = tmp_path / "veil.jsonl"
    write_record(path, record.setup, record.entries, None)
    games = {VEIL.info.name: VEIL}
    told: list[str] = []
    line_output.write_record_lines(path, games, told.append, seat=2)
    assert sum("a hidden move" in line for line in told) == 3
    assert any("Player 0 a hidden move" in line and "clock" in line for line in told)
    whole: list[str] = []
    line_output.write_record_lines(path, games, whole.append)
    assert not any("hidden" in line for line in whole)
    assert any("time is up; turn skipped" in line for line in whole)
    load = recorded_match.load_record
    assert "as ■ Player 2 saw it" in match_picture.draw_svg(load(path, games, 2), 2)
    assert "saw it" not in match_picture.draw_svg(load(path, games), 2)
    with pytest.raises(ValueError, match="expected a seat"):
        load(path, games, 9)


def test_hidden_moves_are_json_lines_too(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "veil.jsonl"
    write_record(path, record.setup, record.entries, None)
    told: list[str] = []
    line_output.write_record_lines(
        path, {VEIL.info.name: VEIL}, told.append, as_json=True, seat=PUBLIC
    )
    first = next(line for line in told if '"kind": "hidden"' in line)
    assert '"seat": 0' in first
    assert '"text": "a hidden move"' in first
    assert "card" not in "".join(told)


# -------------------------------------------------------------------------- in the terminal


async def test_v_goes_round_all_eyes_of_a_record(record: Record) -> None:
    timeline = recorded_match.build_timeline(VEIL, record)
    app = KibitzApp({VEIL.info.name: VEIL}, recorded=timeline)
    async with app.run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        seen = []
        for _ in range(5):
            await pilot.press("v")
            await settle(pilot)
            seen.append(timeline.viewpoint)
        assert seen == [0, 1, 2, PUBLIC, None]


def snapshot(record: Record, you: int | None) -> Snapshot:
    start = recorded_match.build_timeline(VEIL, record, viewpoint=you).frame(0)
    assert start is not None
    fields = record.setup.model_dump(include={"match", "number", "game", "rules_version", "seats"})
    conduct = {"conduct": {}, "spectating": {}, "commitment": "c", "why": "started", "options": {}}
    control = record.setup.time_control.model_dump()
    at = {"seq": 0, "ply": 0, "to_act": 0, "view": start.view, "time_control": control}
    return Snapshot.model_validate(fields | conduct | at | {"you": you})


async def test_a_match_with_secrets_is_revealed_when_it_is_over(record: Record) -> None:
    result = Result(
        seats=[SeatResult(rank=rank, score=0.0) for rank in (3, 1, 2)], cause=Cause.RULES, plies=4
    )
    last = recorded_match.build_timeline(VEIL, record).newest
    ended = Finished.model_validate(
        {"match": "m1", "seq": 6, "result": result, "view": last.view, "seed": "s", "record": "/r"}
    )
    link = FakeServerConnection(player="p2")

    async def fetch(url: str, match: str) -> Record:
        assert match == "m1"
        return record

    app = KibitzApp({VEIL.info.name: VEIL}, link.connect, now=link.now, fetch=fetch)
    link.push(snapshot(record, 2), *recorded_match.events(VEIL, record, 2))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await until(pilot, lambda: "m1" in app.client_state.matches)
        timeline = app.client_state.matches["m1"]
        await until(pilot, lambda: timeline.newest.seq == 6)
        assert sum(isinstance(frame.entry, Hidden) for frame in timeline.frames) == 3
        await pilot.press("v")
        await settle(pilot)
        assert timeline.viewpoint is None
        assert timeline.frames_seen_by is None
        link.push(ended)
        await until(pilot, lambda: timeline.frames_seen_by is not None)
        assert not any(isinstance(frame.entry, Hidden) for frame in timeline.frames)
        assert timeline.info.you == 2
        await pilot.press("v")
        await until(pilot, lambda: timeline.viewpoint == 0)


def test_players_are_named_by_whose_eyes_it_is() -> None:
    facts = MatchInfo.of(setup(VEIL))
    assert descriptions.viewpoint_text(facts, 1) == "as ▲ Player 1 saw it"
    assert descriptions.viewpoint_text(facts, PUBLIC) == "as the public saw it"
