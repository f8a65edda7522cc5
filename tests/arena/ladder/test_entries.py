"""A ladder's journal: lines, torn ends, damage, and exclusive access."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz_arena.journal import JournalError, encode_line
from kibitz_arena.ladder.entries import (
    FORMAT,
    Entered,
    Entry,
    GameCancelled,
    GameEnded,
    GameRequested,
    Hosted,
    Kept,
    ended_entry,
    make_header,
)
from kibitz_arena.ladder.journal_file import LadderJournal
from kibitz_protocol.wire.records import Cause, Result, SeatResult
from tests.arena.ladder.runs import ladder

ENTRIES: list[Entry] = [
    Kept(at_ms=1, ladder=ladder().dump()),
    Hosted(at_ms=2, lobby="L1"),
    Entered(at_ms=3, entrant="ada@1", name="ada", player="bot"),
    Entered(at_ms=3, entrant="bob", name="bob", player="human"),
    GameRequested(
        at_ms=4, tag="g1", entrants=["ada@1", "bob"], players=["p1", "p2"], block=0, seed=5
    ),
    GameEnded(at_ms=5, tag="g1", match="m1", ranks=[2, 1], causes=[Cause.CRASH, None], plies=3),
    GameRequested(
        at_ms=6, tag="g2", entrants=["bob", "ada@1"], players=["p2", "p1"], block=0, seed=5
    ),
    GameCancelled(at_ms=7, tag="g2", detail="a player had left"),
]


def test_lines_are_read_as_they_were_written() -> None:
    header = make_header(ladder())
    data = b"".join(map(encode_line, [header, *ENTRIES]))
    found = FORMAT.parse(data)
    assert (found.header, list(found.entries), found.torn) == (header, ENTRIES, b"")


def test_every_torn_end_is_cut_off(tmp_path: Path) -> None:
    data = b"".join(map(encode_line, [make_header(ladder()), *ENTRIES]))
    path = tmp_path / "j"
    for length in range(len(data) + 1):
        path.write_bytes(data[:length])
        with LadderJournal(path, ladder()) as journal:
            whole = data[:length].count(b"\n") - 1
            assert journal.state.sessions == min(max(whole, 0), 1)
            assert journal.torn == data[:length].rpartition(b"\n")[2]
        if length:
            assert path.read_bytes().startswith(data[:length].rpartition(b"\n")[0])
            assert path.read_bytes().endswith(b"\n")


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j"
    lines = [encode_line(each) for each in [make_header(ladder()), *ENTRIES]]
    path.write_bytes(b"".join([*lines[:3], b'{"kind":"else"}\n', *lines[3:]]))
    with pytest.raises(JournalError, match="line 4: expected an entry"):
        LadderJournal(path, ladder())
    path.write_bytes(b"".join([*lines, lines[-1]]))
    with pytest.raises(JournalError, match="line 10: the game 'g2' is not outstanding"):
        LadderJournal(path, ladder())
    path.write_bytes(b"".join([*lines, lines[5]]))
    with pytest.raises(JournalError, match="line 10: expected game 'g3', got 'g1'"):
        LadderJournal(path, ladder())
    path.write_bytes(lines[1])
    with pytest.raises(JournalError, match="line 1: expected the header"):
        LadderJournal(path, ladder())
    path.write_bytes(b"".join(lines))
    LadderJournal(path, ladder()).close()  # each failure releases the lock


def test_a_ladder_of_another_game_needs_another_name(tmp_path: Path) -> None:
    LadderJournal(tmp_path / "j", ladder()).close()
    with pytest.raises(JournalError, match="seats is 3 and was 2"):
        LadderJournal(tmp_path / "j", ladder(seats=3))
    LadderJournal(tmp_path / "j", ladder(at_once=3, pause={"after": 9})).close()


def test_one_process_keeps_a_ladder(tmp_path: Path) -> None:
    with (
        LadderJournal(tmp_path / "j", ladder()),
        pytest.raises(JournalError, match="another process is running this ladder"),
    ):
        LadderJournal(tmp_path / "j", ladder())


def test_what_the_server_had_trouble_with_never_counts() -> None:
    seats = [SeatResult(rank=1, score=0), SeatResult(rank=1, score=0)]
    failed = Result(seats=seats, cause=Cause.INFRASTRUCTURE, reason="x" * 200, plies=0)
    assert isinstance(ended_entry(1, "g1", "m1", failed), GameCancelled)
    drawn = Result(seats=seats, cause=Cause.RULES, plies=9)
    assert isinstance(ended_entry(1, "g1", "m1", drawn), GameEnded)
