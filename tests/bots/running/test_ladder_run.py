"""A bot on a standing ladder: it finds the lobby, stays, and leaves without losing a match."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kibitz_bots.running import connection
from kibitz_bots.running.connection import RunStats, Shutdown, capabilities
from kibitz_bots.running.source_digest import source_digest, source_version
from kibitz_bots.sdk import Bot, Move, Turn
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import (
    LobbyBrief,
    LobbySettings,
    LobbyView,
    Member,
    OpenSeat,
    ProgrammeItem,
)
from kibitz_protocol.wire.messages import LobbyClosed, LobbyNews
from kibitz_protocol.wire.records import Engine
from kibitz_protocol.wire.refusals import Code
from tests.tools.fake_server import PLAYER, FakeServer, finished, run_bot, snapshot, your_turn


class First(Bot):
    """Plays the first legal move."""

    def choose(self, turn: Turn) -> Move:
        return turn.legal[0]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LADDER_SECONDS", 0.001)


@contextlib.asynccontextmanager
async def running(peer: FakeServer, **aim: Any) -> AsyncIterator[asyncio.Task[RunStats]]:
    async with asyncio.timeout(10):
        task = asyncio.create_task(run_bot(First, peer, **aim))
        try:
            yield task
            await task
        finally:
            task.cancel()


def brief(lobby: str, name: str, state: Any = "running") -> LobbyBrief:
    return LobbyBrief(
        lobby=lobby,
        name=name,
        host="h",
        state=state,
        joinable="open",
        watchable=True,
        games=["nim"],
        members=1,
        places=8,
    )


def arranged(lobby: str, *, ready: bool = False) -> LobbyNews:
    member = Member(player=PLAYER, name="me", kind="bot", seat=0, ready=ready, connected=True)
    return LobbyNews(
        lobby=LobbyView(
            lobby=lobby,
            settings=LobbySettings(
                seats=[OpenSeat()], programme=[ProgrammeItem(game="nim")], arranged=True
            ),
            host="h",
            state="running",
            round=1,
            members={member.player: member},
            planned=0,
            done=0,
            live={},
            standings={},
        )
    )


async def test_it_joins_the_oldest_open_lobby_of_the_ladder() -> None:
    peer, stop = FakeServer(), Shutdown()
    peer.open_lobbies = [
        brief("L1", "evening"),
        brief("L2", "ladder evening", "closed"),
        brief("L3", "ladder evening"),
        brief("L4", "ladder evening"),
    ]
    async with running(peer, ladder="evening", stop=stop) as task:
        assert (await peer.expect("join")).about == "L3"
        peer.send(arranged("L3"))
        assert (await peer.expect("ready")).details == (True,)
        stop.interrupt()
    assert task.result() == RunStats()
    assert [call.about for call in peer.calls_of("leave")] == ["L3"]


async def test_it_waits_until_there_is_a_lobby_with_a_place() -> None:
    peer, stop = FakeServer(), Shutdown()
    peer.refuse("join", RefusedError(Code.FULL, "full"), RefusedError(Code.WRONG_STATE, "closing"))
    async with running(peer, ladder="evening", stop=stop):
        for _ in range(3):
            await peer.expect("lobbies")
        assert not peer.calls_of("join")
        peer.open_lobbies = [brief("L3", "ladder evening")]
        for _ in range(3):
            await peer.expect("join")
        peer.send(arranged("L3"))
        await peer.expect("ready")
        stop.interrupt()


async def test_who_is_not_wanted_ends() -> None:
    peer = FakeServer()
    peer.open_lobbies = [brief("L3", "ladder evening")]
    peer.refuse("join", RefusedError(Code.BAD_SEATS, "plays another game"))
    with pytest.raises(RefusedError, match="another game"):
        async with running(peer, ladder="evening"):
            pass


async def test_it_goes_on_in_the_next_lobby() -> None:
    peer, stop = FakeServer(), Shutdown()
    peer.open_lobbies = [brief("L3", "ladder evening")]
    async with running(peer, ladder="evening", stop=stop):
        await peer.expect("join")
        peer.send(arranged("L3"))
        await peer.expect("ready")
        peer.open_lobbies = [brief("L5", "ladder evening")]
        peer.send(LobbyClosed(lobby="L3", reason="closed"))
        assert (await peer.expect("join")).about == "L5"
        stop.interrupt()


async def test_who_is_removed_does_not_come_back() -> None:
    peer = FakeServer()
    peer.open_lobbies = [brief("L3", "ladder evening")]
    async with running(peer, ladder="evening") as task:
        await peer.expect("join")
        peer.send(LobbyClosed(lobby="L3", reason="kicked"))
    assert task.result().failure == "removed from lobby L3"
    assert len(peer.calls_of("join")) == 1


async def test_another_version_of_the_same_player_joins_anew() -> None:
    """The lobby has the version that the member announced when it joined, which differs."""
    peer, stop = FakeServer(lobbies=["L3"]), Shutdown()
    peer.open_lobbies = [brief("L3", "ladder evening")]
    async with running(peer, ladder="evening", stop=stop):
        assert (await peer.expect("leave")).about == "L3"
        assert (await peer.expect("join")).about == "L3"
        stop.interrupt()


async def test_a_match_that_began_before_the_host_knew_is_played_and_not_left() -> None:
    """Ctrl-C first notifies the host; matches started by then are announced before its answer."""
    peer, stop = FakeServer(), Shutdown()
    peer.open_lobbies = [brief("L3", "ladder evening")]
    peer.holding["ready"] = asyncio.Event()
    peer.holding["ready"].set()
    async with running(peer, ladder="evening", stop=stop) as task:
        await peer.expect("join")
        peer.send(arranged("L3"))
        await peer.expect("ready")
        peer.send(arranged("L3", ready=True))
        await asyncio.sleep(0)
        peer.holding["ready"].clear()
        stop.interrupt()
        assert (await peer.expect("ready")).details == (False,)
        peer.send(snapshot("m1"), your_turn("m1"), arranged("L3", ready=False))
        peer.holding["ready"].set()
        await peer.expect("move")
        peer.send(snapshot("m2"))
        assert (await peer.expect("leave_match")).about == "m2"
        peer.send(finished("m1"))
    assert task.result() == RunStats(played=1)
    assert [call.details for call in peer.calls_of("ready")] == [(True,), (False,)]
    assert [call.about for call in peer.calls_of("leave_match")] == ["m2"]


def test_a_changed_file_is_another_version(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text("one")
    first = source_digest([str(bot)])
    assert source_digest([str(bot)]) == first
    bot.write_text("two")
    assert source_digest([str(bot)]) != first
    assert source_digest(["a", "bc"]) != source_digest(["ab", "c"])


def test_parameters_and_weights_tell_versions_apart_too() -> None:
    plain = Engine(name="ada")
    deep = Engine(name="ada", parameters={"depth": 4})
    assert source_version(plain, "x") != source_version(deep, "x")
    assert source_version(Engine(name="ada", version="1.2"), "x").startswith("1.2-")
    engine = capabilities(First(), source="x").engine
    assert engine is not None
    assert len(engine.version) == 8
