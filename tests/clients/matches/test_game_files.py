"""Matches of other programs, as records in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from kibitz.builtin_games import load_games
from kibitz.cli import kibitz
from kibitz_clients.matches import game_files, recorded_match
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import RecordError

WON = ["1,1", "1,3", "2,1", "3,5", "3,1", "5,7", "4,1", "7,9", "5,1"]
FILES: Mapping[str, str] = {
    "won.psq": "\n".join(["Piskvorky 15x15, 0:0, 0", *WON, "pbrain-a.exe", "pbrain-b.exe", "-1"]),
    "won.PSQ": "\n".join(["Piskvorky 15x15, 0:0, 0", *WON, "pbrain-a.exe", "pbrain-b.exe", "-1"]),
    "won.sgf": "(;GM[4]SZ[15]PB[a]PW[b]"
    + "".join(
        f";{'BW'[n % 2]}[{chr(96 + int(x))}{chr(96 + int(y))}]"
        for n, (x, y) in enumerate(stone.split(",") for stone in WON)
    )
    + ")",
}
MALFORMED: Mapping[str, tuple[str, str]] = {
    "bad.psq": ("Piskvorky 15x15, 0:0, 0\n1,1\n1,1\n", "bad.psq:3: expected an empty cell"),
    "bad.sgf": ("(;SZ[15];W[aa])", "bad.sgf:1: move 1: expected black, which is to move"),
    "bad.jsonl": ("{}", "bad.jsonl:1: "),
}


@pytest.fixture(scope="module")
def games() -> dict[str, Game]:
    return load_games("plain")


def written(directory: Path, name: str, text: str) -> str:
    path = directory / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", FILES)
def test_a_match_of_another_program_is_a_record(
    tmp_path: Path, games: dict[str, Game], name: str
) -> None:
    record = game_files.read_match(written(tmp_path, name, FILES[name]), lambda: games)
    assert record.setup.game == "five-in-a-row"
    assert [player.name for player in record.setup.seats] == ["a", "b"]
    assert [entry.seat for entry in record.entries] == [0, 1] * 4 + [0]  # type: ignore[union-attr]
    assert record.footer is not None
    assert record.footer.result.reason == "five"
    assert [seat.rank for seat in record.footer.result.seats] == [1, 2]
    timeline = recorded_match.build_timeline(games["five-in-a-row"], record)
    assert timeline.newest.ply == 9


def test_a_match_that_the_rules_do_not_end_has_no_result(
    tmp_path: Path, games: dict[str, Game]
) -> None:
    text = "Piskvorky 15x15, 0:0, 0\n8,8,0\n"
    record = game_files.read_match(written(tmp_path, "x.psq", text), lambda: games)
    assert record.footer is None
    assert [player.name for player in record.setup.seats] == ["Player 1", "Player 2"]


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_named_with_its_line(
    tmp_path: Path, games: dict[str, Game], name: str
) -> None:
    text, expected = MALFORMED[name]
    with pytest.raises(RecordError) as caught:
        game_files.read_match(written(tmp_path, name, text), lambda: games)
    assert expected in str(caught.value)


def test_games_are_not_loaded_for_records(tmp_path: Path) -> None:
    def load() -> dict[str, Game]:
        raise AssertionError("a record needs no game")

    with pytest.raises(RecordError):
        game_files.read_match(written(tmp_path, "x.jsonl", "{}"), load)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "words",
    [
        ["record", "replay", "FILE", "--plain"],
        ["record", "replay", "FILE", "--json"],
        ["record", "export", "FILE", "--out", "-"],
        ["record", "analyze", "FILE", "--by", "five-in-a-row/greedy", "--ms", "1"],
    ],
)
def test_commands_open_matches_of_other_programs(
    tmp_path: Path, name: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, name, FILES[name])
    done = CliRunner().invoke(kibitz, [path if word == "FILE" else word for word in words])
    assert done.exit_code == 0, done.output
    assert len(done.output) > 200


@pytest.mark.parametrize("name", ["bad.psq", "bad.sgf"])
@pytest.mark.parametrize(
    "words",
    [
        ["record", "replay", "FILE"],
        ["record", "export", "FILE", "--out", "-"],
        ["record", "analyze", "FILE", "--by", "five-in-a-row/greedy"],
    ],
)
def test_commands_refuse_a_malformed_file_in_a_sentence(
    tmp_path: Path, name: str, words: list[str]
) -> None:
    text, expected = MALFORMED[name]
    path = written(tmp_path, name, text)
    done = CliRunner().invoke(kibitz, [path if word == "FILE" else word for word in words])
    assert done.exit_code == 1
    assert expected in " ".join(done.output.split())
