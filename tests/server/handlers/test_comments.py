"""Comments: their authors, their viewers and times, and their limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from kibitz_protocol.wire.records import MAX_COMMENT
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.match.decisions import MAX_COMMENTS
from kibitz_server.net.rate_limit import Rate, SharedBuckets
from tests.server.match.toy_games import Grid, Veil
from tests.tools.simulation import make_template
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

GAMES = {game.info.name: game for game in (Grid(), Veil())}
SAID = "that was close"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[VirtualServer]:
    make_template(tmp_path)
    with virtual_server(GAMES, tmp_path) as server:
        yield server


class Match:
    """A match between ada and bob, which eve and fay watch."""

    def __init__(self, server: VirtualServer, game: str = "toy-grid", **spectating: Any) -> None:
        self.server = server
        self.ada, self.bob = server.guest_client("ada"), server.guest_client("bob")
        self.eve, self.fay = server.guest_client("eve"), server.guest_client("fay")
        item = {"game": game, "seats": 2, "games": 1}
        settings = {
            "seats": [{"kind": "open"}] * 2,
            "programme": [item],
            "spectating": spectating,
        }
        lobby = self.ada.ask("host", settings=settings)["lobby"]
        for request in ("join", "ready"):
            for player in (self.ada, self.bob):
                player.ask(request, lobby=lobby)
        self.key = f"{lobby}-1-1"
        for spectator in (self.eve, self.fay):
            spectator.ask("watch", match=self.key)

    def say(self, who: ScriptedClient, text: str = SAID) -> dict[str, Any]:
        return who.ask("comment", match=self.key, text=text)

    def hears(self, who: ScriptedClient, text: str = SAID) -> bool:
        """Return whether a player received a comment as an event."""
        who.receive()
        return any(text.encode() in each for each in who.received)

    def play(self, **comment: Any) -> None:
        """Make the first legal move for the seat to act."""
        runner = self.server.backend.registry.matches[self.key]
        state = runner.engine.state
        action = state.encode(state.game.legal(state.game_state)[0])
        player = (self.ada, self.bob)[state.to_act]
        done = player.ask("move", match=self.key, ply=state.ply, action=action, **comment)
        assert done["type"] == "done", done

    def entries(self, who: ScriptedClient) -> list[dict[str, Any]]:
        events = who.ask("history", match=self.key)["events"]
        return [event["entry"] for event in events]


def test_a_comment_is_an_entry_tied_to_its_ply(server: VirtualServer) -> None:
    match = Match(server, comments="spectators")
    match.play()
    done = match.say(match.eve)
    assert done["type"] == "done"
    [event] = [each for each in match.fay.messages() if each.get("entry", {}).get("text")]
    entry = event["entry"]
    assert (entry["kind"], entry["seq"], entry["ply"]) == ("comment", done["seq"], 1)
    assert (entry["author"]["name"], "seat" in entry) == ("eve", False)
    assert (entry["text"], entry["audience"]) == (SAID, "spectators")
    assert event["ply"] == 1
    assert entry in match.entries(match.fay)


@pytest.mark.parametrize(
    ("game", "comments", "spectator", "player"),
    [
        ("toy-grid", "after", set(), {"ada"}),
        ("toy-veil", "after", set(), {"ada"}),
        ("toy-grid", "spectators", {"eve", "fay"}, {"ada", "eve", "fay"}),
        ("toy-grid", "everybody", {"ada", "bob", "eve", "fay"}, {"ada", "bob", "eve", "fay"}),
        ("toy-veil", "spectators", {"eve", "fay"}, {"ada"}),
        ("toy-veil", "everybody", {"ada", "bob", "eve", "fay"}, {"ada", "bob", "eve", "fay"}),
    ],
)
def test_who_is_shown_a_comment(
    server: VirtualServer, game: str, comments: str, spectator: set[str], player: set[str]
) -> None:
    match = Match(server, game, comments=comments)
    everybody = (match.ada, match.bob, match.eve, match.fay)
    for author, listeners in ((match.eve, spectator), (match.ada, player)):
        text = f"{author.name} says {SAID}"
        assert match.say(author, text)["type"] == "done"
        assert {who.name for who in everybody if match.hears(who, text)} == listeners
        known = {who.name for who in everybody if text in json.dumps(match.entries(who))}
        assert known == listeners, "the past tells no more than the present"
    match.ada.ask("resign", match=match.key)
    server.advance(0.5)
    for who in (match.bob, match.fay):
        assert f"ada says {SAID}" in json.dumps(match.entries(who)), "at the end all is revealed"
    record = server.page(f"/records/{match.key}.jsonl")
    assert record.count(SAID.encode()) == 2


@pytest.mark.parametrize("mode", ["public", "shoulder", "referee"])
def test_spectators_hear_each_other_from_wherever_they_look(
    server: VirtualServer, mode: str
) -> None:
    seat = {"seat": 0} if mode == "shoulder" else {}
    match = Match(server, "toy-veil", mode=mode, comments="spectators", **seat)
    match.say(match.eve)
    assert match.hears(match.fay)
    assert not match.hears(match.ada)
    assert not match.hears(match.bob)


def test_a_host_may_want_no_comments(server: VirtualServer) -> None:
    match = Match(server, comments="none")
    for who in (match.ada, match.eve):
        refused = match.say(who)
        assert refused["code"] == "no_comments"
    assert server.backend.registry.matches[match.key].engine.state.seq == 0


def test_only_who_watches_or_plays_may_say_something(server: VirtualServer) -> None:
    match = Match(server)
    match.eve.ask("unwatch", match=match.key)
    assert match.say(match.eve)["code"] == "wrong_state"
    assert match.eve.ask("comment", match="nothing", text="x")["code"] == "no_such_match"
    match.ada.ask("resign", match=match.key)
    assert match.say(match.fay)["code"] == "over"


def test_who_sees_a_match_late_hears_late(server: VirtualServer) -> None:
    match = Match(server, delay_plies=2, comments="everybody")
    for _ in range(3):
        match.play()
    match.say(match.eve)
    assert match.hears(match.ada)
    assert not match.hears(match.fay)
    match.play()
    assert not match.hears(match.fay)
    match.play()
    assert match.hears(match.fay)
    [entry] = [each for each in match.entries(match.ada) if each["kind"] == "comment"]
    assert entry["ply"] == 1, "it is tied to what its author had seen"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\u202eb", "a\\u202eb"),
        ("two\nlines", "two\\nlines"),
        ("\u0000", "\\x00"),
        ("  spaces  ", "spaces"),
        ("<b>grüße</b> 漢字", "<b>grüße</b> 漢字"),
        ("\U000e0100" * MAX_COMMENT, "\\U000e0100" * MAX_COMMENT),
    ],
)
def test_what_does_not_print_is_kept_as_escapes(
    server: VirtualServer, sent: str, kept: str
) -> None:
    match = Match(server, comments="spectators")
    assert match.say(match.eve, sent)["type"] == "done"
    assert [entry["text"] for entry in match.entries(match.fay)] == [kept]


@pytest.mark.parametrize("text", ["", " \t ", "x" * (MAX_COMMENT + 1)])
def test_an_empty_or_long_comment_is_malformed(server: VirtualServer, text: str) -> None:
    match = Match(server)
    assert match.say(match.eve, text)["code"] == "malformed"


def test_a_match_takes_only_so_many(server: VirtualServer) -> None:
    match = Match(server)
    assert [match.say(match.eve)["type"] for _ in range(2)] == ["done", "done"]
    server.restart()
    match.eve.reconnect()
    match.eve.ask("watch", match=match.key)
    state = server.backend.registry.matches[match.key].engine.state
    assert state.comments == 2
    state.comments = MAX_COMMENTS - 1
    assert match.say(match.eve)["type"] == "done"
    refused = match.say(match.eve)
    assert (refused["code"], str(MAX_COMMENTS) in refused["message"]) == ("limit", True)


def test_a_player_and_an_address_have_their_rates(server: VirtualServer) -> None:
    match = Match(server)
    connections = server.backend.connections
    each, all_ = Rate(0.5, 2), Rate(1, 3)
    connections._player_comments = SharedBuckets(each)
    connections._address_comments = SharedBuckets(all_)
    for client in (match.eve, match.fay):
        client._peer.local, client._peer.address = False, "192.0.2.1"
    assert [match.say(match.eve)["type"] for _ in range(3)] == ["done", "done", "refused"]
    refused = match.say(match.eve)
    assert (refused["code"], 1000 < refused["retry_after_ms"] <= 2000) == ("rate_limited", True)
    assert [match.say(match.fay)["type"] for _ in range(2)] == ["done", "refused"]
    server.advance(4)
    assert match.say(match.eve)["type"] == "done"


def test_comments_leave_the_turn_and_its_clock_alone(server: VirtualServer) -> None:
    match = Match(server)
    match.play()
    runner = server.backend.registry.matches[match.key]
    state = runner.engine.state
    before = state.turn, state.to_act, state.ply, runner.engine.deadline
    match.say(match.eve)
    match.say(match.ada)
    assert (state.turn, state.to_act, state.ply, runner.engine.deadline) == before
    assert [each["type"] for each in match.bob.messages()].count("your_turn") == 1


# --- before the end, for all kinds of viewers -----------------------------------------------------

REMARK, COMMENT = "remark-of-ada", "comment-of-ada"
MODES: dict[str, dict[str, Any]] = {
    "public": {"mode": "public"},
    "late": {"mode": "public", "delay_plies": 1},
    "author's shoulder": {"mode": "shoulder", "seat": 0},
    "opponent's shoulder": {"mode": "shoulder", "seat": 1},
    "referee": {"mode": "referee"},
    "off": {"mode": "off"},
}
KINDS = [
    (game, mode, comments)
    for game in GAMES
    for mode in MODES
    for comments in ("after", "none", "spectators", "everybody")
]


class Onlookers:
    """Everyone who can receive data about a running match, each with a connection."""

    def __init__(self, server: VirtualServer, match: Match) -> None:
        self.server, self.match = server, match
        wanted: tuple[WantedViews, ...] = get_args(WantedViews)
        self.watching = [server.guest_client(f"watch-{each}", each) for each in wanted]
        self.walls = [server.guest_client(f"wall-{each}", each) for each in wanted]
        self.hall, self.lister = server.guest_client("hal"), server.guest_client("lis")
        self.hall.ask("subscribe", to="hall")
        lobby = match.key.partition("-")[0]
        self.hall.ask("join", lobby=lobby, role="spectator")
        for each in self.watching:
            each.ask("watch", match=match.key)
        for each in self.walls:
            each.ask("wall", matches=[match.key])
        self.pages = b""

    def look(self) -> None:
        """Send all possible requests."""
        key = self.match.key
        for each in (*self.watching, *self.walls, self.lister):
            each.ask("history", match=key)
            each.ask("report", match=key)
            each.ask("list_matches")
            each.ask("list_lobbies")
        for number, each in enumerate(self.watching):
            each.ask("unwatch", match=key)
            again = self.server.guest_client(f"again-{number}")
            again.ask("watch", match=key)
            again.ask("history", match=key)
            again.receive()
            each.received += again.received
        for path in (f"/records/{key}.jsonl", "/metrics", "/readyz"):
            self.pages += self.server.page(path)

    def heard(self) -> tuple[bytes, bytes]:
        """Return the messages to spectators, and those to all others."""
        watching = [*self.watching, *self.walls]
        for each in (*watching, self.hall, self.lister):
            each.receive()
        others = b"".join([*self.hall.received, *self.lister.received, self.pages])
        return b"".join(each for who in watching for each in who.received), others


@pytest.mark.parametrize(("game", "mode", "comments"), KINDS)
def test_a_players_second_guest_is_told_no_comment_before_the_end(
    server: VirtualServer, game: str, mode: str, comments: str
) -> None:
    match = Match(server, game, **{"comments": comments, **MODES[mode]})
    onlookers = Onlookers(server, match)
    match.play(comment={"value": 0.5, "text": REMARK, "line": [REMARK]})
    said = match.ada.ask("comment", match=match.key, text=COMMENT)
    assert (said["type"] == "done") is (comments != "none")
    match.play()
    match.play()
    onlookers.look()
    seen, others = onlookers.heard()
    hidden, live = GAMES[game].info.hidden, comments in ("spectators", "everybody")
    looks = mode in ("referee", "author's shoulder")
    tells_remark = mode == "referee" or (
        live and mode not in ("off", "opponent's shoulder") and (looks or not hidden)
    )
    tells_comment = (mode == "referee" and comments != "none") or (
        live and mode != "off" and (looks or not hidden or comments == "everybody")
    )
    assert (REMARK.encode() in seen) is tells_remark
    assert (COMMENT.encode() in seen) is tells_comment
    for text in (REMARK, COMMENT):
        assert text.encode() not in others
    assert not match.hears(match.bob, REMARK)
    assert match.hears(match.bob, COMMENT) is (comments == "everybody")
    assert REMARK in json.dumps(match.entries(match.ada))
    assert REMARK not in json.dumps(match.entries(match.bob))


@pytest.mark.parametrize(("game", "mode", "comments"), KINDS)
def test_at_the_end_all_comments_are_revealed(
    server: VirtualServer, game: str, mode: str, comments: str
) -> None:
    match = Match(server, game, **{"comments": comments, **MODES[mode]})
    match.play(comment={"text": REMARK})
    match.ada.ask("comment", match=match.key, text=COMMENT)
    match.ada.ask("resign", match=match.key)
    server.advance(0.5)
    for text in (REMARK, *([] if comments == "none" else [COMMENT])):
        assert text.encode() in server.page(f"/records/{match.key}.jsonl")
        for who in (match.bob, match.eve):
            assert text in json.dumps(match.entries(who))
