"""Lists: which finished matches they contain, before and after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz_server.storage.interface import UNHURRIED_S
from tests.tools.mnk import GAME
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server({GAME.info.name: GAME}, tmp_path) as server:
        yield server


def play(players: list[ScriptedClient], *, listed: bool) -> tuple[str, str]:
    """Play a match to its end; return the keys of its open lobby and of the match."""
    settings = {
        "name": "a lobby",
        "listed": listed,
        "seats": [{"kind": "open"}, {"kind": "open"}],
        "programme": [{"game": "mnk", "options": {"columns": 3, "rows": 3, "row": 3}}],
    }
    lobby: str = players[0].ask("host", settings=settings)["lobby"]
    for player in players:
        player.ask("join", lobby=lobby)
    for player in players:
        player.ask("ready", lobby=lobby)
    match = f"{lobby}-1-1"
    assert players[0].ask("resign", match=match)["type"] == "done"
    return lobby, match


def matches(client: ScriptedClient, **fields: object) -> list[str]:
    return [brief["match"] for brief in client.ask("list_matches", **fields)["matches"]]


@pytest.mark.parametrize("lobby_is", ["open", "closed"])
def test_a_match_of_an_unlisted_lobby_is_for_who_knows_the_lobby(
    server: VirtualServer, lobby_is: str
) -> None:
    players = [server.guest_client(name) for name in ("ada", "bob")]
    shown, hidden = play(players, listed=True), play(players, listed=False)
    eve = server.guest_client("eve")
    server.advance(UNHURRIED_S + 0.1)
    for _ in range(2):
        assert matches(eve) == [shown[1]]
        if lobby_is == "open":
            assert matches(eve, lobby=hidden[0]) == [hidden[1]]
            assert matches(eve, lobby=shown[0]) == [shown[1]]
        else:
            for lobby, _match in (shown, hidden):
                players[0].ask("close", lobby=lobby)
        server.restart()
        players[0].reconnect()
        eve.reconnect()
