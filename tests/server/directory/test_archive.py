"""A match's history: rights are checked before it is read, and it is replayed once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from kibitz_protocol.wire.records import Entry
from kibitz_server.app import Config, Server, running
from kibitz_server.directory import archive
from kibitz_server.match import history
from kibitz_server.match import report as match_report
from kibitz_server.match.state import MatchState
from kibitz_server.storage.errors import UnusableDatabase
from kibitz_server.storage.sqlite.connection import Readers
from kibitz_server.storage.sqlite.store import SQLiteStore
from tests.server.fakes import JsonClient, connected
from tests.server.match.toy_games import Grid

pytestmark = pytest.mark.e2e
WIDE = {"columns": 8, "rows": 8, "row": 8}
MATCH_PLIES = 57
"""The first column is then full at every eighth ply."""


class WorkCounter:
    """Counts of reads, replays and reports."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.reads = self.folded = self.reports = 0
        read, apply, report = Readers.read, MatchState.apply, match_report.match_report

        async def counted_read(readers: Readers, query: Any) -> Any:
            self.reads += 1
            return await read(readers, query)

        def counted_apply(fold: MatchState, entry: Entry, action: int | None = None) -> None:
            self.folded += 1
            apply(fold, entry, action)

        def counted_report(*values: Any) -> Any:
            self.reports += 1
            return report(*values)

        patch.setattr(Readers, "read", counted_read)
        patch.setattr(MatchState, "apply", counted_apply)
        patch.setattr(match_report, "match_report", counted_report)

    def reset(self) -> None:
        self.reads = self.folded = self.reports = 0


class Played:
    """A server with a finished match and its players, with counts of its work from now on."""

    def __init__(self, server: Server, stack: AsyncExitStack, work: WorkCounter) -> None:
        self.server = server
        self.work = work
        self.match = ""
        self._stack = stack

    async def guest(self, name: str) -> JsonClient:
        caller = await self._stack.enter_async_context(connected(self.server.url))
        caller.player = (await caller.hello(name))["player"]
        return caller

    async def play(self, ends: bool = True) -> None:
        self.ada, self.bob = players = [await self.guest(name) for name in ("ada", "bob")]
        item = {"game": "toy-grid", "seats": 2, "options": WIDE}
        settings = {"seats": [{"kind": "open"}] * 2, "programme": [item]}
        lobby = (await self.ada.ask("host", settings=settings))["lobby"]
        self.match = f"{lobby}-1-1"
        for request in ("join", "ready"):
            for player in players:
                await player.ask(request, lobby=lobby)
        for ply in range(MATCH_PLIES if ends else MATCH_PLIES - 1):
            player = players[ply % 2]
            await player.move(await player.next("your_turn"))
        if ends:
            await self.ada.next("finished")
            self.server.backend.registry.recently_finished.clear()
        self.work.reset()

    async def numbers(self, caller: JsonClient, first: int, count: int) -> list[int]:
        told = await caller.ask("history", match=self.match, first=first, count=count)
        return [event["entry"]["seq"] for event in told["events"]]


@pytest.fixture
async def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Played]:
    config = Config(db=tmp_path / "kibitz.db", unlimited=True)
    async with running(config, {"toy-grid": Grid()}) as server, AsyncExitStack() as stack:
        yield Played(server, stack, WorkCounter(monkeypatch))


async def test_who_has_no_right_costs_no_reading_and_no_folding(played: Played) -> None:
    await played.play()
    eve = await played.guest("eve")
    turned_away = [
        await eve.ask("report", match=played.match),
        await eve.ask("rejoin", match=played.match),
        await eve.ask("move", match=played.match, ply=3, action={"x": 0, "y": 0}),
    ]
    assert [answer["code"] for answer in turned_away] == ["not_seated"] * 3
    assert (played.work.reads, played.work.folded, played.work.reports) == (0, 0, 0)


@pytest.mark.parametrize("method", ["closed", "entries"])
async def test_a_database_that_is_away_sets_nothing_aside(
    played: Played, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    await played.play()

    async def away(*_: object) -> None:
        raise UnusableDatabase("planted")

    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, method, away)
        answers = [
            await played.ada.ask("report", match=played.match, seat=0),
            await played.ada.ask("history", match=played.match, first=1, count=4),
            await played.ada.ask("rejoin", match=played.match),
        ]
    assert [answer["code"] for answer in answers] == ["unavailable"] * 3
    assert played.server.backend.directory.quarantine.count == 0
    assert await played.numbers(played.ada, 1, 2) == [1, 2]


async def test_who_comes_back_to_a_match_that_is_over_has_it_folded_once(played: Played) -> None:
    await played.play()
    answers = await asyncio.gather(
        played.ada.ask("rejoin", match=played.match), played.bob.ask("rejoin", match=played.match)
    )
    assert [answer["type"] for answer in answers] == ["done", "done"]
    assert played.work.folded == MATCH_PLIES


async def test_a_page_folds_no_entry_after_it(played: Played) -> None:
    await played.play()
    played.work.reset()
    assert await played.numbers(played.ada, 20, 4) == [20, 21, 22, 23]
    assert played.work.folded <= 24


async def test_pages_of_a_running_match_are_what_was_shown(played: Played) -> None:
    await played.play(ends=False)
    played.bob.news.clear()
    whole = await played.ada.ask("history", match=played.match, first=1, count=100)
    assert whole["more"] is False
    told = await played.ada.ask("history", match=played.match, first=30, count=5)
    assert told["events"] == whole["events"][29:34]
    assert told["more"] is True


async def test_a_page_beyond_the_end_is_empty_at_once(played: Played) -> None:
    await played.play()
    for reader in (played.ada, await played.guest("eve")):
        told = await reader.ask("history", match=played.match, first=2**53 - 1)
        assert (told["events"], told["more"]) == ([], False)
    assert played.work.folded == 0


async def test_the_key_of_a_lobby_is_no_match(played: Played) -> None:
    await played.play()
    lobby = played.match.partition("-")[0]
    await played.ada.ask("close", lobby=lobby)
    await played.ada.next("lobby_closed")
    for request in ("history", "report", "rejoin"):
        assert (await played.ada.ask(request, match=lobby))["code"] == "no_such_match"


async def test_a_crowd_of_requests_is_answered_one_by_one_or_refused(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played.play()
    at_once = most = 0
    page = history.read_page

    def watched(*values: Any, **named: Any) -> Any:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        try:
            return page(*values, **named)
        finally:
            at_once -= 1

    monkeypatch.setattr(archive, "read_page", watched)
    eve = await played.guest("eve")
    for id in range(100, 140):
        fields = {"match": played.match, "first": id - 99, "count": 1}
        await eve.socket.send(json.dumps({"type": "history", "id": id, **fields}))
    answers: dict[int, dict[str, Any]] = {}
    while len(answers) < 40:
        answer = json.loads(await eve.socket.recv())
        assert answer["re"] not in answers
        answers[answer["re"]] = answer
    refused = [each for each in answers.values() if each["type"] == "refused"]
    assert most == 1
    assert 1 <= len(refused) < 40
    assert {(each["code"], each["retry_after_ms"]) for each in refused} == {("rate_limited", 1000)}
