"""The operator's request `abort`: its permission, and that aborted matches do not count."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kibitz_server.accounts.names import skeleton
from tests.server.match.toy_games import Grid
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

GAMES = {"toy-grid": Grid()}
ITEM = {"game": "toy-grid", "seats": 2, "games": 2, "time_control": {"move_ms": 60_000}}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        server.backend.accounts._operators = frozenset({skeleton("Opal")})
        yield server


def match(server: VirtualServer) -> tuple[list[ScriptedClient], str]:
    players = [server.account_client(name) for name in ("ada", "bob")]
    settings = {
        "seats": [{"kind": "open"}] * 2,
        "programme": [ITEM],
        "rated": True,
        "at_once": 1,
    }
    lobby = players[0].ask("host", settings=settings)["lobby"]
    for request in ("join", "ready"):
        for player in players:
            player.ask(request, lobby=lobby)
    return players, lobby


def test_an_aborted_match_counts_for_nobody(server: VirtualServer) -> None:
    (ada, bob), lobby = match(server)
    operator = server.account_client("opal")
    answer = operator.ask("abort", match=f"{lobby}-1-1", reason="reported \x1b[2J twice")
    assert answer["type"] == "done"
    server.advance(0.5)
    [finished] = [each for each in ada.messages() if each["type"] == "finished"]
    assert finished["result"]["cause"] == "aborted"
    assert [each["rank"] for each in finished["result"]["seats"]] == [1, 1]
    assert ada.ask("ladder", game="toy-grid")["games"][0]["lines"] == []
    page = server.page(f"/records/{lobby}-1-1.jsonl").splitlines()
    [entry] = [json.loads(line) for line in page if b'"kind":"abort"' in line]
    assert (entry["kind"], entry["operator"]) == ("abort", True)
    assert entry["detail"] == "reported \\x1b[2J twice"
    state = server.backend.registry.lobbies[lobby].engine.state
    assert (state.round.aborted, state.round.ended) == (1, 0)
    assert list(state.round.running) == [f"{lobby}-1-2"], "it is not played again"
    assert operator.ask("abort", match=f"{lobby}-1-1")["code"] == "over"
    bob.ask("resign", match=f"{lobby}-1-2")
    server.advance(0.5)
    assert len(ada.ask("ladder", game="toy-grid")["games"][0]["lines"]) == 2


def test_an_abort_is_the_same_after_a_restart(server: VirtualServer) -> None:
    _, lobby = match(server)
    server.account_client("opal").ask("abort", match=f"{lobby}-1-1")
    server.restart()
    state = server.backend.registry.lobbies[lobby].engine.state
    current = state.round
    left = len(current.waiting) + len(current.running)
    assert (current.aborted, current.ended, left) == (1, 0, 1)


@pytest.mark.parametrize("who", ["player", "host", "guest", "account"])
def test_nobody_else_aborts_matches(server: VirtualServer, who: str) -> None:
    (ada, bob), lobby = match(server)
    asker = {"player": bob, "host": ada}.get(who)
    if asker is None:
        asker = server.account_client("Opal2") if who == "account" else server.guest_client("eve")
    for key in (f"{lobby}-1-1", "nothing"):
        answer = asker.ask("abort", match=key)
        assert answer["code"] == "unauthorized", "rights come before the look-up"
    assert "--operator" in answer["hint"]
    assert server.backend.registry.matches[f"{lobby}-1-1"].engine.state.result is None


def test_a_guest_of_the_operators_name_is_no_operator(server: VirtualServer) -> None:
    _, lobby = match(server)
    guest = server.guest_client("opal")
    assert guest.ask("abort", match=f"{lobby}-1-1")["code"] == "unauthorized"


def test_a_match_that_is_not_there(server: VirtualServer) -> None:
    operator = server.account_client("opal")
    assert operator.ask("abort", match="nothing")["code"] == "no_such_match"
