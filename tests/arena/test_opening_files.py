"""`openings: {file: NAME}`: openings of other programs, stored in the tournament."""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz_arena.config import build, load
from kibitz_arena.config_error import ConfigError
from kibitz_arena.schedule import Schedule
from kibitz_arena.tournament import Tournament

EVENT = """\
name: cup
game: five-in-a-row:size=15
blocks: 3
openings: {{file: {name}}}
entrants:
  - {{name: Ada, bot: five-in-a-row/greedy}}
  - {{name: Bob, bot: five-in-a-row/random}}
"""
GOOD = {
    "openings.txt": "0,0, 1,1\n\n-2,0, 3,3, 1,0\n",
    "book/game.psq": "Piskvorky 15x15, 0:0, 0\n8,8,0\n9,9,0\n",
    "games.SGF": "(;SZ[15];B[hh];W[ii])(;SZ[15];B[fh])",
}


def event(directory: Path, name: str, text: str | bytes, game: str = "") -> Tournament:
    """Load a tournament with an opening file next to it."""
    path = directory / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    form = EVENT.format(name=name)
    return load(form.replace("five-in-a-row:size=15", game) if game else form, _event(directory))


def _event(directory: Path) -> str:
    return str(directory / "cup.yaml")


@pytest.mark.parametrize(
    ("name", "openings"),
    [
        ("openings.txt", [["h8", "i9"], ["f8", "k11", "i8"]]),
        ("book/game.psq", [["h8", "i9"]]),
        ("games.SGF", [["h8", "i9"], ["f8"]]),
    ],
)
def test_each_block_has_the_next_opening(
    tmp_path: Path, name: str, openings: list[list[str]]
) -> None:
    found = event(tmp_path, name, GOOD[name])
    assert found.openings == [{"opening": opening} for opening in openings]
    plan = Schedule(found)
    played = [plan.options(game)["opening"] for block in plan.blocks for game in block.games]
    expected = [openings[block % len(openings)] for block in range(3) for _ in range(2)]
    assert played == expected


def test_the_event_keeps_the_openings(tmp_path: Path) -> None:
    found = event(tmp_path, "openings.txt", GOOD["openings.txt"])
    (tmp_path / "openings.txt").unlink()
    assert build(found.dump(), "the journal") == found


def test_another_content_is_another_event(tmp_path: Path) -> None:
    first = event(tmp_path, "openings.txt", "0,0")
    assert event(tmp_path, "openings.txt", "0,0\n").hash == first.hash
    assert event(tmp_path, "openings.txt", "0,1").hash != first.hash


FIVE = "0,0, 0,5, 1,0, 1,5, 2,0, 2,5, 3,0, 3,5, 4,0"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("x.txt", "0,0\n1;1", "x.txt:2: expected pairs such as 0,0, 1,-2"),
        ("x.txt", "0,0\n8,0", "x.txt:2: expected a cell on a 15x15 board"),
        ("x.txt", "0,0\n1,1, 1,1", "x.txt:2: expected different cells, but 'i9' occurs twice"),
        ("x.txt", f"0,0\n\n{FIVE}", "x.txt:3: expected no five, but 'l8' makes one"),
        ("x.txt", "", "x.txt:1: expected at least one opening"),
        ("x.txt", b"\xff\xfe0", "x.txt:1: expected pairs"),
        ("x.psq", "nothing", "x.psq:1: expected a header such as"),
        ("x.psq", "Piskvorky 20x20, 0:0, 0\n1,1", "x.psq:1: expected a 15x15 board, found 20"),
        ("x.sgf", "nothing", "x.sgf:1: expected SGF: no SGF data found"),
        ("x.sgf", "(;SZ[15];B[hh];W[hh])", "x.sgf:1: move 2: expected an empty cell"),
        ("x.pgn", "1. e4", "expected a name that ends with .txt, .psq, .sgf, found 'x.pgn'"),
    ],
)
def test_a_file_that_is_malformed_is_refused_with_its_line(
    tmp_path: Path, name: str, text: str | bytes, expected: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        event(tmp_path, name, text)
    [told] = str(caught.value).splitlines()
    assert told.startswith(f"{_event(tmp_path)}:4: openings.file: ")
    assert expected in told


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.txt: No such file or directory"):
        load(EVENT.format(name="missing.txt"), _event(tmp_path))


def test_openings_are_for_games_that_read_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected a game that supports such files"):
        event(tmp_path, "x.txt", "0,0", game="line-nim")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("{file: 3}", "openings.file: "),
        ("{file: ''}", "openings.file: "),
        ("{file: a.txt, random-plies: 3}", "openings.random-plies: unknown key"),
        ("{}", "openings.random-plies: "),
        ("7", "expected a list of option sets, random-plies: N, or file: NAME"),
    ],
)
def test_what_openings_may_be_is_said(tmp_path: Path, value: str, expected: str) -> None:
    text = EVENT.format(name="x").replace("{file: x}", value)
    with pytest.raises(ConfigError) as caught:
        load(text, _event(tmp_path))
    assert expected in str(caught.value)


def test_flags_name_a_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "openings.txt").write_text(GOOD["openings.txt"])
    entrants = [{"name": name, "bot": "five-in-a-row/greedy"} for name in ("Ada", "Bob")]
    values = {"name": "x", "game": "five-in-a-row:size=15", "entrants": entrants}
    found = build(values | {"openings": {"file": "openings.txt"}}, "flags")
    assert found.openings == [{"opening": ["h8", "i9"]}, {"opening": ["f8", "k11", "i8"]}]
