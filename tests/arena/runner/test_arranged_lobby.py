"""Updates and responses about arranged games, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import cast

import async_solipsism
import pytest

from kibitz_arena.runner.arranged_lobby import POLL_SECONDS, ArrangedLobby, uninterrupted
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import Arrangement, LobbySettings, LobbyView, MatchBrief, OpenSeat
from kibitz_protocol.wire.messages import Arranged, LobbyClosed, LobbyNews, MatchEnded, MatchStarted
from kibitz_protocol.wire.records import Cause, Result, SeatResult

KEY = "L1"


def brief(tag: str, cause: Cause | None = None) -> MatchBrief:
    seats = [SeatResult(rank=1, score=0), SeatResult(rank=2, score=0)]
    result = None if cause is None else Result(seats=seats, cause=cause, plies=3)
    return MatchBrief(match=f"m-{tag}", game="line-nim", seats=[], tag=tag, result=result)


def view(*live: MatchBrief) -> LobbyView:
    return LobbyView(
        lobby=KEY,
        settings=LobbySettings(seats=[OpenSeat()], programme=[], arranged=True),
        host="host",
        state="running",
        round=1,
        members={},
        planned=0,
        done=0,
        live={brief.match: brief for brief in live},
        standings={},
    )


class Connection:
    """Sends the given messages and remains open."""

    def __init__(self, *messages: object) -> None:
        self.messages = messages
        self.hosting = self

    async def news(self) -> AsyncIterator[object]:
        for message in self.messages:
            yield message
        await asyncio.get_running_loop().create_future()

    async def arrange(self, lobby: str, matches: Sequence[Arrangement]) -> Arranged:
        raise AssertionError("nothing is arranged here")


def heard(*messages: object) -> tuple[ArrangedLobby, bool]:
    """Return a lobby after updates to a view, and whether it must be polled."""

    async def main() -> tuple[ArrangedLobby, bool]:
        connection = Connection(LobbyNews(lobby=view(brief("g1"), brief("g2"))), *messages)
        lobby = ArrangedLobby(cast(Client, connection), KEY, lambda: {"g1", "g2"}, lambda _: None)
        lobby.poll_in(POLL_SECONDS)
        steps = iter(range(3))

        async def step() -> None:
            await asyncio.sleep(0.01)

        await lobby.play(step, lambda: next(steps, None) is None)
        return lobby, lobby.take_poll()

    with asyncio.Runner(loop_factory=async_solipsism.EventLoop) as runner:
        return runner.run(main())


@pytest.mark.parametrize(
    ("messages", "started", "over", "polls"),
    [
        ([], {"g1", "g2"}, set(), False),
        ([MatchEnded(lobby=KEY, match=brief("g1", Cause.RULES))], {"g2"}, {"g1"}, False),
        ([MatchEnded(lobby=KEY, match=brief("g1", Cause.INFRASTRUCTURE))], {"g2"}, set(), True),
        ([MatchEnded(lobby=KEY, match=brief("g7", Cause.RULES))], {"g1", "g2"}, set(), False),
        ([MatchEnded(lobby="L2", match=brief("g1", Cause.RULES))], {"g1", "g2"}, set(), False),
        ([MatchStarted(lobby=KEY, match=brief("g3"))], {"g1", "g2", "g3"}, set(), False),
        ([LobbyNews(lobby=view(brief("g2")))], {"g2"}, set(), True),
    ],
    ids=["view", "end", "trouble", "not outstanding", "elsewhere", "start", "lost news"],
)
def test_news_says_what_runs_what_is_over_and_when_to_ask(
    messages: list[object], started: set[str], over: set[str], polls: bool
) -> None:
    lobby, polled = heard(*messages)
    assert (lobby.started, {*lobby.over}, polled) == (started, over, polls)


def test_games_in_the_journal_are_forgotten() -> None:
    lobby, _ = heard(MatchEnded(lobby=KEY, match=brief("g1", Cause.RULES)))
    lobby.forget(["g1"])
    assert lobby.over == {}


def test_a_lobby_that_closes_says_why() -> None:
    lobby, _ = heard(LobbyClosed(lobby=KEY, reason="expired"))
    assert lobby.closed == "expired"


async def test_work_is_waited_for_when_its_task_is_canceled() -> None:
    done: list[str] = []
    begun = asyncio.Event()

    async def work() -> None:
        begun.set()
        await asyncio.sleep(0.01)
        done.append("done")

    task = asyncio.create_task(uninterrupted(work()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["done"]
