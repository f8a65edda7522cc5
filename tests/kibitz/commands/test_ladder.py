"""`kibitz ladder rated`: its output for a rating list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kibitz.commands.ladder import _tell, ladder, shown
from kibitz_arena.ladder.directory import LadderDirectory
from kibitz_protocol.wire.lobbies import LadderLine, LadderTable
from tests.arena.ladder.test_feed import feed_of, played


def table(places: int, players: int) -> LadderTable:
    lines = [
        LadderLine(
            place=place,
            key=f"a{place}",
            name=f"bot {place}",
            kind="bot",
            rating=1700.4 - place,
            deviation=61.6,
            matches=12,
            last_played=1_893_553_445,
        )
        for place in range(1, places + 1)
    ]
    return LadderTable(game="line", players=players, matches=24, lines=lines)


def test_a_ladder_is_a_table() -> None:
    head, heads, first, second = shown(table(2, 2))
    assert head == "line: 2 players, 24 rated matches"
    assert heads.split() == [
        "place",
        "name",
        "kind",
        "rating",
        "std",
        "dev",
        *["matches", "last", "played"],
    ]
    assert first.split() == ["1", "bot", "1", "bot", "1699", "+-62", "12", "2030-01-02"]
    assert second.split()[0] == "2"


def test_what_is_left_off_is_said() -> None:
    assert list(shown(table(1, 30)))[-1] == "  29 more players; see --first and --count"


def test_a_ladder_does_not_take_a_mistyped_command_for_a_game() -> None:
    done = CliRunner().invoke(ladder, ["kepe", "evening.yaml"])
    assert done.exit_code == 2
    assert "No such command 'kepe'" in done.output


def test_a_ladder_that_cannot_be_kept_or_shown_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "l.yaml"
    file.write_text("name: a\ngame: no-such-game\n")
    done = CliRunner().invoke(ladder, ["keep", str(file)])
    assert done.exit_code == 1
    assert "l.yaml:2: game: " in done.output
    for data in ("{}", "not JSON"):
        file.write_text(data)
        done = CliRunner().invoke(ladder, ["show", str(file)])
        assert done.exit_code == 1
        assert "not a ladder feed" in done.output
    done = CliRunner().invoke(ladder, ["show", str(tmp_path)])
    assert "No such file" in done.output
    assert not isinstance(done.exception, FileNotFoundError)


def test_a_feed_is_shown(tmp_path: Path) -> None:
    directory = LadderDirectory(tmp_path)
    directory.create()
    directory.write_public("", feed_of(played()).model_dump_json(exclude_none=True))
    shown_lines = CliRunner().invoke(ladder, ["show", str(tmp_path)]).output
    assert "evening: line-nim, 4 games by 4 entrants" in shown_lines
    assert "last losses" in CliRunner().invoke(ladder, ["show", str(tmp_path), "ada"]).output
    unknown = CliRunner().invoke(ladder, ["show", str(tmp_path), "eve"])
    assert "no entrant 'eve' on the ladder evening" in unknown.output
    as_json = CliRunner().invoke(ladder, ["show", str(directory.feed), "--json"]).output
    assert json.loads(as_json)["games"] == 4


def test_news_of_a_ladder_are_printable_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    _tell("ada\x1b[2J has joined")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.endswith("has joined\n")
    assert "\x1b" not in told.err
