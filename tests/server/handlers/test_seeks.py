"""Seeks: pairing, every refusal, withdrawal, expiry and rematches, over the wire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.match.toy_games import Grid, Veil
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

GAMES = {game.info.name: game for game in (Grid(), Veil())}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        yield server


def terms(game: str = "toy-grid", *, rated: bool = False, **item: Any) -> dict[str, Any]:
    return {"item": {"game": game, **item}, "rated": rated}


def seek(who: ScriptedClient, wait_s: int = 60, **wanted: Any) -> dict[str, Any]:
    return who.ask("seek", terms=terms(**wanted), wait_s=wait_s)


def lobbies(who: ScriptedClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = who.ask("list_lobbies")["lobbies"]
    return found


def view(who: ScriptedClient) -> dict[str, Any]:
    """Return the last full view of a lobby that a client received."""
    whole = [each for each in who.messages() if each["type"] == "lobby"]
    found: dict[str, Any] = whole[-1]["lobby"]
    return found


def closings(who: ScriptedClient) -> list[str]:
    return [each["reason"] for each in who.messages() if each["type"] == "lobby_closed"]


def play(server: VirtualServer, *players: ScriptedClient) -> str:
    """Let two players of a seek end their match by resigning; return the match."""
    lobby = view(players[0])["lobby"]
    for each in players:
        each.ask("ready", lobby=lobby)
    started = [each for each in players[0].messages() if each["type"] == "snapshot"][-1]
    assert players[0].ask("resign", match=started["match"])["type"] == "done"
    server.advance(0.1)
    match: str = started["match"]
    return match


def test_two_who_seek_the_same_play(server: VirtualServer) -> None:
    ada, bob, eve = (server.guest_client(name) for name in ("ada", "bob", "eve"))
    first = seek(ada)
    assert first["type"] == "done"
    (brief,) = lobbies(eve)
    assert (brief["lobby"], brief["name"]) == (first["lobby"], "ada seeks")
    assert (brief["members"], brief["places"]) == (1, 2)
    assert brief["seek"]["item"]["game"] == "toy-grid"
    assert seek(bob)["lobby"] == first["lobby"]
    assert view(bob)["seek"] is True
    match = play(server, ada, bob)
    assert match == f"{first['lobby']}-1-1"


def test_terms_that_differ_do_not_meet(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    found = {seek(ada)["lobby"]}
    clock = {"main_ms": 10_000, "increment_ms": 100}
    found.add(seek(bob, time_control=clock)["lobby"])
    for name, wanted in (("cyd", {"game": "toy-veil"}), ("dan", {"games": 4})):
        found.add(seek(server.guest_client(name), **wanted)["lobby"])
    assert len(found) == 4


def test_seeking_again_changes_nothing_and_something_else_is_refused(
    server: VirtualServer,
) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    first = seek(ada)
    again = seek(ada)
    assert (again["type"], again["lobby"]) == ("done", first["lobby"])
    other = seek(ada, game="toy-veil")
    assert (other["type"], other["code"]) == ("refused", "limit")
    assert first["lobby"] in other["message"]
    seek(bob)
    assert seek(bob)["lobby"] == first["lobby"]
    for each in (ada, bob):
        each.ask("ready", lobby=first["lobby"])
    assert seek(ada)["lobby"] == first["lobby"], "a lost answer begins no second one"
    assert len(lobbies(bob)) == 1


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"game": "chess"}, "unknown_game"),
        ({"options": {"no-such": 1}}, "bad_option"),
        ({"seats": 1}, "bad_seats"),
        ({"seed": 7}, "bad_option"),
        ({"rated": True}, "unauthorized"),
    ],
)
def test_what_cannot_be_sought_is_refused(
    server: VirtualServer, wanted: dict[str, Any], code: str
) -> None:
    ada = server.guest_client("ada")
    answer = seek(ada, **wanted)
    assert (answer["type"], answer["code"]) == ("refused", code)
    assert answer["message"]
    assert lobbies(ada) == []


def test_how_long_it_waits_is_bounded(server: VirtualServer) -> None:
    ada = server.guest_client("ada")
    for wait_s in (0, 100_000):
        assert seek(ada, wait_s=wait_s)["code"] == "malformed"


def test_accounts_seek_rated_matches(server: VirtualServer) -> None:
    ada, bob = server.account_client("ada"), server.account_client("bob")
    guest = server.guest_client("guest")
    clock = {"move_ms": 1000}
    assert seek(guest, rated=True, time_control=clock)["code"] == "unauthorized"
    refused = seek(ada, rated=True)
    assert refused["message"].startswith("terms.item.time_control: expected a clock")
    first = seek(ada, rated=True, time_control=clock)
    assert seek(guest, time_control=clock)["lobby"] != first["lobby"]
    assert seek(bob, rated=True, time_control=clock)["lobby"] == first["lobby"]


def test_leaving_withdraws_a_seek(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada)["lobby"]
    assert ada.ask("leave", lobby=lobby)["type"] == "done"
    assert lobbies(bob) == []
    assert seek(ada)["lobby"] != lobby, "and it may seek again"


def test_a_seek_expires(server: VirtualServer) -> None:
    ada = server.guest_client("ada")
    seek(ada, wait_s=60)
    server.advance(59)
    assert len(lobbies(ada)) == 1
    server.advance(2)
    assert lobbies(ada) == []
    assert closings(ada) == ["expired"]


def test_it_is_accepted_by_joining_and_expires_all_the_same(server: VirtualServer) -> None:
    """A player who is never ready delays others no longer than the seek's timeout."""
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada, wait_s=60)["lobby"]
    assert bob.ask("join", lobby=lobby)["type"] == "done"
    assert seek(server.guest_client("cyd"))["lobby"] != lobby, "it is full"
    server.advance(61)
    assert closings(ada) == closings(bob) == ["expired"]


def test_a_seek_survives_the_server_and_waits_anew(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada, wait_s=60)["lobby"]
    server.advance(50)
    server.restart()
    ada.reconnect()
    bob.reconnect()
    server.advance(20)
    assert seek(bob)["lobby"] == lobby
    play(server, ada, bob)


def test_nobody_is_paired_with_who_is_away(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada)["lobby"]
    ada._connection.connection_lost(None)
    server.advance(0.1)
    assert seek(bob)["lobby"] != lobby


def test_both_ask_for_a_rematch(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada)["lobby"]
    early = ada.ask("rematch", lobby=lobby)
    assert early["code"] == "wrong_state"
    seek(bob)
    play(server, ada, bob)
    stranger = server.guest_client("eve").ask("rematch", lobby=lobby)
    assert stranger["code"] == "not_member"
    assert bob.ask("rematch", lobby=lobby)["type"] == "done", "who did not open it may ask"
    assert ada.ask("rematch", lobby=lobby)["type"] == "done"
    started = [each for each in ada.messages() if each["type"] == "snapshot"]
    assert [each["match"] for each in started] == [f"{lobby}-1-1", f"{lobby}-2-1"]
    seats = [[who["name"] for who in each["seats"]] for each in started]
    assert seats[0] == seats[1][::-1]
    assert ada.ask("rematch", lobby=lobby)["code"] == "wrong_state"


def test_a_rematch_that_nobody_answers_expires(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada, wait_s=60)["lobby"]
    seek(bob)
    play(server, ada, bob)
    server.advance(50)
    bob.ask("rematch", lobby=lobby)
    server.advance(50)
    assert closings(ada) == []
    server.advance(12)
    assert closings(ada) == closings(bob) == ["expired"]


def test_who_leaves_after_the_match_closes_it(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada)["lobby"]
    seek(bob)
    play(server, ada, bob)
    bob.ask("leave", lobby=lobby)
    assert closings(ada) == ["closed"]
    assert lobbies(ada) == []


def test_who_seeks_anew_leaves_what_is_played(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada)["lobby"]
    seek(bob)
    play(server, ada, bob)
    assert seek(bob, game="toy-veil")["lobby"] != lobby
    assert closings(ada) == ["closed"]
    assert len(lobbies(bob)) == 1


def test_who_leaves_in_the_match_loses_it_and_closes_the_seek(server: VirtualServer) -> None:
    ada, bob = server.guest_client("ada"), server.guest_client("bob")
    lobby = seek(ada)["lobby"]
    seek(bob)
    for each in (ada, bob):
        each.ask("ready", lobby=lobby)
    bob.ask("leave", lobby=lobby)
    server.advance(0.2)
    (end,) = [each for each in ada.messages() if each["type"] == "finished"]
    assert end["result"]["seats"][1]["cause"] == "disconnect"
    assert closings(ada) == ["closed"]


def test_the_number_of_lobbies_is_limited(server: VirtualServer) -> None:
    ada = server.guest_client("ada")
    settings = {"seats": [{"kind": "open"}], "programme": [{"game": "toy-grid", "seats": 1}]}
    while (answer := ada.ask("host", settings=settings))["type"] == "done":
        pass
    refused = seek(ada)
    assert refused["code"] in (answer["code"], "limit")
