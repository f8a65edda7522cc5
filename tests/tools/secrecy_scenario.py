"""Scenarios for tests of secrecy: a match on a complete server, and everything its clients receive.

A scenario plays one of a pair of plays that a seat cannot distinguish (`indistinguishable_plays`).
In both runs, all clients do the same things at the same times, except for the other seats. These
make the moves of their play, and their comments, notes and resignations contain markers that
identify the play. Until just before the end, the seat and the public must receive identical bytes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from kibitz_games.core.game import Game
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.match.runner import MatchRunner
from tests.tools.indistinguishable_plays import PairedTurn, PlayPair
from tests.tools.view_follower import ViewFollower
from tests.tools.virtual_server import ScriptedClient, VirtualServer, virtual_server

CLOCK = {"move_ms": 2_000, "bank_ms": 1_000}

WANTED: tuple[WantedViews, ...] = ("turn", "every", "drawn", "none")
"""The views that a player's successive connections request."""
RESTART_BEFORE_TURN = 5
"""The turn before which the server is killed and restarted."""


class LogCapture(logging.Handler):
    """Captures the server's log at all levels."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def __enter__(self) -> LogCapture:
        log = logging.getLogger("kibitz")
        self._level = log.level
        log.setLevel(logging.DEBUG)
        log.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        log = logging.getLogger("kibitz")
        log.removeHandler(self)
        log.setLevel(self._level)


@dataclass
class SecrecyTranscript:
    """The messages that each listener received, before the end of the match and from the end on."""

    seat: str
    before_end: dict[str, list[bytes]] = field(default_factory=dict)
    after_end: dict[str, list[bytes]] = field(default_factory=dict)
    secrets: dict[str, list[str]] = field(default_factory=dict)
    """The secrets by the viewer who may learn them before the end ("" for nobody)."""
    private_notes: dict[str, list[str]] = field(default_factory=dict)
    """The secrets that only their author may ever see: notes and resume secrets."""
    views: dict[str, ViewFollower] = field(default_factory=dict)
    """The views that the seat and the spectator could derive, by listener."""
    log: list[str] = field(default_factory=list)
    record: bytes = b""
    illegal_refusals: int = 0
    """The number of the seat's refused illegal moves."""

    def leaks(self, listener: str) -> Iterator[str]:
        """Yield every secret of others that a listener received before the end."""
        heard = b"\n".join(self.before_end[listener])
        for kept in (self.secrets, self.private_notes):
            for owner, texts in kept.items():
                if owner != listener:
                    yield from (text for text in texts if text.encode() in heard)

    def foreign_entries(self, listener: str, own: int | None) -> Iterator[str]:
        """Yield every entry about another seat's turn that a listener received before the end."""
        for text in self.before_end[listener]:
            message = json.loads(text) if text.startswith(b"{") else {}
            for event in [message, *message.get("events", ())]:
                entry = event.get("entry", {})
                if entry.get("kind") in {"move", "flag", "note"} and entry["seat"] != own:
                    yield json.dumps(entry)


def play_scenario(
    of: PlayPair,
    play: int,
    directory: Path,
    *,
    spectating: dict[str, Any] | None = None,
    game: Game | None = None,
) -> SecrecyTranscript:
    """Play one of a pair (0 or 1) on a server; `game` replaces the pair's own game."""
    dealt = _with_fixed_deal(game or of.game, of.deals[play])
    with LogCapture() as logged, virtual_server({dealt.info.name: dealt}, directory) as server:
        transcript = _ScenarioRunner(server, of, play, spectating or {}).run()
    transcript.log = logged.lines
    return transcript


def _with_fixed_deal(game: Game, deal: Any) -> Game:
    """Return the game with a fixed deal."""
    made = type(type(game).__name__, (type(game),), {"deal": lambda *_: dict(deal)})
    return cast(Game, made())


class _ScenarioRunner:
    def __init__(
        self, server: VirtualServer, of: PlayPair, play: int, spectating: dict[str, Any]
    ) -> None:
        self._server = server
        self._pair = of
        self._play = play
        self._spectating = spectating
        self._players = [server.guest_client(f"p{seat}") for seat in range(of.seats)]
        self._me = self._players[of.seat]
        self._transcript = SecrecyTranscript(self._me.name)
        self._pages: list[bytes] = []
        self._ply = 0
        self._markers = 0

    def run(self) -> SecrecyTranscript:
        self._start_match()
        for number, turn in enumerate(self._pair.turns):
            self._server.advance(0.05)
            self._make_requests(number, turn)
            self._play_turn(turn)
        self._server.advance(0.05)
        self._request_views()
        self._collect_received(self._transcript.before_end)
        self._follow_views()
        self._collect_secrets()
        self._end()
        self._collect_received(self._transcript.after_end)
        return self._transcript

    @property
    def _runner(self) -> MatchRunner:
        return self._server.backend.registry.matches[self._match]

    # --- the lobby ---

    def _start_match(self) -> None:
        of, server = self._pair, self._server
        self._host, self._fay = map(server.guest_client, ("hal", "fay"))
        self._eve = server.account_client("eve", "every")
        item = {
            "game": of.game.info.name,
            "options": of.options.to_wire(),
            "seats": of.seats,
            "games": 1,
            "rotate": False,
            "time_control": CLOCK,
        }
        settings = {
            "seats": [{"kind": "open"}] * of.seats,
            "programme": [item],
            "conduct": {"max_illegal": 1000},
            "spectating": self._spectating,
        }
        self._lobby = self._host.ask("host", settings=settings)["lobby"]
        for each in (self._eve, self._fay):
            each.ask("join", lobby=self._lobby, role="spectator")
        for player in self._players:
            player.ask("join", lobby=self._lobby)
        for player in self._players:
            player.ask("ready", lobby=self._lobby)
        self._match = f"{self._lobby}-1-1"
        self._eve.ask("watch", match=self._match)
        self._fay.ask("subscribe", topic="hall")

    def _restart(self) -> None:
        """Kill and restart the server; all clients reconnect."""
        self._server.restart()
        for guest in (*self._players, self._host, self._fay):
            guest.reconnect(WANTED[len(guest.wanted) % len(WANTED)])
        self._eve.reconnect("turn")
        for player in self._players:
            player.ask("rejoin", match=self._match)
        for each in (self._eve, self._fay):
            each.ask("join", lobby=self._lobby, role="spectator")
        self._eve.ask("watch", match=self._match)
        self._fay.ask("subscribe", topic="hall")

    # --- turns and other messages ---

    def _make_requests(self, number: int, turn: PairedTurn) -> None:
        """Make all possible requests in the middle of the match."""
        if number == RESTART_BEFORE_TURN:
            self._restart()
        if number % 8 == 1:
            self._request_views()
        if number % 5 == 2:
            other = self._players[(self._pair.seat + 1) % self._pair.seats]
            other.ask("note", match=self._match, text=self._new_marker("note", other))
            self._me.ask("note", match=self._match, text="for myself")
            self._me.ask("comment", match=self._match, text="said by me aloud")
            other.ask("comment", match=self._match, text=self._new_marker("aloud", other))
            self._kibitz()
        if number % 7 == 4:
            self._me.reconnect(WANTED[len(self._me.wanted) % len(WANTED)])
            self._me.ask("rejoin", match=self._match)
        if turn.seat == self._pair.seat:
            for wrong in turn.illegal:
                refused = self._move(self._me, wrong)
                self._transcript.illegal_refusals += refused.get("code") == "illegal"
            self._move(self._me, {"nothing": 1})
        else:
            self._move(self._me, turn.moves[0])  # it is not the seat's turn
        self._me.ask("move", match=self._match, ply=self._ply + 7, action={})

    def _kibitz(self) -> None:
        """Send a spectator's chat, the same in both runs; no player may receive it."""
        self._markers += 1
        text = f"kibitz-{self._markers:04}"
        if self._eve.ask("comment", match=self._match, text=text)["type"] == "done":
            self._transcript.secrets.setdefault("eve", []).append(text)

    def _request_views(self) -> None:
        me, eve, match = self._me, self._eve, self._match
        for viewer in (me, eve):
            viewer.ask("history", match=match, first=1, count=1000)
            viewer.ask("list_matches")
            viewer.ask("list_matches", lobby=self._lobby)
            viewer.ask("list_lobbies")
        eve.ask("unwatch", match=match)
        eve.ask("watch", match=match)
        eve.ask("wall", matches=[])
        eve.ask("wall", matches=[match, "nothing"])
        self._fay.ask("history", match=match)
        me.ask("watch", match=match)
        self._pages += map(self._server.page, ("/metrics", f"/records/{match}.jsonl"))

    def _play_turn(self, turn: PairedTurn) -> None:
        player = self._players[turn.seat]
        mine = turn.seat == self._pair.seat
        match turn.kind:
            case "move":
                text = "my own" if mine else self._new_marker("comment", player)
                done = self._move(player, turn.moves[self._play], {"text": text, "value": 0.5})
                assert done["type"] == "done", done
                self._ply += 1
            case "skip":
                self._ply += 1
                while self._runner.engine.state.ply < self._ply:
                    self._server.advance(0.1)
            case "drop":
                detail = self._new_marker("detail", player)
                player.ask("resign", match=self._match, fault="crash", detail=detail)

    def _move(
        self, player: ScriptedClient, action: dict[str, Any], comment: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        said = {} if comment is None else {"comment": comment}
        return player.ask("move", match=self._match, ply=self._ply, action=action, **said)

    def _new_marker(self, what: str, who: ScriptedClient) -> str:
        """Return a unique text and record its owner."""
        self._markers += 1
        text = f"{what}-{'ab'[self._play]}{self._markers:04}"
        kept = self._transcript.private_notes if what == "note" else self._transcript.secrets
        kept.setdefault(who.name, []).append(text)
        return text

    # --- the end ---

    def _finished(self) -> list[dict[str, Any]]:
        return [each for each in self._me.messages() if each["type"] == "finished"]

    def _collect_received(self, heard: dict[str, list[bytes]]) -> None:
        for guest in (*self._players, self._host, self._eve, self._fay):
            guest.receive()
            heard[guest.name] = list(guest.received)
        heard["pages"] = list(self._pages)

    def _follow_views(self) -> None:
        """Maintain the views as clients do."""
        for client in (self._me, self._eve):
            follower = self._transcript.views[client.name] = ViewFollower()
            follower.follow(client.messages(), client.wanted)

    def _collect_secrets(self) -> None:
        """Collect the secrets that no client sends."""
        transcript = self._transcript
        for guest in (*self._players, self._host, self._eve, self._fay):
            transcript.private_notes.setdefault(guest.name, []).append(guest.resume)
        setup = self._runner.engine.state.setup
        transcript.secrets.setdefault("", []).extend([setup.seed, str(int(setup.seed, 16))])
        hands = setup.deal.get("hands")
        for seat, hand in enumerate(hands if isinstance(hands, list) else ()):
            transcript.secrets.setdefault(f"p{seat}", []).extend(map(str, cast("list[int]", hand)))

    def _end(self) -> None:
        """End the match: the other seats resign, and the own one if necessary."""
        for seat, player in enumerate(self._players):
            if seat != self._pair.seat:
                player.ask("resign", match=self._match)
        self._server.advance(1)
        finished = self._finished()
        if not finished:
            self._me.ask("resign", match=self._match)
            self._server.advance(1)
            finished = self._finished()
        assert len(finished) == 1, "the match has not ended"
        for viewer in (self._me, self._eve):
            viewer.ask("history", match=self._match, first=1, count=1000)
        self._transcript.record = self._server.page(f"/records/{self._match}.jsonl")
