"""A refused request changes nothing except rate budgets and metrics.

All clients send all requests in sequence, valid and invalid ones. The test compares the complete
server state before and after each refusal: the database, every match and lobby, the location of
each player, the messages to each connection, names, tickets and caches.

Illegal moves are an exception: they are noted in the record, and after `max_illegal` of them the
seat forfeits.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from kibitz_server.app.backend import Backend
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match.runner import MatchRunner
from kibitz_server.storage.errors import StoreError
from tests.server.handlers.test_durable import (
    ITEM,
    SMALL,
    SOUGHT,
    World,
    commands,
    opened,
    reads,
)
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer

Request: TypeAlias = tuple[str, dict[str, Any]]
COUNTED = {("move", "illegal"), ("move", "malformed")}
"""Refusals that count against a seat."""
ENDING = ("kick", "leave", "resign", "leave_match", "abort", "close")
"""Requests that end something; they are sent last."""
REFUSALS: dict[str, set[str]] = {
    "abort": {"no_such_match", "over", "unauthorized"},
    "arrange": {
        "damaged",
        "no_such_lobby",
        "no_such_player",
        "not_host",
        "unknown_game",
        "wrong_state",
    },
    "close": {"damaged", "no_such_lobby", "not_host"},
    "comment": {"no_comments", "no_such_match", "over", "wrong_state"},
    "hello": {"wrong_state"},
    "history": {"no_such_match", "not_watchable"},
    "host": {
        "bad_option",
        "bad_seats",
        "limit",
        "malformed",
        "unavailable",
        "unknown_game",
        "unknown_personality",
    },
    "join": {
        "closed",
        "damaged",
        "full",
        "malformed",
        "no_such_lobby",
        "not_watchable",
        "wrong_invite",
        "wrong_state",
    },
    "kick": {"damaged", "no_such_lobby", "no_such_player", "not_host"},
    "ladder": {"unknown_game"},
    "leave": {"damaged", "no_such_lobby", "not_member"},
    "leave_match": {"no_such_match", "not_seated", "over"},
    "list_games": set(),
    "list_lobbies": set(),
    "list_matches": {"damaged", "no_such_lobby"},
    "move": {"illegal", "no_such_match", "not_seated", "not_your_turn", "over", "stale"},
    "nonsense": {"unknown_type"},
    "note": {"no_such_match", "not_seated", "over"},
    "ready": {"damaged", "no_such_lobby", "not_member"},
    "rejoin": {"no_such_match", "not_seated"},
    "rematch": {"damaged", "no_such_lobby", "not_host", "not_member", "wrong_state"},
    "report": {"no_such_match", "not_seated", "wrong_state"},
    "resign": {"no_such_match", "not_seated", "over"},
    "seek": {"bad_option", "bad_seats", "limit", "unauthorized", "unavailable", "unknown_game"},
    "start": {"damaged", "no_such_lobby", "not_host", "not_ready", "wrong_state"},
    "subscribe": set(),
    "unsubscribe": set(),
    "unwatch": set(),
    "wall": {"malformed"},
    "watch": {"no_such_match", "not_watchable", "over"},
}
"""The refusal codes of each request in this test, besides those of hello."""


# --- the server's state --------------------------------------------------------------------------


def fingerprint(world: RefusingWorld) -> dict[str, object]:
    """Return all state that a request can change, except its cost."""
    backend = world.server.backend
    registry, accounts = backend.registry, backend.accounts
    found: dict[str, object] = {
        "database": world.database.dump(),
        "store": world.server.store.healthy,
        "memberships": dict(registry._memberships),
        "seats": dict(registry._seats),
        "finished": [brief.match for brief in registry.finished_briefs(None)],
        "recently finished": list(registry.recently_finished),
        "closing": list(registry.closing),
        "tickets": dict(backend.tickets._used),
        "new names": sorted(accounts._by_skeleton),
        "hall": [id(peer) for peer in backend.hall._subscribers],
        "set aside": backend.directory.quarantine.count,
        "players": sorted(backend.connections.players),
        "substitutes": list(backend.substitutes._substitutions),
    }
    found |= {f"match {key}": match_facts(each) for key, each in backend.registry.matches.items()}
    found |= {f"lobby {key}": lobby_facts(each) for key, each in backend.registry.lobbies.items()}
    found |= connection_facts(backend)
    return found


class DumpedDatabase:
    """The content of a database, read again only after another connection has committed."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path)
        self._version = 0
        self._dump: list[str] = []

    def dump(self) -> list[str]:
        """Return the statements that create the database."""
        [version] = self._db.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._version, self._dump = version, list(self._db.iterdump())
        return self._dump

    def close(self) -> None:
        self._db.close()


def match_facts(match: MatchRunner) -> tuple[object, ...]:
    state, stream = match.engine.state, match.stream
    seats = [each and id(each) for each in (*match.seats.peers, *match.seats.subscribers)]
    return (
        (stream.tail, stream.durable, stream.closed, state.seq, state.ply, state.result),
        (state.game_state.tobytes(), state.players, dict(state.away), dict(state.departed)),
        (seats, match.seats.unclaimed, match.closed, match.shown.result, match.shown.players),
        [id(peer) for peer in match.watchers],
        [id(queue) for queue in match.spectators.queues],
        list(match.engine._illegal_counts),
    )


def lobby_facts(lobby: LobbyRunner) -> tuple[object, ...]:
    state, presence = lobby.engine.state, lobby.engine.presence
    current = state.round
    return (
        (lobby.stream.tail, lobby.stream.durable, lobby.closed, lobby.pending.settled),
        (state.seq, state.phase, dict(state.seats.members), state.seats.banned),
        (current.number, current.planned, current.done, dict(current.tags)),
        (dict(current.running), dict(current.settled)),
        (sorted(presence._connected), dict(presence._away), lobby.shown.seq),
        [(id(peer), player) for peer, player in lobby.news.insiders.items()],
        [id(peer) for peer in lobby.news.spectators],
    )


def connection_facts(backend: Backend) -> dict[str, object]:
    return {
        f"connection {id(peer)}": (
            {key: id(each) for key, each in peer.subscriptions.items()},
            (peer.identity, peer.capabilities, peer.instance, peer.views, peer.token),
            (peer.leaving, set(peer.unanswered), peer.send_queue.closed),
        )
        for peer in backend.connections.peers
        if peer.identity is not None
    }


# --- requests -------------------------------------------------------------------------------------


def host(**settings: Any) -> Request:
    settings = {"seats": [{"kind": "open"}] * 2, "programme": [ITEM], **settings}
    return "host", {"settings": settings}


def invalid(world: RefusingWorld) -> list[Request]:
    """Return requests that are refused because of their content or the objects they name."""
    house = {"kind": "house", "personality": "toy-grid/greedy"}
    sought = {"game": "toy-grid", "seats": 2}
    arrange: dict[str, Any] = {"lobby": world.arranged}
    tagged = {"tag": "u", "item": ITEM, "players": [world.keys["ada"], world.keys["bob"]]}
    found: list[Request] = [
        ("hello", {"versions": [1], "name": "again"}),
        ("ladder", {"game": "chess"}),
        host(programme=[{"game": "chess"}]),
        host(programme=[{**ITEM, "options": {"columns": 0}}]),
        host(programme=[{**ITEM, "seats": 9}]),
        host(seats=[{"kind": "open"}, house]),
        host(seats=[{"kind": "open"}]),
        host(name="\u202e"),
        host(programme=[]),
        *[
            ("seek", {"terms": {"item": item, "rated": rated}})
            for item, rated in (
                ({**sought, "game": "chess"}, False),
                ({**sought, "seats": 1}, False),
                ({**sought, "seed": 7}, False),
                ({**sought, "options": {"columns": 0}}, False),
                ({**sought, "games": 3}, True),
            )
        ],
        ("arrange", {**arrange, "matches": [{**tagged, "item": {"game": "chess"}}]}),
        ("arrange", {**arrange, "matches": [{**tagged, "players": ["a", "b"]}]}),
        ("arrange", {"lobby": world.full, "matches": [tagged]}),
        ("wall", {"matches": ["nothing"] * 300}),
        ("join", {"lobby": world.invited, "invite": "wrong"}),
        ("join", {"lobby": world.invited}),
        ("join", {"lobby": world.closed}),
        ("join", {"lobby": world.hidden, "role": "spectator"}),
        ("list_matches", {"lobby": world.hidden}),
        ("comment", {"match": world.match, "text": "\u202e"}),
        ("kick", {"lobby": world.gathering, "player": "nobody"}),
        ("kick", {"lobby": world.gathering, "player": world.keys["hal"]}),
        ("move", {"match": world.match, "ply": 99, "action": {"x": 0, "y": 0}}),
        ("move", {"match": world.match, "ply": 1, "action": {"x": 9, "y": 9}}),
        ("leave", {"lobby": world.invited}),
        ("start", {"lobby": world.gathering}),
        ("nonsense", {}),
        ("join", {"lobby": 7}),
    ]
    for lobby in ("nothing", "damaged", world.gone):
        plain = ("join", "leave", "ready", "start", "rematch", "close", "list_matches")
        found += [(type, {"lobby": lobby}) for type in plain]
        found += [("kick", {"lobby": lobby, "player": "x"})]
        found += [("arrange", {"lobby": lobby, "matches": [tagged]})]
    for match in ("nothing", world.over, world.rated_match, world.quiet_match):
        plain = ("watch", "unwatch", "rejoin", "resign", "leave_match", "history", "report")
        found += [("move", {"match": match, "ply": 7, "action": {"x": 0, "y": 0}})]
        found += [(type, {"match": match, "text": "hm"}) for type in ("note", "comment")]
        found += [(type, {"match": match}) for type in plain]
    found += [("abort", {"match": match}) for match in ("nothing", world.over)]
    return found


class RefusingWorld(World):
    """The same server with objects for requests to name."""

    def __init__(self, server: VirtualServer) -> None:
        super().__init__(server)
        self.database = DumpedDatabase(server.path)
        backend = server.backend
        self.invited = self._host("ivy", joinable="invite")
        self.closed = self._host("ivy", joinable="closed")
        self.hidden = self._host("ivy", watchable=False, listed=False)
        self.gone = self._host("joe")
        self._ask("joe", "close", lobby=self.gone)
        self.quiet = self._host("joe", spectating={"comments": "none"})
        self._fill(self.quiet, "pat", "sam")
        self.quiet_match = f"{self.quiet}-1-1"
        self.sought = self._ask("pat", "seek", terms={"item": SMALL})["lobby"]
        self._ask("sam", "seek", terms={"item": SMALL})
        for name in ("pat", "sam"):
            self._ask(name, "ready", lobby=self.sought)
        self._ask("sam", "resign", match=f"{self.sought}-1-1")
        self.keys["hal"] = backend.registry.lobbies[self.full].engine.state.host.player
        backend.directory.quarantine.add("lobby", "damaged", StoreError("planted"))
        server.advance(1)
        backend.registry.recently_finished.clear()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RefusingWorld]:
    make_template(tmp_path)
    with opened(tmp_path, RefusingWorld) as world, closing(world.database):
        yield world


def asked(world: RefusingWorld, client: ScriptedClient, request: Request) -> tuple[str, str]:
    """Send a request, and assert that nothing has changed if it is refused."""
    type, fields = request
    before = fingerprint(world)
    answer = client.ask(type, **fields)
    code: str = answer["code"] if answer["type"] == "refused" else ""
    if code and (type, code) not in COUNTED:
        after = fingerprint(world)
        changed = {key: (before.get(key), after.get(key)) for key in before.keys() | after.keys()}
        changed = {key: each for key, each in changed.items() if each[0] != each[1]}
        assert changed == {}, f"{client.name}: {type} {json.dumps(fields)} was refused as {code}"
    return type, code


def test_a_refused_request_changes_nothing(
    world: RefusingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[tuple[str, str]] = set()

    def ask(name: str, type: str, fields: dict[str, Any]) -> None:
        seen.add(asked(world, world.clients[name], (type, fields)))

    names = [*reversed(world.clients)]  # the host is last because it has the most rights
    for name in names:
        for type, fields in invalid(world):
            ask(name, type, fields)
    others = [each for each in [*reads(world), *commands(world)] if each[1] not in ("GET", "hello")]
    for each in sorted(others, key=lambda each: (each[1] in ENDING, names.index(each[0]))):
        ask(*each)
    with monkeypatch.context() as patch:
        patch.setattr("kibitz_server.storage.sqlite.store.SQLiteStore.healthy", False)
        world.clients["new"] = world.server.guest_client("new")
        for type, fields in (host(), ("seek", {"terms": SOUGHT})):
            ask("new", type, fields)
    refused: dict[str, set[str]] = {}
    for type, code in seen:
        refused.setdefault(type, set()).update([code] if code else [])
    assert refused == REFUSALS


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"versions": [99], "name": "new"}, "version"),
        ({"versions": [1], "name": "hal"}, "name_taken"),
        ({"versions": [1], "name": "HaI"}, "name_taken"),
        ({"versions": [1], "name": "<>"}, "name_invalid"),
        ({"versions": [1]}, "name_invalid"),
        ({"versions": [1], "token": "kbz_" + "x" * 40}, "unauthorized"),
        ({"versions": [1], "resume": "x" * 40}, "unauthorized"),
        ({"versions": [1], "ticket": "x" * 40}, "unauthorized"),
    ],
)
def test_a_refused_hello_changes_nothing(
    world: RefusingWorld, fields: dict[str, Any], code: str
) -> None:
    stranger = ScriptedClient(world.server, "nobody")
    assert asked(world, stranger, ("hello", fields)) == ("hello", code)


def test_a_seek_that_is_refused_leaves_the_finished_one_as_it_was(world: RefusingWorld) -> None:
    pat, lobbies = world.clients["pat"], world.server.backend.registry.lobbies
    for item, code in (({"game": "chess"}, "unknown_game"), ({**ITEM, "seats": 1}, "bad_seats")):
        assert asked(world, pat, ("seek", {"terms": {"item": item}})) == ("seek", code)
    assert world.sought in lobbies
    assert pat.ask("seek", terms={"item": {**ITEM, "games": 5}})["type"] == "done"
    assert world.sought not in lobbies, "one that is granted leaves it"
