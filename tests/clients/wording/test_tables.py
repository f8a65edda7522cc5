"""Tables of lobbies, matches and results."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

from kibitz_clients.wording import tables
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import Cause, Player, Result, SeatResult
from tests.tools import fake_connection as testing

Golden = Callable[[str, str], None]
PLAYERS = [
    Player(player="a", name="ada", kind="bot"),
    Player(player="b", name="bob", kind="bot"),
]


def brief(result: Result | None, number: int = 1) -> MatchBrief:
    return MatchBrief(match=f"m{number}", number=number, game="star", seats=PLAYERS, result=result)


WON = Result(
    seats=[SeatResult(rank=1, score=1), SeatResult(rank=2, score=0)],
    cause=Cause.RULES,
    reason="goal",
    plies=41,
)
CRASHED = Result(
    seats=[
        SeatResult(rank=2, score=0, cause=Cause.CRASH, detail="ZeroDivisionError"),
        SeatResult(rank=1, score=1),
    ],
    cause=Cause.CRASH,
    plies=3,
)


def test_lists_are_tables_or_json_lines(running: Record, golden: Golden) -> None:
    lobby = LobbyBrief(
        lobby="L1",
        name="evening",
        host="ada",
        state="running",
        joinable="open",
        watchable=True,
        games=["chinese-checkers"],
        members=3,
        places=4,
    )
    brief = testing.brief(running)
    golden(
        "lists.txt",
        "\n".join([*tables.lobby_table([lobby]), "", *tables.match_table([brief])]),
    )
    assert json.loads(tables.lobby_table([lobby], as_json=True)[0])["places"] == 4
    assert json.loads(tables.match_table([brief], as_json=True)[0])["ply"] == 30


PLACES = "1. ada  2. bo with a name  3. cy  4. di  5. ed  6. flo and more"


def test_a_row_is_one_line_where_there_is_no_terminal() -> None:
    assert tables.format_table(("no", "record", "places"), [["1", "x" * 200, PLACES]]) == [
        "no  record" + " " * 196 + "places",
        f"1   {'x' * 200}  {PLACES}",
    ]


def test_the_last_column_wraps_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    assert tables.format_table(("no", "record", "places"), [["1", "x" * 20, PLACES]]) == [
        "no  record                places",
        "1   xxxxxxxxxxxxxxxxxxxx  1. ada  2. bo with a name  3. cy",
        "                          4. di  5. ed  6. flo and more",
    ]


def test_cells_before_the_last_are_whole_in_a_narrow_terminal() -> None:
    lines = tables.format_table(("match", "places"), [["m" * 60, "1. ada  2. bo"]], width=40)
    assert "".join(lines).count("m" * 60) == 1


def test_what_others_have_written_is_neither_markup_nor_control_characters() -> None:
    assert tables.format_table(("a", "b"), [["[b]x[/b]", "\x1b[2J"]])[1] == "[b]x[/b]  \\x1b[2J"


def test_wide_letters_take_two_columns() -> None:
    rows = [["棋", "x"], ["abc", "y"]]
    assert tables.format_table(("a", "b"), rows) == ["a    b", "棋   x", "abc  y"]


def test_a_match_says_who_won_and_why_and_where_its_record_is() -> None:
    head, line = tables.results_table([brief(WON)], {"m1": "records/m1.jsonl"})
    assert head.split() == ["match", "game", "plies", "end", "record", "places"]
    assert " ".join(line.split()) == "1 star 41 goal records/m1.jsonl 1. ada 2. bob"


def test_where_no_record_was_fetched_there_is_no_column_for_it() -> None:
    head, line = tables.results_table([brief(WON)], {})
    assert head.split() == ["match", "game", "plies", "end", "places"]
    assert " ".join(line.split()) == "1 star 41 goal 1. ada 2. bob"


def test_places_are_written_best_first_with_the_cause_of_a_drop_out() -> None:
    assert tables.placing_text(PLAYERS, WON) == "1. ada  2. bob"
    assert tables.placing_text(PLAYERS, CRASHED) == "1. bob  2. ada (crash)"
    assert tables.placing_text(PLAYERS, None) == "ada  bob"
