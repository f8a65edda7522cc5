"""Lobbies at startup: closed ones do not reopen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.match.toy_games import Grid
from tests.tools.simulation import make_template
from tests.tools.virtual_server import VirtualServer, virtual_server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server({"toy-grid": Grid()}, tmp_path) as server:
        yield server


def test_a_lobby_whose_log_was_not_closed_any_more_is_closed_by_the_next_start(
    server: VirtualServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = server.guest_client("ada")
    item = {"game": "toy-grid", "seats": 2}
    settings = {"seats": [{"kind": "open"}] * 2, "programme": [item]}
    lobby = ada.ask("host", settings=settings)["lobby"]
    # The server dies between the entry that closes the lobby and the end of its log.
    monkeypatch.setattr(server.store, "finish", lambda *_: None)
    assert ada.ask("close", lobby=lobby)["type"] == "done"
    for _ in range(2):
        server.restart()
        ada.reconnect()
        server.advance(1)
        assert ada.ask("list_lobbies")["lobbies"] == []
        assert ada.ask("close", lobby=lobby)["code"] == "no_such_lobby"
        assert server.store.load("lobby") == []
