"""A match's runner: nothing is visible before it is durable, and all seats see the same order."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from kibitz_games.core.game import Game
from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lag import RESTART_MS
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.messages import Move, Rejoin, Resign
from kibitz_protocol.wire.records import (
    Cause,
    Conduct,
    Flagged,
    Moved,
    Player,
    Result,
    Setup,
    Spectating,
)
from kibitz_protocol.wire.refusals import CloseCode
from kibitz_server.accounts.identity import Identity
from kibitz_server.match import checkpoint, lifecycle, news, requests
from kibitz_server.match import runner as runner_module
from kibitz_server.match.checkpoint import Checkpoints
from kibitz_server.match.commands import WantSubstitute
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.record import read_entry
from kibitz_server.match.runner import MatchContext, MatchRunner
from kibitz_server.match.state import MatchState
from kibitz_server.metrics import Metrics
from kibitz_server.net.loop_clock import ServerClock
from kibitz_server.storage.errors import StoreError, WriteFailed
from kibitz_server.storage.interface import Store
from kibitz_server.storage.streams import Stream
from tests.server.fakes import FakeLoop, FakeStore, PeerRig, ScriptedConnection
from tests.server.match.toy_games import Grid, Veil, setup


class NotedCheckpoints(Checkpoints):
    """Records the entry and the chain link of each checkpoint."""

    def __init__(self) -> None:
        super().__init__("the code of this test")
        self.written: list[tuple[int, str]] = []

    def write(self, match: MatchState, link: str) -> bytes:
        self.written.append((match.seq, link))
        return b""


@dataclass
class FakeContext:
    """The environment of a match's runner, fully controlled by the test."""

    rig: PeerRig = field(default_factory=PeerRig)
    log_store: FakeStore = field(default_factory=FakeStore)
    metrics: Metrics = field(default_factory=Metrics)
    ended: list[MatchRunner] = field(default_factory=list)
    rated: list[Result] = field(default_factory=list)
    losses: list[StoreError] = field(default_factory=list)
    wants: list[WantSubstitute] = field(default_factory=list)
    unfolded: int = 0
    """The number of entries between checkpoints, if larger than the default."""
    stood: int = 0
    """How long the server has been suspended so far, in milliseconds."""

    def __post_init__(self) -> None:
        self.loop = self.rig.loop.loop
        self.clock: Callable[[], int] = self.rig.loop.clock
        self.lag: Callable[[], int] = lambda: self.stood
        self.store: Store = self.log_store.store
        self.checkpoints = NotedCheckpoints()
        self.made = MatchContext(
            loop=self.loop,
            clock=lambda: self.clock(),
            lag=lambda: self.lag(),
            store=self.store,
            metrics=self.metrics,
            checkpoints=self.checkpoints,
            checkpoint_interval=lambda: max(checkpoint.CHECKPOINT_INTERVAL, self.unfolded),
            rate=lambda setup, result: self.rated.append(result),
            want_substitute=lambda runner, want: self.wants.append(want),
            over=self.ended.append,
            log_lost=lambda runner, error: self.losses.append(error),
        )


class Scenario:
    """A match's runner and the connections of its players."""

    def __init__(self, game: Game | None = None, *, absent: int = -1, **fields: Any) -> None:
        game = game or Grid()
        clock = fields.pop("clock", "none")
        self.context = FakeContext()
        self.setup: Setup = setup(game, 2, clock=clock).model_copy(update=fields)
        self.match = MatchEngine.new(game, self.setup)
        stream = Stream(0, "m1", "match")
        self.runner = MatchRunner(self.context.made, self.match, stream, listed=True)
        head = encode(self.setup)
        self.log_store.create(self.runner.stream, head, owner=None, waiter=self.runner)
        self.lines = {player.player: self.connect(player) for player in self.setup.seats}
        if absent >= 0:
            del self.lines[f"p{absent}"]
        lifecycle.start(
            self.runner,
            lambda player: self.lines[player.player].peer if player.player in self.lines else None,
        )
        self._id = 0

    @property
    def log_store(self) -> FakeStore:
        return self.context.log_store

    def connect(self, player: Player) -> ScriptedConnection:
        opened = self.context.rig.open()
        opened.head()
        opened.peer.greeted(Identity(player, account=False, skeleton=None))
        opened.peer.instance = f"the program of {player.player}"
        opened.frames()
        return opened

    def another(self, seat: int) -> ScriptedConnection:
        return self.connect(self.setup.seats[seat])

    def received(self, seat: int) -> list[dict[str, Any]]:
        return self.lines[f"p{seat}"].received()

    def types(self, seat: int) -> list[str]:
        return [message["type"] for message in self.received(seat)]

    def move(
        self,
        seat: int,
        id: int = 0,
        ply: int | None = None,
        line: ScriptedConnection | None = None,
        **xy: int,
    ) -> bool:
        self._id += 1
        move = Move(
            id=id or self._id,
            match="m1",
            ply=self.match.state.ply if ply is None else ply,
            action=xy or self._first(),
        )
        return self.runner.move((line or self.lines[f"p{seat}"]).peer, move)

    def _first(self) -> dict[str, int]:
        game, state = self.match.state.game, self.match.state.game_state
        action: dict[str, int] = game.encode(state, game.legal(state)[0]).to_wire()
        return action

    def begin(self) -> None:
        """Start the match and discard the messages so far."""
        self.log_store.commit()
        for seat in range(2):
            if f"p{seat}" in self.lines:
                self.received(seat)

    def finish(self) -> None:
        while self.match.state.result is None:
            self.move(self.match.state.to_act)
            self.log_store.commit()


# --- durable first ----------------------------------------------------------------------------


def test_a_match_begins_when_its_setup_is_durable() -> None:
    play = Scenario()
    assert play.received(0) == []
    play.log_store.commit()
    assert [message["type"] for message in play.received(0)] == ["snapshot", "your_turn"]
    [snapshot] = play.received(1)
    assert (snapshot["why"], snapshot["you"]) == ("started", 1)


def test_a_move_is_told_when_it_is_durable() -> None:
    play = Scenario()
    play.begin()
    assert play.move(0)
    assert (play.received(0), play.received(1)) == ([], [])
    play.log_store.commit()
    assert play.types(0) == ["event", "done"]
    assert play.types(1) == ["event", "your_turn"]
    assert play.context.metrics.move_ms == {0: 1}


def test_what_the_disk_takes_is_charged_to_nobody() -> None:
    play = Scenario(clock="10+0")
    play.begin()
    play.context.rig.loop.advance(2)
    play.move(0)
    play.context.rig.loop.advance(5)
    play.log_store.commit()
    event, turn = play.received(1)
    assert event["entry"]["elapsed_ms"] == 2000
    assert turn["left_ms"] == 10_000
    play.context.rig.loop.advance(1)
    play.move(1)
    play.log_store.commit()
    assert play.received(1)[0]["entry"]["elapsed_ms"] == 1000
    assert play.received(1) == []


def test_the_same_move_again_is_answered_the_same_and_applied_once() -> None:
    play = Scenario()
    play.begin()
    play.move(0, id=9, x=1, y=1)
    play.move(0, id=9, ply=0, x=1, y=1)
    assert play.received(0) == []
    play.log_store.commit()
    play.move(0, id=9, ply=0, x=1, y=1)
    answers = [message for message in play.received(0) if message["type"] == "done"]
    assert answers == [{"re": 9, "type": "done", "seq": 1}] * 3
    assert len(play.log_store.lines["m1"]) == 2


def test_a_move_that_others_have_followed_is_answered_as_before() -> None:
    """Its answer was lost with the connection, and the client has continued on another one."""
    play = Scenario()
    play.begin()
    for seat, id in ((0, 9), (1, 3), (0, 10), (1, 4)):
        play.move(seat, id=id)
        play.log_store.commit()
    back = play.another(0)
    requests.rejoin(play.runner, back.peer, "p0", Rejoin(id=11, match="m1"))
    for id, ply in ((9, 0), (10, 2), (9, 2), (12, 0)):
        play.move(0, id=id, ply=ply, line=back)
    answers = [each for each in back.received() if each.get("re") in (9, 10, 12)]
    known = [(each["re"], each.get("seq"), each.get("code")) for each in answers]
    assert known == [(9, 1, None), (10, 3, None), (9, None, "stale"), (12, None, "stale")]


@pytest.mark.parametrize(
    ("seat", "ply", "xy", "code", "noted"),
    [
        (1, 0, {"x": 0, "y": 0}, "not_your_turn", 0),
        (0, 5, {"x": 0, "y": 0}, "stale", 0),
        (0, 0, {"x": 9, "y": 0}, "illegal", 1),
        (0, 0, {"z": 1}, "malformed", 1),
    ],
)
def test_refusals_come_when_what_they_speak_of_is_durable_and_illegal_moves_are_noted(
    seat: int, ply: int, xy: dict[str, int], code: str, noted: int
) -> None:
    play = Scenario()
    play.begin()
    assert not play.move(seat, 0, ply, None, **xy)
    assert play.log_store.waiting == noted
    if noted:
        assert play.received(seat) == []
        play.log_store.commit()
    [refused] = [message for message in play.received(seat) if message["type"] == "refused"]
    assert (refused["code"], refused.get("ply")) == (code, 0 if code == "stale" else None)


@pytest.mark.parametrize("xy", [{"z": 1}, {"x": True, "y": 0}, {"x": 9, "y": 0}])
def test_who_sends_a_wrong_action_is_told_a_legal_one(xy: dict[str, int]) -> None:
    play = Scenario()
    play.begin()
    play.move(0, 0, 0, None, **xy)
    play.log_store.commit()
    [refused] = [message for message in play.received(0) if message["type"] == "refused"]
    example = json.loads(refused["hint"][refused["hint"].index("{") :])
    assert play.move(0, **example)


def test_a_connection_without_a_seat_moves_nothing() -> None:
    play = Scenario()
    play.begin()
    stranger = play.another(0)
    assert not play.move(0, line=stranger)
    assert stranger.received()[0]["code"] == "not_seated"


# --- views ----------------------------------------------------------------------------------


def test_each_connection_is_told_of_the_view_what_it_asked_for() -> None:
    play = Scenario(Veil())
    play.begin()
    play.lines["p0"].peer.views, play.lines["p1"].peer.views = "every", "none"
    for seat in (0, 1):
        play.move(seat)
        play.log_store.commit()
    of_first, of_second = play.received(0), play.received(1)
    assert [("view" in m, "patch" in m) for m in of_first if m["type"] == "event"] == [
        (True, False)
    ] * 2
    assert not any("view" in message or "patch" in message for message in of_second)
    assert [m["type"] for m in of_second if m["type"] == "your_turn"] == ["your_turn"]
    back = play.another(1)
    play.runner.seats.claim(1, back.peer)
    play.runner.admit(1, back.peer, "rejoined")
    play.move(0)
    play.log_store.commit()
    snapshot, event, turn = back.received()
    assert apply(snapshot["view"], event["patch"]) == turn["view"]


def test_a_turn_that_is_told_again_is_as_its_connection_asked() -> None:
    play = Scenario()
    play.begin()
    back = play.another(0)
    back.peer.views = "none"
    play.runner.seats.claim(0, back.peer)
    play.runner.admit(0, back.peer, "rejoined")
    snapshot, turn = back.received()
    assert ("view" in snapshot, "view" in turn) == (True, False)


def test_receivers_that_are_told_the_same_share_one_frame() -> None:
    play = Scenario()
    play.begin()
    watchers = [play.connect(Player(player=f"w{n}", name=f"w{n}", kind="human")) for n in range(4)]
    for watcher, wanted in zip(watchers, ("turn", "none", "every", "every"), strict=True):
        watcher.peer.views = wanted  # type: ignore[assignment]
        play.runner.admit_spectator(watcher.peer)
    play.move(0)
    play.log_store.commit()
    receivers = [play.lines["p1"], *watchers]
    waiting = [each.peer.send_queue._frames for each in receivers]
    player, turn, none, every, another = (
        next(frame for frame in frames if b'"type":"event"' in frame) for frames in waiting
    )
    assert player is turn is none
    assert every is another
    assert b'"view"' in every
    assert b'"view"' not in turn


# --- connections ------------------------------------------------------------------------------


def test_a_newer_connection_takes_the_seat_and_the_older_is_closed() -> None:
    play = Scenario()
    play.begin()
    old, new = play.lines["p0"], play.another(0)
    requests.rejoin(play.runner, new.peer, "p0", Rejoin(id=4, match="m1"))
    done, snapshot, turn = new.received()
    assert (done["re"], snapshot["why"], turn["type"]) == (4, "rejoined", "your_turn")
    assert old.close_code() == CloseCode.REPLACED
    assert not play.move(0, line=old)
    assert play.move(0, line=new)
    play.runner.disconnected(old.peer)
    assert play.match.state.away == {}


def test_a_seat_that_another_program_takes_is_flagged_and_so_is_its_resignation() -> None:
    play = Scenario()
    play.begin()
    thief = play.another(0)
    thief.peer.instance = "somebody who knows its secret"
    requests.rejoin(play.runner, thief.peer, "p0", Rejoin(id=4, match="m1"))
    play.log_store.commit()
    [event] = play.received(1)
    assert (event["entry"]["kind"], event["entry"]["takeover"]) == ("return", True)
    requests.resign(play.runner, thief.peer, Resign(id=5, match="m1"))
    play.log_store.commit()
    result = play.match.state.result
    assert result is not None
    assert result.cause is Cause.TAKEOVER
    assert result.seats[0].cause is Cause.TAKEOVER
    assert [seat.takeover for seat in result.seats] == [True, None]
    assert play.match.state.players[0].name not in result.seats[0].detail


def test_a_crash_that_is_told_by_another_program_than_the_seats_is_flagged() -> None:
    play = Scenario()
    play.begin()
    thief = play.another(0)
    thief.peer.instance = None
    requests.rejoin(play.runner, thief.peer, "p0", Rejoin(id=4, match="m1"))
    requests.resign(play.runner, thief.peer, Resign(id=5, match="m1", fault="crash"))
    play.log_store.commit()
    assert play.match.state.result is not None
    assert play.match.state.result.cause is Cause.TAKEOVER


def test_a_program_that_comes_back_is_no_other() -> None:
    play = Scenario()
    play.begin()
    again = play.another(0)
    requests.rejoin(play.runner, again.peer, "p0", Rejoin(id=4, match="m1"))
    requests.resign(play.runner, again.peer, Resign(id=5, match="m1"))
    play.log_store.commit()
    assert play.match.state.result is not None
    assert play.match.state.result.cause is Cause.RESIGNATION
    assert play.match.state.result.seats[0].takeover is None


def test_who_comes_after_the_connection_is_gone_takes_nothing_over() -> None:
    play = Scenario()
    play.begin()
    old, new = play.lines["p0"], play.another(0)
    new.peer.instance = "started after the other has crashed"
    play.runner.disconnected(old.peer)
    requests.rejoin(play.runner, new.peer, "p0", Rejoin(id=4, match="m1"))
    requests.resign(play.runner, new.peer, Resign(id=5, match="m1", fault="crash"))
    play.log_store.commit()
    assert play.match.state.result is not None
    assert play.match.state.result.cause is Cause.CRASH


def test_a_claim_that_is_not_valid_changes_nothing() -> None:
    play = Scenario()
    play.begin()
    thief = play.another(1)
    requests.rejoin(play.runner, thief.peer, "somebody", Rejoin(id=4, match="m1"))
    assert thief.received()[0]["code"] == "not_seated"
    assert play.lines["p0"].close_code() is None
    assert play.move(0)


def test_rejoining_on_the_same_connection_closes_nothing() -> None:
    play = Scenario()
    play.begin()
    requests.rejoin(play.runner, play.lines["p0"].peer, "p0", Rejoin(id=4, match="m1"))
    assert play.types(0) == ["done", "snapshot", "your_turn"]


def test_news_goes_on_after_the_snapshot_without_gap_or_repetition() -> None:
    play = Scenario()
    play.begin()
    play.move(0)
    new = play.another(1)
    requests.rejoin(play.runner, new.peer, "p1", Rejoin(id=4, match="m1"))
    assert new.received() == []
    play.log_store.commit()
    done, snapshot, turn = new.received()
    assert (done["type"], snapshot["seq"], turn["ply"]) == ("done", 1, 1)
    play.move(1, line=new)
    play.log_store.commit()
    assert [m["entry"]["seq"] for m in new.received() if m["type"] == "event"] == [2]


def test_who_is_disconnected_has_its_grace_and_then_loses() -> None:
    play = Scenario(conduct=Conduct(grace_ms=5000))
    play.begin()
    play.runner.disconnected(play.lines["p1"].peer)
    play.log_store.commit()
    assert play.received(0)[0]["entry"]["kind"] == "leave"
    play.context.rig.loop.advance(5)
    play.log_store.commit()
    assert play.match.state.result is not None
    assert play.match.state.result.seats[1].cause is Cause.DISCONNECT
    assert play.types(0) == ["event", "finished"]


def test_who_comes_back_in_time_plays_on() -> None:
    play = Scenario(conduct=Conduct(grace_ms=5000))
    play.begin()
    play.runner.disconnected(play.lines["p1"].peer)
    play.context.rig.loop.advance(4)
    new = play.another(1)
    requests.rejoin(play.runner, new.peer, "p1", Rejoin(id=4, match="m1"))
    play.log_store.commit()
    play.context.rig.loop.advance(60)
    assert play.match.state.result is None
    assert play.match.state.away == {}


def test_who_is_absent_at_the_start_is_away() -> None:
    play = Scenario(absent=1)
    play.begin()
    assert set(play.match.state.away) == {1}


def test_leaving_and_resigning_are_answered_when_durable() -> None:
    play = Scenario()
    play.begin()
    requests.resign(play.runner, play.lines["p0"].peer, Resign(id=8, match="m1"))
    assert play.received(0) == []
    play.log_store.commit()
    heard = play.received(0)
    assert {"re": 8, "type": "done", "seq": 1} in heard
    assert play.match.state.result is not None
    requests.resign(play.runner, play.lines["p0"].peer, Resign(id=9, match="m1"))
    assert play.received(0)[0]["code"] == "over"


def test_a_note_is_for_its_seat_only() -> None:
    play = Scenario()
    play.begin()
    requests.note(play.runner, play.lines["p0"].peer, 8, "secret thought")
    play.log_store.commit()
    assert [message["type"] for message in play.received(0)] == ["event", "done"]
    [event] = play.received(1)
    assert event["entry"]["kind"] == "hidden"


HOUSE = [
    Player(player="p0", name="ada", kind="bot"),
    Player(player="p1", name="house greedy 1", kind="house"),
]


def kinds(play: Scenario) -> list[str]:
    entries = [json.loads(text) for text in play.log_store.lines["m1"][1:]]
    return [entry["kind"] + entry.get("reason", "") for entry in entries]


def test_a_house_bot_whose_process_ends_has_crashed() -> None:
    play = Scenario(seats=HOUSE)
    play.begin()
    play.runner.disconnected(play.lines["p1"].peer)
    play.context.rig.loop.advance(0.1)
    lifecycle.house_bot_ended(play.runner, "p1", "Traceback\nstatus 1")
    play.context.rig.loop.advance(5)
    assert kinds(play) == ["note", "leavecrash"]


def test_a_house_bot_that_lives_was_disconnected() -> None:
    play = Scenario(seats=HOUSE)
    play.begin()
    play.runner.disconnected(play.lines["p1"].peer)
    assert kinds(play) == []
    play.context.rig.loop.advance(1)
    assert kinds(play) == ["leavedisconnect"]


# --- spectators -------------------------------------------------------------------------------


def test_a_spectator_enters_between_two_durable_moments() -> None:
    play = Scenario()
    play.begin()
    play.move(0)
    watcher = play.connect(Player(player="w", name="w", kind="human"))
    requests.watch(play.runner, watcher.peer, 3)
    assert watcher.received() == []
    play.log_store.commit()
    done, snapshot = watcher.received()
    assert (done["re"], snapshot["seq"]) == (3, 1)
    play.move(1)
    play.log_store.commit()
    assert watcher.received()[0]["entry"]["seq"] == 2
    play.runner.unwatch(watcher.peer)
    play.move(0)
    play.log_store.commit()
    assert watcher.received() == []


def test_a_slow_spectator_holds_nobody_up() -> None:
    play = Scenario()
    play.begin()
    watcher = play.connect(Player(player="w", name="w", kind="human"))
    requests.watch(play.runner, watcher.peer, 3)
    watcher.connection.pause_writing()
    for _ in range(4):
        play.move(play.match.state.to_act)
        play.log_store.commit()
    assert "your_turn" in play.types(0)
    watcher.frames()
    watcher.connection.resume_writing()
    lagged = watcher.received()[-1]
    assert (lagged["why"], lagged["seq"]) == ("lagged", 4)


def test_hidden_hands_reach_only_their_owner() -> None:
    game = Veil()
    play = Scenario(game, spectating=Spectating())
    hands = play.setup.deal["hands"]
    play.log_store.commit()
    watcher = play.connect(Player(player="w", name="w", kind="human"))
    requests.watch(play.runner, watcher.peer, 3)
    for _ in range(4):
        play.move(play.match.state.to_act)
        play.log_store.commit()
    for seat in range(2):
        text = json.dumps(play.received(seat))
        others = hands[1 - seat]  # type: ignore[index]
        assert not any(str(card) in text for card in others)  # type: ignore[union-attr]
    public = json.dumps(watcher.received())
    assert not any(str(card) in public for hand in hands for card in hand)  # type: ignore[union-attr]


def test_spectators_behind_a_delay_are_served_by_the_timer() -> None:
    play = Scenario(spectating=Spectating(delay_ms=3000))
    play.begin()
    watcher = play.connect(Player(player="w", name="w", kind="human"))
    requests.watch(play.runner, watcher.peer, 3)
    play.move(0)
    play.log_store.commit()
    watcher.frames()
    play.context.rig.loop.advance(2)
    assert watcher.received() == []
    play.context.rig.loop.advance(2)
    assert watcher.received()[0]["entry"]["seq"] == 1


# --- the end, and failures --------------------------------------------------------------------


def test_the_end_is_told_after_the_log_is_closed() -> None:
    play = Scenario()
    play.begin()
    play.finish()
    assert play.context.ended == [play.runner]
    footer, summary = play.log_store.finished["m1"]
    assert footer is not None
    assert json.loads(footer)["result"] == json.loads(summary)["result"]
    last = play.received(0)[-1]
    assert (last["type"], last["record"]) == ("finished", "/records/m1.jsonl")
    assert last["seed"] == play.setup.seed


def test_the_move_that_ended_a_match_is_answered_again() -> None:
    play = Scenario()
    play.begin()
    play.finish()
    play.received(0)
    final = read_entry(play.log_store.lines["m1"][-1])
    assert final.kind == "move"
    seat = final.seat
    back = play.another(seat)
    again = Move(id=final.id or 0, match="m1", ply=final.ply, action=final.action)
    requests.answer_late_move(play.runner, back.peer, again)
    assert back.received() == [{"re": final.id, "type": "done", "seq": final.seq}]


def test_a_flag_falls_by_the_timer() -> None:
    play = Scenario(clock="move=2")
    play.begin()
    play.context.rig.loop.advance(4)
    play.log_store.commit()
    assert play.match.state.result is not None
    assert play.match.state.result.seats[0].cause is Cause.TIME


def test_a_seat_that_stays_away_is_replaced_where_the_table_says_so() -> None:
    conduct = Conduct(grace_ms=1000, on_leave="replace", stand_in="toy-grid/greedy")
    play = Scenario(conduct=conduct)
    play.begin()
    play.runner.disconnected(play.lines["p0"].peer)
    play.context.rig.loop.advance(2)
    [want] = play.context.wants
    stand_in = Player(player="h1", name="house greedy 1", kind="house")
    seat = play.connect(stand_in)
    assert lifecycle.replace(play.runner, want.seat, stand_in, want.cause, seat.peer)
    assert play.runner.shown.brief().seats[0].player == "p0", "the disk does not have it yet"
    assert (play.runner.shown.seat_of("p0"), play.runner.shown.seat_of("h1")) == (0, None)
    assert lifecycle.is_unfinished(play.runner, "p0")
    play.log_store.commit()
    assert play.runner.shown.brief().seats[0] == stand_in
    assert (play.runner.shown.seat_of("p0"), play.runner.shown.seat_of("h1")) == (None, 0)
    assert not lifecycle.is_unfinished(play.runner, "p0")
    heard = [message["type"] for message in seat.received()]
    assert heard[0] == "snapshot"
    assert heard.count("your_turn") == 1
    assert play.move(0, line=seat)


def test_a_game_that_raises_ends_its_match_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    play, other = Scenario(), Scenario()
    play.begin()
    other.begin()
    monkeypatch.setattr(play.match.state.game, "play", lambda state, action: 1 // 0, raising=True)
    play.move(0)
    play.log_store.commit()
    assert play.match.state.result is not None
    assert play.match.state.result.cause is Cause.INFRASTRUCTURE
    assert play.received(1)[-1]["result"]["cause"] == "infrastructure"
    assert play.context.ended == [play.runner]
    assert "match m1 failed" in caplog.text
    assert other.move(0)


@pytest.mark.parametrize(("game", "view"), [(Grid(), "view"), (Veil(), "referee_view")])
def test_an_end_that_its_game_cannot_show_is_told_without_its_view(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, game: Game, view: str
) -> None:
    play = Scenario(game)
    play.begin()
    play.lines["p1"].peer.views = "drawn" if play.match.state.game.info.hidden else "turn"
    requests.resign(play.runner, play.lines["p0"].peer, Resign(id=7, match="m1"))
    monkeypatch.setattr(play.match.state.game, view, lambda *_: 1 // 0, raising=True)
    play.log_store.commit()
    for seat in range(2):
        heard = {message["type"]: message for message in play.received(seat)}
        assert (heard["finished"]["view"], heard["event"]["entry"]["kind"]) == ({}, "resign")
        assert heard["finished"]["result"]["cause"] == "resignation"
    assert play.context.ended == [play.runner]
    assert "cannot show the end of match m1" in caplog.messages


def test_a_match_whose_end_cannot_be_told_is_over_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    play = Scenario()
    play.begin()
    monkeypatch.setattr(news, "cache", lambda frame: 1 // 0)
    play.finish()
    assert play.context.ended == [play.runner]
    assert "match m1: a callback raised an exception" in caplog.messages


def test_a_match_that_cannot_even_be_aborted_is_reloaded_and_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play = Scenario()
    play.begin()
    with monkeypatch.context() as patch:
        patch.setattr(play.context, "lag", lambda: 1 // 0)  # called for every command
        play.move(0)
    assert len(play.context.losses) == 1
    fresh = reloaded(play)
    play.log_store.commit()
    assert play.context.ended == [fresh]
    assert json.loads(play.log_store.lines["m1"][-1])["kind"] == "abort"
    assert play.types(1)[-1] == "finished"


def test_a_log_that_cannot_be_written_is_told_to_nobody() -> None:
    """The lost move and those that arrive before the reload are refused and can be resent."""
    play = Scenario()
    play.begin()
    peer = play.lines["p0"].peer
    peer.unanswered |= {9: (), 10: ()}
    play.move(0, id=9)
    play.log_store.lines["m1"].pop()
    play.log_store.fail(WriteFailed("disk full"))
    assert not play.move(0, id=10)
    refused = [(answer["re"], answer["code"]) for answer in play.received(0)]
    assert refused == [(9, "unavailable"), (10, "unavailable")]
    assert play.received(1) == []
    assert len(play.context.losses) == 1
    play.runner = reloaded(play)
    play.match = play.runner.engine
    play.log_store.commit()
    play.move(0, id=9)
    play.log_store.commit()
    answers = [news["re"] for news in play.received(0) if news["type"] == "done"]
    assert answers == [9]


def test_a_match_is_never_ahead_of_its_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If an entry cannot be written, the match is reset to its log."""
    play = Scenario()
    play.begin()
    play.move(0, id=1)
    peer = play.lines["p1"].peer
    peer.unanswered |= {2: (), 3: ()}
    with monkeypatch.context() as patch:
        patch.setattr(runner_module, "encode_entry", lambda entry: 1 // 0)
        play.move(1, id=2)
    # The runner executes no more commands, reports what is in the log, and is then released.
    assert not play.move(1, id=3)
    assert play.context.losses == []
    play.log_store.commit()
    assert len(play.context.losses) == 1
    assert play.types(0) == ["event", "done"]
    heard = [(each["type"], each.get("re"), each.get("code")) for each in play.received(1)]
    assert heard == [
        ("refused", 2, "internal"),
        ("refused", 3, "unavailable"),
        ("event", None, None),
    ]
    fresh = reloaded(play)
    play.log_store.commit()
    told = play.received(1)
    assert not any("re" in message for message in told)
    assert fresh.engine.state.result is not None
    assert fresh.engine.state.result.cause is Cause.INFRASTRUCTURE
    lines = play.log_store.lines["m1"]
    assert [json.loads(each)["kind"] for each in lines[1:]] == ["move", "abort"]
    footer = play.log_store.finished["m1"][0]
    assert footer is not None
    assert json.loads(footer)["result"] == json.loads(
        fresh.engine.state.result.model_dump_json(exclude_none=True)
    )
    assert "finished" in {each["type"] for each in told}
    assert play.context.ended == [fresh]


def reloaded(play: Scenario) -> MatchRunner:
    """Reload the match from disk, like the directory."""
    lines = play.log_store.lines["m1"]
    tail = len(lines) - 1
    match = MatchEngine.restore(
        play.match.state.game, play.setup, [read_entry(each) for each in lines[1:]]
    )
    stream = Stream(1, "m1", "match", tail=tail, durable=tail)
    fresh = MatchRunner(play.context.made, match, stream, listed=True)
    lifecycle.resume(fresh, play.runner)
    return fresh


def test_who_waits_for_a_lost_entry_is_told_to_ask_again() -> None:
    play = Scenario()
    play.begin()
    play.move(0)
    watcher = play.connect(Player(player="w", name="w", kind="human"))
    back = play.another(1)
    watcher.peer.unanswered[7] = ()
    back.peer.unanswered[8] = ()

    def ask() -> None:
        requests.watch(play.runner, watcher.peer, 7)
        requests.rejoin(play.runner, back.peer, "p1", Rejoin(id=8, match="m1"))

    ask()
    play.log_store.lines["m1"].pop()
    play.log_store.fail(WriteFailed("disk full"))
    for asker in (watcher, back):
        (refused,) = asker.received()
        assert (refused["code"], refused["retry_after_ms"]) == ("unavailable", 200)
    play.runner = reloaded(play)
    ask()
    play.log_store.commit()
    assert [each["type"] for each in watcher.received()] == ["done", "snapshot"]
    types = [each["type"] for each in back.received()]
    assert types.count("done") == 1
    assert types[types.index("done") + 1] == "snapshot"


@pytest.mark.parametrize("before", [True, False])
def test_a_wall_shows_a_match_that_was_loaded_again_meanwhile(before: bool) -> None:
    play = Scenario()
    play.begin()
    play.move(0)
    watcher = play.connect(Player(player="w", name="w", kind="human"))
    watcher.peer.subscriptions["m1"] = play.runner
    if before:
        play.runner.put_on_wall(watcher.peer)
    play.log_store.lines["m1"].pop()
    play.log_store.fail(WriteFailed("disk full"))
    if not before:
        play.runner.put_on_wall(watcher.peer)
    assert watcher.received() == []
    fresh = reloaded(play)
    play.log_store.commit()
    snapshot, *events = watcher.received()
    assert (snapshot["type"], snapshot["why"]) == ("snapshot", "watching")
    assert {each["type"] for each in events} <= {"event"}
    assert list(fresh.watchers) == [watcher.peer]
    assert watcher.peer.send_queue._skipped is None


def test_an_end_that_could_not_be_written_is_written_after_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play = Scenario()
    play.begin()
    with monkeypatch.context() as patch:
        patch.setattr(play.log_store, "finish", lambda *_: 1 // 0)
        requests.resign(play.runner, play.lines["p0"].peer, Resign(id=9, match="m1"))
    play.log_store.commit()
    assert len(play.context.losses) == 1
    fresh = reloaded(play)
    play.log_store.commit()
    assert fresh.engine.state.result is not None
    assert fresh.engine.state.result.cause is Cause.RESIGNATION
    assert play.log_store.finished["m1"][0] is not None
    assert play.types(1)[-1] == "finished"


def test_a_suspended_table_does_nothing_more() -> None:
    play = Scenario(clock="move=1")
    play.begin()
    play.runner.suspend()
    play.move(0)
    play.runner.disconnected(play.lines["p0"].peer)
    play.context.rig.loop.advance(60)
    assert play.log_store.waiting == 0
    assert play.match.state.result is None


# --- checkpoints ------------------------------------------------------------------------------

LONG: dict[str, Any] = {"options": {"columns": 8, "rows": 8, "row": 8}}


def test_a_checkpoint_is_written_every_few_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "CHECKPOINT_INTERVAL", 4)
    play = Scenario(**LONG)
    play.begin()
    for ply in range(18):
        play.move(ply % 2)
        play.log_store.commit()
    seqs = [seq for seq, _ in play.context.checkpoints.written]
    assert [later - former for former, later in itertools.pairwise(seqs)] == [4] * (len(seqs) - 1)
    assert len(seqs) >= 4
    assert seqs[0] <= 4


@pytest.mark.parametrize("interval", [5, 8, 11, 100])
def test_where_few_matches_run_checkpoints_are_rare(
    interval: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "CHECKPOINT_INTERVAL", 4)
    play = Scenario(**LONG)
    play.context.unfolded = interval
    play.begin()
    for ply in range(40):
        play.move(ply % 2)
        play.log_store.commit()
    seqs = [0, *[seq for seq, _ in play.context.checkpoints.written], play.match.state.seq]
    assert max(later - former for former, later in itertools.pairwise(seqs)) <= interval
    assert len(seqs) - 2 <= 40 / (interval - 3)


def test_the_end_of_a_match_needs_no_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "CHECKPOINT_INTERVAL", 1)
    play = Scenario()
    play.begin()
    while play.match.state.result is None:
        play.move(play.match.state.to_act)
        play.log_store.commit()
    written = [seq for seq, _ in play.context.checkpoints.written]
    assert written == list(range(1, play.match.state.seq))


def test_a_checkpoint_that_cannot_be_written_hurts_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(checkpoint, "CHECKPOINT_INTERVAL", 4)
    play = Scenario(**LONG)
    play.begin()
    asked: list[int] = []

    def fail(match: MatchState, link: str) -> bytes:
        asked.append(match.seq)
        raise OSError("no room")

    play.context.checkpoints.write = fail  # type: ignore[method-assign]
    for ply in range(9):
        assert play.move(ply % 2)
        play.log_store.commit()
    assert len(asked) == 2
    assert play.match.state.result is None
    assert "cannot write a checkpoint of match m1" in caplog.messages


# --- a restart --------------------------------------------------------------------------------


def restarted(play: Scenario) -> Scenario:
    """Return the match in a new environment, replayed from the log, with no connections."""
    again = object.__new__(Scenario)
    again.context = FakeContext()
    again.context.rig.loop.now += 1_000_000
    again.setup, again._id = play.setup, 100
    lines = play.log_store.lines["m1"]
    entries = [read_entry(text) for text in lines[1:]]
    again.match = MatchEngine.restore(play.match.state.game, play.setup, entries)
    tail = len(entries)
    again.log_store.lines["m1"] = list(lines)
    stream = Stream(1, "m1", "match", tail=tail, durable=tail)
    again.runner = MatchRunner(again.context.made, again.match, stream, listed=True)
    again.lines = {}
    return again


def test_after_a_restart_nobody_loses_time_until_they_are_back() -> None:
    play = Scenario(clock="5+0", conduct=Conduct(grace_ms=30_000))
    play.begin()
    play.context.rig.loop.advance(1)
    play.move(0)
    play.log_store.commit()
    again = restarted(play)
    lifecycle.resume(again.runner)
    again.log_store.commit()
    again.context.rig.loop.advance(20)
    for seat in (0, 1):
        again.lines[f"p{seat}"] = again.another(seat)
        requests.rejoin(
            again.runner, again.lines[f"p{seat}"].peer, f"p{seat}", Rejoin(id=1, match="m1")
        )
        again.log_store.commit()
    turn = again.received(1)[-1]
    assert (turn["type"], turn["ply"], turn["left_ms"]) == ("your_turn", 1, 5000)
    assert again.move(1)


def test_each_restart_is_marked_once_in_the_log_and_counts() -> None:
    play = Scenario(clock="5+0", conduct=Conduct(grace_ms=30_000))
    play.begin()
    for restarts in (1, 2):
        play = restarted(play)
        lifecycle.resume(play.runner)
        play.log_store.commit()
        left = [e for e in map(read_entry, play.log_store.lines["m1"][1:]) if e.kind == "leave"]
        assert [entry.restart for entry in left] == [True, None] * restarts
        assert play.match.state.standstill_ms == restarts * RESTART_MS
        for seat in (0, 1):
            play.lines[f"p{seat}"] = play.another(seat)
            requests.rejoin(
                play.runner, play.lines[f"p{seat}"].peer, f"p{seat}", Rejoin(id=1, match="m1")
            )
            play.log_store.commit()


def test_a_match_that_a_restart_begins_charges_nobody_who_is_not_back() -> None:
    """The lobby had planned the match, but the server went down before it was written."""
    play = Scenario(absent=0, clock="5+0", conduct=Conduct(grace_ms=30_000))
    play.runner.seats.await_absent()
    play.log_store.commit()
    play.context.rig.loop.advance(20)
    play.lines["p0"] = play.another(0)
    requests.rejoin(play.runner, play.lines["p0"].peer, "p0", Rejoin(id=1, match="m1"))
    play.log_store.commit()
    turn = play.received(0)[-1]
    assert (turn["type"], turn["ply"], turn["left_ms"]) == ("your_turn", 0, 5000)
    assert play.move(0)


@pytest.mark.parametrize("lost", [False, True])
def test_who_is_sent_away_by_the_server_pays_for_nothing_until_it_is_back(lost: bool) -> None:
    """The node cannot reach its database, and unwritten entries may be lost."""
    play = Scenario(clock="5+0", conduct=Conduct(grace_ms=30_000))
    play.begin()
    loop = play.context.rig.loop
    loop.advance(1)
    play.runner.await_all()
    for line in play.lines.values():
        play.runner.disconnected(line.peer)
    if lost:
        play.log_store.lines["m1"][1:] = []
        play.log_store.fail(WriteFailed("it is away"))
        play.runner = reloaded(play)
        play.match = play.runner.engine
    play.log_store.commit()
    loop.advance(20)
    play.lines["p0"] = play.another(0)
    requests.rejoin(play.runner, play.lines["p0"].peer, "p0", Rejoin(id=1, match="m1"))
    play.log_store.commit()
    turn = play.received(0)[-1]
    assert (turn["type"], turn["ply"], turn["left_ms"]) == ("your_turn", 0, 5000)
    loop.advance(1)
    assert play.move(0)
    play.log_store.commit()
    entries = map(read_entry, play.log_store.lines["m1"][1:])
    assert [entry.elapsed_ms for entry in entries if isinstance(entry, Moved)] == [1000]


def test_a_move_that_was_on_its_way_opens_no_turn_of_who_is_sent_away() -> None:
    play = Scenario(clock="5+0", conduct=Conduct(grace_ms=30_000))
    play.begin()
    play.move(0)
    play.runner.await_all()
    for line in play.lines.values():
        play.runner.disconnected(line.peer)
    play.log_store.commit()
    loop = play.context.rig.loop
    loop.advance(20)
    play.lines["p1"] = play.another(1)
    requests.rejoin(play.runner, play.lines["p1"].peer, "p1", Rejoin(id=1, match="m1"))
    play.log_store.commit()
    turn = play.received(1)[-1]
    assert (turn["type"], turn["ply"], turn["left_ms"]) == ("your_turn", 1, 5000)


def test_after_a_restart_who_does_not_come_back_loses_after_the_grace() -> None:
    play = Scenario(conduct=Conduct(grace_ms=30_000))
    play.begin()
    again = restarted(play)
    lifecycle.resume(again.runner)
    again.log_store.commit()
    again.lines["p1"] = again.another(1)
    requests.rejoin(again.runner, again.lines["p1"].peer, "p1", Rejoin(id=1, match="m1"))
    again.context.rig.loop.advance(31)
    again.log_store.commit()
    assert again.match.state.result is not None
    assert again.match.state.result.seats[0].cause is Cause.DISCONNECT


# --- suspended servers ------------------------------------------------------------------------


def on_server_clock(play: Scenario) -> FakeLoop:
    """Let the runner measure time like a server."""
    loop = play.context.rig.loop
    clock = ServerClock(loop.loop, lambda: round(loop.now * 1e9))
    play.context.clock, play.context.lag = clock.milliseconds, clock.lag_ms
    clock.start()
    return loop


def test_a_stop_of_the_server_is_charged_to_nobody_and_is_in_the_log() -> None:
    play = Scenario(clock="move=3")
    loop = on_server_clock(play)
    play.begin()
    loop.advance(2)
    loop.now += 5
    loop.advance(0.5)
    assert play.match.state.result is None
    assert play.move(0)
    play.log_store.commit()
    moved = read_entry(play.log_store.lines["m1"][-1])
    assert isinstance(moved, Moved)
    assert 2450 <= moved.elapsed_ms <= 2500
    assert moved.lag_ms is not None
    assert 5000 <= moved.lag_ms <= 5050
    assert moved.at_ms == moved.wait_ms + moved.elapsed_ms
    loop.advance(3.2)
    assert play.match.state.result is not None
    flag = next(e for e in map(read_entry, play.log_store.lines["m1"][1:]) if e.kind == "flag")
    assert isinstance(flag, Flagged)
    assert (flag.lag_ms, 3000 <= flag.elapsed_ms <= 3150) == (None, True)


def test_a_stop_of_the_server_is_no_part_of_a_grace() -> None:
    play = Scenario(conduct=Conduct(grace_ms=3000))
    loop = on_server_clock(play)
    play.begin()
    play.runner.disconnected(play.lines["p1"].peer)
    play.log_store.commit()
    loop.advance(2.5)
    loop.now += 60
    loop.advance(0.4)
    assert play.match.state.result is None
    loop.advance(0.3)
    assert play.match.state.result is not None


def test_a_move_that_is_in_the_socket_is_read_before_a_flag_falls() -> None:
    """The loop handles timers and sockets in any order."""
    play = Scenario(clock="move=3")
    play.begin()
    loop = play.context.rig.loop
    play.lines["p0"].peer.round_trip.ms = 100
    due = play.match.deadline
    assert due is not None
    moved: list[bool] = []
    loop.call_at(due / 1000, loop.call_soon, lambda: moved.append(play.move(0)))
    loop.advance(4)
    assert moved == [True]
    assert play.match.state.ply == 1


def test_somebody_else_s_request_does_not_bring_a_flag_down_before_its_time() -> None:
    play = Scenario(clock="move=3")
    play.begin()
    loop = play.context.rig.loop
    play.lines["p0"].peer.round_trip.ms = 100
    due = play.match.deadline
    assert due is not None
    loop.now = due / 1000 + 0.01  # the timer is late
    requests.note(play.runner, play.lines["p1"].peer, 77, "hm")
    assert play.move(0)
    assert play.match.state.ply == 1


def test_who_comes_back_in_the_last_moment_of_its_grace_is_back() -> None:
    play = Scenario(conduct=Conduct(grace_ms=3000))
    play.begin()
    play.runner.disconnected(play.lines["p1"].peer)
    play.log_store.commit()
    loop = play.context.rig.loop
    again, due = play.another(1).peer, play.match.deadline
    assert due is not None
    loop.now = due / 1000
    requests.rejoin(play.runner, again, "p1", Rejoin(id=5, match="m1"))
    loop.advance(1)
    assert play.match.state.result is None
    assert play.match.state.away == {}


def test_the_line_of_a_match_is_what_validation_would_have_made() -> None:
    play = Scenario()
    play.begin()
    going = play.runner.shown.brief()
    lifecycle.abort(play.runner, "over")
    assert play.runner.shown.brief() == going, "the disk does not have the end yet"
    play.log_store.commit()
    ended = play.runner.shown.brief()
    assert (going.result, ended.result) == (None, play.runner.engine.state.result)
    for brief in (going, ended):
        again = MatchBrief.model_validate_json(encode(brief))
        assert again == brief
        assert vars(brief).keys() == MatchBrief.model_fields.keys()
