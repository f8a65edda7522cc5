"""Rated matches over the wire: players cannot end others' matches in their own favor."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.wire.messages import ClientMessage
from kibitz_server.accounts.token_admin import TokenAdmin
from kibitz_server.net.token_watch import close_void
from tests.server.match.toy_games import Grid, Veil
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

GAMES = {game.info.name: game for game in (Grid(), Veil())}
CLOCK = {"move_ms": 3_600_000}
ITEM = {"game": "toy-grid", "seats": 2, "games": 2, "time_control": CLOCK}
GRACE_S = 120.0
"""Longer than any grace period of these lobbies, in seconds."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        yield server


def key_of(who: ScriptedClient) -> str:
    welcome = next(each for each in who.messages() if each["type"] == "welcome")
    found: str = welcome["player"]
    return found


def record(server: VirtualServer, match: str) -> list[dict[str, Any]]:
    """Return the lines of a record from a chunked HTTP response."""
    page = server.page(f"/records/{match}.jsonl").splitlines()
    return [json.loads(line) for line in page if line.startswith(b"{")]


class Duel:
    """A rated match between ada, the host, and bob, which ada tries to escape."""

    def __init__(self, server: VirtualServer, *, seek: bool = False) -> None:
        self.server = server
        self.ada, self.bob = server.account_client("ada"), server.account_client("bob")
        self.mallory = server.guest_client("mallory")
        if seek:
            terms = {"item": ITEM, "rated": True}
            self.lobby = self.ada.ask("seek", terms=terms)["lobby"]
            assert self.bob.ask("seek", terms=terms)["lobby"] == self.lobby
        else:
            settings = {"seats": [{"kind": "open"}] * 2, "programme": [ITEM], "rated": True}
            hosted = self.ada.ask("host", settings=settings)
            assert hosted["type"] == "done", hosted
            self.lobby = hosted["lobby"]
            for player in (self.ada, self.bob):
                assert player.ask("join", lobby=self.lobby)["type"] == "done"
        for player in (self.ada, self.bob):
            player.ask("ready", lobby=self.lobby)
        self.match = f"{self.lobby}-1-1"
        assert self.server.backend.registry.matches[self.match].engine.state.setup.rated is not None

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a request as ada."""
        return self.ada.ask(kind, **fields)

    def result(self) -> dict[str, Any] | None:
        """Return the result of the match, None while it runs."""
        if self.match in self.server.backend.registry.matches:
            return None
        found: dict[str, Any] = record(self.server, self.match)[-1]["result"]
        return found

    def ratings(self) -> dict[str, float]:
        """Return both players' ratings on the ladder."""
        tables = self.bob.ask("ladder", game="toy-grid")["games"]
        return {line["name"]: line["rating"] for table in tables for line in table["lines"]}


def refused(answer: dict[str, Any]) -> None:
    assert answer["type"] == "refused", answer
    assert len(answer["message"]) > 10


def disconnect(duel: Duel) -> None:
    duel.ada._connection.connection_lost(None)


def revoke(duel: Duel) -> None:
    """The operator deletes ada's token, as she may request."""
    with TokenAdmin(duel.server.path) as register:
        [token] = [each.id for each in register.tokens() if each.player.name == "ada"]
        assert register.revoke(token)
    backend = duel.server.backend
    close_void(list(backend.connections.peers), backend.accounts)
    duel.ada._connection.connection_lost(None)


def take_name(duel: Duel) -> None:
    stranger = ScriptedClient(duel.server, "bob")
    refused(stranger.ask("hello", versions=[1], name="bob"))


def restart(duel: Duel) -> None:
    """Kill and restart the server; bob reconnects, ada does not."""
    duel.server.restart()
    duel.bob._connect()
    duel.bob._hello({}, "turn")
    assert duel.bob.ask("rejoin", match=duel.match)["type"] == "done"


def arrange(duel: Duel) -> None:
    players = [key_of(duel.bob), key_of(duel.ada)]
    matches = [{"tag": "t", "item": ITEM, "players": players}]
    refused(duel.ask("arrange", lobby=duel.lobby, matches=matches))


def kick_house(duel: Duel) -> None:
    refused(duel.ask("kick", lobby=duel.lobby, player="nobody"))


ITEM_TERMS = {"item": {**ITEM, "games": 4}, "rated": True}
WAYS: dict[str, Callable[[Duel], object]] = {
    "kick": lambda duel: refused(
        duel.ask("kick", lobby=duel.lobby, player=key_of(duel.bob)),
    ),
    "kick of nobody": kick_house,
    "kick herself": lambda duel: refused(
        duel.ask("kick", lobby=duel.lobby, player=key_of(duel.ada)),
    ),
    "close": lambda duel: duel.ask("close", lobby=duel.lobby),
    "leave": lambda duel: duel.ask("leave", lobby=duel.lobby),
    "close and leave": lambda duel: (
        duel.ask("close", lobby=duel.lobby),
        duel.ask("leave", lobby=duel.lobby),
    ),
    "leave the match": lambda duel: duel.ask("leave_match", match=duel.match),
    "resign": lambda duel: duel.ask("resign", match=duel.match),
    "resign with a fault": lambda duel: duel.ask("resign", match=duel.match, fault="crash"),
    "not ready": lambda duel: refused(duel.ask("ready", lobby=duel.lobby, ready=False)),
    "start": lambda duel: refused(duel.ask("start", lobby=duel.lobby)),
    "rematch": lambda duel: refused(duel.ask("rematch", lobby=duel.lobby)),
    "arrange": arrange,
    "seek": lambda duel: duel.ask("seek", terms=ITEM_TERMS),
    "host": lambda duel: duel.ask(
        "host", settings={"seats": [{"kind": "open"}] * 2, "programme": [ITEM]}
    ),
    "join": lambda duel: duel.ask("join", lobby=duel.lobby),
    "rejoin": lambda duel: duel.ask("rejoin", match=duel.match),
    "rejoin as a stranger": lambda duel: refused(duel.mallory.ask("rejoin", match=duel.match)),
    "abort": lambda duel: refused(duel.ask("abort", match=duel.match)),
    "disconnect": disconnect,
    "token revoked": revoke,
    "name": take_name,
    "restart": restart,
}
ASKED = {
    *("kick", "close", "leave", "leave_match", "resign", "ready", "start", "rematch", "arrange"),
    *("seek", "host", "join", "rejoin", "abort", "hello"),
}
"""Requests with which she might try to escape."""
HARMLESS = {
    "list_games": "only asks",
    "list_lobbies": "only asks",
    "list_matches": "only asks",
    "ladder": "only asks",
    "watch": "spectators change nothing",
    "unwatch": "spectators change nothing",
    "wall": "spectators change nothing",
    "subscribe": "spectators change nothing",
    "unsubscribe": "spectators change nothing",
    "move": "of her own turns only",
    "note": "changes nothing in the match",
    "comment": "changes nothing in the match",
    "report": "only asks",
    "history": "only asks",
}


def test_every_request_was_thought_of() -> None:
    union = ClientMessage.__args__[0] if hasattr(ClientMessage, "__args__") else ClientMessage
    models = union.__args__
    assert ASKED | set(HARMLESS) == {model.model_fields["type"].default for model in models}


@pytest.mark.parametrize("seek", [False, True], ids=["lobby", "seek"])
@pytest.mark.parametrize("way", WAYS)
def test_nobody_ends_a_rated_match_in_its_own_favor(
    server: VirtualServer, way: str, seek: bool
) -> None:
    duel = Duel(server, seek=seek)
    WAYS[way](duel)
    server.advance(GRACE_S)
    result, ratings = duel.result(), duel.ratings()
    if result is None:
        assert ratings == {}, "nothing is rated while the match runs"
        return
    finished = server.backend.registry.recently_finished[duel.match]
    players = [each.name for each in finished.state.players]
    ranks = dict(zip(players, (each["rank"] for each in result["seats"]), strict=True))
    assert ranks["bob"] < ranks["ada"]
    assert ratings["bob"] > 1500 > ratings["ada"]


def test_nobody_is_removed_from_a_seek(server: VirtualServer) -> None:
    """Not in any state of the lobby, even if its matches are not rated."""
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    terms = {"item": {"game": "toy-grid", "seats": 2}}
    lobby = ada.ask("seek", terms=terms)["lobby"]
    bob.ask("seek", terms=terms)
    key = key_of(bob)

    def kick() -> None:
        answer = ada.ask("kick", lobby=lobby, player=key)
        assert answer["code"] == "wrong_state"
        assert "seek again" in answer["message"]

    kick()
    for player in (ada, bob):
        player.ask("ready", lobby=lobby)
    kick()
    ada.ask("resign", match=f"{lobby}-1-1")
    server.advance(0.5)
    kick()


@pytest.mark.parametrize("rated", [False, True])
def test_a_host_removes_members_before_and_after_rated_matches(
    server: VirtualServer, rated: bool
) -> None:
    players = [server.account_client(name) for name in ("ada", "bob", "cat")]
    ada, bob, cat = players
    settings = {
        "seats": [{"kind": "open"}] * 3,
        "programme": [{**ITEM, "games": 1}],
        "rated": rated,
        "auto_start": False,
    }
    lobby = ada.ask("host", settings=settings)["lobby"]
    keys = []
    for player in players:
        player.ask("join", lobby=lobby)
        keys.append(key_of(player))
    assert ada.ask("kick", lobby=lobby, player=keys[2])["type"] == "done"
    assert cat.ask("join", lobby=lobby)["code"] == "closed"
    dan = server.account_client("dan")
    dan.ask("join", lobby=lobby)
    for player in (ada, bob, dan):
        player.ask("ready", lobby=lobby)
    ada.ask("start", lobby=lobby)
    answer = ada.ask("kick", lobby=lobby, player=keys[1])
    assert (answer["type"] == "refused") is rated
    if not rated:
        return
    assert "abort" in answer["message"]
    bob.ask("resign", match=f"{lobby}-1-1")
    server.advance(0.5)
    assert ada.ask("kick", lobby=lobby, player=keys[1])["type"] == "done"


def test_being_removed_is_a_cause_of_its_own(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    settings = {"seats": [{"kind": "open"}] * 2, "programme": [{"game": "toy-grid"}]}
    lobby = ada.ask("host", settings=settings)["lobby"]
    for request in ("join", "ready"):
        for player in (ada, bob):
            player.ask(request, lobby=lobby)
    key = key_of(bob)
    assert ada.ask("kick", lobby=lobby, player=key)["type"] == "done"
    server.advance(0.5)
    [finished] = [each for each in ada.messages() if each["type"] == "finished"]
    result = finished["result"]
    assert result["cause"] == "kicked"
    assert [seat.get("cause") for seat in result["seats"]] == [None, "kicked"]
    assert result["seats"][1]["detail"] == "was removed by the host"
    lines = record(server, f"{lobby}-1-1")
    assert [each["reason"] for each in lines if each.get("kind") == "leave"] == ["kicked"]
