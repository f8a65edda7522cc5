from __future__ import annotations

from kibitz.lobby_progress import LobbyProgress
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
from kibitz_protocol.wire.messages import LobbyClosed, LobbyNews, MatchEnded, MatchStarted
from kibitz_protocol.wire.records import Cause, Player, Result, SeatResult

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
            members=seated,
            planned=2,
            done=0,
            live=live,
            standings=[],
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

    assert failed(1) == ["star/any of seat 2 failed: it ended; it is started again"]
    assert failed(1) == []
    assert failed(3, given_up=True) == [
        "star/any of seat 2 failed: it ended; it is not started again, and the seat is open to"
        " anybody"
    ]
