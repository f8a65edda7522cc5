"""Hello: whether guests survive a crash, an orderly shutdown, and a backup."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kibitz_protocol.client.client import Client
from kibitz_server.app import Config, running
from kibitz_server.maintenance.backup import back_up
from kibitz_server.maintenance.check import check_database
from kibitz_server.storage import group_commit
from kibitz_server.storage.interface import UNHURRIED_S
from tests.server.fakes import wait_until
from tests.tools.mnk import GAME
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
    """The guest hosts a lobby immediately, and the server is killed right after its answer."""
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


# --- the quarter second before a guest is on disk -------------------------------------------------

GAMES = {GAME.info.name: GAME}


def in_place_of(copy: Path) -> Callable[[Path], None]:
    """Return a function that replaces a database with a backup."""

    def put(path: Path) -> None:
        for suffix in ("-wal", "-shm", "-mark"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        shutil.copy(copy, path)

    return put


def test_a_guest_whom_a_crash_took_has_nothing_and_comes_by_name(server: VirtualServer) -> None:
    ada = server.guest_client("ada")
    server.restart()
    assert ada.reconnect()["code"] == "unauthorized"
    again = server.guest_client("ada")
    server.advance(UNHURRIED_S + 0.1)
    server.restart()
    assert again.reconnect()["name"] == "ada"


def test_a_backup_has_whom_it_names_and_may_lack_who_has_just_come(
    server: VirtualServer, tmp_path: Path
) -> None:
    ada = server.guest_client("ada")
    early, late = tmp_path / "early.db", tmp_path / "late.db"
    assert back_up(server.store.path, early).sound
    lobby = ada.ask("host", settings=SETTINGS)["lobby"]
    ada.ask("join", lobby=lobby)
    eve = server.guest_client("eve")
    assert back_up(server.store.path, late).sound
    server.restart(in_place_of(late))
    assert ada.reconnect()["lobbies"] == [lobby]
    assert eve.reconnect()["code"] == "unauthorized"
    server.restart(in_place_of(early))
    assert ada.reconnect()["code"] == "unauthorized"


@pytest.fixture
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The delay of low-priority rows is so long that only other writes can flush them."""
    monkeypatch.setattr(group_commit, "UNHURRIED_S", 600.0)


@pytest.mark.usefixtures("no_hurry")
async def test_an_end_in_good_order_writes_guests_who_wait(tmp_path: Path) -> None:
    """Drain the server, as after SIGTERM."""
    config = Config(db=tmp_path / "k.db")
    async with running(config, GAMES) as server, Client(server.url, name="ada") as ada:
        before = (ada.player, ada.resume)
        await server.drain()
    assert check_database(tmp_path / "k.db").sound
    async with running(config, GAMES) as server, Client(server.url, resume=before[1]) as back:
        assert (back.player, back.name) == (before[0], "ada")


@pytest.mark.usefixtures("no_hurry")
async def test_a_client_whom_a_crash_took_says_hello_by_name_itself(tmp_path: Path) -> None:
    """After a restart with files that lack the guest, the client signs in again by name."""
    left = tmp_path / "left.db"
    async with running(Config(db=tmp_path / "k.db"), GAMES) as server:
        ada = await Client(server.url, name="ada").__aenter__()
        for suffix in ("", "-wal", "-mark"):
            shutil.copy(f"{server.config.db}{suffix}", f"{left}{suffix}")
        port, before = server.port, ada.player
    try:
        async with running(Config(db=left, port=port), GAMES), asyncio.timeout(20):
            await wait_until(lambda: ada.player != before)
            assert ada.name == "ada"
            assert (await ada.hall.lobbies()).lobbies == []
    finally:
        await ada.__aexit__(None, None, None)
