"""Every request is answered exactly once, whatever it names, and whatever raises on its way.

Here are all requests of the protocol, taken from its union: with keys of everything that there
is and is not, with and without hello, and with an exception planted in what carries them out.
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

from kibitz_protocol.messages import ClientMessage
from kibitz_server import lobby, match, record, room, table
from kibitz_server.accounts import Accounts
from kibitz_server.app import Config, Server, running
from kibitz_server.hall import Hall
from kibitz_server.ledger import Ledger
from kibitz_server.roll import Roll
from kibitz_server.room import Room
from kibitz_server.store import Store
from kibitz_server.table import Table
from tests.server.test_hall import GAMES, settings
from tests.server.wires import Caller, calling, until

pytestmark = pytest.mark.e2e
MODELS = {
    model.model_fields["type"].default: model for model in get_args(get_args(ClientMessage)[0])
}
ENDING = ("leave", "close", "resign", "leave_match")
TYPES: list[str] = sorted(MODELS, key=lambda kind: kind in ENDING)
"""Every request; those that end something come last."""
FENCE = 1_000_000


def fields(kind: str, key: str) -> dict[str, Any]:
    """Return a request that names `key` wherever it names something."""
    item = {"game": "toy-grid", "seats": 2}
    special: dict[str, dict[str, Any]] = {
        "hello": {"versions": [1], "name": "eve"},
        "host": {"settings": settings()},
        "kick": {"lobby": key, "player": "nobody"},
        "arrange": {"lobby": key, "matches": [{"tag": "t", "item": item, "players": ["a", "b"]}]},
        "move": {"match": key, "ply": 0, "action": {"x": 0, "y": 0}},
        "note": {"match": key, "text": "hm"},
    }
    if kind in special:
        return special[kind]
    return {name: key for name in ("lobby", "match") if name in MODELS[kind].model_fields}


class World:
    """A server, two players, and keys of all kinds."""

    def __init__(self, server: Server, stack: AsyncExitStack) -> None:
        self.server = server
        self._stack = stack

    async def caller(self) -> Caller:
        return await self._stack.enter_async_context(calling(self.server.url))

    async def guest(self, name: str) -> Caller:
        caller = await self.caller()
        caller.player = (await caller.hello(name, capabilities={"at_once": 1000}))["player"]
        return caller

    async def begun(self, players: list[Caller], **more: Any) -> tuple[str, str]:
        """Begin a match; return its lobby and its key."""
        key = (await players[0].ask("host", settings=settings(seats=2, **more)))["lobby"]
        for player in players:
            await player.ask("join", lobby=key)
        for player in players:
            await player.ask("ready", lobby=key)
        started = await players[0].next("match_started")
        await players[0].next("snapshot")
        return key, started["match"]["match"]

    async def key(self, what: str, players: list[Caller]) -> str:
        """Return a key of something."""
        lobby, match = await self.begun(players)
        if what == "running match":
            return match
        if what == "lobby":
            return lobby
        await players[0].ask("resign", match=match)
        await until(lambda: match not in self.server.hall.tables)
        if what == "forgotten match":
            self.server.hall.lingering.clear()
        if what == "closed lobby":
            await players[0].ask("close", lobby=lobby)
            await until(lambda: lobby not in self.server.hall.closing)
        return {"closed lobby": lobby, "unknown": "nothing"}.get(what, match)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    config = Config(db=tmp_path / "k.db", unlimited=True)
    async with running(config, GAMES) as server, AsyncExitStack() as stack:
        yield World(server, stack)


async def answers(caller: Caller, requests: list[int]) -> Tally[int]:
    """Read until all requests, and one after them that waits for the disk, are answered."""
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
    world: World, what: str, caplog: pytest.LogCaptureFixture
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
        assert all(peer.unanswered == set() for peer in world.server.hall.door.peers)
    assert [each.message for each in caplog.records if each.levelno >= logging.WARNING] == []


async def test_every_request_before_hello_is_answered_once(
    world: World, caplog: pytest.LogCaptureFixture
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


class PlantedError(Exception):
    """What a plant raises, and nothing else does."""


LOBBY = ("join", "ready", "kick", "start", "rematch", "arrange", "leave", "close")
MATCH = ("move", "note", "rejoin", "watch", "resign", "leave_match")
OVER = ("history", "report", "move", "rejoin")
PLANTS: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "store.append": (Store, "append", ("leave", "kick", "move", "note", "resign")),
    "store.create": (Store, "create", ("host",)),
    "store.finish": (Store, "finish", ("resign", "leave_match")),
    "store.execute": (Store, "execute", ("hello",)),
    "store.closed": (Store, "closed", OVER),
    "store.entries": (Store, "entries", OVER),
    "store.lines": (Store, "lines", ("history",)),
    "accounts.identify": (Accounts, "identify", ("hello",)),
    "ledger.ladder": (Ledger, "ladder", ("ladder",)),
    "hall.take_up": (Hall, "take_up", ("move", "rejoin")),
    "hall.open_room": (Hall, "open_room", ("host",)),
    "hall.rooms_of": (Hall, "rooms_of", ("hello",)),
    "lobby.handle": (lobby.Lobby, "handle", LOBBY),
    "lobby.go_on": (lobby.Lobby, "_go_on", ("leave", "kick", "join")),
    "lobby.deadline": (lobby.Lobby, "deadline", ("leave", "host")),
    "lobby.brief": (lobby.Lobby, "brief", ("list_lobbies",)),
    "roll.apply": (Roll, "apply", ("leave", "kick")),
    "room.line": (room, "_line", ("leave", "kick")),
    "room.do": (Room, "do", LOBBY),
    "match.handle": (match.Match, "handle", ("move", "note", "resign", "leave_match")),
    "match.apply": (match.Match, "_change", ("move", "note", "resign", "leave_match")),
    "match.sight": (match.Match, "_sight", ("move", "note", "resign", "leave_match")),
    "match.deadline": (match.Match, "deadline", ("move", "note", "resign")),
    "match.snapshot": (match.Match, "snapshot", ("rejoin",)),
    "match.your_turn": (match.Match, "your_turn", ("move", "rejoin")),
    "match.finished": (match.Match, "finished", ("resign",)),
    "table.line": (table, "line", ("move", "note", "resign", "leave_match")),
    "table.show": (Table, "_show", ("move", "resign")),
    "table.brief": (Table, "brief", ("resign", "list_matches")),
    "record.fold": (record, "fold", ("move", "rejoin")),
    "read_setup": (record, "read_setup", ("history", "report")),
}
"""Where an exception is planted, and the requests that come by there."""
FINISHED = {"store.closed", "store.entries", "hall.take_up", "record.fold", "read_setup"}
"""Plants that only a match that is over and forgotten comes by."""


class Plant:
    """Makes a function raise: the first time that it is called, or as long as it stands."""

    def __init__(self, patch: pytest.MonkeyPatch, where: Any, name: str, *, once: bool) -> None:
        self.raised = 0
        original: Callable[..., Any] = getattr(where, name)

        def raising(*args: Any, **named: Any) -> Any:
            if once and self.raised:
                return original(*args, **named)
            self.raised += 1
            raise PlantedError(name)

        patch.setattr(where, name, raising)


async def answered_or_gone(caller: Caller, kind: str, key: dict[str, str]) -> int:
    """Send a request; return how many answers came, 1 where the connection was closed instead."""
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


async def more_answers(caller: Caller) -> int:
    """Count answers that come after the first one, until the server has settled."""
    try:
        await answers(caller, [])
    except ConnectionClosed:
        return 0
    return max(0, len([1 for message in caller.news if message.get("re") == 500]) - 1)


def ahead(server: Server) -> list[str]:
    """Name the matches and lobbies that are not what their logs say."""
    hall = server.hall
    tables = [key for key, each in hall.tables.items() if each.match.seq != each.stream.tail]
    rooms = [key for key, each in hall.rooms.items() if each.lobby.roll.seq != each.stream.tail]
    return tables + rooms


async def plant_and_ask(server: Server, plant: str, kind: str, *, once: bool) -> int:
    """Ask for something while something raises; return how often it did."""
    where, name, _ = PLANTS[plant]
    async with AsyncExitStack() as stack:
        world = World(server, stack)
        ada, bob = await world.guest(f"ada {kind}"), await world.guest(f"bob {kind}")
        keys = {"ada": ada.player, "bob": bob.player}
        lobby, match = keys["lobby"], keys["match"] = await world.begun([ada, bob])
        if plant == "store.lines":
            await ada.ask("note", match=match, text="an entry to read")
        if plant in FINISHED:
            await ada.ask("resign", match=match)
            await until(lambda: match not in server.hall.tables)
            server.hall.lingering.clear()
        asks = await world.caller() if kind == "hello" else ada
        with pytest.MonkeyPatch.context() as patch:
            planted = Plant(patch, where, name, once=once)
            assert await answered_or_gone(asks, kind, keys) == 1
        assert await more_answers(asks) == 0
        await until(lambda: not ahead(server))
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
