"""Following another node's match by its log: the messages to spectators."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from kibitz_games.core.game import Game
from kibitz_protocol.wire.records import Player, Spectating
from kibitz_protocol.wire.visibility import WantedViews
from kibitz_server.match.commands import AddComment, Leave, Note, Return
from kibitz_server.match.state import BrokenLog
from kibitz_server.match.tail import MatchTail
from kibitz_server.storage.interface import NewEntries
from kibitz_server.storage.streams import Stream
from tests.server.fakes import ScriptedConnection
from tests.server.match.test_runner import Scenario
from tests.server.match.toy_games import Grid, Veil

VIEWS: tuple[WantedViews, ...] = ("turn", "every", "none", "drawn")
MODES = (Spectating(), Spectating(mode="shoulder", seat=1), Spectating(mode="referee"))
DELAYS: tuple[dict[str, int], ...] = ({}, {"delay_plies": 2}, {"delay_ms": 700})
EVE = Player(player="eve", name="eve", kind="human")


class Followed:
    """A match at its node, and its tail at another one, each with spectators."""

    def __init__(self, game: Game | None = None, **fields: Any) -> None:
        self.play = Scenario(game, **fields)
        self.rig = self.play.context.rig
        self.tail = self.new_tail()
        self.play.begin()

    def new_tail(self) -> MatchTail:
        play = self.play
        stream = Stream(1, "m1", "match", durable=0)
        game = play.match.state.game
        return MatchTail(game, play.setup, stream, self.rig.loop.clock, lobby_shown=True)

    @property
    def log(self) -> list[bytes]:
        return self.play.log_store.lines["m1"][1:]

    def new(self, count: int = 1000, *, more: bool = False) -> NewEntries:
        """Return the next entries that the tail has not read."""
        first = self.tail.stream.tail
        lines = self.log[first : first + count]
        closed = self.play.runner.stream.closed and first + len(lines) == len(self.log)
        return NewEntries(lines, f"chain {first + len(lines)}", more=more, closed=closed)

    def follow(self, count: int = 1000) -> None:
        """Make everything durable and let the tail read it in chunks."""
        self.play.log_store.commit()
        if self.tail.over:
            return
        now = self.rig.loop.clock()
        while self.tail.stream.tail < len(self.log):
            self.tail.take(self.new(count), now)
        self.tail.take(self.new(), now)
        self.tail.catch_up(now)
        if self.tail.over:
            self.tail.announce_end()

    def spectator(self, views: WantedViews = "turn") -> ScriptedConnection:
        connection = self.play.connect(EVE)
        connection.peer.views = views
        return connection

    def spectators(self, views: WantedViews) -> tuple[ScriptedConnection, ScriptedConnection]:
        """Return a spectator at the playing node and one at the tail."""
        there, here = self.spectator(views), self.spectator(views)
        self.play.runner.admit_spectator(there.peer)
        self.tail.admit_spectator(here.peer)
        return there, here

    def advance(self, seconds: float) -> None:
        self.rig.loop.advance(seconds)
        self.tail.spectators.publish_due(self.rig.loop.clock())


def happenings(followed: Followed) -> Any:
    """Play a match to its end, yielding between events."""
    play, runner = followed.play, followed.play.runner
    for number in itertools.count():
        if play.match.state.result is not None:
            return
        play.move(play.match.state.to_act)
        yield
        if number == 0:
            runner.command(Note(0, "a note of seat 0"))
            runner.command(AddComment(EVE, None, play.match.state.ply, "what a start"))
            yield
            runner.command(AddComment(play.setup.seats[0], 0, play.match.state.ply, "my plan is"))
            play.move(play.match.state.to_act, x=99, y=99)  # is refused, and noted
            yield
        if number == 1:
            runner.command(Leave(1, "disconnect"))
            yield
            runner.command(Return(1))
            yield


def frames(connection: ScriptedConnection) -> list[bytes]:
    return [data for _, data in connection.frames()]


@pytest.mark.parametrize("delay", DELAYS, ids=str)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.mode)
@pytest.mark.parametrize("views", VIEWS)
@pytest.mark.parametrize("game", [Grid(), Veil()], ids=lambda game: game.info.name)
@pytest.mark.parametrize("comments", ["everybody", "spectators", "after"])
def test_spectators_of_a_tail_are_sent_the_bytes_that_those_of_the_match_are(
    game: Game, views: WantedViews, mode: Spectating, delay: dict[str, int], comments: str
) -> None:
    spectating = mode.model_copy(update={**delay, "comments": comments})
    followed = Followed(game, spectating=spectating)
    followed.follow()
    pairs = [followed.spectators(views)]
    for number, _ in enumerate(happenings(followed)):
        followed.follow()
        followed.advance(0.3)
        if number == 3:
            pairs.append(followed.spectators("drawn"))
    followed.follow()
    for there, here in pairs:
        sent = frames(there)
        assert sent == frames(here)
        kinds = b" ".join(sent)
        assert b'"snapshot"' in kinds
        assert b'"finished"' in kinds
    assert followed.tail.state.result is not None


@pytest.mark.parametrize("count", [1, 2, 3])
def test_entries_may_come_in_pieces(count: int) -> None:
    followed = Followed()
    followed.follow()
    there, here = followed.spectators("every")
    for number, _ in enumerate(happenings(followed)):
        followed.play.log_store.commit()
        if number % 3 == 2:
            followed.follow(count)
    followed.follow(count)
    assert frames(there) == frames(here)


@pytest.mark.parametrize("delay", DELAYS, ids=str)
def test_a_tail_that_begins_late_shows_the_present_and_nothing_earlier_than_its_node(
    delay: dict[str, int],
) -> None:
    """With a time delay, the newest entry counts as made when it was read."""
    followed = Followed(spectating=Spectating(**delay))
    for number, _ in enumerate(happenings(followed)):
        followed.play.log_store.commit()
        followed.advance(0.2)
        if number == 5:
            break
    followed.follow(2)
    followed.advance(0.0)
    there, here = followed.spectators("turn")
    [first], [second] = there.received(), here.received()
    if "delay_ms" in delay:
        assert second["seq"] <= first["seq"]
        for connection in (there, here):
            followed.advance(0.8)
            assert connection.received()[-1]["entry"]["seq"] == len(followed.log)
    else:
        assert first == second


def test_nobody_is_let_in_before_the_end_of_the_log_was_read_once() -> None:
    followed = Followed()
    for _ in range(3):
        followed.play.move(followed.play.match.state.to_act)
    followed.play.log_store.commit()
    followed.tail.take(followed.new(2, more=True), 0)
    assert not followed.tail.caught_up
    followed.tail.take(followed.new(), 0)
    followed.tail.catch_up(0)
    assert (followed.tail.caught_up, followed.tail.state.ply) == (True, 3)


@pytest.mark.parametrize(
    "wrong", [lambda log: [log[1]], lambda log: [log[0], log[0]], lambda log: [b"{}"]]
)
def test_entries_that_do_not_follow_break_a_tail(wrong: Any) -> None:
    followed = Followed()
    for _ in range(2):
        followed.play.move(followed.play.match.state.to_act)
    followed.play.log_store.commit()
    followed.tail.catch_up(0)
    with pytest.raises(BrokenLog):
        followed.tail.take(NewEntries(wrong(followed.log), "", more=False, closed=False), 0)


def test_a_log_that_is_closed_without_an_end_breaks_a_tail() -> None:
    followed = Followed()
    with pytest.raises(BrokenLog, match="has not ended"):
        followed.tail.take(NewEntries([], "", more=False, closed=True), 0)


def test_a_slow_spectator_of_a_tail_gets_a_snapshot_and_no_gap() -> None:
    followed = Followed()
    followed.follow()
    here = followed.spectator()
    followed.tail.admit_spectator(here.peer)
    here.received()
    here.connection.pause_writing()
    for _ in range(3):
        followed.play.move(followed.play.match.state.to_act)
    followed.follow()
    here.connection.resume_writing()
    [snapshot] = here.received()
    assert (snapshot["why"], snapshot["seq"]) == ("lagged", 3)
    followed.play.move(followed.play.match.state.to_act)
    followed.follow()
    assert [news["entry"]["seq"] for news in here.received()] == [4]


def test_a_wall_is_shown_a_tail_in_its_turn_and_who_leaves_is_shown_nothing() -> None:
    followed = Followed()
    followed.follow()
    here = followed.spectator("drawn")
    followed.tail.put_on_wall(here.peer)
    [snapshot] = here.received()
    assert "stage" in snapshot
    assert followed.tail.viewer_of(here.peer) == followed.tail.spectators.viewer
    followed.tail.disconnected(here.peer)
    followed.play.move(0)
    followed.follow()
    assert (here.received(), followed.tail.watchers) == ([], {})
    assert followed.tail.viewer_of(here.peer) is None


def test_what_is_left_of_a_turn_counts_from_when_it_was_read() -> None:
    followed = Followed(clock="300+0")
    followed.follow()
    tail, loop = followed.tail, followed.rig.loop
    followed.advance(10)
    assert tail.left_ms(loop.clock()) == 300_000, "of a turn that was open before nothing is known"
    followed.play.move(0)
    followed.follow()
    followed.advance(4)
    assert tail.left_ms(loop.clock()) == 296_000
    here = followed.spectator()
    tail.admit_spectator(here.peer)
    assert here.received()[0]["left_ms"] == 296_000
    followed.advance(400)
    assert tail.left_ms(loop.clock()) == 0


# --- takeovers --------------------------------------------------------------------------------


@pytest.mark.parametrize("spectating", [Spectating(), Spectating(delay_plies=2)], ids=str)
@pytest.mark.parametrize("views", VIEWS)
def test_spectators_go_on_with_the_runner_that_takes_over(
    spectating: Spectating, views: WantedViews
) -> None:
    """Spectators receive each entry once and no second snapshot."""
    followed = Followed(Veil(), spectating=spectating)
    followed.follow()
    there, here = followed.spectators(views)
    slow = followed.spectator(views)
    followed.tail.admit_spectator(slow.peer)
    slow.received()
    slow.connection.pause_writing()
    for _ in range(4):
        followed.play.move(followed.play.match.state.to_act)
        followed.follow()
    former, followed.play.runner.spectators.queues = followed.play.runner.spectators.queues, {}
    followed.play.runner.spectators.take_over(followed.tail.spectators)
    followed.play.runner.spectators.queues.update(former)
    followed.play.finish()
    followed.rig.loop.advance()
    slow.connection.resume_writing()
    assert frames(there) == frames(here)
    told = slow.received()
    assert [news["type"] for news in told] == ["snapshot", "finished"]
    assert told[0]["seq"] == len(followed.log)


@pytest.mark.parametrize("more", [0, 1])
def test_a_slow_spectator_is_told_by_the_runner_that_takes_over_where_things_are(
    more: int,
) -> None:
    followed = Followed()
    followed.follow()
    runner = followed.play.runner
    slow = followed.spectator()
    followed.tail.admit_spectator(slow.peer)
    slow.received()
    slow.connection.pause_writing()
    followed.play.move(0)
    followed.follow()
    runner.spectators.take_over(followed.tail.spectators)
    for _ in range(more):
        followed.play.move(1)
    followed.play.log_store.commit()
    slow.connection.resume_writing()
    [snapshot] = slow.received()
    assert (snapshot["why"], snapshot["seq"]) == ("lagged", 1 + more)
    assert followed.tail.spectators.queues == {}
