"""A node takes over lobbies and hands over its own, on a store that records the owners."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, cast

import pytest

from kibitz_server.directory.failover import Failover
from kibitz_server.directory.hall_sharing import HallSharing
from kibitz_server.directory.recovery import Recovery, StoredLog
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.lobby.entries import ENTRY, TakenOver
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.connections import Connections
from kibitz_server.net.peer import Peer
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.interface import (
    HallExchange,
    MatchHead,
    NewEntries,
    Store,
    TakenLobby,
    TakeOverEntry,
)
from kibitz_server.storage.streams import Stream


class ScriptedNodes:
    """A node's view of its database, scripted by the test."""

    name = "b"
    url = "ws://games.example.org"
    needs_all = False

    def __init__(self) -> None:
        self.on_lost: Any = None
        self.first = False
        self.turn = False
        self.elsewhere = False
        self.away = False
        self.orphans: list[TakenLobby] = []
        self.entries: list[bytes] = []

    async def beat(self) -> None:
        if self.away:
            raise UnusableDatabase("it does not answer")
        self.first = self.turn

    async def take(self, entry: TakeOverEntry, most: int) -> list[TakenLobby]:
        taken, self.orphans = self.orphans[:most], self.orphans[most:]
        self.entries += [entry(7, each.former) for each in taken]
        return taken

    async def has_all(self) -> bool:
        return not self.elsewhere and not self.orphans

    async def exchange(self, lines: Mapping[str, bytes | None]) -> HallExchange:
        raise AssertionError("the sharing is a test's")

    def expire_lines(self) -> None:
        raise AssertionError("the sharing is a test's")

    async def owner(self, key: str) -> tuple[str, str | None] | None:
        raise AssertionError("nobody asks here")

    def owned(self) -> Collection[str]:
        return ()

    async def match_heads(self, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
        raise AssertionError("nobody watches here")

    async def new_entries(self, streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        raise AssertionError("nobody watches here")

    async def leave(self) -> None:
        raise AssertionError("nobody goes down here")


class ScriptedStore:
    """A database that finds nothing or cannot be read."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.broken = False

    async def reload(self, keys: list[str]) -> Mapping[str, Any]:
        if self.broken:
            raise UnusableDatabase("it is away")
        self.asked.append(keys)
        return dict.fromkeys(keys)


class Taken:
    """A fake recovery that also receives the reports of matches that end here."""

    draining = False

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.loaded: set[str] = set()
        """The lobbies whose rules have been loaded, before the node takes them over."""

    async def load_rules(self, logs: Iterable[StoredLog]) -> None:
        await asyncio.sleep(0)
        self.loaded |= {log.key for log in logs}

    def restore(self, logs: Sequence[StoredLog]) -> None:
        [lobby] = [log.key for log in logs if log.kind == "lobby"]
        assert lobby in self.loaded
        self.keys.append(lobby)
        if lobby == "bad":
            raise ValueError("planted")

    def match_over(self, match: object) -> None:
        raise AssertionError("no match is here")


class RecordingPeer:
    def __init__(self, identity: object = "somebody") -> None:
        self.identity = identity
        self.closed: list[tuple[int, str]] = []
        self.happened: list[str] = []

    def close(self, code: int, reason: str) -> None:
        self.closed.append((code, reason))
        self.happened.append("a socket is closed")


class RecordingSharing:
    """Records exchanges, each with the lobbies that are still loading, and reads."""

    def __init__(self) -> None:
        self.loading: list[list[str]] = []

    def lost_lobbies(self) -> None:
        pass

    async def exchange(self, loading: Collection[str] = ()) -> None:
        self.loading.append(sorted(loading))


class FewPeers:
    def __init__(self, *peers: RecordingPeer) -> None:
        self.peers: Collection[Peer] = [cast(Peer, peer) for peer in peers]

    def peer_of(self, player: str) -> Peer | None:
        return None


class RunningMatch:
    """A match whose server redirects its players."""

    def __init__(self, key: str, happened: list[str]) -> None:
        self.key = key
        self._happened = happened

    def await_all(self) -> None:
        self._happened.append(f"{self.key} waits")


class Scene:
    def __init__(self) -> None:
        self.registry = Registry()
        self.nodes, self.store, self.taken = ScriptedNodes(), ScriptedStore(), Taken()
        self.peer, self.page = RecordingPeer(), RecordingPeer(None)
        self.sharing = RecordingSharing()
        self.moved: Counter[Literal["taken", "lost"]] = Counter()
        self.failover = Failover(
            self.nodes,
            cast(Store, self.store),
            cast(Recovery, self.taken),
            self.registry,
            cast(Substitutes, self.taken),
            cast(Connections, FewPeers(self.peer, self.page)),
            cast(HallSharing, self.sharing),
            self.moved,
        )


def lobby(key: str, former: str | None = "a") -> TakenLobby:
    return TakenLobby(key, former, (f"{key}-1-1",), True)


async def test_a_node_that_stands_by_takes_nothing() -> None:
    scene = Scene()
    scene.nodes.orphans = [lobby("x")]
    await scene.failover.look()
    assert not scene.failover.serving
    assert scene.taken.keys == []
    assert scene.peer.closed == []


async def test_lobbies_that_come_and_go_are_counted() -> None:
    scene = Scene()
    scene.nodes.turn = True
    scene.nodes.orphans = [lobby(f"l{number}") for number in range(30)]
    await scene.failover.look()
    scene.nodes.on_lost({"l3": "c", "l4": None})
    assert scene.moved == {"taken": 30, "lost": 2}


async def test_a_node_serves_when_it_has_every_lobby_and_not_before() -> None:
    scene = Scene()
    scene.nodes.turn = True
    scene.nodes.orphans = [lobby(f"l{number}") for number in range(50)]
    scene.store.broken = True
    with pytest.raises(UnusableDatabase):
        await scene.failover.look()
    assert not scene.failover.serving
    assert scene.sharing.loading == []
    scene.store.broken = False
    await scene.failover.look()
    assert scene.failover.serving
    assert scene.sharing.loading == [[]]
    assert sorted(scene.taken.keys) == sorted(f"l{number}" for number in range(50))
    assert scene.store.asked[0][:2] == ["l0-1-1", "l0"]


async def test_a_node_does_not_serve_while_another_one_still_has_a_lobby() -> None:
    """A node that is restarted immediately releases its lobbies with its first heartbeat."""
    scene = Scene()
    scene.nodes.turn = scene.nodes.elsewhere = True
    await scene.failover.look()
    assert not scene.failover.serving
    scene.nodes.elsewhere = False
    scene.nodes.orphans = [lobby("x")]
    await scene.failover.look()
    assert scene.failover.serving
    assert scene.taken.keys == ["x"]


async def test_the_take_over_is_an_entry_that_names_both() -> None:
    scene = Scene()
    scene.nodes.turn = True
    scene.nodes.orphans = [lobby("x"), lobby("y", None)]
    await scene.failover.look()
    assert [ENTRY.validate_json(each) for each in scene.nodes.entries] == [
        TakenOver(seq=7, node="b", former="a"),
        TakenOver(seq=7, node="b"),
    ]


async def test_a_lobby_that_cannot_be_taken_up_stops_no_other() -> None:
    scene = Scene()
    scene.nodes.turn = True
    scene.nodes.orphans = [lobby("bad"), lobby("good")]
    await scene.failover.look()
    assert scene.taken.keys == ["bad", "good"]
    assert scene.failover.serving


async def test_a_node_that_loses_a_lobby_stands_by_at_once() -> None:
    scene = Scene()
    scene.nodes.turn = True
    await scene.failover.look()
    scene.nodes.turn = False
    scene.nodes.on_lost({"x": "a"})
    assert not scene.failover.serving
    assert scene.peer.closed == [(1012, "this node is a standby: another node serves")]


async def test_a_node_whose_turn_has_expired_lets_nobody_in_until_it_has_asked() -> None:
    scene = Scene()
    scene.nodes.turn = True
    await scene.failover.look()
    scene.nodes.first = False
    assert not scene.failover.serving
    assert scene.peer.closed == []
    await scene.failover.look()
    assert scene.failover.serving


async def test_a_node_that_does_not_reach_its_database_sends_everybody_away() -> None:
    """Another node may own its lobbies by now; the node keeps serving until its own turn ends."""
    scene = Scene()
    scene.nodes.turn = True
    await scene.failover.look()
    scene.nodes.away = True
    await scene.failover.look()
    assert scene.failover.serving
    scene.nodes.first = False
    with pytest.raises(UnusableDatabase):
        await scene.failover.look()
    assert scene.peer.closed == [(1012, "this node is a standby: its database is unreachable")]
    assert scene.page.closed == []  # requests for pages are still answered
    scene.nodes.away = False
    await scene.failover.look()
    assert scene.failover.serving


async def test_turns_wait_for_who_is_sent_away_from_before_its_socket_is_closed() -> None:
    scene = Scene()
    scene.nodes.turn = True
    await scene.failover.look()
    happened = scene.peer.happened
    for key in ("x-1-1", "x-1-2"):
        scene.registry.matches[key] = cast(MatchRunner, RunningMatch(key, happened))
    scene.nodes.away, scene.nodes.first = True, False
    for _ in range(2):
        with pytest.raises(UnusableDatabase):
            await scene.failover.look()
    assert happened == ["x-1-1 waits", "x-1-2 waits", "a socket is closed"]
