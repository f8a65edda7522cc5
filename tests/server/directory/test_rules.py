"""A thread loads the rules of a game, and only requests that need them wait."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from kibitz_games.compiled import kernels
from kibitz_games.core import warmup
from kibitz_games.core.game import Game
from kibitz_server.app import Config, running
from kibitz_server.directory.rules import Rules
from kibitz_server.handlers import answering
from tests.server.directory.test_directory import GAMES, Scenario, settings
from tests.server.fakes import JsonClient, wait_until

pytestmark = pytest.mark.e2e


class Loading:
    """A fake numba that records which thread loads what, and waits until released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.threads: dict[str, int] = {}
        self.compiled: set[str] = set(GAMES)
        self.broken = False
        self.may_load = threading.Event()
        monkeypatch.setattr(kernels, "compiled", lambda: True)
        monkeypatch.setattr(warmup, "warm_up_for_server", self._load)
        monkeypatch.setattr(warmup, "is_compiled", lambda game: game.info.name in self.compiled)

    def _load(self, game: Game) -> None:
        name = game.info.name
        assert name not in self.threads, "it is loaded once"
        self.threads[name] = threading.get_ident()
        if not self.may_load.wait(60):
            raise TimeoutError(name)
        if self.broken:
            raise ValueError("planted")


@pytest.fixture
def loading(monkeypatch: pytest.MonkeyPatch) -> Loading:
    return Loading(monkeypatch)


class Tasks:
    """Runs spawned coroutines and can wait for all of them."""

    def __init__(self) -> None:
        self.all: list[asyncio.Future[None]] = []

    def spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        self.all.append(asyncio.ensure_future(work()))

    async def end(self) -> None:
        await asyncio.gather(*self.all)


async def test_a_thread_loads_once_for_all_who_wait(loading: Loading) -> None:
    tasks, told = Tasks(), list[str]()
    rules = Rules(GAMES, tasks.spawn, None, lambda: told.append("loaded"))
    waiting = [asyncio.ensure_future(rules.load(["toy-grid"])) for _ in range(3)]
    await wait_until(lambda: "toy-grid" in loading.threads)
    assert not rules.are_loaded(["toy-grid"])
    assert not any(each.done() for each in waiting)
    loading.may_load.set()
    await asyncio.gather(*waiting)
    assert rules.are_loaded(["toy-grid"])
    assert loading.threads["toy-grid"] != threading.get_ident()
    assert told == ["loaded"]
    await tasks.end()


async def test_who_gives_up_stops_nobody_else(loading: Loading) -> None:
    tasks = Tasks()
    rules = Rules(GAMES, tasks.spawn)
    first, second = (asyncio.ensure_future(rules.load(["toy-grid"])) for _ in range(2))
    await wait_until(lambda: "toy-grid" in loading.threads)
    first.cancel()
    loading.may_load.set()
    await second
    assert rules.are_loaded(["toy-grid"])
    await tasks.end()


async def test_rules_that_cannot_be_loaded_keep_nobody_waiting(
    loading: Loading, caplog: pytest.LogCaptureFixture
) -> None:
    loading.broken = True
    loading.may_load.set()
    tasks = Tasks()
    await Rules(GAMES, tasks.spawn).load(["toy-grid"])
    assert "cannot load the rules of toy-grid" in caplog.messages
    await tasks.end()


async def test_plain_rules_and_unknown_games_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "compiled", lambda: False)
    rules = Rules(GAMES, Tasks().spawn)
    assert rules.are_loaded(["toy-grid", "chess"])
    await rules.load(["toy-grid", "chess"])


# --- compiling in another process -----------------------------------------------------------------


class Compilers:
    """Starts fake compilers and records the game of each."""

    def __init__(self, loading: Loading) -> None:
        self.started: list[tuple[str, bool]] = []
        self.background = "import time; time.sleep(3600)"
        self.status = 0
        self._loading = loading

    def __call__(self, game: str, awaited: bool) -> Sequence[str]:
        assert game not in self._loading.threads, "it is compiled before it is loaded"
        self.started.append((game, awaited))
        program = f"raise SystemExit({self.status})" if awaited else self.background
        return [sys.executable, "-c", program]


async def test_what_is_not_compiled_is_compiled_by_a_process_before_it_is_loaded(
    loading: Loading,
) -> None:
    loading.compiled.discard("toy-grid")
    loading.may_load.set()
    tasks, compilers = Tasks(), Compilers(loading)
    rules = Rules(GAMES, tasks.spawn, compilers)
    await rules.load(["toy-grid", "toy-race"])
    assert compilers.started == [("toy-grid", True)]
    assert loading.threads.keys() == {"toy-grid", "toy-race"}
    await tasks.end()


async def test_a_compiler_that_fails_is_told_of_and_the_thread_does_it(
    loading: Loading, caplog: pytest.LogCaptureFixture
) -> None:
    loading.compiled.clear()
    loading.may_load.set()
    tasks, compilers = Tasks(), Compilers(loading)
    compilers.status = 5
    await Rules(GAMES, tasks.spawn, compilers).load(["toy-grid"])
    assert "toy-grid" in loading.threads
    assert "cannot compile the rules of toy-grid ahead of time" in caplog.text
    assert "the compiler's process ended with status 5" in caplog.text
    await tasks.end()


async def test_what_somebody_waits_for_is_compiled_first(loading: Loading) -> None:
    loading.compiled.clear()
    loading.may_load.set()
    tasks, compilers = Tasks(), Compilers(loading)
    rules = Rules(GAMES, tasks.spawn, compilers)
    preparing = asyncio.ensure_future(rules.compile_all())
    await wait_until(lambda: bool(compilers.started))
    background, *others = GAMES
    assert compilers.started == [(background, False)]
    await rules.load(others)  # the background process would never exit on its own
    assert compilers.started[1:][: len(others)].count((background, False)) <= len(others)
    assert {game for game, awaited in compilers.started if awaited} == set(others)
    preparing.cancel()
    await asyncio.gather(preparing, return_exceptions=True)
    await tasks.end()


async def test_a_server_compiles_every_game_by_and_by(loading: Loading) -> None:
    loading.compiled = {"toy-grid"}
    tasks, compilers = Tasks(), Compilers(loading)
    compilers.background = ""
    await Rules(GAMES, tasks.spawn, compilers).compile_all()
    assert compilers.started == [(game, False) for game in GAMES if game != "toy-grid"]
    assert loading.threads == {}


# --- a complete server ----------------------------------------------------------------------------


@pytest.fixture
async def house(tmp_path: Path, loading: Loading) -> AsyncIterator[Scenario]:
    config = Config(db=tmp_path / "kibitz.db")
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        yield Scenario(server, stack)


async def arranged_lobby(house: Scenario, loading: Loading) -> tuple[JsonClient, str]:
    """Return the host of an arranged lobby, which can be opened without rules."""
    ada = await house.guest("ada")
    conditions = {"seats": [{"kind": "open"}] * 2, "programme": [], "arranged": True}
    done = await ada.ask("host", settings=conditions)
    assert done["type"] == "done", done
    assert loading.threads == {}
    return ada, done["lobby"]


TERMS = {"item": {"game": "toy-race", "seats": 2}}
NEED_RULES: dict[str, Callable[[str], dict[str, Any]]] = {
    "host": lambda lobby: {"settings": settings("toy-race")},
    "seek": lambda lobby: {"terms": TERMS},
    "arrange": lambda lobby: {
        "lobby": lobby,
        "matches": [{"tag": "a", "item": TERMS["item"], "players": ["x", "y"]}],
    },
}
"""Every request that needs a start position of a game, with its fields."""


async def post(caller: JsonClient, id: int, kind: str, **fields: object) -> None:
    """Send a request without waiting for the answer."""
    await caller.socket.send(json.dumps({"type": kind, "id": id, **fields}))


async def answer(caller: JsonClient, id: int) -> dict[str, Any]:
    """Return the answer to a request that was posted."""
    while True:
        message = await caller.take()
        if message.get("re") == id:
            return message


@pytest.mark.parametrize("kind", NEED_RULES)
async def test_a_request_that_needs_rules_waits_and_nothing_else_does(
    house: Scenario, loading: Loading, kind: str
) -> None:
    ada, lobby = await arranged_lobby(house, loading)
    bob = await house.guest("bob")
    await post(ada, 1000, kind, **NEED_RULES[kind](lobby))
    await wait_until(lambda: "toy-race" in loading.threads)
    for caller in (ada, bob):
        assert (await caller.ask("list_lobbies"))["type"] == "lobbies"
        assert (await caller.ask("list_games"))["type"] == "games"
    assert house.server.backend.ready()
    assert not any(message.get("re") == 1000 for message in ada.news)
    assert loading.threads["toy-race"] != threading.get_ident()
    loading.may_load.set()
    told = await answer(ada, 1000)
    assert told["type"] == ("refused" if kind == "arrange" else "done")
    assert house.server.backend.rules.waiting.total() == 0


async def test_a_player_has_few_requests_waiting(
    house: Scenario, loading: Loading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "MAX_WAITING", 2)
    ada, bob = await house.guest("ada"), await house.guest("bob")
    for id in (1000, 1001):
        await post(ada, id, "host", settings=settings())
    refused = await ada.ask("host", settings=settings())
    assert (refused["code"], refused["retry_after_ms"]) == ("rate_limited", 2000)
    await post(bob, 1002, "host", settings=settings())
    await wait_until(lambda: house.server.backend.rules.waiting.total() == 3)
    loading.may_load.set()
    told = [await answer(*each) for each in ((ada, 1000), (ada, 1001), (bob, 1002))]
    assert [each["type"] for each in told] == ["done"] * 3


async def test_nothing_is_done_for_a_connection_that_is_gone(
    house: Scenario, loading: Loading
) -> None:
    ada = await house.guest("ada")
    await post(ada, 1000, "host", settings=settings())
    await wait_until(lambda: "toy-grid" in loading.threads)
    await ada.socket.close()
    await wait_until(lambda: not house.server.backend.connections.players)
    loading.may_load.set()
    await wait_until(lambda: house.server.backend.rules.waiting.total() == 0)
    assert house.server.backend.registry.lobbies == {}


async def test_a_start_takes_matches_up_once_their_rules_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(db=tmp_path / "kibitz.db")
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        house = Scenario(server, stack)
        await house.match("ada", "bob")
        await wait_until(lambda: len(server.backend.registry.matches) == 1)
    loading = Loading(monkeypatch)
    again = running(config, GAMES)
    starting = asyncio.ensure_future(again.__aenter__())
    await wait_until(lambda: "toy-grid" in loading.threads)
    assert not starting.done()
    loading.may_load.set()
    server = await starting
    assert len(server.backend.registry.matches) == 1
    assert loading.threads.keys() == {"toy-grid"}, "no match needs another game"
    await again.__aexit__(None, None, None)


async def test_a_match_begins_once_its_rules_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A lobby is restored without the rules; its match waits for them."""
    caplog.set_level(logging.WARNING)
    config = Config(db=tmp_path / "kibitz.db")
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        house = Scenario(server, stack)
        ada, bob = await house.guest("ada"), await house.guest("bob")
        lobby = (await ada.ask("host", settings=settings()))["lobby"]
        for player in (ada, bob):
            await player.ask("join", lobby=lobby)
        secrets = [house.secrets[name] for name in ("ada", "bob")]
    loading = Loading(monkeypatch)
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        house = Scenario(server, stack)
        players = [await house.call() for _ in secrets]
        for player, secret in zip(players, secrets, strict=True):
            await player.ask("hello", versions=[1], resume=secret)
            await player.ask("ready", lobby=lobby)
        await wait_until(lambda: "toy-grid" in loading.threads)
        room = server.backend.registry.lobbies[lobby]
        assert len(room.engine.state.round.running) == 1
        assert server.backend.registry.matches == {}
        assert (await players[0].ask("list_lobbies"))["type"] == "lobbies"
        loading.may_load.set()
        turn = await players[0].next("your_turn")
        assert turn["ply"] == 0
        assert len(server.backend.registry.matches) == 1
    assert [each for each in caplog.messages if "cannot" in each] == []
