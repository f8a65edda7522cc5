"""Spectators: their perspective and their delay."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kibitz_games.core.game import Game
from kibitz_protocol.wire.frames import text_frame
from kibitz_protocol.wire.records import Conduct, Setup, Spectating
from kibitz_protocol.wire.visibility import spectator_viewer
from kibitz_server.match.commands import Append, Leave, Note, Resign, Return
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.spectators import Spectators
from kibitz_server.match.state import MatchState
from kibitz_server.match.visibility import EntryView, MatchViews, replay
from kibitz_server.net.send_queue import SendLimits, SendQueue, WriteBatcher
from tests.server.fakes import FakeLoop, FakeTransport, split_frames
from tests.server.match.toy_games import Grid, MatchDriver, Veil, setup
from tests.tools.view_follower import ViewFollower, as_text


def spectators_of(match: MatchEngine, loop: FakeLoop) -> Spectators:
    return Spectators(match.views, lambda told: told(), lambda: match.left_ms(loop.clock()))


class SpectatorScenario:
    """A match, its spectators, and the messages to one of them."""

    def __init__(self, game: Game, spectating: Spectating, clock: str = "none") -> None:
        self.loop = FakeLoop()
        begun = setup(game, 2, clock=clock).model_copy(update={"spectating": spectating})
        self.shell = MatchDriver(game, begun, self.loop.clock())
        self.spectators = spectators_of(self.shell.match, self.loop)
        self.wire = FakeTransport()
        self.queue = SendQueue(self.wire, WriteBatcher(self.loop.loop), SendLimits(), lambda: None)

    def play(self, wait: int = 0, **action: int) -> None:
        self.loop.advance(wait / 1000)
        for effect in self.shell.play(wait=wait, **action):
            if isinstance(effect, Append):
                self.publish(effect.view)

    def do(self, command: Leave | Note | Return) -> None:
        for effect in self.shell.do(command):
            if isinstance(effect, Append):
                self.publish(effect.view)

    def publish(self, view: EntryView) -> None:
        """Show a durable entry like a match's runner."""
        spectators = self.spectators
        if spectators.delayed is None:
            wanted = spectators.queues.values()
            frames = view.spectator_frames(spectators.viewer, wanted)
            for queue in spectators.queues:
                queue.send_droppable(frames[spectators.queues[queue]], spectators)
        else:
            spectators.publish(view, self.loop.clock())

    def screen(self) -> list[dict[str, Any]]:
        self.loop.advance()
        frames, self.wire.written = split_frames(self.wire.written)
        return [json.loads(data) for _, data in frames]


def numbers(messages: list[dict[str, Any]]) -> list[int]:
    return [message["entry"]["seq"] for message in messages if message["type"] == "event"]


def test_without_delay_all_is_shown_at_once() -> None:
    seen = SpectatorScenario(Grid(), Spectating())
    seen.play()
    seen.spectators.add(seen.queue, "turn")
    [snapshot] = seen.screen()
    assert (snapshot["why"], snapshot["seq"], snapshot.get("you")) == ("watching", 1, None)
    seen.play()
    assert numbers(seen.screen()) == [2]
    seen.spectators.remove(seen.queue)
    seen.play()
    assert seen.screen() == []


def test_off_shows_nothing() -> None:
    assert SpectatorScenario(Grid(), Spectating(mode="off")).spectators.viewer is None


@pytest.mark.parametrize(
    ("spectating", "own", "all_"),
    [
        (Spectating(mode="public"), False, False),
        (Spectating(mode="shoulder", seat=1), True, False),
        (Spectating(mode="referee"), True, True),
    ],
)
def test_whose_eyes(spectating: Spectating, own: bool, all_: bool) -> None:
    seen = SpectatorScenario(Veil(), spectating)
    hands = [str(card) for card in seen.shell.setup.deal["hands"][1]]  # type: ignore[index, union-attr]
    others = [str(card) for card in seen.shell.setup.deal["hands"][0]]  # type: ignore[index, union-attr]
    seen.spectators.add(seen.queue, "turn")
    seen.play()
    seen.play()
    text = json.dumps(seen.screen())
    assert any(card in text for card in hands) is own
    assert any(card in text for card in others) is all_


def test_a_delay_in_plies_holds_entries_back() -> None:
    seen = SpectatorScenario(Grid(), Spectating(delay_plies=2))
    seen.spectators.add(seen.queue, "turn")
    assert seen.screen()[0]["seq"] == 0
    for _ in range(3):
        seen.play()
    assert numbers(seen.screen()) == [1]
    assert seen.spectators.delayed is not None
    assert (seen.spectators.seq, seen.spectators.delayed.ply) == (1, 1)


def test_a_delay_in_time_holds_entries_back() -> None:
    seen = SpectatorScenario(Grid(), Spectating(delay_ms=5000))
    seen.spectators.add(seen.queue, "turn")
    seen.play()
    seen.play(wait=1000)
    seen.screen()
    assert seen.spectators.deadline() == seen.loop.clock() + 4000
    seen.loop.advance(4)
    seen.spectators.publish_due(seen.loop.clock())
    assert numbers(seen.screen()) == [1]
    seen.loop.advance(1)
    seen.spectators.publish_due(seen.loop.clock())
    assert numbers(seen.screen()) == [2]
    assert seen.spectators.deadline() is None


def test_who_enters_late_sees_the_moment_that_is_shown() -> None:
    seen = SpectatorScenario(Grid(), Spectating(delay_plies=2))
    for _ in range(4):
        seen.play()
    seen.spectators.add(seen.queue, "turn")
    [snapshot] = seen.screen()
    assert (snapshot["seq"], snapshot["ply"], snapshot["to_act"]) == (2, 2, 0)
    assert sum(cell != 0 for cell in snapshot["view"]["cells"]) == 2
    seen.play()
    assert numbers(seen.screen()) == [3]


def test_absence_is_as_late_as_everything_else() -> None:
    seen = SpectatorScenario(Grid(), Spectating(delay_plies=1))
    seen.play()
    seen.do(Leave(1, "disconnect"))
    seen.spectators.add(seen.queue, "turn")
    assert seen.screen()[0]["away"] == []
    seen.do(Return(1))
    seen.spectators.send_snapshot(seen.queue)
    assert seen.screen()[0]["away"] == []
    seen.play()
    assert numbers(seen.screen()) == [1, 2, 3]


def test_all_is_revealed_at_the_end() -> None:
    seen = SpectatorScenario(Grid(), Spectating(delay_plies=50, delay_ms=3_600_000))
    seen.spectators.add(seen.queue, "turn")
    while seen.shell.match.state.result is None:
        seen.play()
    assert numbers(seen.screen()) == []
    seen.spectators.publish_rest()
    assert numbers(seen.screen()) == list(range(1, seen.shell.match.state.seq + 1))


@pytest.mark.parametrize(
    "spectating", [Spectating(delay_plies=3), Spectating(delay_ms=2500), Spectating()]
)
def test_a_restart_shows_nothing_earlier(spectating: Spectating) -> None:
    seen = SpectatorScenario(Grid(), spectating)
    for _ in range(6):
        seen.play(wait=1000)
    shown = seen.spectators.seq
    game, log, begun = seen.shell.game, seen.shell.log, seen.shell.setup
    match = MatchEngine.restore(game, begun, log)
    again = spectators_of(match, seen.loop)
    again.restore_delay(replay(game, begun, log), seen.loop.clock())
    assert again.seq == shown
    again.add(seen.queue, "turn")
    assert seen.screen()[-1]["seq"] == shown


def test_a_slow_spectator_gets_a_snapshot_and_no_gap() -> None:
    seen = SpectatorScenario(Grid(), Spectating())
    seen.spectators.add(seen.queue, "turn")
    seen.screen()
    seen.queue.pause()
    for _ in range(3):
        seen.play()
    seen.queue.resume()
    [snapshot] = seen.screen()
    assert (snapshot["why"], snapshot["seq"]) == ("lagged", 3)
    seen.play()
    assert numbers(seen.screen()) == [4]


def test_a_slow_spectator_that_leaves_is_owed_nothing() -> None:
    seen = SpectatorScenario(Grid(), Spectating())
    seen.spectators.add(seen.queue, "turn")
    seen.screen()
    seen.queue.pause()
    seen.play()
    assert seen.queue.is_skipped(seen.spectators)
    seen.spectators.remove(seen.queue)
    assert not seen.queue.is_skipped(seen.spectators)
    seen.queue.resume()
    assert seen.screen() == []


def played_to_the_end(seen: SpectatorScenario) -> None:
    while seen.shell.match.state.result is None:
        seen.play()
    seen.spectators.publish_rest()
    seen.spectators.finish(lambda wanted: text_frame(b'{"type":"finished"}'))


@pytest.mark.parametrize("spectating", [Spectating(), Spectating(delay_plies=50)])
def test_a_spectator_that_was_behind_at_the_end_is_told_the_last_position_and_the_end(
    spectating: Spectating,
) -> None:
    seen = SpectatorScenario(Grid(), spectating)
    seen.spectators.add(seen.queue, "turn")
    seen.screen()
    seen.queue.pause()
    played_to_the_end(seen)
    assert seen.screen() == []
    seen.queue.resume()
    snapshot, finished = seen.screen()
    assert (snapshot["why"], snapshot["seq"]) == ("lagged", seen.shell.match.state.seq)
    assert snapshot["result"] is not None
    assert finished["type"] == "finished"


def test_a_last_position_that_its_game_cannot_show_keeps_the_end_from_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = SpectatorScenario(Grid(), Spectating())
    seen.spectators.add(seen.queue, "turn")
    seen.screen()
    seen.queue.pause()
    seen.play()
    seen.shell.do(Resign(0))
    monkeypatch.setattr(seen.shell.match.state.game, "view", lambda *_: 1 // 0)
    seen.spectators.finish(lambda wanted: text_frame(b'{"type":"finished"}'))
    seen.queue.resume()
    assert [message["type"] for message in seen.screen()] == ["finished"]


def test_a_spectator_that_has_read_all_is_told_the_end_alone() -> None:
    seen = SpectatorScenario(Grid(), Spectating())
    seen.spectators.add(seen.queue, "turn")
    played_to_the_end(seen)
    types = [message["type"] for message in seen.screen()]
    assert (types[0], types[-1]) == ("snapshot", "finished")
    assert set(types[1:-1]) == {"event"}


def test_a_snapshot_that_waited_for_the_disk_at_the_end_is_not_sent_after_it() -> None:
    seen = SpectatorScenario(Grid(), Spectating())
    waiting: list[Callable[[], None]] = []
    seen.spectators = Spectators(seen.shell.match.views, waiting.append, lambda: None)
    seen.spectators.add(seen.queue, "turn")
    seen.screen()
    seen.queue.pause()
    seen.play()
    seen.queue.resume()
    assert (seen.screen(), len(waiting)) == ([], 1)
    played_to_the_end(seen)
    [snapshot_waits] = waiting
    snapshot_waits()
    assert [message["type"] for message in seen.screen()] == ["snapshot", "finished"]


@pytest.mark.parametrize(
    "spectating",
    [
        Spectating(),
        Spectating(delay_plies=2),
        Spectating(mode="shoulder", seat=1),
        Spectating(mode="referee", delay_plies=1),
    ],
)
def test_snapshots_and_changes_give_the_view_of_the_moment_that_is_shown(
    spectating: Spectating,
) -> None:
    seen = SpectatorScenario(Veil(), spectating)
    follower = ViewFollower()
    seen.play()
    seen.spectators.add(seen.queue, "turn")
    for told_late in (False, True, False):
        if told_late:
            seen.queue.pause()
        seen.play()
        if told_late:
            seen.queue.resume()
        follower.follow(seen.screen(), ())
    seen.spectators.send_snapshot(seen.queue)
    follower.follow(seen.screen(), ())
    assert follower.wrong == []
    assert follower.compared > 0
    assert max(follower.views) == seen.spectators.seq
    viewer = spectator_viewer(spectating)
    assert viewer is not None
    for seq, view in follower.views.items():
        state = MatchState.restore(seen.shell.game, seen.shell.setup, seen.shell.log[:seq])
        assert as_text(view) == as_text(MatchViews(state).present().of(viewer))


@pytest.mark.parametrize(
    "spectating", [Spectating(mode="shoulder", seat=1), Spectating(mode="referee")]
)
def test_notes_are_for_no_spectator(spectating: Spectating) -> None:
    """In every perspective, a program's private notes are visible only to their author."""
    seen = SpectatorScenario(Veil(), spectating)
    seen.spectators.add(seen.queue, "turn")
    seen.do(Note(1, "a traceback"))
    [_, event] = seen.screen()
    assert event["entry"] == {"seq": 1, "at_ms": 0, "kind": "hidden"}


def test_a_snapshot_says_how_much_of_the_running_turn_is_left() -> None:
    seen = SpectatorScenario(Grid(), Spectating(), clock="10+0")
    seen.play(wait=500)
    seen.loop.advance(3)
    seen.spectators.add(seen.queue, "turn")
    [snapshot] = seen.screen()
    assert snapshot["clocks"][1]["main_ms"] == 10_000
    assert snapshot["left_ms"] == 7_000


def test_spectators_who_see_the_match_late_are_not_told_what_is_left_now() -> None:
    seen = SpectatorScenario(Grid(), Spectating(delay_plies=1), clock="10+0")
    seen.play(wait=500)
    seen.spectators.add(seen.queue, "turn")
    [snapshot] = seen.screen()
    assert "left_ms" not in snapshot
    assert snapshot["clocks"][0]["main_ms"] == 10_000


def test_a_setup_without_spectating_is_public() -> None:
    assert isinstance(setup(Grid(), 2, conduct=Conduct()), Setup)
    assert SpectatorScenario(Grid(), Spectating()).spectators.viewer is not None
