"""A bot that seeks opponents: a match, a rematch, another opponent, and the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from kibitz_bots.running import connection
from kibitz_bots.running.connection import RunStats, Shutdown, Sought
from kibitz_bots.sdk import Bot, Move, Turn
from kibitz_protocol.client.errors import RefusedError, UnansweredError
from kibitz_protocol.wire.lobbies import (
    LobbySettings,
    LobbyView,
    Member,
    OpenSeat,
    ProgrammeItem,
    SeekTerms,
)
from kibitz_protocol.wire.messages import LobbyClosed, LobbyNews
from kibitz_protocol.wire.refusals import Code
from tests.tools.fake_server import PLAYER, FakeServer, finished, run_bot, snapshot, your_turn

ITEM = ProgrammeItem(game="nim")
SOUGHT = Sought(SeekTerms(item=ITEM), 60)


class First(Bot):
    """Plays the first legal move."""

    def choose(self, turn: Turn) -> Move:
        return turn.legal[0]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LADDER_SECONDS", 0.001)


@contextlib.asynccontextmanager
async def running(
    peer: FakeServer, *, rounds: int | None = None, **aim: Any
) -> AsyncIterator[asyncio.Task[RunStats]]:
    async with asyncio.timeout(10):
        task = asyncio.create_task(run_bot(First, peer, seek=replace(SOUGHT, rounds=rounds), **aim))
        try:
            yield task
            await task
        finally:
            task.cancel()


def lobby(state: Any, round: int = 1, *, ready: bool = False) -> LobbyNews:
    member = Member(player=PLAYER, name="me", kind="bot", seat=0, ready=ready, connected=True)
    return LobbyNews(
        lobby=LobbyView(
            lobby="L1",
            settings=LobbySettings(seats=[OpenSeat(), OpenSeat()], programme=[ITEM]),
            host="h",
            state=state,
            round=round,
            seek=True,
            members={member.player: member},
            planned=1,
            done=0,
            live={},
            standings={},
        )
    )


async def play(peer: FakeServer, match: str) -> None:
    peer.send(snapshot(match, lobby="L1"), your_turn(match))
    await peer.expect("move")
    peer.send(finished(match))


async def test_a_round_of_two_matches_is_played_whole() -> None:
    peer = FakeServer()
    async with running(peer, rounds=1) as task:
        assert (await peer.expect("seek")).details == (60,)
        peer.send(lobby("gathering"))
        assert (await peer.expect("ready")).details == (True,)
        peer.send(lobby("running", ready=True))
        await play(peer, "m1")
        await play(peer, "m2")
        peer.send(lobby("finished"))
        assert (await peer.expect("leave")).about == "L1"
    assert task.result() == RunStats(played=2)
    assert not peer.calls_of("leave_match")


async def test_it_asks_for_a_rematch_once_a_round_and_then_seeks_anew() -> None:
    peer, stop = FakeServer(), Shutdown()
    peer.refuse("rematch", UnansweredError("lost"))
    async with running(peer, stop=stop) as task:
        await peer.expect("seek")
        for round in (1, 2):
            peer.send(lobby("gathering", round))
            await peer.expect("ready")
            await play(peer, f"m{round}")
            peer.send(lobby("finished", round), lobby("finished", round))
            await peer.expect("rematch")
        peer.send(LobbyClosed(lobby="L1", reason="expired"))
        await peer.expect("seek")
        stop.interrupt()
    assert task.result() == RunStats(played=2)
    assert len(peer.calls_of("rematch")) == 2


async def test_a_round_that_the_opponent_left_counts() -> None:
    peer = FakeServer()
    async with running(peer, rounds=1) as task:
        await peer.expect("seek")
        peer.send(lobby("running", ready=True))
        await play(peer, "m1")
        peer.send(LobbyClosed(lobby="L1", reason="closed"))
    assert task.result() == RunStats(played=1)
    assert len(peer.calls_of("seek")) == 1


async def test_a_seek_that_is_refused_ends_the_run_or_is_said_again() -> None:
    peer = FakeServer()
    peer.refuse("seek", RefusedError(Code.RATE_LIMITED, "later"), RefusedError(Code.LIMIT, "one"))
    with pytest.raises(RefusedError, match="one"):
        await run_bot(First, peer, seek=SOUGHT)
    assert len(peer.calls_of("seek")) == 2


async def test_news_that_skip_a_moment_lose_no_round() -> None:
    """Round 1 ended and a rematch started between two updates; an old one arrives late."""
    peer = FakeServer()
    async with running(peer, rounds=2) as task:
        await peer.expect("seek")
        await play(peer, "m1")
        peer.send(lobby("gathering", 2))
        await peer.expect("ready")
        peer.send(snapshot("m2", lobby="L1"), lobby("finished", 1), your_turn("m2"))
        await peer.expect("move")
        assert not peer.calls_of("leave")
        peer.send(finished("m2"), lobby("finished", 2))
        await peer.expect("leave")
    assert task.result() == RunStats(played=2)
