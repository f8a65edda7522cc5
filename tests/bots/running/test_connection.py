"""A run with a scripted server: turns, faults, reconnects, lobbies, ends."""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any

import numpy as np
import pytest

from kibitz_bots.budget import Overhead
from kibitz_bots.running.connection import NothingToPlay, RunStats, Shutdown, capabilities
from kibitz_bots.running.threads import TurnCancelled
from kibitz_bots.sdk import Bot, Decision, Match, Move, Turn
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.clocks import Clock, TimeControl
from kibitz_protocol.wire.lobbies import LobbySettings, LobbyView, Member, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.messages import Event, LobbyClosed, LobbyNews, YourTurn
from kibitz_protocol.wire.records import Cause, Comment, Flagged, Player, Replaced, Result
from kibitz_protocol.wire.refusals import Code
from tests.tools.fake_server import PLAYER, FakeServer, finished, run_bot, snapshot, your_turn

WAIT_S = 10
"""The timeout of tests; nothing here takes any time."""
FLAG = Flagged(seq=1, at_ms=0, ply=0, seat=0, elapsed_ms=5)
Virtual = Callable[[Coroutine[Any, Any, Any]], Any]


class First(Bot):
    """Plays the first legal move."""

    def choose(self, turn: Turn) -> Move:
        return turn.legal[0]


@contextlib.asynccontextmanager
async def running(
    make: Callable[[], Bot], peer: FakeServer, **aim: Any
) -> AsyncIterator[asyncio.Task[RunStats]]:
    """Run a bot in the background; it must have ended when the block ends."""
    async with asyncio.timeout(WAIT_S):
        task = asyncio.create_task(run_bot(make, peer, **aim))
        try:
            yield task
            await task
        finally:
            task.cancel()


def lobby(*, ready: bool = False, state: Any = "gathering", round: int = 1) -> LobbyNews:
    item = ProgrammeItem(game="nim")
    member = Member(player=PLAYER, name="me", kind="bot", seat=0, ready=ready, connected=True)
    view = LobbyView(
        lobby="L1",
        settings=LobbySettings(seats=[OpenSeat()], programme=[item]),
        host="h",
        state=state,
        round=round,
        members={member.player: member},
        planned=1,
        done=0,
        live={},
        standings={},
    )
    return LobbyNews(lobby=view)


def event(match: str, entry: Any, *, ply: int, to_act: int) -> Event:
    return Event(match=match, ply=ply, to_act=to_act, entry=entry)


def refusal(code: Code, message: str = "no", retry_after_ms: int | None = None) -> RefusedError:
    return RefusedError(code, message, "", retry_after_ms)


# --- turns ----------------------------------------------------------------------------------


async def test_a_turn_is_answered_with_the_chosen_move() -> None:
    peer = FakeServer(["m1"])
    async with running(First, peer) as task:
        peer.send(snapshot("m1"), your_turn("m1", ply=4, legal=[{"take": 2}, {"take": 1}]))
        move = await peer.expect("move")
        peer.send(finished("m1"))
    assert (move.about, move.details) == ("m1", (4, {"take": 2}, None))
    assert task.result() == RunStats(played=1)


async def test_a_comment_travels_with_the_move() -> None:
    class Talker(Bot):
        def choose(self, turn: Turn) -> Decision | Move:
            if turn.ply == 0:
                return Decision(turn.legal[0], Comment(text="hm"))
            turn.comment("sure", value=0.5, depth=3, nodes=7, line=["a", "b"])
            turn.comment(value=0.75)
            return turn.legal[0]

    peer = FakeServer(["m1"])
    async with running(Talker, peer):
        peer.send(snapshot("m1"), your_turn("m1", ply=0))
        first = await peer.expect("move")
        peer.send(your_turn("m1", ply=2))
        second = await peer.expect("move")
        peer.send(finished("m1"))
    assert first.details[2] == Comment(text="hm")
    assert second.details[2] == Comment(text="sure", value=0.75, depth=3, nodes=7, line=["a", "b"])


async def test_a_bad_comment_costs_no_move_and_is_noted_once() -> None:
    class Babbler(Bot):
        def choose(self, turn: Turn) -> Decision | Move:
            turn.comment("x" * 1000, value=float("inf"), depth=2)
            return Decision(turn.legal[0], {"value": float("nan"), "text": "\ud800"})

    peer = FakeServer(["m1"])
    async with running(Babbler, peer) as task:
        peer.send(snapshot("m1"))
        for ply in (0, 2, 4):
            peer.send(your_turn("m1", ply=ply))
            move = await peer.expect("move")
            assert move.details == (ply, {}, Comment(depth=2))
        peer.send(finished("m1"))
    assert task.result() == RunStats(played=1)
    [note] = [call.details[0] for call in peer.calls_of("note")]
    for name in ("value", "text"):
        assert f"{name}: " in note
    assert "left out of the comment on ply 0" in note
    assert not peer.calls_of("resign")


async def test_integers_of_any_type_are_sent_as_numbers() -> None:
    class Learner(Bot):
        def choose(self, turn: Turn) -> Any:
            return {"take": np.int64(2)}

    peer = FakeServer(["m1"])
    async with running(Learner, peer):
        peer.send(snapshot("m1"), your_turn("m1", ply=0, legal=[{"take": 2}]))
        move = await peer.expect("move")
        peer.send(finished("m1"))
    assert repr(move.details[1]) == "{'take': 2}"


async def test_an_async_bot_runs_on_the_loop() -> None:
    class Async(Bot):
        async def choose(self, turn: Turn) -> Move:
            assert threading.current_thread() is threading.main_thread()
            await asyncio.sleep(0)
            return turn.legal[0]

    peer = FakeServer(["m1"])
    async with running(Async, peer):
        peer.send(snapshot("m1"), your_turn("m1"))
        await peer.expect("move")
        peer.send(finished("m1"))


async def test_several_matches_are_thought_about_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=WAIT_S)

    class Meeting(Bot):
        def choose(self, turn: Turn) -> Move:
            both.wait()  # reached only while another match is here too
            return {"match": turn.match.id}

    peer = FakeServer(["m1", "m2"])
    async with running(Meeting, peer) as task:
        peer.send(snapshot("m1"), snapshot("m2"), your_turn("m1"), your_turn("m2"))
        moves = [await peer.expect("move"), await peer.expect("move")]
        peer.send(finished("m1"), finished("m2"))
    assert {(move.about, move.details[1]["match"]) for move in moves} == {
        ("m1", "m1"),
        ("m2", "m2"),
    }
    assert task.result().played == 2


async def test_every_match_has_a_bot_of_its_own_and_hears_its_course() -> None:
    heard: list[tuple[int, str, str]] = []

    class Listener(First):
        def on_match_start(self, match: Match) -> None:
            heard.append((id(self), "started", match.id))

        def on_match_end(self, match: Match, result: Result) -> None:
            heard.append((id(self), result.reason, match.id))

    peer = FakeServer(["m1", "m2"])
    async with running(Listener, peer):
        peer.send(snapshot("m1"), finished("m1"), snapshot("m2"), finished("m2"))
    by_match = {match: [each for each in heard if each[2] == match] for match in ("m1", "m2")}
    assert [each[1] for each in by_match["m1"]] == ["started", "goal"]
    assert [each[1] for each in by_match["m2"]] == ["started", "goal"]
    assert by_match["m1"][0][0] == by_match["m1"][1][0] != by_match["m2"][0][0]


async def test_the_loop_stays_free_while_a_bot_thinks() -> None:
    go_on = threading.Event()

    class Slow(Bot):
        def choose(self, turn: Turn) -> Move:
            assert go_on.wait(WAIT_S)
            return turn.legal[0]

    peer = FakeServer(["m1", "m2"])
    async with running(Slow, peer):
        peer.send(snapshot("m1"), your_turn("m1"), snapshot("m2"), finished("m2"))
        await asyncio.sleep(0)  # the loop runs although `choose` has not returned
        assert peer.calls_of("move") == []
        go_on.set()
        await peer.expect("move")
        peer.send(finished("m1"))


# --- reconnects -----------------------------------------------------------------------------


async def test_a_reconnect_while_thinking_starts_no_second_search() -> None:
    started: list[int] = []
    thinking, go_on = threading.Event(), threading.Event()

    class Slow(Bot):
        def choose(self, turn: Turn) -> Move:
            started.append(turn.ply)
            thinking.set()
            assert go_on.wait(WAIT_S)
            return turn.legal[0]

    peer = FakeServer(["m1"])
    async with running(Slow, peer):
        peer.send(snapshot("m1"), your_turn("m1", ply=6))
        await asyncio.to_thread(thinking.wait, WAIT_S)
        peer.send(snapshot("m1", why="rejoined", ply=6), your_turn("m1", ply=6))
        peer.send(snapshot("m1", why="rejoined", ply=6), your_turn("m1", ply=6))
        go_on.set()
        move = await peer.expect("move")
        peer.send(your_turn("m1", ply=8))
        await peer.expect("move")
        peer.send(finished("m1"))
    assert move.details[0] == 6
    assert started == [6, 8]


async def test_an_answer_that_came_too_late_is_dropped() -> None:
    called_off: list[bool] = []
    thinking = threading.Event()

    class Patient(Bot):
        def choose(self, turn: Turn) -> Move:
            if turn.ply == 0:
                thinking.set()
                called_off.append(turn.cancelled.wait(WAIT_S))
            return turn.legal[0]

    peer = FakeServer(["m1"])
    async with running(Patient, peer):
        peer.send(snapshot("m1"), your_turn("m1", ply=0))
        await asyncio.to_thread(thinking.wait, WAIT_S)
        peer.send(event("m1", FLAG, ply=1, to_act=1), your_turn("m1", ply=2))
        move = await peer.expect("move")
        peer.send(finished("m1"))
    assert called_off == [True]
    assert move.details[0] == 2
    assert len(peer.calls_of("move")) == 1


async def test_a_paced_bot_answers_no_earlier() -> None:
    clock = asyncio.get_running_loop().time
    peer = FakeServer(seats=["m1"])
    async with running(First, peer, pace_s=0.2):
        peer.send(snapshot("m1"), your_turn("m1", legal=[{"take": 1}]))
        began = clock()
        await peer.expect("move")
        assert clock() - began > 0.15
        peer.send(finished("m1"))


async def test_a_paced_bot_does_not_wait_for_the_end_of_a_turn_that_is_over() -> None:
    peer = FakeServer(seats=["m1"])
    async with running(First, peer, pace_s=3600):
        peer.send(snapshot("m1"), your_turn("m1", legal=[{"take": 1}]))
        peer.send(event("m1", FLAG, ply=1, to_act=1), finished("m1"))
    assert not peer.calls_of("move")


@pytest.mark.parametrize("called_off", [True, False])
async def test_a_bot_may_say_that_it_was_called_off_when_it_was(called_off: bool) -> None:
    thinking = threading.Event()

    class Patient(Bot):
        def choose(self, turn: Turn) -> Move:
            if turn.ply == 0:
                thinking.set()
                assert not called_off or turn.cancelled.wait(WAIT_S)
                raise TurnCancelled
            return turn.legal[0]

    peer = FakeServer(["m1"])
    async with running(Patient, peer) as task:
        peer.send(snapshot("m1"), your_turn("m1", ply=0))
        if called_off:
            await asyncio.to_thread(thinking.wait, WAIT_S)
            peer.send(event("m1", FLAG, ply=1, to_act=1), your_turn("m1", ply=2))
        await peer.expect("move" if called_off else "resign")
        peer.send(finished("m1"))
    assert task.result().faults == (0 if called_off else 1)


async def test_a_turn_that_was_gone_before_it_began_is_passed_over() -> None:
    asked: list[int] = []

    class Asked(First):
        def choose(self, turn: Turn) -> Move:
            asked.append(turn.ply)
            return turn.legal[0]

    peer = FakeServer(["m1"])
    async with running(Asked, peer):
        peer.send(snapshot("m1"), your_turn("m1", ply=0))
        peer.send(event("m1", FLAG, ply=1, to_act=1), your_turn("m1", ply=2))
        await peer.expect("move")
        peer.send(finished("m1"))
    assert asked == [2]


async def test_an_async_search_is_cancelled_when_its_turn_is_gone() -> None:
    thinking, cancelled = asyncio.Event(), asyncio.Event()

    class Patient(Bot):
        async def choose(self, turn: Turn) -> Move:
            if turn.ply == 0:
                thinking.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    cancelled.set()
            return turn.legal[0]

    peer = FakeServer(["m1"])
    async with running(Patient, peer):
        peer.send(snapshot("m1"), your_turn("m1", ply=0))
        await thinking.wait()
        peer.send(event("m1", FLAG, ply=1, to_act=1), your_turn("m1", ply=2))
        await cancelled.wait()
        assert (await peer.expect("move")).details[0] == 2
        peer.send(finished("m1"))


async def test_a_bot_that_never_answers_does_not_keep_a_finished_match_open() -> None:
    peer, forever = FakeServer(["m1"]), threading.Event()

    class Stuck(Bot):
        def choose(self, turn: Turn) -> Move:
            forever.wait()
            return {}

    async with running(Stuck, peer) as task:
        peer.send(snapshot("m1"), your_turn("m1"), finished("m1"))
    forever.set()
    assert task.result() == RunStats(played=1)


async def test_a_stale_answer_waits_for_the_newest_turn() -> None:
    peer = FakeServer(["m1"])
    peer.refuse("move", refusal(Code.STALE))
    async with running(First, peer) as task:
        peer.send(snapshot("m1"), your_turn("m1", ply=3))
        await peer.expect("move")
        peer.send(your_turn("m1", ply=5))
        assert (await peer.expect("move")).details[0] == 5
        peer.send(finished("m1"))
    assert task.result() == RunStats(played=1)


async def test_a_seat_that_was_taken_over_is_given_up() -> None:
    peer = FakeServer(["m1"])
    other = Player(player="h1", name="house", kind="house")
    taken = Replaced(seq=1, at_ms=0, seat=0, player=other, cause=Cause.DISCONNECT)
    async with running(First, peer) as task:
        peer.send(snapshot("m1"), event("m1", taken, ply=0, to_act=0))
    assert task.result().faults == 0


# --- faults ---------------------------------------------------------------------------------


class Broken(Bot):
    """Raises at its first turn."""

    def choose(self, turn: Turn) -> Move:
        raise LookupError("where is my book?")


@pytest.mark.parametrize("on_fault", ["resign", "exit"])
async def test_a_crash_is_printed_noted_and_resigned(on_fault: str) -> None:
    peer, terminal = FakeServer(["m1", "m2"]), io.StringIO()
    async with running(Broken, peer, on_fault=on_fault, terminal=terminal) as task:
        peer.send(snapshot("m1"), your_turn("m1"))
        resigned = await peer.expect("resign")
        assert resigned.details == ("crash", "LookupError: where is my book?")
        if on_fault == "resign":
            peer.send(snapshot("m2"), finished("m2"), finished("m1"))
    text = "\n".join(call.details[0] for call in peer.calls_of("note"))
    for place in (text, terminal.getvalue()):
        assert "LookupError: where is my book?" in place
        assert place.index("Traceback") < place.index("in choose")
        assert "threads.py" not in place
    assert text.endswith("crash: LookupError: where is my book?")
    assert [call.name for call in peer.calls if call.name != "note"] == ["resign"]
    assert task.result().faults == 1
    assert not task.result().clean


async def test_a_bot_that_calls_exit_has_crashed() -> None:
    class Quitter(Bot):
        def choose(self, turn: Turn) -> Move:
            sys.exit(3)

    peer = FakeServer(["m1"])
    async with running(Quitter, peer) as task:
        peer.send(snapshot("m1"), your_turn("m1"))
        await peer.expect("resign")
        peer.send(finished("m1"))
    assert task.result().faults == 1


async def test_a_crash_in_a_hook_is_a_crash() -> None:
    class Broken(First):
        def on_match_start(self, match: Match) -> None:
            raise ValueError("no book for this opening")

    peer = FakeServer(["m1"])
    async with running(Broken, peer) as task:
        peer.send(snapshot("m1"), your_turn("m1"))
        await peer.expect("resign")
        peer.send(finished("m1"))
    assert task.result() == RunStats(played=1, faults=1)
    assert peer.calls_of("move") == []


class Stubborn(Bot):
    """Returns the given answers, and records the refusals."""

    answers: Sequence[Any] = ()

    def __init__(self) -> None:
        self.refusals: list[str | None] = []

    def choose(self, turn: Turn) -> Any:
        self.refusals.append(turn.refusal)
        return self.answers[len(self.refusals) - 1]


async def test_an_illegal_answer_is_asked_for_once_more_with_the_reason() -> None:
    bot = Stubborn()
    bot.answers = [{"take": 9}, {"take": 1}]
    peer = FakeServer(["m1"])
    peer.refuse("move", refusal(Code.ILLEGAL, "there are only 3"))
    async with running(lambda: bot, peer) as task:
        peer.send(snapshot("m1"), your_turn("m1"))
        await peer.expect("move")
        assert (await peer.expect("move")).details[:2] == (0, {"take": 1})
        peer.send(finished("m1"))
    assert bot.refusals == [None, "illegal: there are only 3"]
    notes = "\n".join(call.details[0] for call in peer.calls_of("note"))
    assert "refused: illegal: there are only 3 (ply 0, answer {'take': 9})" in notes
    assert task.result() == RunStats(played=1)


async def test_a_second_illegal_answer_resigns_the_match() -> None:
    bot = Stubborn()
    bot.answers = [{"take": 9}, {"take": 8}]
    peer = FakeServer(["m1"])
    peer.refuse("move", refusal(Code.ILLEGAL), refusal(Code.ILLEGAL))
    async with running(lambda: bot, peer) as task:
        peer.send(snapshot("m1"), your_turn("m1"))
        resigned = await peer.expect("resign")
        assert resigned.details[0] == "illegal"
        assert "2 illegal answers" in str(resigned.details[1])
        peer.send(finished("m1"))
    assert "resigns: 2 illegal answers at ply 0" in peer.calls_of("note")[-1].details[0]
    assert task.result() == RunStats(played=1, faults=1)


@pytest.mark.parametrize("answer", [None, 17, "3-14", [1, 2]])
async def test_something_that_is_no_move_is_an_illegal_answer(answer: object) -> None:
    bot = Stubborn()
    bot.answers = [answer, {"take": 1}]
    peer = FakeServer(["m1"])
    async with running(lambda: bot, peer):
        peer.send(snapshot("m1"), your_turn("m1"))
        assert (await peer.expect("move")).details[:2] == (0, {"take": 1})
        peer.send(finished("m1"))
    assert bot.refusals[1] is not None
    assert type(answer).__name__ in bot.refusals[1]


def test_a_move_that_came_too_fast_is_sent_again_when_it_may(virtually: Virtual) -> None:
    class Async(Bot):
        async def choose(self, turn: Turn) -> Move:
            return turn.legal[0]

    async def course() -> list[float]:
        peer = FakeServer(["m1"])
        peer.refuse("move", refusal(Code.RATE_LIMITED, retry_after_ms=2500))
        peer.refuse("move", refusal(Code.UNAVAILABLE))
        loop = asyncio.get_running_loop()
        task = asyncio.create_task(run_bot(Async, peer))
        peer.send(snapshot("m1"), your_turn("m1"))
        times = []
        for _ in range(3):
            await peer.expect("move")
            times.append(loop.time())
        peer.send(finished("m1"))
        await task
        return [later - earlier for earlier, later in itertools.pairwise(times)]

    assert virtually(course()) == [2.5, 1.0]


def test_a_bot_that_thinks_long_has_its_output_in_the_record_meanwhile(
    virtually: Virtual,
) -> None:
    class Chatty(Bot):
        async def choose(self, turn: Turn) -> Move:
            sys.stderr.write("depth 1\n")
            await asyncio.sleep(30)
            return turn.legal[0]

    async def course() -> list[str]:
        from kibitz_bots.running.log_capture import captured_stderr

        peer = FakeServer(["m1"])
        with captured_stderr():
            task = asyncio.create_task(run_bot(Chatty, peer))
            peer.send(snapshot("m1"), your_turn("m1"))
            await peer.expect("move")
            peer.send(finished("m1"))
            await task
        return [call.name for call in peer.calls]

    assert virtually(course()) == ["note", "move"]


# --- lobbies and ends -----------------------------------------------------------------------


async def test_a_bot_joins_warms_up_and_only_then_is_ready() -> None:
    course: list[object] = []
    peer = FakeServer()

    class Warm(First):
        def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
            course.append(([item.game for item in programme], peer.calls_of("ready")))

    async with running(Warm, peer, lobby="L1", invite="code") as task:
        assert (await peer.expect("join")).details == ("code",)
        peer.send(lobby())
        await peer.expect("ready")
        peer.send(lobby(ready=True), snapshot("m1"), finished("m1"))
        peer.send(LobbyClosed(lobby="L1", reason="closed"))
    assert course == [(["nim"], [])]
    assert task.result() == RunStats(played=1)


async def test_a_rematch_is_followed() -> None:
    peer = FakeServer()
    async with running(First, peer, lobby="L1", matches=2) as task:
        peer.send(lobby())
        await peer.expect("ready")
        peer.send(lobby(ready=True, state="running"), snapshot("m1"), finished("m1"))
        peer.send(lobby(ready=True, state="finished"), lobby(round=2))
        await peer.expect("ready")
        peer.send(lobby(ready=True, round=2), snapshot("m2"), finished("m2"))
        assert (await peer.expect("leave")).about == "L1"
    assert task.result().played == 2


async def test_a_bot_that_comes_to_an_arranged_lobby_while_it_runs_says_ready() -> None:
    peer = FakeServer()
    view = lobby(state="running").lobby
    settings = LobbySettings(seats=[OpenSeat()], programme=[], arranged=True)
    arranged = LobbyNews(lobby=view.model_copy(update={"settings": settings}))
    async with running(First, peer, lobby="L1", matches=1) as task:
        peer.send(lobby(state="running"), arranged)
        await peer.expect("ready")
        peer.send(snapshot("m1"), finished("m1"))
        assert (await peer.expect("leave")).about == "L1"
    assert task.result().played == 1
    assert len(peer.calls_of("ready")) == 1


async def test_being_kicked_is_trouble() -> None:
    peer = FakeServer()
    async with running(First, peer, lobby="L1") as task:
        peer.send(LobbyClosed(lobby="L1", reason="kicked"))
    assert task.result().failure == "removed from lobby L1"


async def test_a_lobby_that_refuses_ends_the_run_with_the_reason() -> None:
    peer = FakeServer()
    peer.refuse("join", refusal(Code.FULL, "no seat is free"))
    with pytest.raises(RefusedError, match="no seat is free"):
        async with running(First, peer, lobby="L1"):
            pass
    assert len(peer.calls_of("join")) == 1


async def test_nothing_to_play_is_an_error() -> None:
    with pytest.raises(NothingToPlay, match="name a lobby"):
        async with running(First, FakeServer()):
            pass


async def test_a_player_who_comes_back_needs_no_lobby_name() -> None:
    peer = FakeServer(lobbies=["L1"])
    async with running(First, peer):
        peer.send(lobby())
        assert (await peer.expect("ready")).about == "L1"
        peer.send(LobbyClosed(lobby="L1", reason="expired"))
    assert peer.calls_of("join") == []


async def test_draining_plays_on_and_begins_nothing_new() -> None:
    peer, stop = FakeServer(["m1"], ["L1"]), Shutdown()
    async with running(First, peer, stop=stop) as task:
        peer.send(snapshot("m1"), your_turn("m1"))
        await peer.expect("move")
        stop.interrupt()
        await asyncio.sleep(0)
        peer.send(snapshot("m2"))
        assert (await peer.expect("leave_match")).about == "m2"
        peer.send(your_turn("m1", ply=2))
        await peer.expect("move")
        peer.send(finished("m1"))
        await peer.expect("leave")
    assert task.result() == RunStats(played=1)


async def test_a_second_interrupt_leaves_at_once() -> None:
    peer, stop = FakeServer(["m1"], ["L1"]), Shutdown()
    async with running(First, peer, stop=stop):
        peer.send(snapshot("m1"), your_turn("m1"))
        await peer.expect("move")
        stop.interrupt()
        stop.interrupt()
        await peer.expect("leave")


async def test_disconnecting_keeps_the_seats() -> None:
    peer, stop = FakeServer(["m1"], ["L1"]), Shutdown()
    async with running(First, peer, stop=stop):
        peer.send(snapshot("m1"), your_turn("m1"))
        await peer.expect("move")
        stop.detach()
    assert [call.name for call in peer.calls] == ["move"]


async def test_the_end_of_the_connection_is_trouble() -> None:
    peer = FakeServer(["m1"])
    async with running(First, peer) as task:
        peer.send(snapshot("m1"), None)
    assert task.result().failure == "the connection has ended"


def test_capabilities_are_those_of_the_class() -> None:
    class Picky(First):
        games = ("nim", "go")
        seats = (2,)
        at_once = 3

    claim = capabilities(Picky())
    assert [(each.game, each.seats) for each in claim.games] == [("nim", [2]), ("go", [2])]
    assert (claim.at_once, capabilities(Picky(), 7).at_once) == (3, 7)


async def test_a_bot_that_ends_late_is_given_less_the_next_time() -> None:
    """After being half a second late once, the next equal turn ends before the flag."""
    now, budgets = [0.0], []

    class Late(Bot):
        async def choose(self, turn: Turn) -> Move:
            budgets.append(turn.budget.ms)
            now[0] = turn.budget.deadline + 0.5
            return turn.legal[0]

    def timed(ply: int) -> YourTurn:
        clock = Clock(periods=0)
        return your_turn("m1", ply=ply).model_copy(update={"clocks": [clock] * 2, "left_ms": 2000})

    peer = FakeServer(seats=["m1"])
    async with running(Late, peer, matches=1, clock=lambda: now[0]):
        peer.send(snapshot("m1", time_control=TimeControl.parse("move=2")), timed(0))
        await peer.expect("move")
        peer.send(timed(2))
        await peer.expect("move")
        peer.send(finished("m1"))
    first, second = budgets
    assert first == 2000 - Overhead().ms
    assert 1 <= second <= 2000 - 500
