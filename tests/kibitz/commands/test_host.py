from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest
from click.testing import CliRunner

from kibitz.builtin_games import load_games, player_counts
from kibitz.commands.host import _LobbyHost, host, most_seats, programme
from kibitz.options import match as options_match
from kibitz.options import notation
from kibitz.options import saved_sessions as sessions
from kibitz.options.notation import GameChoice
from kibitz_games.core import registry
from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import LobbySettings, ProgrammeItem
from kibitz_protocol.wire.records import Branch
from kibitz_server.app import Config, running
from kibitz_server.lobby.schedule import match_count, uneven_blocks_problem
from kibitz_server.lobby.settings import branch_problem

KNOWN = "chinese-checkers"


def planned(games: Sequence[str], seats: str, numbers: Sequence[int] = ()) -> list[ProgrammeItem]:
    chosen = [notation.parse_game(text) for text in games]
    clock = TimeControl.parse("none")
    return programme(chosen, notation.parse_seats(seats), numbers, None, clock, None, True)


def sizes(items: Sequence[ProgrammeItem]) -> list[tuple[str, int]]:
    return [(item.game, item.seats) for item in items]


@pytest.mark.parametrize(
    ("seats", "expected"),
    [
        ("open,open", 2),
        ("5xopen", 5),
        ("9xopen", 6),
        (f"open,2xhouse={KNOWN}/random,4xhouse=star/random", 3),
        ("open", 1),
    ],
)
def test_as_many_play_as_there_are_seats_for_whom_the_game_is(seats: str, expected: int) -> None:
    assert most_seats(KNOWN, notation.parse_seats(seats)) == expected


def test_of_a_game_that_is_not_in_the_box_all_who_can_play_do() -> None:
    assert player_counts("star") is None
    assert most_seats("star", notation.parse_seats(f"3xopen,house={KNOWN}/random")) == 3


def test_each_game_has_each_number_of_players_that_it_is_for() -> None:
    items = planned([KNOWN, "star"], "6xopen", [2, 7])
    assert sizes(items) == [(KNOWN, 2), ("star", 2), ("star", 7)]


def test_a_number_that_no_game_is_for_is_named() -> None:
    with pytest.raises(ValueError, match="none of the games is for 7 players"):
        planned([KNOWN], "8xopen", [2, 7])
    with pytest.raises(ValueError, match="is for 2, 3, 4, 5, 6 players, not 7 or 8"):
        planned([KNOWN, "star"], "8xopen", [7, 8])


def test_without_a_number_of_games_the_server_makes_of_it_what_the_game_asks_for() -> None:
    assert [item.games for item in planned([KNOWN], "open,open")] == [None]


def test_what_cannot_be_hosted_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(host, [KNOWN, "--players", "9"])
    assert result.exit_code == 2
    assert f"{KNOWN} is for 2, 3, 4, 5, 6 players, not 9" in " ".join(result.output.split())


def test_a_branch_is_one_match_in_the_order_of_the_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    hosted: list[LobbySettings] = []

    async def opened(lobby: _LobbyHost) -> int:
        hosted.append(lobby._settings)
        return 0

    monkeypatch.setattr(_LobbyHost, "open", opened)
    arguments = ["number-merge", "--branch", "abc-1-1@12", "--no-wait"]
    result = CliRunner().invoke(host, arguments)
    assert result.exit_code == 0, result.output
    assert result.output == ""
    [settings] = hosted
    assert settings.branch == Branch(match="abc-1-1", ply=12)
    assert [(item.games, item.rotate, item.options) for item in settings.programme] == [
        (1, False, {})
    ]
    assert branch_problem(settings) is None


def test_a_game_is_read_with_its_options() -> None:
    assert planned([f"{KNOWN}:size=3"], "open,open")[0].options == {"size": 3}
    assert notation.parse_game(KNOWN) == GameChoice(KNOWN)


async def lobby_of(
    server: str,
    joinable: Literal["open", "invite"] = "open",
    title: str = "an evening",
) -> tuple[str, list[str]]:
    """Return the lobby that the command would follow, and all of its player's lobbies."""
    settings = LobbySettings(
        name=title,
        joinable=joinable,
        seats=notation.parse_seats("open,open"),
        programme=planned(["line-nim"], "open,open"),
    )
    given = {"server": server, "name": "ada", "token_file": None, "fresh": False}
    command = _LobbyHost(settings, given, None, as_json=True)
    with command._saved() as saved:
        async with sessions.connect_saved(
            saved, command._client, lambda _: None, account=False
        ) as client:
            lobby = await command._lobby(client, saved)
            briefs = (await client.hall.lobbies()).lobbies
            return lobby, [brief.lobby for brief in briefs if brief.state != "closed"]


@pytest.mark.parametrize("joinable", ["open", "invite"])
async def test_the_same_command_continues_with_its_lobby(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, joinable: Literal["open", "invite"]
) -> None:
    monkeypatch.setenv("KIBITZ_STATE", str(tmp_path))
    async with running(Config(db=tmp_path / "kibitz.db"), load_games("plain")) as server:
        other, _ = await lobby_of(server.url, title="another one")
        lobby, there = await lobby_of(server.url, joinable)
        assert sorted(there) == sorted([other, lobby])
        assert await lobby_of(server.url, joinable) == (lobby, there)
        again, _ = await lobby_of(server.url, title="another one")
        assert again == other


BALANCED = [name for name in registry.names() if registry.get(name).info.balanced]


@pytest.mark.parametrize("game", registry.names())
def test_a_single_match_is_played_also_where_matches_come_in_blocks(game: str) -> None:
    seats = max(registry.get(game).info.seats)
    chosen = [notation.parse_game(game)]
    clock = TimeControl()
    [item] = programme(chosen, notation.parse_seats(f"{seats}xopen"), [], 1, clock, None, True)
    assert uneven_blocks_problem(item, BALANCED) is None
    assert match_count(item, BALANCED) == 1
    assert (options_match.unbalanced_note(game, 1) is not None) == (game in BALANCED)
    assert options_match.unbalanced_note(game, None) is None
    assert options_match.unbalanced_note(game, 2) is None
