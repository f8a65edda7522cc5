"""Lobbies that continue from a finished match: what they start, and which are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kibitz.analysis.verification import verify_record
from kibitz_games.core import registry
from kibitz_protocol.wire.recordfile import parse_record
from kibitz_protocol.wire.records import MAX_BRANCH_PLY
from kibitz_server.handlers.lobbies import BRANCH_COST
from kibitz_server.net.peer import Peer
from tests.server.match.toy_games import Veil, variant
from tests.tools.simulation import make_template
from tests.tools.virtual_server import VirtualServer, virtual_server

GAMES = {name: registry.get(name) for name in ("connect-four", "number-merge", "tanks")}
GAMES |= {"toy-veil": variant(Veil, seats=(2,))}
MERGE = {"game": "number-merge", "options": {"preset": "classic", "first": "random"}}
PLIES = 5
"""The length of a match of number merge with 6 numbers."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        yield server


class Table:
    """Players who host matches and play them with their first legal moves."""

    def __init__(self, server: VirtualServer, seats: int = 2) -> None:
        self.server = server
        self.players = [server.guest_client(f"player {seat}") for seat in range(seats)]
        self.host = self.players[0]

    def settings(self, item: dict[str, Any], **more: Any) -> dict[str, Any]:
        whole = {"seats": len(self.players), "games": 1, "rotate": False} | item
        seats = [{"kind": "reserved", "name": player.name} for player in self.players]
        return {"seats": seats, "programme": [whole]} | more

    def begin(self, item: dict[str, Any], **more: Any) -> str:
        """Host a match, start it, and return its key."""
        hosted = self.host.ask("host", settings=self.settings(item, **more))
        assert hosted["type"] == "done", hosted
        for request in ("join", "ready"):
            for player in self.players:
                player.ask(request, lobby=hosted["lobby"])
        return f"{hosted['lobby']}-1-1"

    def move(self, match: str) -> None:
        """Play one move; the newest turn of the player to move is in its messages."""
        state = self.server.backend.registry.matches[match].engine.state
        player, legal = self.players[state.to_act], state.game.legal(state.game_state)
        action = state.game.encode(state.game_state, legal[0]).to_wire()
        done = player.ask("move", match=match, ply=state.ply, action=action)
        assert done["type"] == "done", done

    def finish(self, match: str) -> str:
        while match in self.server.backend.registry.matches:
            self.move(match)
        return match

    def play(self, item: dict[str, Any]) -> str:
        """Play a whole match and return its key."""
        return self.finish(self.begin(item))

    def refusal(self, **settings: Any) -> tuple[str, str]:
        """Return the code and the message with which these settings are refused."""
        base = self.settings({"game": "number-merge"})
        item = base["programme"][0] | settings.pop("item", {})
        answer = self.host.ask("host", settings=base | {"programme": [item]} | settings)
        assert answer["type"] == "refused", answer
        return answer["code"], answer["message"]


def lines(server: VirtualServer, match: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in raw_lines(server, match)]


def raw_lines(server: VirtualServer, match: str) -> list[bytes]:
    page = server.page(f"/records/{match}.jsonl").splitlines()
    return [line + b"\n" for line in page if line.startswith(b"{")]


def at(match: str, ply: int) -> dict[str, Any]:
    return {"branch": {"match": match, "ply": ply}}


@pytest.mark.parametrize("ply", range(PLIES))
def test_a_branch_is_an_ordinary_match_that_begins_later(server: VirtualServer, ply: int) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    clock = {"main_ms": 60_000, "increment_ms": 1000}
    match = table.begin({"game": "number-merge", "time_control": clock}, **at(origin, ply))
    begun = [m for m in table.host.messages() if m["type"] == "snapshot" and m["match"] == match]
    assert [(each["why"], each["ply"], each["seq"]) for each in begun] == [("started", ply, ply)]
    assert begun[0]["branch"] == {"match": origin, "ply": ply}
    assert [clock["main_ms"] for clock in begun[0]["clocks"]] == [60_000, 60_000]
    table.finish(match)
    first, second = lines(server, origin), lines(server, match)
    common = ("game", "options", "deal", "rules_version")
    assert [first[0][name] for name in common] == [second[0][name] for name in common]
    assert second[0]["branch"] == {"match": origin, "ply": ply, "seed": first[0]["seed"]}
    assert second[0]["seed"] != first[0]["seed"]
    assert [each["action"] for each in second[1 : ply + 1]] == [
        each["action"] for each in first[1 : ply + 1]
    ]
    assert "rated" not in second[0]
    verified = verify_record(parse_record(raw_lines(server, match)), GAMES)
    assert (verified.match, verified.entries) == (match, PLIES)
    assert verified.branch is not None
    assert (verified.branch.match, verified.branch.ply) == (origin, ply)
    page = table.host.ask("history", match=match, first=1, count=PLIES)
    assert [event["entry"]["kind"] for event in page["events"]] == ["move"] * PLIES


def test_a_branch_of_a_branch_can_be_played_and_verified(server: VirtualServer) -> None:
    table = Table(server)
    first = table.play(MERGE)
    second = table.finish(table.begin({"game": "number-merge"}, **at(first, 2)))
    third = table.finish(table.begin({"game": "number-merge"}, **at(second, 4)))
    assert lines(server, third)[0]["branch"]["seed"] == lines(server, first)[0]["seed"]
    verify_record(parse_record(raw_lines(server, third)), GAMES)


def test_seats_see_only_their_own_part_of_a_hidden_opening(server: VirtualServer) -> None:
    table = Table(server, seats=4)
    origin = table.begin({"game": "tanks", "time_control": {"move_ms": 1000}})
    for _ in range(6):
        table.move(origin)
    server.advance(1.5)  # a flag falls, and the turn is skipped
    for _ in range(2):
        table.move(origin)
    for player in table.players[:3]:
        player.ask("resign", match=origin)
    assert origin not in server.backend.registry.matches
    match = table.begin({"game": "tanks"}, **at(origin, 9))
    page = table.host.ask("history", match=match, first=1, count=20)
    kinds = [event["entry"]["kind"] for event in page["events"]]
    assert kinds == ["move", *["hidden"] * 3] * 2 + ["move"]
    state = server.backend.registry.matches[match].engine.state
    assert state.ply == 9
    for player in table.players[:3]:
        player.ask("resign", match=match)
    entries = lines(server, match)[1:10]
    assert [entry["kind"] for entry in entries].count("flag") == 1
    verify_record(parse_record(raw_lines(server, match)), GAMES)
    code, message = table.refusal(item={"game": "tanks", "seats": 4}, **at(origin, 10))
    assert (code, "at most 9, where seat 1 dropped out" in message) == ("bad_option", True)


def test_a_rematch_begins_at_the_same_ply_with_the_seats_exchanged(server: VirtualServer) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    first = table.finish(table.begin({"game": "number-merge"}, **at(origin, 2)))
    lobby = first.partition("-")[0]
    table.host.ask("rematch", lobby=lobby)
    for player in table.players:
        player.ask("ready", lobby=lobby)
    state = server.backend.registry.matches[f"{lobby}-2-1"].engine.state
    assert (state.ply, [player.name for player in state.players]) == (2, ["player 1", "player 0"])


def test_a_player_who_leaves_before_the_start_has_no_seat(server: VirtualServer) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    settings = table.settings({"game": "number-merge"}, **at(origin, 2))
    lobby = table.host.ask("host", settings=settings)["lobby"]
    for player in table.players:
        player.ask("join", lobby=lobby)
    table.players[0].ask("ready", lobby=lobby)
    table.players[1].post("ready", lobby=lobby)
    table.players[1].post("leave", lobby=lobby)
    server.advance(1.0)
    result = lines(server, f"{lobby}-1-1")[-1]["result"]
    assert [seat["rank"] for seat in result["seats"]] == [1, 2]
    assert result["cause"] == "disconnect"


# --- crashes --------------------------------------------------------------------------------


def reconnect(table: Table, match: str) -> None:
    for player in table.players:
        player.reconnect()
        player.ask("rejoin", match=match)


def test_a_branch_survives_a_kill_at_every_ply(server: VirtualServer) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    match = table.begin({"game": "number-merge"}, **at(origin, 3))
    for ply in range(3, PLIES):
        server.restart()
        assert server.backend.registry.matches[match].engine.state.ply == ply
        reconnect(table, match)
        table.move(match)
    verify_record(parse_record(raw_lines(server, match)), GAMES)


def test_a_kill_before_the_start_is_on_disk_leaves_no_part_of_the_opening(
    server: VirtualServer,
) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    hosted = table.host.ask(
        "host", settings=table.settings({"game": "number-merge"}, **at(origin, 3))
    )
    lobby, match = hosted["lobby"], f"{hosted['lobby']}-1-1"
    for player in table.players:
        player.ask("join", lobby=lobby)
    table.players[0].ask("ready", lobby=lobby)
    server.store.hold()
    table.players[1].post("ready", lobby=lobby)
    server.advance(0.02)
    server.store.release(hold_next=True)  # the lobby has begun the match, which is not on disk
    server.advance(0.02)
    assert match in server.backend.registry.matches
    server.restart()
    assert not server.backend.registry.matches
    server.advance(0.02)
    [begun] = server.backend.registry.matches.values()
    assert (begun.key, begun.engine.state.ply, begun.stream.durable) == (match, 3, 3 + 2)
    reconnect(table, match)
    table.finish(match)
    verify_record(parse_record(raw_lines(server, match)), GAMES)


def test_the_opening_does_not_need_the_origin_after_the_lobby_is_open(
    server: VirtualServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lobby's log has the opening, so that the origin may be deleted meanwhile."""
    table = Table(server)
    origin = table.play(MERGE)
    hosted = table.host.ask(
        "host", settings=table.settings({"game": "number-merge"}, **at(origin, 3))
    )
    server.restart()

    async def gone(*_: object) -> None:
        return None

    monkeypatch.setattr(type(server.store), "closed", gone)
    for player in table.players:
        player.reconnect()
    for request in ("join", "ready"):
        for player in table.players:
            player.ask(request, lobby=hosted["lobby"])
    assert server.backend.registry.matches[f"{hosted['lobby']}-1-1"].engine.state.ply == 3


# --- refusals -------------------------------------------------------------------------------

SHAPES: dict[str, dict[str, Any]] = {
    "settings.rated": {"rated": True},
    "settings.arranged": {"arranged": True},
    "settings.programme:": {"programme": []},
    "settings.programme.0.games": {"item": {"games": 2}},
    "settings.programme.0.rotate": {"item": {"rotate": True}},
    "settings.programme.0.seed": {"item": {"seed": 0}},
    "settings.programme.0.game:": {"item": {"game": "connect-four"}},
    "settings.programme.0.options": {"item": {"options": {"preset": "classic"}}},
}


@pytest.mark.parametrize("field", SHAPES)
def test_settings_that_do_not_fit_a_branch_are_refused(server: VirtualServer, field: str) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    if field == "settings.rated":
        table.host = server.account_client("ada")
    code, message = table.refusal(**at(origin, 1), **SHAPES[field])
    assert (code, message.startswith(field)) == ("bad_option", True), message
    assert not server.backend.registry.lobbies or len(server.backend.registry.lobbies) == 1


def test_another_number_of_seats_is_refused(server: VirtualServer) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    code, message = table.refusal(**at(origin, 1), item={"seats": 1})
    assert (code, message[:27]) == ("bad_seats", "settings.programme.0.seats:")


@pytest.mark.parametrize(
    ("ply", "code"),
    [(PLIES, "bad_option"), (MAX_BRANCH_PLY, "bad_option"), (MAX_BRANCH_PLY + 1, "malformed")],
)
def test_plies_after_the_last_turn_are_refused(server: VirtualServer, ply: int, code: str) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    refused, message = table.refusal(**at(origin, ply))
    assert refused == code
    assert "settings.branch.ply" in message


def test_matches_that_are_not_over_or_do_not_exist_are_refused(server: VirtualServer) -> None:
    table = Table(server)
    running = table.begin(MERGE)
    table.move(running)
    code, message = table.refusal(**at(running, 0))
    assert (code, message) == (
        "wrong_state",
        f"settings.branch.match: match {running!r} is not over",
    )
    assert table.refusal(**at("nothing", 0))[0] == "no_such_match"
    lobby = running.partition("-")[0]
    assert table.refusal(**at(lobby, 0))[0] == "no_such_match"


def test_dealt_secrets_are_not_played_again(server: VirtualServer) -> None:
    table = Table(server)
    origin = table.begin({"game": "toy-veil"})
    table.host.ask("resign", match=origin)
    code, message = table.refusal(item={"game": "toy-veil"}, **at(origin, 0))
    assert (code, "secrets" in message) == ("bad_option", True)


def test_damage_to_the_record_is_reported(server: VirtualServer) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    server.backend.registry.recently_finished.clear()
    entries = server.store.entries

    async def damaged(number: int, first: int, last: int) -> list[bytes]:
        lines = await entries(number, first, last)
        return [lines[0], *lines[2:]]

    server.store.entries = damaged  # type: ignore[method-assign]
    assert table.refusal(**at(origin, 4))[0] == "damaged"


def test_a_branch_costs_more_than_another_lobby(
    server: VirtualServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(server)
    origin = table.play(MERGE)
    charged: list[float] = []
    charge = Peer.charge

    def noted(peer: Peer, cost: float, request: int) -> bool:
        charged.append(cost)
        return charge(peer, cost, request)

    monkeypatch.setattr(Peer, "charge", noted)
    table.begin({"game": "number-merge"})
    assert BRANCH_COST not in charged
    table.begin({"game": "number-merge"}, **at(origin, 1))
    assert BRANCH_COST in charged


def test_strangers_cannot_make_the_server_read_more_than_one_record_at_a_time(
    server: VirtualServer,
) -> None:
    """The queue of expensive requests refuses the rest of a flood."""
    table = Table(server)
    origin = table.play(MERGE)
    settings = table.settings({"game": "number-merge"}, **at(origin, 1))
    posted = [table.host.post("host", settings=settings) for _ in range(40)]
    server.advance(1.0)
    answers = [table.host.answer_to(request) for request in posted]
    codes = [answer and answer.get("code") for answer in answers]
    assert None in codes
    assert "rate_limited" in codes or "limit" in codes
