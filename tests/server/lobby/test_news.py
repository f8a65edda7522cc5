"""Updates of a lobby on a complete server: their recipients and number."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.wire.merge_patch import apply
from kibitz_server.lobby import news, views
from kibitz_server.lobby.state import LobbyState
from tests.server.directory.test_directory import GAMES
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

MATCHES = 6


class Played:
    """A lobby with two players and a watching host, with a running programme."""

    def __init__(self, server: VirtualServer) -> None:
        self.server = server
        self.host, *self.players = [server.guest_client(name) for name in ("hal", "ada", "bob")]
        settings = {
            "seats": [{"kind": "open"}] * 2,
            "programme": [{"game": "toy-grid", "games": MATCHES}],
            "at_once": 1,
        }
        self.lobby = self.host.ask("host", settings=settings)["lobby"]
        for player in self.players:
            player.ask("join", lobby=self.lobby)
        for player in self.players:
            player.ask("ready", lobby=self.lobby)
        server.advance(1)

    def resign(self) -> None:
        """End the running match and start the next one."""
        (match,) = self.server.backend.registry.lobbies[self.lobby].engine.state.round.running
        self.players[0].ask("resign", match=match)
        self.server.advance(1)

    def types(self, client: ScriptedClient, start: int) -> list[str]:
        told = [message["type"] for message in client.messages(start)]
        return [kind for kind in told if kind.startswith(("lobby", "match_"))]


def heard(client: ScriptedClient) -> int:
    """Return how many messages a client was sent so far."""
    return len(client.messages())


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        yield Played(server)


def test_everybody_is_told_the_whole_lobby_once_and_then_what_changes(played: Played) -> None:
    played.resign()
    for client in (played.host, *played.players):
        types = played.types(client, 0)
        assert types.count("lobby") == 1
        assert types.index("lobby") < types.index("match_started")
        assert "lobby_changed" in types


def test_a_match_that_ends_and_one_that_begins_make_no_view_of_the_lobby(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unwanted(*_: object, **__: object) -> Any:
        raise AssertionError("the whole lobby was made for those who know it")

    monkeypatch.setattr(news, "lobby_view", unwanted)
    start = heard(played.host)
    played.resign()
    assert played.types(played.host, start) == ["match_ended", "lobby_changed", "match_started"]
    changed = played.host.messages(start)[-2]
    assert changed["patch"].keys() == {"done", "standings"}
    assert len(changed["patch"]["standings"]) == 2


def test_who_comes_back_is_told_the_whole_lobby_again(played: Played) -> None:
    ada = played.players[0]
    start = heard(ada)
    ada.reconnect()
    played.server.advance(1)
    (whole,) = [each for each in ada.messages(start) if each["type"] == "lobby"]
    assert [member["connected"] for member in whole["lobby"]["members"].values()] == [True, True]


def test_a_member_or_host_that_also_watches_keeps_the_invite_code(played: Played) -> None:
    settings = {
        "seats": [{"kind": "open"}] * 2,
        "programme": [{"game": "toy-grid"}],
        "joinable": "invite",
    }
    hosted = played.host.ask("host", settings=settings)
    lobby, invite = hosted["lobby"], hosted["invite"]
    member, stranger = played.players[0], played.server.guest_client("eve")
    member.ask("join", lobby=lobby, invite=invite)
    for client, known in ((played.host, invite), (member, invite), (stranger, None)):
        client.ask("join", lobby=lobby, role="spectator")
        played.server.advance(1)
        views = [each["lobby"] for each in client.messages() if each["type"] == "lobby"]
        assert views[-1]["lobby"] == lobby
        assert views[-1].get("invite") == known


def test_who_goes_and_comes_back_is_told_to_the_others(played: Played) -> None:
    ada, bob = played.players
    start = heard(bob)
    ada._connection.connection_lost(None)
    played.server.advance(1)
    (gone,) = [each for each in bob.messages(start) if each["type"] == "lobby_changed"]
    [change] = gone["patch"]["members"].values()
    assert change == {"connected": False}


def test_who_reads_too_slowly_misses_changes_and_gets_the_whole_lobby(played: Played) -> None:
    host = played.host
    start = heard(host)
    host._connection.pause_writing()
    for _ in range(2):
        played.resign()
    assert played.types(host, start) == []
    host._connection.resume_writing()
    played.server.advance(1)
    types = played.types(host, start)
    assert types == ["match_ended", "match_started"] * 2 + ["lobby"]
    assert json.loads(host.received[-1])["lobby"]["done"] == 2
    start = heard(host)
    played.resign()
    assert "lobby_changed" in played.types(host, start)


def test_the_removed_and_those_of_a_closed_lobby_know_how_it_ended(played: Played) -> None:
    played.host.ask("close", lobby=played.lobby)
    start = heard(played.host)
    (match,) = played.server.backend.registry.lobbies[played.lobby].engine.state.round.running
    played.players[0].ask("resign", match=match)
    played.server.advance(1)
    *_, changed, closed = [
        each for each in played.host.messages(start) if each["type"].startswith("lobby")
    ]
    assert (changed["type"], changed["patch"]["state"]) == ("lobby_changed", "closed")
    assert closed["type"] == "lobby_closed"


# --- several connections of one player ----------------------------------------------------------


def kinds(client: ScriptedClient, start: int) -> list[str]:
    return [each["type"] for each in client.messages(start)]


def test_every_connection_that_follows_a_lobby_is_told_the_same(played: Played) -> None:
    """Two tabs of one player both show the current lobby, regardless of their order."""
    for first in (played.host, played.players[1]):
        second = first.beside()
        played.server.advance(1)
        assert kinds(second, 0).count("lobby") == 1, "who says hello is told its lobbies"
        starts = len(first.messages()), len(second.messages())
        played.resign()
        told = played.types(first, starts[0]), played.types(second, starts[1])
        assert told[0] == told[1]
        assert {"match_ended", "match_started", "lobby_changed"} <= set(told[0])
        second.disconnect()
        start = len(first.messages())
        played.resign()
        assert played.types(first, start) == told[0], "the one that is left goes on being told"


def test_a_connection_that_does_not_follow_a_lobby_is_told_nothing_of_it(
    tmp_path: Path,
) -> None:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        ada, bob = server.guest_client("ada"), server.guest_client("bob")
        elsewhere = ada.beside()
        item = {"game": "toy-grid", "seats": 2}
        settings = {"seats": [{"kind": "open"}] * 3, "programme": [item], "auto_start": False}
        lobby = bob.ask("host", settings=settings)["lobby"]
        ada.ask("join", lobby=lobby)
        bob.ask("join", lobby=lobby)
        server.advance(1)
        assert kinds(ada, 0).count("lobby") == 1
        assert "lobby_changed" in kinds(ada, 0), "the newest connection is not the one that joined"
        assert not {"lobby", "lobby_changed"} & set(kinds(elsewhere, 0))
        elsewhere.ask("join", lobby=lobby)
        start = len(elsewhere.messages())
        bob.ask("ready", lobby=lobby)
        server.advance(1)
        assert "lobby_changed" in kinds(elsewhere, start), "it has joined on this one as well now"


@pytest.mark.parametrize("how", ["leave", "kick", "close"])
def test_every_connection_hears_that_its_player_is_out(played: Played, how: str) -> None:
    host, ada = played.host, played.players[0]
    second = ada.beside()
    played.server.advance(1)
    starts = len(ada.messages()), len(second.messages())
    if how == "leave":
        second.ask("leave", lobby=played.lobby)
    elif how == "kick":
        members = played.server.backend.registry.lobbies[
            played.lobby
        ].engine.state.seats.members.values()
        [player] = [each.player.player for each in members if each.player.name == "ada"]
        host.ask("kick", lobby=played.lobby, player=player)
    else:
        host.ask("close", lobby=played.lobby)
        played.resign()
    played.server.advance(1)
    assert kinds(ada, starts[0]).count("lobby_closed") == 1
    # Only the connection that requested to leave is answered.
    assert kinds(second, starts[1]).count("lobby_closed") == (how != "leave")
    starts = len(ada.messages()), len(second.messages())
    host.ask("rematch", lobby=played.lobby)
    played.server.advance(1)
    assert played.types(ada, starts[0]) == played.types(second, starts[1]) == []


# --- what followers know ------------------------------------------------------------------------


def followed(client: ScriptedClient, lobby: str) -> dict[str, Any] | None:
    """Return a lobby as a client knows it: the last whole one with all patches since."""
    view = None
    for message in client.messages():
        if message["type"] == "lobby" and message["lobby"]["lobby"] == lobby:
            view = message["lobby"]
        elif message["type"] == "lobby_changed" and message["lobby"] == lobby and view is not None:
            view = apply(view, message["patch"])
    return view and {name: view.get(name) for name in ("state", "members", "spectators", "done")}


@pytest.fixture
def gathering(tmp_path: Path) -> Iterator[tuple[VirtualServer, list[ScriptedClient], str]]:
    """Yield a lobby with a host and three members, and a client that is not in it yet."""
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        clients = [server.guest_client(name) for name in ("hal", "ada", "bob", "cyd", "eve")]
        item = {"game": "toy-grid", "seats": 2}
        settings = {"seats": [{"kind": "open"}] * 4, "programme": [item], "auto_start": False}
        lobby = clients[0].ask("host", settings=settings)["lobby"]
        for client in clients[1:4]:
            client.ask("join", lobby=lobby)
        server.advance(1)
        yield server, clients, lobby


def test_who_comes_between_two_patches_misses_no_change_that_is_taken_back(
    gathering: tuple[VirtualServer, list[ScriptedClient], str],
) -> None:
    server, (host, ada, bob, _, eve), lobby = gathering
    ada.ask("ready", lobby=lobby)  # a patch tells it at once, and the next one waits
    bob.ask("ready", lobby=lobby)
    eve.ask("join", lobby=lobby, role="spectator")
    bob.ask("ready", lobby=lobby, ready=False)
    server.advance(1)
    assert followed(eve, lobby) == followed(host, lobby)


def player_of(client: ScriptedClient) -> str:
    welcomes = [each for each in client.messages() if each["type"] == "welcome"]
    return str(welcomes[-1]["player"])


def joins(client: ScriptedClient, lobby: str) -> ScriptedClient:
    client.ask("join", lobby=lobby)
    return client


def joins_and_watches(client: ScriptedClient, lobby: str) -> ScriptedClient:
    client.ask("join", lobby=lobby)
    client.ask("join", lobby=lobby, role="spectator")
    return client


def watches_and_joins(client: ScriptedClient, lobby: str) -> ScriptedClient:
    client.ask("join", lobby=lobby, role="spectator")
    client.ask("join", lobby=lobby)
    return client


def joins_and_opens_a_page(client: ScriptedClient, lobby: str) -> ScriptedClient:
    client.ask("join", lobby=lobby)
    return client.beside()


def joins_and_reconnects(client: ScriptedClient, lobby: str) -> ScriptedClient:
    client.ask("join", lobby=lobby)
    client.reconnect()
    return client


def joins_on_another_page(client: ScriptedClient, lobby: str) -> ScriptedClient:
    client.ask("join", lobby=lobby)
    other = client.beside()
    other.ask("join", lobby=lobby, role="spectator")
    return other


WAYS = (
    joins,
    joins_and_watches,
    watches_and_joins,
    joins_and_opens_a_page,
    joins_and_reconnects,
    joins_on_another_page,
)


@pytest.mark.parametrize("pending", [False, True], ids=["no news", "pending news"])
@pytest.mark.parametrize("host", [False, True], ids=["guest", "host"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_view_that_a_member_gets_shows_it(
    gathering: tuple[VirtualServer, list[ScriptedClient], str],
    way: Callable[[ScriptedClient, str], ScriptedClient],
    host: bool,
    pending: bool,
) -> None:
    """Even between two patches; a page that misses its own seat would only watch the lobby."""
    server, clients, lobby = gathering
    joining, ada = clients[0 if host else 4], clients[1]
    if pending:
        ada.ask("ready", lobby=lobby)  # a patch tells it at once, and the next one waits
        ada.ask("ready", lobby=lobby, ready=False)
    start = heard(joining)
    asked = way(joining, lobby)
    server.advance(0.01)
    for client in {joining, asked}:
        told = client.messages(start if client is joining else 0)
        joined = [each for each in told if each["type"] == "lobby"]
        if way is watches_and_joins:
            del joined[0]  # the view of a spectator
        assert joined
        for each in joined:
            assert player_of(client) in each["lobby"]["members"]
    server.advance(1)
    known = list(filter(None, (followed(client, lobby) for client in {*clients, asked})))
    assert known == known[:1] * len(known)


@pytest.mark.parametrize("pending", [False, True], ids=["no news", "pending news"])
def test_whoever_seeks_finds_itself_in_its_lobby(tmp_path: Path, pending: bool) -> None:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        ada, bob = server.guest_client("ada"), server.guest_client("bob")
        terms = {"item": {"game": "toy-grid", "seats": 2}}
        for client in (ada, bob):
            client.ask("seek", terms=terms)
            server.advance(0.01 if pending else 1)
        for client in (ada, bob):
            known = followed(client, client.ask("seek", terms=terms)["lobby"])
            assert known is not None
            assert player_of(client) in known["members"]


@pytest.mark.parametrize("seed", range(12))
def test_all_followers_know_the_same(
    gathering: tuple[VirtualServer, list[ScriptedClient], str], seed: int
) -> None:
    server, (host, *players), lobby = gathering
    chance = random.Random(seed)
    requests = [("ready", True), ("ready", False), ("join", None), ("leave", None), ("watch", None)]
    for _ in range(40):
        player = chance.choice(players)
        request, ready = chance.choice(requests)
        if request == "ready":
            player.ask("ready", lobby=lobby, ready=ready)
        elif request == "watch":
            player.ask("join", lobby=lobby, role="spectator")
        else:
            player.ask(request, lobby=lobby)
        server.advance(chance.choice([0, 0, 0.01, 0.2]))
    for player in players:
        player.ask("join", lobby=lobby, role="spectator")
    server.advance(1)
    known = [followed(client, lobby) for client in (host, *players)]
    assert known == known[:1] * 5


def test_the_shared_part_is_made_once_for_all_who_come(
    gathering: tuple[VirtualServer, list[ScriptedClient], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, clients, lobby = gathering
    made: list[LobbyState] = []

    def counted(state: LobbyState, connected: Collection[str], spectators: int) -> dict[str, Any]:
        made.append(state)
        return views.changing_part(state, connected, spectators)

    monkeypatch.setattr(news, "changing_part", counted)
    for client in clients:
        client.post("join", lobby=lobby, role="spectator")
    server.advance(0.05)
    assert len(made) <= 2


def test_the_end_of_the_last_match_is_announced_before_the_end_of_its_lobby(
    tmp_path: Path,
) -> None:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        played = Played(server)
        played.host.ask("join", lobby=played.lobby, role="spectator")
        played.host.ask("close", lobby=played.lobby)
        played.players[0].ask("resign", match=f"{played.lobby}-1-1")
        server.advance(1)
        types = [message["type"] for message in played.host.messages()]
    assert types.index("match_ended") < types.index("lobby_closed") == len(types) - 1
