"""A node follows another node's match with a single reader, and only while it has spectators."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Sequence
from typing import Any, cast

import pytest

from kibitz_protocol.wire.codec import encode
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat
from kibitz_protocol.wire.records import Cause, Player, Spectating
from kibitz_server.directory.other_nodes import BetweenNodes
from kibitz_server.directory.rules import Rules
from kibitz_server.directory.tails import CannotFollow, Tails
from kibitz_server.lobby.entries import Opened
from kibitz_server.match import lifecycle
from kibitz_server.match.commands import Forfeit
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.record import read_entry
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.tail import MatchTail
from kibitz_server.storage.errors import DamagedStream, StoreError, UnusableDatabase
from kibitz_server.storage.interface import MatchHead, NewEntries, Nodes
from kibitz_server.storage.streams import Stream
from tests.server.fakes import ScriptedConnection
from tests.server.match.test_runner import Scenario
from tests.server.match.toy_games import Grid, Veil

KEY = "m1"


class StoppedTime:
    """A loop whose time does not pass."""

    def time(self) -> float:
        return 0.0


class ScriptedLogs:
    """The stored log of a match on another node."""

    def __init__(self, play: Scenario, lobby_head: bytes | None) -> None:
        self.play = play
        self.lobby_head = lobby_head
        self.away = False
        self.damaged = False
        self.piece = 1000
        self.asked: list[list[tuple[str, int]]] = []
        """The keys and tails of the streams requested by each read."""
        self.heads: list[list[str]] = []

    async def match_heads(self, keys: Sequence[str]) -> dict[str, MatchHead | StoreError]:
        self.heads.append(list(keys))
        await asyncio.sleep(0)
        self._require()
        head = self.play.log_store.lines[KEY][0]
        stream = Stream(1, KEY, "match", durable=0)
        return {KEY: MatchHead(stream, head, self.lobby_head)} if KEY in keys else {}

    async def new_entries(self, streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        self.asked.append([(stream.key, stream.tail) for stream in streams])
        self._require()
        if self.damaged:
            return {stream.key: DamagedStream(0, "planted") for stream in streams}
        found: dict[str, NewEntries | StoreError] = {}
        for stream in streams:
            rest = self.play.log_store.lines[KEY][1:][stream.tail :]
            lines = rest[: self.piece]
            closed = self.play.runner.stream.closed and len(lines) == len(rest)
            if lines or closed:
                found[stream.key] = NewEntries(
                    lines, "", more=len(rest) > len(lines), closed=closed
                )
        return found

    def _require(self) -> None:
        if self.away:
            raise UnusableDatabase("it is away")


class Scene:
    def __init__(self, *, watchable: bool = True, most: int = 2, **fields: Any) -> None:
        self.play = Scenario(Veil(), **fields)
        self.play.begin()
        head = encode(opened(watchable=watchable))
        self.logs = ScriptedLogs(self.play, head)
        self.rig = self.play.context.rig
        games = {game.info.name: game for game in (Grid(), Veil())}
        self.tails = Tails(
            cast(AbstractEventLoop, StoppedTime()),
            self.rig.loop.clock,
            lambda work: None,  # the test calls `look` and `read`
            cast(Nodes, self.logs),
            games,
            most,
            Rules.all_loaded(),
        )

    def move(self) -> None:
        self.play.move(self.play.match.state.to_act)
        self.play.log_store.commit()

    async def begun(self) -> MatchTail:
        return await self.tails.follow(KEY)

    def spectator(self) -> ScriptedConnection:
        return self.play.connect(Player(player="eve", name="eve", kind="human"))

    def watch(self, tail: MatchTail) -> ScriptedConnection:
        connection = self.spectator()
        connection.peer.subscriptions[KEY] = tail
        tail.admit_spectator(connection.peer)
        return connection


def opened(*, watchable: bool) -> Opened:
    settings = LobbySettings(
        name="there",
        seats=[OpenSeat()] * 2,
        programme=[{"game": "toy-veil", "seats": 2}],
        watchable=watchable,
    )
    host = Player(player="h", name="hal", kind="human")
    return Opened(
        lobby="lobby",
        host=host,
        settings=settings,
        invite="i",
        created="2026-01-02T03:04:05Z",
        seed=1,
        hidden=["toy-veil"],
        balanced=[],
    )


async def test_two_who_ask_at_once_share_one_tail_and_one_reading() -> None:
    scene = Scene()
    scene.move()
    first, second = await asyncio.gather(scene.begun(), scene.begun())
    assert scene.logs.heads == [[KEY]]
    assert scene.logs.asked == [[(KEY, 0)]]
    assert first is second is await scene.begun() is scene.tails.get(KEY)
    assert (first.state.seq, scene.tails.followed, first.lobby_shown) == (1, 1, True)


async def test_a_long_log_is_read_in_pieces_and_nobody_is_let_in_before_its_end() -> None:
    scene = Scene()
    for _ in range(4):
        scene.move()
    scene.logs.piece = 2
    tail = await scene.begun()
    assert scene.logs.asked == [[(KEY, 0)], [(KEY, 2)]]
    assert tail.state.seq == 4


async def test_who_comes_is_shown_no_less_than_was_durable_when_it_asked() -> None:
    """The client may have seen it at another node, and this node has not read for a while."""
    scene = Scene()
    tail = await scene.begun()
    scene.move()
    scene.move()
    assert tail.state.seq == 0
    assert (await scene.begun()).state.seq == 2
    scene.logs.away = True
    with pytest.raises(UnusableDatabase):
        await scene.begun()
    assert scene.tails.get(KEY) is tail


async def test_who_waits_for_a_reading_that_fails_reads_itself() -> None:
    scene = Scene()
    ask = scene.logs.new_entries

    async def fail_once(streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        scene.logs.new_entries = ask  # type: ignore[method-assign]
        raise UnusableDatabase("planted")

    scene.logs.new_entries = fail_once  # type: ignore[method-assign]
    scene.move()
    first, second = await asyncio.gather(scene.begun(), scene.begun(), return_exceptions=True)
    assert isinstance(first, UnusableDatabase)
    assert isinstance(second, MatchTail)
    assert second.state.seq == 1


async def test_an_answer_to_an_earlier_question_lets_nobody_in() -> None:
    scene = Scene()
    await scene.begun()
    ask = scene.logs.new_entries
    late: list[asyncio.Task[MatchTail]] = []

    async def answer_late(streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        found = await ask(streams)
        if not late:
            late.append(asyncio.create_task(scene.begun()))
            scene.move()
        return found

    scene.logs.new_entries = answer_late  # type: ignore[method-assign]
    await scene.tails.read()
    assert (await late[0]).state.seq == 1
    assert [tail for [(_, tail)] in scene.logs.asked] == [0, 0, 0]


async def test_who_waits_while_the_end_is_read_is_not_forgotten() -> None:
    scene = Scene()
    await scene.begun()
    scene.play.finish()
    ask = scene.logs.new_entries
    late: list[asyncio.Task[MatchTail]] = []

    async def answer_late(streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        if not late:
            late.append(asyncio.create_task(scene.begun()))
        return await ask(streams)

    scene.logs.new_entries = answer_late  # type: ignore[method-assign]
    assert not await scene.tails.read()
    assert (await late[0]).over


async def test_each_look_shows_what_is_new_and_the_end_ends_the_tail() -> None:
    scene = Scene()
    eve = scene.watch(await scene.begun())
    assert eve.received()[0]["type"] == "snapshot"
    scene.move()
    assert not await scene.tails.read()
    assert [news["entry"]["seq"] for news in eve.received()] == [1]
    scene.play.finish()
    await scene.tails.read()
    news = eve.received()
    assert [each["type"] for each in news][-2:] == ["event", "finished"]
    assert news[-1]["result"] is not None
    assert (scene.tails.get(KEY), scene.tails.followed, eve.peer.subscriptions) == (None, 0, {})
    assert scene.tails.is_over(KEY)
    asked = len(scene.logs.asked)
    await scene.tails.read()
    assert len(scene.logs.asked) == asked, "nothing is left to ask for"


async def test_a_match_that_was_over_before_it_was_read_shows_its_end_to_a_wall() -> None:
    scene = Scene()
    scene.play.finish()
    tail = await scene.begun()
    eve = scene.spectator()
    tail.put_on_wall(eve.peer)
    scene.tails.look()
    assert [news["type"] for news in eve.received()] == ["snapshot", "finished"]


async def test_a_tail_ends_when_nobody_has_watched_it_for_two_looks() -> None:
    scene = Scene()
    tail = await scene.begun()
    eve = scene.watch(tail)
    for _ in range(3):
        scene.tails.look()
    assert scene.tails.get(KEY) is tail
    tail.disconnected(eve.peer)
    scene.tails.look()
    assert scene.tails.get(KEY) is tail, "somebody may be about to be let in"
    scene.watch(tail)
    scene.tails.look()
    tail.watchers.clear()
    scene.tails.look()
    assert scene.tails.get(KEY) is tail
    scene.tails.look()
    assert (scene.tails.get(KEY), scene.tails.followed) == (None, 0)
    assert (await scene.begun()) is not tail


async def test_delayed_entries_are_shown_at_a_look_though_the_database_is_away() -> None:
    scene = Scene(spectating=Spectating(delay_ms=1000))
    eve = scene.watch(await scene.begun())
    eve.received()
    scene.move()
    await scene.tails.read()
    scene.logs.away = True
    scene.rig.loop.advance(0.9)
    scene.tails.look()
    assert eve.received() == []
    scene.rig.loop.advance(0.1)
    scene.tails.look()
    assert [news["entry"]["seq"] for news in eve.received()] == [1]


async def test_the_limit_counts_those_that_are_being_opened() -> None:
    scene = Scene(most=1)
    opening = asyncio.create_task(scene.begun())
    await asyncio.sleep(0)
    assert not scene.tails.may_begin("m2")
    with pytest.raises(CannotFollow):
        await scene.tails.follow("m2")
    assert scene.tails.may_begin(KEY)
    await opening
    assert scene.tails.may_begin(KEY)
    assert not scene.tails.may_begin("m2")


def test_the_limit_counts_what_a_wall_is_about_to_open() -> None:
    scene = Scene(most=2)
    assert scene.tails.may_begin("m3", ["m2"])
    assert not scene.tails.may_begin("m4", ["m2", "m3"])


async def test_a_match_that_is_not_there_is_not_followed() -> None:
    scene = Scene()
    with pytest.raises(CannotFollow):
        await scene.tails.follow("nothing")
    assert scene.tails.followed == 0


async def test_only_its_own_node_knows_who_may_watch_a_lobby_that_is_not_for_everybody() -> None:
    scene = Scene(watchable=False)
    assert not (await scene.begun()).lobby_shown


# --- failures -----------------------------------------------------------------------------------


async def test_while_the_database_is_away_who_watches_waits_and_who_comes_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    eve = scene.watch(await scene.begun())
    eve.received()
    scene.move()
    scene.logs.away = True
    for _ in range(3):
        assert not await scene.tails.read()
    with pytest.raises(UnusableDatabase):
        await scene.tails.follow("m2")
    assert len([each for each in caplog.records if "cannot read" in each.getMessage()]) == 1
    assert eve.received() == []
    scene.logs.away = False
    await scene.tails.read()
    assert [news["entry"]["seq"] for news in eve.received()] == [1]


async def test_a_log_that_is_damaged_is_not_followed_and_who_watches_is_sent_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    eve = scene.watch(await scene.begun())
    eve.received()
    scene.logs.damaged = True
    await scene.tails.read()
    assert eve.close_code() == 1013
    assert (scene.tails.followed, eve.peer.subscriptions) == (0, {})
    with pytest.raises(CannotFollow):
        await scene.begun()
    assert "cannot follow" in caplog.text


async def test_a_game_that_is_not_played_here_is_watched_elsewhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    scene.tails._games = {}
    with pytest.raises(CannotFollow):
        await scene.begun()
    assert not scene.tails.may_begin(KEY)


async def test_a_match_that_raises_hurts_no_other(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()
    tail = await scene.begun()
    eve = scene.watch(tail)
    scene.tails._tails["broken"] = cast(MatchTail, BrokenTail())
    scene.move()
    scene.tails.look()
    await scene.tails.read()
    assert [news["type"] for news in eve.received()] == ["snapshot", "event"]
    assert list(scene.tails._tails) == [KEY]


async def test_who_cannot_be_told_the_end_is_sent_away(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    scene = Scene()
    eve = scene.watch(await scene.begun())
    eve.received()
    scene.play.finish()

    def fail(tail: MatchTail) -> None:
        raise ValueError("planted")

    monkeypatch.setattr(MatchTail, "announce_end", fail)
    await scene.tails.read()
    assert eve.close_code() == 1013
    assert (scene.tails.followed, eve.peer.subscriptions) == (0, {})


class BrokenTail:
    key = "broken"
    caught_up = True
    over = False
    watchers: dict[object, None] = {}  # noqa: RUF012
    stream = Stream(2, "broken", "match")

    @property
    def spectators(self) -> object:
        raise ValueError("planted")


async def test_a_server_that_goes_down_follows_nothing() -> None:
    scene = Scene()
    scene.tails.stop()
    with pytest.raises(CannotFollow):
        await scene.begun()


# --- takeovers ----------------------------------------------------------------------------------


def loaded(scene: Scene) -> tuple[MatchRunner, list[bytes]]:
    """Return the match as loaded in a takeover, before play continues."""
    scene.play.runner.suspend()
    lines = scene.play.log_store.lines[KEY][1:]
    setup = scene.play.setup
    engine = MatchEngine.restore(scene.play.match.state.game, setup, map(read_entry, lines))
    stream = Stream(1, KEY, "match", tail=len(lines), durable=len(lines))
    return MatchRunner(scene.play.context.made, engine, stream, listed=True), lines


@pytest.mark.parametrize("spectating", [Spectating(), Spectating(delay_plies=1)], ids=str)
async def test_spectators_go_over_to_the_runner_and_are_told_each_entry_once(
    spectating: Spectating,
) -> None:
    scene = Scene(spectating=spectating)
    tail = await scene.begun()
    eve = scene.watch(tail)
    scene.move()
    await scene.tails.read()
    scene.move()  # which the tail has not read yet
    runner, lines = loaded(scene)
    scene.tails.taken_over(runner, lines, "the chain")
    assert (scene.tails.followed, list(runner.watchers)) == (0, [eve.peer])
    assert eve.peer.subscriptions == {KEY: runner}
    lifecycle.resume(runner)
    for seat in range(2):
        runner.command(Forfeit(seat, Cause.CRASH, ""))
    scene.play.log_store.commit()
    snapshot, *events, finished = eve.received()
    assert (snapshot["seq"], finished["type"]) == (0, "finished")
    assert [news["entry"]["seq"] for news in events] == list(range(1, finished["seq"] + 1))


async def test_spectators_whose_tail_cannot_go_on_are_told_anew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    eve = scene.watch(await scene.begun())
    eve.received()
    scene.move()
    runner, lines = loaded(scene)
    scene.tails.taken_over(runner, [b"{}", *lines[1:]], "the chain")
    [snapshot] = eve.received()
    assert (snapshot["type"], snapshot["seq"]) == ("snapshot", 1)
    assert list(runner.watchers) == [eve.peer]
    assert list(runner.spectators.queues) == [eve.peer.send_queue]


async def test_who_waits_for_a_tail_asks_again_when_the_match_goes_on_here() -> None:
    scene = Scene()
    await scene.begun()
    runner, lines = loaded(scene)
    ask = scene.logs.new_entries

    async def answer_late(streams: Sequence[Stream]) -> dict[str, NewEntries | StoreError]:
        found = await ask(streams)
        scene.tails.taken_over(runner, lines, "the chain")
        return found

    scene.logs.new_entries = answer_late  # type: ignore[method-assign]
    with pytest.raises(BetweenNodes):
        await scene.begun()
    assert scene.tails.followed == 0
