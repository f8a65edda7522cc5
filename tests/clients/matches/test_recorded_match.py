"""Records replayed to frames, and errors for invalid records."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from kibitz_clients.matches import recorded_match
from kibitz_clients.matches.timeline import Frame
from kibitz_clients.render import match_picture
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record, RecordError, write_record
from kibitz_protocol.wire.records import (
    Aborted,
    Cause,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Left,
    Moved,
    Resigned,
)


def write(record: Record, path: Path, *more: Entry) -> Path:
    result = record.footer.result if record.footer else None
    write_record(path, record.setup, (*record.entries, *more), result)
    return path


def end(record: Record) -> tuple[int, int]:
    """Return the number and the time of the next entry."""
    return len(record.entries) + 1, record.entries[-1].at_ms


def test_a_record_is_its_frames_and_its_result(
    game: Game, games: dict[str, Game], finished: Record, tmp_path: Path
) -> None:
    timeline = recorded_match.load_record(write(finished, tmp_path / "m.jsonl"), games).timeline
    assert [frame.seq for frame in timeline.frames] == list(range(len(finished.entries) + 1))
    assert finished.footer is not None
    assert timeline.result == finished.footer.result
    assert timeline.newest.to_act == -1
    assert timeline.seed == finished.setup.seed


def test_clocks_are_those_that_the_ledger_says(game: Game, running: Record) -> None:
    """Each move took half a second and gained one: after two moves there is one second more."""
    frames = recorded_match.build_timeline(game, running).frames
    assert frames[0].clocks is not None
    assert frames[6].clocks is not None
    assert [clock.main_ms for clock in frames[0].clocks] == [60_000] * 3
    assert [clock.main_ms for clock in frames[6].clocks] == [61_000] * 3


def test_a_flag_empties_the_clock(game: Game, running: Record) -> None:
    seq, at = end(running)
    acting = recorded_match.build_timeline(game, running).newest.to_act
    fallen = Flagged(seq=seq, at_ms=at, ply=30, seat=acting, elapsed_ms=99_000)
    out = Forfeited(seq=seq + 1, at_ms=at, seat=acting, cause=Cause.TIME)
    record = Record(running.setup, (*running.entries, fallen, out), None, "")
    timeline = recorded_match.build_timeline(game, record)
    flag = timeline.frame(seq)
    assert flag is not None
    assert flag.clocks is not None
    assert flag.clocks[acting].main_ms == 0
    assert timeline.newest.to_act not in {acting, -1}


@pytest.mark.parametrize("kind", ["resign", "forfeit"])
def test_who_drops_out_is_out_and_the_rest_play_on(game: Game, running: Record, kind: str) -> None:
    seq, at = end(running)
    acting = recorded_match.build_timeline(game, running).newest.to_act
    out = (
        Resigned(seq=seq, at_ms=at, seat=acting)
        if kind == "resign"
        else Forfeited(seq=seq, at_ms=at, seat=acting, cause=Cause.CRASH)
    )
    newest = recorded_match.build_timeline(
        game, Record(running.setup, (*running.entries, out), None, "")
    ).newest
    assert newest.to_act not in {acting, -1}


@pytest.mark.parametrize("kind", ["abandoned", "aborted"])
def test_matches_that_end_against_the_rules_are_over(
    game: Game, running: Record, kind: str
) -> None:
    seq, at = end(running)
    last = (
        Aborted(seq=seq, at_ms=at, detail="no disk")
        if kind == "aborted"
        else Forfeited(seq=seq, at_ms=at, seat=0, cause=Cause.ABANDONED)
    )
    newest = recorded_match.build_timeline(
        game, Record(running.setup, (*running.entries, last), None, "")
    ).newest
    assert newest.to_act == -1


def test_absences_and_hidden_entries_change_no_position(game: Game, running: Record) -> None:
    seq, at = end(running)
    left = Left(seq=seq, at_ms=at, seat=0, reason="disconnect", grace_ms=1)
    hidden = Hidden(seq=seq + 1, at_ms=at)
    timeline = recorded_match.build_timeline(
        game, Record(running.setup, (*running.entries, left, hidden), None, "")
    )
    assert [frame.view for frame in timeline.frames[-2:]] == [timeline.frames[-3].view] * 2


# ------------------------------------------------------------------------------ wrong records


def test_an_illegal_move_is_named_with_its_line(
    games: dict[str, Game], running: Record, tmp_path: Path
) -> None:
    seq, at = end(running)
    acting = seq % 3
    wrong = Moved(seq=seq, at_ms=at, ply=30, seat=0, action={"from": 0, "to": 120})
    path = write(running, tmp_path / "m.jsonl", wrong)
    with pytest.raises(RecordError, match=r"m\.jsonl:32: .*(hole|peg|step)"):
        recorded_match.load_record(path, games)
    assert acting == 1


def test_a_move_out_of_turn_says_whose_turn_it_is(game: Game, running: Record) -> None:
    seq, at = end(running)
    wrong = Moved(seq=seq, at_ms=at, ply=30, seat=2, action={"from": 0, "to": 120})
    record = Record(running.setup, (*running.entries, wrong), None, "")
    with pytest.raises(RecordError, match="expected ply 30 of seat 1, not ply 30 of seat 3"):
        recorded_match.build_timeline(game, record)


def test_nothing_may_follow_the_end(game: Game, finished: Record) -> None:
    seq, at = end(finished)
    more = Resigned(seq=seq, at_ms=at, seat=0)
    record = Record(finished.setup, (*finished.entries, more), None, "")
    with pytest.raises(RecordError, match="expected no entry after the end, not 'resign'"):
        recorded_match.build_timeline(game, record)


def test_an_unknown_game_is_named_with_those_that_are_known(
    games: dict[str, Game], running: Record, tmp_path: Path
) -> None:
    setup = running.setup.model_copy(update={"game": "ludo"})
    path = write(Record(setup, (), None, ""), tmp_path / "m.jsonl")
    with pytest.raises(RecordError, match=":1: game: expected one of chinese-checkers, not 'ludo'"):
        recorded_match.load_record(path, games)


@pytest.mark.parametrize("options", [{"size": 99}, {"colour": "red"}])
def test_wrong_options_are_named(
    game: Game, running: Record, options: dict[str, int | str]
) -> None:
    setup = running.setup.model_copy(update={"options": options})
    with pytest.raises(RecordError, match=f":1: setup: .*{next(iter(options))}"):
        recorded_match.build_timeline(game, Record(setup, (), None, ""), "m.jsonl")


def test_a_file_that_is_no_record_is_named_with_its_line(
    games: dict[str, Game], tmp_path: Path
) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"hello": 1}\n', encoding="utf-8")
    with pytest.raises(RecordError, match=r"m\.jsonl:1: "):
        recorded_match.load_record(path, games)


# ----------------------------------------------------------------------------------- pictures


def test_a_picture_shows_the_end_unless_a_ply_is_named(
    games: dict[str, Game], finished: Record, tmp_path: Path
) -> None:
    path = write(finished, tmp_path / "m.jsonl")
    last = len(finished.entries)
    recorded = recorded_match.load_record(path, games)
    pictures = [match_picture.draw_svg(recorded, ply) for ply in (None, last, 0)]
    assert pictures[0] == pictures[1] != pictures[2]
    root = ET.fromstring(pictures[0])
    words = " ".join(element.text or "" for element in root.iter())
    assert "ada" in words
    assert "1st" in words
    assert f"ply {last} of {last}" in words


def test_a_ply_that_the_match_does_not_have_is_refused(
    games: dict[str, Game], finished: Record, tmp_path: Path
) -> None:
    path = write(finished, tmp_path / "m.jsonl")
    recorded = recorded_match.load_record(path, games)
    with pytest.raises(ValueError, match=f"expected a ply from 0 to {len(finished.entries)}"):
        match_picture.draw_svg(recorded, 9_999)


def test_a_position_that_is_not_known_says_so(game: Game) -> None:
    assert match_picture.frame_scene(game, Frame(3, 3, 0, None)).text == ("unknown position",)


def test_texts_of_a_board_name_the_players(game: Game, running: Record) -> None:
    timeline = recorded_match.build_timeline(game, running)
    text = match_picture.frame_scene(game, timeline.newest, running.setup.seats).text
    assert [line.split()[1] for line in text] == [who.name for who in running.setup.seats]
