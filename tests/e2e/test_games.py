"""Every built-in game, played by its house bots through the command."""

from __future__ import annotations

import json

import pytest

from kibitz.builtin_games import load_games
from kibitz_games.core import registry
from kibitz_protocol.wire.recordfile import read_record
from tests.tools.command import Kibitz

SMALL = {"chinese-checkers": "size=2", "tanks": "turns=40", "five-in-a-row": "size=6"}
SMOKE = ("chinese-checkers", "line-nim")
"""The games played in the fast tests; `tests/integration` plays all games."""


def small(game: str) -> str:
    """Return the game with options for short matches."""
    return f"{game}:{SMALL[game]}" if game in SMALL else game


def bots(game: str, seats: int) -> list[str]:
    """Return a greedy bot and random ones."""
    return [f"{game}/greedy", *([f"{game}/random"] * (seats - 1))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name if name in SMOKE else pytest.param(name, marks=pytest.mark.slow)
        for name in registry.names()
    ],
)
def test_a_match_or_a_block_of_every_game(kibitz: Kibitz, name: str) -> None:
    info = load_games("plain")[name].info
    seats = info.seats[0]
    done = kibitz.run("play", small(name), *bots(name, seats), "--json", "--quiet", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    assert result["trouble"] == []
    assert len(result["matches"]) == (seats if info.balanced else 1)
    places: dict[int, set[str]] = {}
    for match in result["matches"]:
        record = read_record(kibitz.directory / match["record"])
        assert record.footer is not None
        assert record.setup.conduct.max_illegal == 1
        for seat, player in enumerate(record.setup.seats):
            places.setdefault(seat, set()).add(player.name)
    assert all(len(names) == len(result["matches"]) for names in places.values())


def test_a_lobby_of_games_for_different_numbers_of_players(kibitz: Kibitz) -> None:
    """House bots play their own games, with all supported numbers of seats."""
    names = [name for name in registry.names() if load_games("plain")[name].info.balanced]
    hired = [bot for name in names for bot in bots(name, load_games("plain")[name].info.seats[0])]
    seats = ",".join(f"house={bot}" for bot in hired)
    with kibitz.start("serve", "--port", "0", "--db", "kibitz.db", "--json") as server:
        where = server.json()["url"]
        lobby = [*map(small, names), "--seats", seats, "--closed", "--server", where]
        done = kibitz.run("host", *lobby, "--records", "results", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])
    planned = [name for name in names for _ in range(load_games("plain")[name].info.seats[0])]
    assert [match["game"] for match in summary["matches"]] == planned
    for match in summary["matches"]:
        assert read_record(kibitz.directory / match["record"]).setup.match == match["match"]


def test_a_number_of_matches_that_is_no_whole_block_is_refused(kibitz: Kibitz) -> None:
    name = next(name for name in registry.names() if load_games("plain")[name].info.balanced)
    pair = bots(name, load_games("plain")[name].info.seats[0])
    refused = kibitz.run("play", small(name), *pair, "--games", "3", "--quiet")
    assert (refused.returncode, "blocks of" in refused.stderr) == (1, True), refused
    played = kibitz.run("play", small(name), *pair, "--games", "1", "--quiet", "--no-rotate")
    assert played.returncode == 0, played.stdout + played.stderr
