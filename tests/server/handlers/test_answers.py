"""Every request is answered exactly once, regardless of its keys and of exceptions in handlers.

The tests send all requests of the protocol, taken from its union: with existing and missing keys,
with and without hello, and with exceptions planted in their implementation.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter as Tally
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, get_args

import pytest
from websockets.exceptions import ConnectionClosed

from kibitz_protocol.wire.messages import ClientMessage
from kibitz_server.accounts.sign_in import Accounts
from kibitz_server.app import Config, Server, running
from kibitz_server.directory import registry, reload
from kibitz_server.directory.archive import Archive
from kibitz_server.directory.hall import Hall
from kibitz_server.directory.registry import Registry
from kibitz_server.handlers.hosting import Hosting
from kibitz_server.lobby import runner as lobby_runner
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.match_flow import MatchFlow
from kibitz_server.lobby.news import NewsFeed
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.lobby.state import LobbyState
from kibitz_server.match import absences, record, visibility
from kibitz_server.match import runner as match_runner
from kibitz_server.match import shown as match_shown
from kibitz_server.match import state as match_state
from kibitz_server.rating.log import RatingLog
from kibitz_server.storage.group_commit import GroupCommit
from kibitz_server.storage.sqlite.store import SQLiteStore
from tests.server.directory.test_directory import GAMES, settings
from tests.server.fakes import JsonClient, connected, wait_until
from tests.server.match.toy_games import Grid

MODELS = {
    model.model_fields["type"].default: model for model in get_args(get_args(ClientMessage)[0])
}
ENDING = ("leave", "close", "resign", "leave_match")
TYPES: list[str] = sorted(MODELS, key=lambda kind: kind in ENDING)
"""All requests; those that end something are last."""
FENCE = 1_000_000


def fields(kind: str, key: str) -> dict[str, Any]:
    """Return a request with `key` in all fields for keys."""
    item = {"game": "toy-grid", "seats": 2}
    special: dict[str, dict[str, Any]] = {
        "hello": {"versions": [1], "name": "eve"},
        "host": {"settings": settings()},
        "seek": {"terms": {"item": item}},
        "kick": {"lobby": key, "player": "nobody"},
        "arrange": {"lobby": key, "matches": [{"tag": "t", "item": item, "players": ["a", "b"]}]},
        "move": {"match": key, "ply": 0, "action": {"x": 0, "y": 0}},
        "note": {"match": key, "text": "hm"},
        "comment": {"match": key, "text": "hm"},
        "wall": {"matches": [key]},
        "subscribe": {"topic": "hall"},
        "unsubscribe": {"topic": "hall"},
    }
    if kind in special:
        return special[kind]
    return {name: key for name in ("lobby", "match") if name in MODELS[kind].model_fields}


class Scenario:
    """A server with two players and objects of all kinds."""

    def __init__(self, server: Server, stack: AsyncExitStack) -> None:
        self.server = server
        self._stack = stack

    async def caller(self) -> JsonClient:
        return await self._stack.enter_async_context(connected(self.server.url))

    async def guest(self, name: str) -> JsonClient:
        caller = await self.caller()
        caller.player = (await caller.hello(name, capabilities={"at_once": 1000}))["player"]
        return caller

    async def begun(self, players: list[JsonClient], **more: Any) -> tuple[str, str]:
        """Start a match; return its lobby and its key."""
        key = (await players[0].ask("host", settings=settings(seats=2, **more)))["lobby"]
        for player in players:
            await player.ask("join", lobby=key)
        for player in players:
            await player.ask("ready", lobby=key)
        started = await players[0].next("match_started")
        await players[0].next("snapshot")
        return key, started["match"]["match"]

    async def key(self, what: str, players: list[JsonClient]) -> str:
        """Return the key of an object of a kind."""
        lobby, match = await self.begun(players)
        if what == "running match":
            return match
        if what == "lobby":
            return lobby
        await players[0].ask("resign", match=match)
        await wait_until(lambda: match not in self.server.backend.registry.matches)
        if what == "forgotten match":
            self.server.backend.registry.recently_finished.clear()
        if what == "closed lobby":
            await players[0].ask("close", lobby=lobby)
            await wait_until(lambda: lobby not in self.server.backend.registry.closing)
        return {"closed lobby": lobby, "unknown": "nothing"}.get(what, match)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Scenario]:
    config = Config(db=tmp_path / "k.db", unlimited=True)
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        yield Scenario(server, stack)


async def answers(caller: JsonClient, requests: list[int]) -> Tally[int]:
    """Read until all requests and a final one that waits for the disk are answered."""
    found: Tally[int] = Tally(
        message["re"] for message in caller.news if message.get("re") in requests
    )
    async with asyncio.timeout(20):
        while not all(found[each] for each in requests):
            message = json.loads(await caller.socket.recv())
            caller.news.append(message)
            found[message.get("re", -1)] += 1
        await caller.socket.send(json.dumps({"type": "ladder", "id": FENCE}))
        while not found[FENCE]:
            message = json.loads(await caller.socket.recv())
            caller.news.append(message)
            found[message.get("re", -1)] += 1
    return Tally({each: found[each] for each in requests})


KEYS = ["unknown", "closed lobby", "lobby", "running match", "finished match", "forgotten match"]


@pytest.mark.parametrize("what", KEYS)
async def test_every_request_is_answered_once_whatever_it_names(
    world: Scenario, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    players = [await world.guest("ada"), await world.guest("bob")]
    stranger = await world.guest("cyd")
    key = await world.key(what, players)
    for caller in (stranger, *players):
        requests = range(100, 100 + len(TYPES))
        for id, kind in zip(requests, TYPES, strict=True):
            await caller.socket.send(json.dumps({"type": kind, "id": id, **fields(kind, key)}))
        told = await answers(caller, list(requests))
        named = {TYPES[id - 100]: count for id, count in told.items()}
        assert named == dict.fromkeys(TYPES, 1)
        assert all(peer.unanswered == {} for peer in world.server.backend.connections.peers)
    assert [each.message for each in caplog.records if each.levelno >= logging.WARNING] == []


async def test_every_request_before_hello_is_answered_once(
    world: Scenario, caplog: pytest.LogCaptureFixture
) -> None:
    caller = await world.caller()
    kinds = [kind for kind in TYPES if kind != "hello"]
    requests = range(100, 100 + len(kinds))
    for id, kind in zip(requests, kinds, strict=True):
        await caller.socket.send(json.dumps({"type": kind, "id": id, **fields(kind, "x")}))
    found: Tally[int] = Tally()
    async with asyncio.timeout(20):
        while not all(found[id] for id in requests):
            message = json.loads(await caller.socket.recv())
            assert message["code"] == "hello_first"
            found[message["re"]] += 1
    assert found == Tally(dict.fromkeys(requests, 1))
    assert [each.message for each in caplog.records if each.levelno >= logging.WARNING] == []


# --- planted exceptions -----------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _quick_reloads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pause between reloads, since tests reload several times."""
    monkeypatch.setattr(reload, "RETRY_PAUSE_S", 0.01)


class PlantedError(Exception):
    """An exception that only planted faults raise."""


LOBBY = ("join", "ready", "kick", "start", "rematch", "arrange", "leave", "close")
MATCH = ("move", "note", "rejoin", "watch", "resign", "leave_match")
MATCH_ENTRIES = ("move", "note", "comment", "resign", "leave_match")
OVER = ("history", "report", "move", "rejoin")
PLANTS: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "store.append": (SQLiteStore, "append", ("leave", "kick", "move", "note", "comment", "resign")),
    "store.create": (SQLiteStore, "create", ("host",)),
    "store.finish": (SQLiteStore, "finish", ("resign", "leave_match")),
    "commits.execute_unhurried": (GroupCommit, "execute_unhurried", ("hello",)),
    "store.closed": (SQLiteStore, "closed", OVER),
    "store.entries": (SQLiteStore, "entries", OVER),
    "store.lines": (SQLiteStore, "lines", ("history",)),
    "accounts.identify": (Accounts, "identify", ("hello",)),
    "rating_log.rating_list": (RatingLog, "rating_list", ("ladder",)),
    "archive.finished": (Archive, "finished", ("move", "rejoin")),
    "hosting.open": (Hosting, "open", ("host",)),
    "registry.add": (registry, "_add", ("host", "seek", "leave")),
    "registry.lobbies_of": (Registry, "lobbies_of", ("hello", "seek")),
    "lobby.handle": (LobbyEngine, "handle", LOBBY),
    "lobby.advance": (MatchFlow, "advance", ("leave", "kick", "join")),
    "lobby.deadline": (LobbyEngine, "_deadline", ("leave", "host")),
    "lobby.follow": (NewsFeed, "follow", ("host", "join", "seek")),
    "lobby.durable": (lobby_runner, "lobby_brief", ("leave", "host")),
    "lobby.apply": (LobbyState, "apply", ("leave", "kick")),
    "lobby.encode": (lobby_runner, "_encode", ("leave", "kick")),
    "lobby.command": (LobbyRunner, "command", LOBBY),
    "match.advance": (visibility.MatchViews, "advance", MATCH_ENTRIES),
    "match.play": (Grid, "play", ("move",)),
    "match.forfeit": (Grid, "forfeit", ("resign",)),
    "match.result": (match_state, "match_result", ("resign",)),
    "match.deadline": (absences, "next_due", ("leave_match",)),
    "match.view": (Grid, "view", ("move", "resign", "rejoin")),
    "match.your_turn": (Grid, "legal", ("move", "rejoin")),
    "match.encode": (match_runner, "encode_entry", MATCH_ENTRIES),
    "match.publish": (visibility, "depends_on_viewer", ("move", "comment", "resign")),
    "hall.look": (Hall, "_look", ("subscribe",)),
    "match.brief": (match_shown, "match_brief", ("resign", "list_matches")),
    "record.restore": (record, "restore", ("move", "rejoin")),
    "read_setup": (record, "read_setup", ("history", "report")),
}
"""The locations of planted exceptions, with the requests that reach them.

Calls between compiled modules cannot be patched. So a match's faults are planted in the modules it
calls: the game and the rules of the protocol.
"""
FINISHED = {
    "store.closed",
    "store.entries",
    "archive.finished",
    "record.restore",
    "read_setup",
}
"""Locations that are reached only for finished matches that are no longer in memory."""


class Plant:
    """Makes a function raise an exception on its first call or on all calls."""

    def __init__(self, patch: pytest.MonkeyPatch, where: Any, name: str, *, once: bool) -> None:
        self.raised = 0
        original: Callable[..., Any] = getattr(where, name)

        def raising(*args: Any, **named: Any) -> Any:
            if once and self.raised:
                return original(*args, **named)
            self.raised += 1
            raise PlantedError(name)

        patch.setattr(where, name, raising)


async def answered_or_gone(caller: JsonClient, kind: str, key: dict[str, str]) -> int:
    """Send a request; return the number of answers, 1 if the connection was closed instead."""
    named = key["lobby"] if "lobby" in fields(kind, "") else key["match"]
    request = {"type": kind, "id": 500, **fields(kind, named)}
    if kind == "arrange":
        request["matches"][0]["players"] = [key["ada"], key["bob"]]
    if kind == "kick":
        request["player"] = key["bob"]
    try:
        await caller.socket.send(json.dumps(request))
        found = 0
        async with asyncio.timeout(10):
            while not found:
                message = json.loads(await caller.socket.recv())
                caller.news.append(message)
                found += message.get("re") == 500
    except ConnectionClosed:
        return 1
    return found


async def more_answers(caller: JsonClient) -> int:
    """Count answers after the first one until the server is idle."""
    try:
        await answers(caller, [])
    except ConnectionClosed:
        return 0
    return max(0, len([1 for message in caller.news if message.get("re") == 500]) - 1)


def ahead(server: Server) -> list[str]:
    """List the matches and lobbies that differ from their logs."""
    backend = server.backend
    tables = [
        key
        for key, each in backend.registry.matches.items()
        if each.engine.state.seq != each.stream.tail
    ]
    lobbies = [
        key
        for key, each in backend.registry.lobbies.items()
        if each.engine.state.seq != each.stream.tail
    ]
    return tables + lobbies


async def plant_and_ask(server: Server, plant: str, kind: str, *, once: bool) -> int:
    """Send a request while a function raises; return how often it raised."""
    where, name, _ = PLANTS[plant]
    async with AsyncExitStack() as stack:
        world = Scenario(server, stack)
        ada, bob = await world.guest(f"ada {kind}"), await world.guest(f"bob {kind}")
        keys = {"ada": ada.player, "bob": bob.player}
        lobby, match = keys["lobby"], keys["match"] = await world.begun([ada, bob])
        if plant == "store.lines":
            await ada.ask("note", match=match, text="an entry to read")
        if plant in FINISHED:
            await ada.ask("resign", match=match)
            await wait_until(lambda: match not in server.backend.registry.matches)
            server.backend.registry.recently_finished.clear()
        asks = await world.caller() if kind == "hello" else ada
        with pytest.MonkeyPatch.context() as patch:
            planted = Plant(patch, where, name, once=once)
            assert await answered_or_gone(asks, kind, keys) == 1
        assert await more_answers(asks) == 0
        await wait_until(lambda: not ahead(server))
        assert lobby
    raised: int = planted.raised
    return raised


async def planted(tmp_path: Path, plant: str, kinds: Iterable[str], *, once: bool) -> int:
    async with running(Config(db=tmp_path / "k.db", unlimited=True), GAMES) as server:
        return sum([await plant_and_ask(server, plant, kind, once=once) for kind in kinds])


@pytest.mark.parametrize("plant", PLANTS)
async def test_what_raises_is_answered_once(
    tmp_path: Path, plant: str, caplog: pytest.LogCaptureFixture
) -> None:
    kinds = PLANTS[plant][2]
    assert await planted(tmp_path, plant, kinds, once=True) == len(kinds)
    assert {each.exc_info[0] for each in caplog.records if each.exc_info} <= {PlantedError}


@pytest.mark.slow
@pytest.mark.parametrize("plant", PLANTS)
async def test_every_request_is_answered_once_while_something_always_raises(
    tmp_path: Path, plant: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await planted(tmp_path, plant, TYPES, once=False) >= 1
    assert {each.exc_info[0] for each in caplog.records if each.exc_info} <= {PlantedError}
