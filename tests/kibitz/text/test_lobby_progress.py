from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from kibitz.text import lobby_progress
from kibitz.text.lobby_progress import LobbyProgress
from kibitz.text.result_tables import abnormal_endings
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import (
    HouseTrouble,
    LobbyPhase,
    LobbySettings,
    LobbyView,
    MatchBrief,
    Member,
    OpenSeat,
    ProgrammeItem,
)
from kibitz_protocol.wire.messages import (
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchList,
    MatchStarted,
)
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import Cause, Footer, Player, Result, SeatResult, Setup
from kibitz_protocol.wire.refusals import Code

ADA = Player(player="a", name="ada", kind="bot")
BOB = Player(player="b", name="bob", kind="bot")
RESULT = Result(
    seats=[SeatResult(rank=2, score=0), SeatResult(rank=1, score=1)],
    cause=Cause.RULES,
    reason="goal",
    plies=12,
)


def view(state: LobbyPhase, members: list[Player], live: list[MatchBrief]) -> LobbyNews:
    seated = [
        Member(player=p.player, name=p.name, kind=p.kind, seat=seat, ready=True, connected=True)
        for seat, p in enumerate(members)
    ]
    settings = LobbySettings(seats=[OpenSeat(), OpenSeat()], programme=[ProgrammeItem(game="star")])
    return LobbyNews(
        lobby=LobbyView(
            lobby="L",
            settings=settings,
            host="h",
            state=state,
            round=1,
            members={member.player: member for member in seated},
            planned=2,
            done=0,
            live={brief.match: brief for brief in live},
            standings={},
        )
    )


def brief(number: int, result: Result | None = None) -> MatchBrief:
    return MatchBrief(
        match=f"m{number}", lobby="L", number=number, game="star", seats=[ADA, BOB], result=result
    )


def test_members_are_told_once() -> None:
    course = LobbyProgress("L")
    assert course.apply(view("gathering", [ADA], [])) == ["ada takes seat 1 of 2"]
    assert course.apply(view("gathering", [ADA, BOB], [])) == ["bob takes seat 2 of 2"]
    assert course.apply(view("running", [ADA, BOB], [])) == []


def test_a_programme_that_was_stopped_is_told_once() -> None:
    course = LobbyProgress("L")
    course.apply(view("running", [], []))
    why = {"stopped": "6 matches in a row could not be played"}
    stopped = LobbyNews(lobby=view("finished", [], []).lobby.model_copy(update=why))
    said = "the rest of the programme will not be played: 6 matches in a row could not be played"
    assert course.apply(stopped) == [said]
    assert course.apply(stopped) == []


def test_a_match_from_its_beginning_to_its_end() -> None:
    course = LobbyProgress("L")
    began = course.apply(MatchStarted(lobby="L", match=brief(1)))
    ended = course.apply(MatchEnded(lobby="L", match=brief(1, RESULT)))
    assert began == ["match 1 begins: star for 2: ada, bob"]
    assert ended == ["match 1 ends: ▲ bob wins, goal, 12 plies (1. bob  2. ada)"]
    assert [match.result for match in course.matches] == [RESULT]


def test_a_late_view_does_not_take_a_result_back() -> None:
    course = LobbyProgress("L")
    course.apply(MatchEnded(lobby="L", match=brief(1, RESULT)))
    course.apply(view("running", [], [brief(1)]))
    assert course.matches[0].result == RESULT


def test_matches_stand_in_the_order_of_the_programme() -> None:
    course = LobbyProgress("L")
    for number in (2, 1):
        course.apply(MatchStarted(lobby="L", match=brief(number)))
    assert [match.number for match in course.matches] == [1, 2]


def test_it_is_over_when_the_programme_is_finished_or_the_lobby_gone() -> None:
    finished, closed = LobbyProgress("L"), LobbyProgress("L")
    assert not finished.over
    finished.apply(view("finished", [], []))
    closed.apply(LobbyClosed(lobby="L", reason="expired"))
    assert finished.over
    assert closed.over
    assert closed.closed == "expired"


def test_news_of_another_lobby_is_none_of_its_business() -> None:
    course = LobbyProgress("other")
    messages = [
        view("finished", [ADA], []),
        MatchStarted(lobby="L", match=brief(1)),
        MatchEnded(lobby="L", match=brief(1, RESULT)),
        LobbyClosed(lobby="L", reason="closed"),
    ]
    assert [course.apply(message) for message in messages] == [[], [], [], []]
    assert not course.over
    assert course.matches == []


def test_a_house_bot_that_fails_is_told_once_a_failure() -> None:
    course = LobbyProgress("L")
    course.apply(view("gathering", [ADA], []))

    def failed(count: int, *, given_up: bool = False) -> list[str]:
        trouble = HouseTrouble(
            seat=1, personality="star/any", failures=count, reason="it ended", given_up=given_up
        )
        news = view("gathering", [ADA], [])
        shown = news.lobby.model_copy(update={"house_trouble": [trouble]})
        return course.apply(news.model_copy(update={"lobby": shown}))

    assert failed(1) == ["star/any in seat 2 failed: it ended; it will be restarted"]
    assert failed(1) == []
    assert failed(3, given_up=True) == [
        "star/any in seat 2 failed: it ended; it will not be restarted, and the seat is open to"
        " anyone"
    ]


async def test_each_record_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def save(url: str, match: str, path: Path) -> Path:
        if len(asked) == 1:
            asked.append("lost")
            raise OSError("the connection was lost")
        asked.append(match)
        return path

    monkeypatch.setattr(lobby_progress, "save_record", save)
    course = LobbyProgress("L")
    for match in (brief(3), brief(2, RESULT), brief(1, RESULT)):
        course.apply(MatchStarted(lobby="L", match=match))
    with pytest.raises(OSError, match="lost"):
        await course.fetch("ws://127.0.0.1:9", tmp_path)
    assert await course.fetch("ws://127.0.0.1:9", tmp_path) == [brief(2, RESULT)]
    assert await course.fetch("ws://127.0.0.1:9", tmp_path) == []
    course.apply(MatchEnded(lobby="L", match=brief(3, RESULT)))
    assert await course.fetch("ws://127.0.0.1:9", tmp_path) == [brief(3, RESULT)]
    assert asked == ["m1", "lost", "m2", "m3"]
    assert course.records == {f"m{n}": str(tmp_path / f"star-m{n}.jsonl") for n in (1, 2, 3)}


# --- events during a connection loss --------------------------------------------------------------


class ListingClient:
    """A client whose server has this list of the lobby's matches; None if the lobby is gone."""

    url = "ws://127.0.0.1:9"

    def __init__(self, briefs: list[MatchBrief] | None) -> None:
        self.hall = self
        self.briefs = briefs
        self.asked = 0

    async def matches(self, lobby: str) -> MatchList:
        self.asked += 1
        if self.briefs is None:
            raise RefusedError(Code.NO_SUCH_LOBBY, f"no lobby {lobby!r} to see", "", None)
        return MatchList(re=1, matches=self.briefs)

    async def catch_up(self, course: LobbyProgress) -> list[str]:
        return await course.catch_up(cast(Client, self))


def done(news: LobbyNews, count: int) -> LobbyNews:
    return LobbyNews(lobby=news.lobby.model_copy(update={"done": count}))


async def test_a_match_that_ended_unseen_is_asked_for() -> None:
    """For a reconnecting client, the server lists only running matches."""
    course, client = LobbyProgress("L"), ListingClient([brief(1, RESULT), brief(2)])
    course.apply(view("running", [ADA, BOB], [brief(1), brief(2)]))
    assert await client.catch_up(course) == []
    assert client.asked == 0
    course.apply(done(view("running", [ADA, BOB], [brief(2)]), 1))
    assert await client.catch_up(course) == [
        "match 1 ends: ▲ bob wins, goal, 12 plies (1. bob  2. ada)"
    ]
    assert course.apply(MatchEnded(lobby="L", match=brief(1, RESULT))) == []
    assert await client.catch_up(course) == []
    assert client.asked == 1


async def test_matches_that_began_and_ended_unseen_are_asked_for_too() -> None:
    course = LobbyProgress("L")
    client = ListingClient([brief(4), brief(3, RESULT), brief(1, RESULT), brief(2, RESULT)])
    course.apply(view("running", [ADA, BOB], [brief(1)]))
    course.apply(done(view("running", [ADA, BOB], []), 3))
    lines = await client.catch_up(course)
    ends = [f"match {n} ends" for n in (1, 2, 3)]
    assert [line.partition(":")[0] for line in lines] == [*ends, "match 4 begins"]
    course.apply(MatchEnded(lobby="L", match=brief(4, RESULT)))
    assert abnormal_endings(course.matches) == []


async def test_the_record_has_the_result_that_no_list_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lobby is gone, or many other matches have ended since."""
    fetched: list[tuple[str, str]] = []

    async def fetch(url: str, match: str) -> Record:
        fetched.append((url, match))
        return Record(cast(Setup, None), (), Footer(result=RESULT, hash=""), "")

    monkeypatch.setattr(lobby_progress, "fetch_record", fetch)
    course, client = LobbyProgress("L"), ListingClient(None)
    course.apply(view("running", [ADA, BOB], [brief(1)]))
    course.apply(LobbyClosed(lobby="L", reason="closed"))
    assert len(await client.catch_up(course)) == 1
    assert fetched == [("ws://127.0.0.1:9", "m1")]
    assert [match.result for match in course.matches] == [RESULT]


async def test_what_nobody_knows_is_asked_for_once() -> None:
    course, client = LobbyProgress("L"), ListingClient(None)
    course.apply(view("running", [ADA, BOB], [brief(1)]))
    course.apply(LobbyClosed(lobby="L", reason="closed"))
    assert await client.catch_up(course) == []
    assert await client.catch_up(course) == []
    assert client.asked == 1
    assert abnormal_endings(course.matches) == ["match 1 did not finish"]


async def test_matches_that_are_told_of_are_not_asked_for() -> None:
    """Not for matches that start before the lobby's update, and not while old ones are unknown."""
    course, client = LobbyProgress("L"), ListingClient([])
    course.apply(done(view("running", [ADA, BOB], []), 3))
    assert await client.catch_up(course) == []
    assert client.asked == 1
    for number in range(4, 9):
        live = [brief(number)]
        for news in (
            MatchStarted(lobby="L", match=brief(number)),
            done(view("running", [ADA, BOB], live), number - 1),
            MatchEnded(lobby="L", match=brief(number, RESULT)),
            done(view("running", [ADA, BOB], []), number - 1),
            done(view("running", [ADA, BOB], []), number),
        ):
            course.apply(news)
            assert await client.catch_up(course) == []
    assert client.asked == 1
    course.apply(done(view("running", [ADA, BOB], []), 9))
    assert await client.catch_up(course) == []
    assert client.asked == 2
