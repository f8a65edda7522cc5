"""Every request is carried out once and answered the same, however often it is resent.

A connection may break before the answer comes, and the client resends its requests on the next one
under their old ids. By then others may have done something, the server may have been restarted,
and what the request was about may be over. The table below names every type of request, so that a
new one cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

import pytest

from kibitz_protocol.wire.messages import ClientMessage
from kibitz_server.accounts.names import skeleton
from tests.server.match.toy_games import Grid
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

TYPES: Final = {each.model_fields["type"].default for each in get_args(get_args(ClientMessage)[0])}
READING: Final = {
    "list_games",
    "list_lobbies",
    "list_matches",
    "ladder",
    "report",
    "history",
}
"""The requests that change nothing."""
CONNECTED: Final = {
    "hello",
    "watch",
    "unwatch",
    "wall",
    "subscribe",
    "unsubscribe",
    "rejoin",
}
"""The requests that change what one connection is sent, and nothing that outlives it."""
ITEM: Final = {"game": "toy-grid", "seats": 2}
PRESENCE: Final = (b'"kind":"leave"', b'"kind":"return"')
"""The entries that connections make."""
Fields: TypeAlias = dict[str, Any]


class World:
    """A server with a host, two players and an operator."""

    def __init__(self, server: VirtualServer) -> None:
        self.server = server
        self._appoint_operator()
        self.clients = {name: self._client(name) for name in ("hal", "ada", "bob")}
        self.clients["joe"] = server.account_client("joe", instance="instance-of-joe")

    def _client(self, name: str) -> ScriptedClient:
        return self.server.guest_client(name, instance=f"instance-of-{name}")

    def _appoint_operator(self) -> None:
        self.server.backend.accounts._operators = frozenset({skeleton("joe")})

    def ask(self, name: str, type: str, **fields: Any) -> Fields:
        answer = self.clients[name].ask(type, **fields)
        assert answer["type"] in ("done", "arranged"), answer
        return answer

    def host(self, **settings: Any) -> str:
        seats = [{"kind": "open"}] * 2
        settings = {"name": "x", "programme": [ITEM], "seats": seats, **settings}
        return str(self.ask("hal", "host", settings=settings)["lobby"])

    def filled(self, *, ready: bool = True, **settings: Any) -> str:
        """Open a lobby whose seats are taken, and begin its match if all are ready."""
        lobby = self.host(**settings)
        for type in ("join", "ready") if ready else ("join",):
            for name in ("ada", "bob"):
                self.ask(name, type, lobby=lobby)
        return lobby

    def begun(self) -> str:
        """Return a running match."""
        return f"{self.filled()}-1-1"

    def finished(self) -> str:
        """Return a lobby whose programme is finished."""
        lobby = self.filled()
        self.ask("ada", "resign", match=f"{lobby}-1-1")
        self.server.advance(0.1)
        return lobby

    def key(self, name: str) -> str:
        """Return the key of a player."""
        identity = self.clients[name]._peer.identity
        assert identity is not None, "it has said hello"
        return identity.key

    # --- looking ------------------------------------------------------------------------------

    def entries(self) -> set[bytes]:
        """Return the lines of all logs, except those about connections."""
        db = self.server.store._writer.db
        lines = {bytes(head) for (head,) in db.execute("SELECT head FROM stream")}
        for (text,) in db.execute("SELECT lines FROM stretch"):
            lines.update(bytes(text).split(b"\n"))
        for (text,) in db.execute("SELECT lines FROM journal"):
            rows = filter(None, bytes(text).split(b"\n"))
            lines.update(row.split(b" ", 3)[3] for row in rows)
        return {
            line
            for line in lines
            if b'"request":"' in line or not any(kind in line for kind in PRESENCE)
        }

    # --- breaking -----------------------------------------------------------------------------

    def lose(self, what: str) -> None:
        """Lose all connections, and maybe the server or its memory, and reconnect."""
        if what == "server":
            self.server.restart()
            self._appoint_operator()
        else:
            for client in self.clients.values():
                client.disconnect()
        if what == "memory":
            self.server.backend.registry.recently_finished.clear()
        for client in self.clients.values():
            for match in client.reconnect()["seats"]:
                client.ask("rejoin", match=match)
        self.server.advance(0.1)


Prepared: TypeAlias = tuple[str, Fields]
"""The client that makes a request, and the fields of the request."""
Between: TypeAlias = Callable[[World, Fields], None]


@dataclass(frozen=True, slots=True)
class Case:
    """A request, and what may happen between it and its copy."""

    prepare: Callable[[World], Prepared]
    between: Between = lambda world, fields: None


def _play_round(world: World, fields: Fields) -> None:
    """Play a lobby's present round to its end."""
    lobby = fields["lobby"]
    number = world.server.backend.registry.lobbies[lobby].engine.state.round.number
    for name in ("ada", "bob"):
        world.ask(name, "ready", lobby=lobby)
    world.ask("ada", "resign", match=f"{lobby}-{number}-1")
    world.server.advance(0.1)


def _settings(world: World) -> Prepared:
    return "hal", {"settings": {"name": "x", "programme": [ITEM], "seats": [{"kind": "open"}] * 2}}


def _seek(world: World) -> Prepared:
    return "ada", {"terms": {"item": {**ITEM, "time_control": {"main_ms": 60_000}}}}


def _arranged(world: World) -> Prepared:
    lobby = world.filled(ready=False, arranged=True, programme=[])
    for name in ("ada", "bob"):
        world.ask(name, "ready", lobby=lobby)
    world.ask("hal", "start", lobby=lobby)
    match = {"tag": "t", "item": ITEM, "players": [world.key("ada"), world.key("bob")]}
    return "hal", {"lobby": lobby, "matches": [match]}


def _move(world: World) -> Prepared:
    match = world.begun()
    state = world.server.backend.registry.matches[match].engine.state
    move = state.encode(state.game.legal(state.game_state)[0])
    return state.players[state.to_act].name, {"match": match, "ply": state.ply, "action": move}


def _leave_and_return(world: World, fields: Fields) -> None:
    world.ask("ada", "join", lobby=fields["lobby"])


def _unready(world: World, fields: Fields) -> None:
    world.ask("ada", "ready", lobby=fields["lobby"], ready=False)


def _end_match(world: World, fields: Fields) -> None:
    world.ask("bob", "resign", match=fields["match"])


CASES: Final[dict[str, list[Case]]] = {
    "host": [Case(_settings)],
    "seek": [Case(_seek)],
    "join": [Case(lambda world: ("ada", {"lobby": world.host()}))],
    "leave": [
        Case(lambda world: ("ada", {"lobby": world.filled(ready=False)})),
        Case(lambda world: ("ada", {"lobby": world.filled(ready=False)}), _leave_and_return),
        Case(lambda world: ("ada", {"lobby": world.filled()})),
    ],
    "kick": [
        Case(
            lambda world: (
                "hal",
                {"lobby": world.filled(ready=False), "player": world.key("ada")},
            )
        )
    ],
    "ready": [
        Case(lambda world: ("ada", {"lobby": world.filled(ready=False)})),
        Case(lambda world: ("ada", {"lobby": world.filled(ready=False)}), _unready),
    ],
    "start": [Case(lambda world: ("hal", {"lobby": world.filled(auto_start=False)}))],
    "rematch": [
        Case(lambda world: ("hal", {"lobby": world.finished()})),
        Case(lambda world: ("hal", {"lobby": world.finished()}), _play_round),
    ],
    "close": [
        Case(lambda world: ("hal", {"lobby": world.host()})),
        Case(lambda world: ("hal", {"lobby": world.filled()})),
    ],
    "arrange": [Case(_arranged)],
    "move": [Case(_move), Case(_move, _end_match)],
    "resign": [
        Case(lambda world: ("ada", {"match": world.begun()})),
        Case(lambda world: ("ada", {"match": world.begun(), "fault": "crash"})),
    ],
    "leave_match": [Case(lambda world: ("ada", {"match": world.begun()}))],
    "note": [
        Case(lambda world: ("ada", {"match": world.begun(), "text": "hm"})),
        Case(lambda world: ("ada", {"match": world.begun(), "text": "hm"}), _end_match),
    ],
    "comment": [
        Case(lambda world: ("ada", {"match": world.begun(), "text": "oh"})),
        Case(lambda world: ("ada", {"match": world.begun(), "text": "oh"}), _end_match),
    ],
    "abort": [Case(lambda world: ("joe", {"match": world.begun(), "reason": "power cut"}))],
}
"""The possible fates of each request that changes something for others."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resending")
    make_template(folder)
    return folder


@pytest.fixture
def world(folder: Path) -> Iterator[World]:
    with virtual_server({"toy-grid": Grid()}, folder) as server:
        yield World(server)


def test_every_type_of_request_is_in_the_table() -> None:
    assert READING | CONNECTED | CASES.keys() == TYPES
    assert not READING & CASES.keys()
    assert not CONNECTED & CASES.keys()


@pytest.mark.parametrize("lost", ["connection", "server", "memory"])
@pytest.mark.parametrize(
    ("type", "case"),
    [
        pytest.param(type, case, id=f"{type}-{number}")
        for type, cases in CASES.items()
        for number, case in enumerate(cases)
    ],
)
def test_a_resent_request_is_carried_out_once(
    world: World, type: str, case: Case, lost: str
) -> None:
    name, fields = case.prepare(world)
    client = world.clients[name]
    first = client.ask(type, **fields)
    assert first["type"] in ("done", "arranged"), first
    request = first["re"]
    case.between(world, fields)
    world.lose(lost)
    before = world.entries()
    for _ in range(2):
        again = client.resend(request, type, **fields)
        world.server.advance(0.1)
        if type == "arrange":  # answered with how its matches stand now
            assert again["type"] == "arranged"
            again = first
        assert again == first
    assert world.entries() == before


def test_no_log_has_the_secret_of_a_program(world: World) -> None:
    world.ask("ada", "comment", match=world.begun(), text="oh")
    world.server.advance(0.1)
    lines = world.entries()
    assert any(b'"request":"' in line for line in lines)
    assert not any(b"instance-of-" in line for line in lines)


def test_a_program_without_an_instance_makes_a_new_request(world: World) -> None:
    client, match = world.server.guest_client("eve"), world.begun()
    client.ask("watch", match=match)
    first = client.ask("comment", match=match, text="oh")
    again = client.resend(first["re"], "comment", match=match, text="oh")
    assert again["seq"] == first["seq"] + 1
