"""Hello: what of a guest is left after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.mnk import GAME
from kibitz_server.storage.store import UNHURRIED_S
from tests.tools.simulation import make_template
from tests.tools.virtual_server import VirtualServer, virtual_server

SETTINGS = {
    "name": "a lobby",
    "seats": [{"kind": "open"}, {"kind": "open"}],
    "programme": [{"game": "mnk", "options": {"columns": 3, "rows": 3, "row": 3}}],
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server({GAME.info.name: GAME}, tmp_path) as server:
        yield server


def test_whoever_is_named_on_the_disk_comes_back(server: VirtualServer) -> None:
    """The guest has hosted a lobby at once, and the server is killed as soon as it has answered."""
    ada = server.guest_client("ada")
    lobby = ada.ask("host", settings=SETTINGS)["lobby"]
    ada.ask("join", lobby=lobby)
    server.restart()
    assert ada.reconnect()["lobbies"] == [lobby]


def test_a_guest_who_has_done_nothing_comes_back_too(server: VirtualServer) -> None:
    ada = server.guest_client("ada")
    server.advance(UNHURRIED_S + 0.1)
    server.restart()
    assert ada.reconnect()["type"] == "welcome"
