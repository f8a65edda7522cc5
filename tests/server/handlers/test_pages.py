"""The page of a match's analysis: its answers and its refusals."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kibitz_protocol.wire.records import Cause, Footer, Result
from kibitz_server.directory.analyses import Analyses, AnalysisFailed, Progress
from kibitz_server.directory.jobs import QueueFull
from kibitz_server.handlers.pages import RecordPages
from kibitz_server.net.http import JSON, Asker, Page
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.quarantine import Quarantine
from kibitz_server.storage.streams import Closed

Answer = bytes | Progress | Exception


class FakeStore:
    """A store of one finished match of so many plies."""

    def __init__(self, plies: int = 40, error: StoreError | None = None) -> None:
        self.plies, self.error = plies, error
        self.damaged: list[str] = []

    def set_aside(self, key: str, reason: str, noticed: int) -> None:
        self.damaged.append(key)

    def set_aside_reason(self, key: str) -> str | None:
        return None

    async def closed(self, key: str) -> Closed | None:
        if self.error is not None:
            raise self.error
        if key != "m1":
            return None
        result = Result(seats=[], cause=Cause.RULES, plies=self.plies)
        footer = Footer(result=result, hash="").model_dump_json().encode()
        return Closed(1, "match", b"", footer, b"", self.plies)


class FakeAnalyses:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[tuple[object, ...]] = []

    def ask(self, *asked: object) -> bytes | Progress:
        self.asked.append(asked)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def page(
    answer: Answer | None, store: FakeStore | None = None, match: str = "m1"
) -> tuple[Page, FakeAnalyses | None, FakeStore]:
    analyses = None if answer is None else FakeAnalyses(answer)
    store = store or FakeStore()
    pages = RecordPages(
        cast(Any, store),
        Quarantine(cast(Any, store)),
        notes=False,
        analyses=cast("Analyses | None", analyses),
    )
    return await pages.analysis(match, Asker("192.0.2.1", 30)), analyses, store


async def test_a_finished_analysis_and_the_progress_of_another() -> None:
    found, analyses, _ = await page(b'{"by": "x"}')
    assert (found.status, found.body, found.content_type) == (200, b'{"by": "x"}', JSON)
    assert analyses is not None
    assert analyses.asked == [("m1", 40, "192.0.2.1", 30)]
    found, _, _ = await page(Progress(ahead=2, done=0, of=40))
    assert (found.status, json.loads(found.body)) == (202, {"ahead": 2, "done": 0, "of": 40})


@pytest.mark.parametrize(
    ("answer", "store", "status", "words"),
    [
        (None, FakeStore(), 501, "this server does not analyze matches"),
        (b"", FakeStore(plies=0), 404, "nobody made a move"),
        (b"", FakeStore(error=UnusableDatabase("planted")), 503, "cannot be read at the moment"),
        (QueueFull("too many matches wait", 30_000), FakeStore(), 503, "too many matches wait"),
        (AnalysisFailed("the analysis failed"), FakeStore(), 500, "the analysis failed"),
    ],
)
async def test_refusals(answer: Answer | None, store: FakeStore, status: int, words: str) -> None:
    found, _, store = await page(answer, store)
    assert (found.status, found.body.decode().count(words)) == (status, 1)
    assert found.retry_after_s == (30 if isinstance(answer, QueueFull) else None)
    assert not store.damaged


async def test_a_match_that_is_not_over_or_damaged_has_no_analysis() -> None:
    found, analyses, _ = await page(b"", match="m2")
    assert (found.status, found.body) == (
        404,
        b"there is no record of match 'm2': it is not over, or it was deleted\n",
    )
    assert analyses is not None
    assert not analyses.asked
    found, _, store = await page(b"", FakeStore(error=StoreError("planted")))
    assert found.status == 404
    assert store.damaged == ["m1"]


@pytest.mark.parametrize(
    ("turn", "answer", "status"),
    [
        ("m1@3", b'{"text": "a1"}', 200),
        ("m1@3", Progress(ahead=0, done=0, of=1), 202),
        (None, b"", 404),
    ],
)
async def test_a_hint_is_asked_for_by_its_turn(
    turn: str | None, answer: Answer, status: int
) -> None:
    analyses = FakeAnalyses(answer)
    hints = SimpleNamespace(turn=lambda match: turn)
    store = cast(Any, FakeStore())
    pages = RecordPages(
        store,
        Quarantine(store),
        notes=False,
        hints=cast(Any, (hints, analyses)),
    )
    found = await pages.hint("m1", Asker("192.0.2.1", 30))
    assert found.status == status
    assert analyses.asked == ([] if turn is None else [("m1@3", 1, "192.0.2.1", 30)])


async def test_a_server_without_analyses_has_no_hints() -> None:
    store = cast(Any, FakeStore())
    pages = RecordPages(store, Quarantine(store), notes=False)
    assert (await pages.hint("m1", Asker())).status == 501
