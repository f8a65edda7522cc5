"""The session with a scripted server, with all server messages."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_protocol.client.addresses import MOST_HOPS, MOST_TRIES
from kibitz_protocol.client.credentials import ClientIdentity
from kibitz_protocol.client.errors import (
    ClosedError,
    GarbledError,
    HelloRefusedError,
    KickedError,
    ReplacedError,
    SessionError,
    UnreachableError,
)
from kibitz_protocol.client.events import (
    Answered,
    Disconnected,
    MatchLost,
    NewsReceived,
    Opened,
    SessionEnded,
    SessionEvent,
    Unanswered,
)
from kibitz_protocol.client.retry import SessionTimeouts
from kibitz_protocol.client.session import TRANSITIONS, Session, SessionState
from kibitz_protocol.wire.codec import decode_request, encode
from kibitz_protocol.wire.lobbies import LobbySettings
from kibitz_protocol.wire.messages import (
    MAX_WALL,
    AddComment,
    Answer,
    Done,
    Event,
    Farewell,
    Finished,
    GameList,
    HallChanged,
    HallNews,
    Hello,
    History,
    Host,
    Join,
    Leave,
    LeaveMatch,
    Limits,
    ListGames,
    LobbyChanged,
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchStarted,
    Move,
    Note,
    NotWatched,
    Redirect,
    Refused,
    Rejoin,
    Request,
    Resign,
    ServerMessage,
    Snapshot,
    Subscribe,
    Unsubscribe,
    Unwatch,
    Wall,
    Walled,
    Watch,
    Welcome,
    YourTurn,
)
from kibitz_protocol.wire.records import Hidden
from kibitz_protocol.wire.refusals import CloseCode, Code
from tests.tools import profiles
from tests.tools.sample_messages import NEWS, SETTINGS
from tests.tools.scripted_server import LIMITS, ScriptedServer


def _session(**options: object) -> Session:
    identity = ClientIdentity(name="ada", agent="test", instance="a-program")
    return Session(identity, 0, chance=lambda: 0.5, **options)  # type: ignore[arg-type]


@pytest.fixture
def peer() -> ScriptedServer:
    return ScriptedServer(_session())


@pytest.fixture
def online(peer: ScriptedServer) -> ScriptedServer:
    peer.accept_hello()
    peer.next_event(Opened)
    return peer


SNAPSHOT = next(message for message in NEWS if isinstance(message, Snapshot))
YOUR_TURN = next(message for message in NEWS if isinstance(message, YourTurn))
FINISHED = next(message for message in NEWS if isinstance(message, Finished))


LOBBY = next(message for message in NEWS if isinstance(message, LobbyNews))
HALL = next(message for message in NEWS if isinstance(message, HallNews))
STARTED = next(message for message in NEWS if isinstance(message, MatchStarted))


def _snapshot(match: str, seq: int, *, you: int | None = None) -> Snapshot:
    return SNAPSHOT.model_copy(update={"match": match, "seq": seq, "you": you})


def _event(match: str, seq: int) -> Event:
    return Event(match=match, ply=seq, to_act=0, entry=Hidden(seq=seq, at_ms=seq))


def _ask(peer: ScriptedServer, build: Callable[[int], Request]) -> int:
    id = peer.session.new_id()
    peer.session.ask(build(id))
    return id


def _move(match: str = "m1", ply: int = 0) -> Callable[[int], Request]:
    return lambda id: Move(id=id, match=match, ply=ply, action={"to": 12})


def _told(peer: ScriptedServer) -> list[object]:
    """Return the messages of a match: numbers of events, names of other messages."""
    told: list[object] = []
    while peer.events:
        news = peer.next_event(NewsReceived).news
        told.append(news.entry.seq if isinstance(news, Event) else type(news).__name__)
    return told


def _watch(peer: ScriptedServer, match: str, seq: int) -> None:
    _ask(peer, lambda id: Watch(id=id, match=match))
    peer.send(Done(re=peer.expect_request(Watch, match=match).id), _snapshot(match, seq))
    peer.next_event(Answered)
    peer.next_event(NewsReceived)


class TestHello:
    def test_the_first_message_is_hello_with_all_that_was_given(self, peer: ScriptedServer) -> None:
        hello = peer.accept_hello()
        assert hello == Hello(id=1, versions=[1], name="ada", agent="test", instance="a-program")
        assert peer.next_event(Opened).again is False
        assert peer.session.state is SessionState.ONLINE
        peer.assert_done()

    def test_the_second_hello_resumes_with_the_secret_of_the_first_welcome(
        self, online: ScriptedServer
    ) -> None:
        online.disconnect()
        online.next_event(Disconnected)
        hello = online.accept_hello()
        assert (hello.resume, hello.name) == ("a-secret-for-coming-back", None)
        assert online.next_event(Opened).again is True

    def test_every_hello_says_which_views_are_wanted(self) -> None:
        session = Session(ClientIdentity(name="ada", views="every"), 0, chance=lambda: 0.5)
        peer = ScriptedServer(session)
        assert peer.accept_hello().views == "every"
        peer.disconnect()
        assert peer.accept_hello().views == "every"

    def test_a_guest_whom_a_killed_server_does_not_know_comes_anew(
        self, online: ScriptedServer
    ) -> None:
        for name in (None, "ada"):
            online.disconnect()
            online.next_event(Disconnected)
            online.connect()
            hello = online.expect_request(Hello)
            assert hello.name == name
            online.send(Refused(re=hello.id, code=Code.UNAUTHORIZED, message="unknown"))
            if name is None:
                online.next_event(Disconnected)
                online.connect()
                assert online.expect_request(Hello).name == "ada"
        assert isinstance(online.next_event(SessionEnded).error, HelloRefusedError)

    def test_an_account_comes_back_with_its_token(self) -> None:
        session = Session(ClientIdentity(token="token-of-ada"), 0, chance=lambda: 0.5)
        peer = ScriptedServer(session)
        peer.accept_hello()
        peer.disconnect()
        hello = peer.accept_hello()
        assert (hello.token, hello.resume) == ("token-of-ada", None)

    def test_a_refused_hello_ends_the_session(self, peer: ScriptedServer) -> None:
        peer.connect()
        refused = Refused(
            re=peer.expect_request(Hello).id, code=Code.NAME_TAKEN, message="ada is here"
        )
        peer.send(refused)
        error = peer.next_event(SessionEnded).error
        assert isinstance(error, HelloRefusedError)
        assert error.code is Code.NAME_TAKEN
        with pytest.raises(HelloRefusedError):
            _ask(peer, _move())

    def test_a_name_that_a_lost_hello_may_have_taken_is_asked_for_again(
        self, peer: ScriptedServer
    ) -> None:
        peer.connect()
        peer.expect_request(Hello)
        peer.disconnect()
        peer.connect()
        refused = Refused(
            re=peer.expect_request(Hello).id, code=Code.NAME_TAKEN, message="ada is here"
        )
        peer.send(refused)
        peer.next_event(Disconnected)
        peer.accept_hello()
        assert peer.session.welcome is not None

    def test_a_busy_server_is_tried_again_when_it_says(self, peer: ScriptedServer) -> None:
        peer.connect()
        hello = peer.expect_request(Hello)
        peer.send(
            Refused(re=hello.id, code=Code.UNAVAILABLE, message="starting", retry_after_ms=3_000)
        )
        assert peer.next_event(Disconnected).connect_at >= peer.now + 3_000
        assert peer.accept_hello().id > hello.id

    def test_a_hello_without_an_answer_is_given_up(self, peer: ScriptedServer) -> None:
        peer.connect()
        peer.expect_request(Hello)
        assert peer.session.deadline() == peer.now + 10_000
        peer.advance(9_999)
        assert not peer.events
        peer.advance(1)
        # The first welcome times out after ten seconds.
        assert isinstance(peer.next_event(SessionEnded).error, UnreachableError)

    def test_a_version_of_the_future_is_not_spoken(self, peer: ScriptedServer) -> None:
        peer.connect()
        welcome = next(message for message in NEWS if isinstance(message, Welcome))
        peer.send(welcome.model_copy(update={"re": peer.expect_request(Hello).id, "version": 9}))
        assert isinstance(peer.next_event(SessionEnded).error, GarbledError)

    def test_two_connections_at_once_are_a_mistake_of_the_owner(
        self, online: ScriptedServer
    ) -> None:
        with pytest.raises(AssertionError, match="a second connection"):
            online.session.connected(online.now)


class TestStates:
    def test_every_state_can_be_left_but_the_last(self) -> None:
        assert set(TRANSITIONS) == set(SessionState)
        assert [state for state, steps in TRANSITIONS.items() if not steps] == [SessionState.ENDED]
        reached = {target for steps in TRANSITIONS.values() for target in steps.values()}
        assert reached == set(SessionState)

    def test_a_step_that_the_table_does_not_have_is_a_mistake(self, online: ScriptedServer) -> None:
        online.session.close()
        with pytest.raises(AssertionError, match="a second connection while ended"):
            online.session.connected(online.now)

    def test_an_ended_session_ignores_whatever_comes(self, online: ScriptedServer) -> None:
        session, frame = online.session, encode(_event("m1", 1))
        session.close()
        assert session.receive(frame, 0) == session.lost(0) == session.tick(0) == []
        assert (session.close(), session.frames(0), session.deadline()) == ([], [], None)

    def test_an_answer_before_the_welcome_is_ignored(self, peer: ScriptedServer) -> None:
        id = _ask(peer, lambda id: ListGames(id=id))
        peer.connect()
        peer.expect_request(Hello)
        peer.send(Done(re=id))
        peer.assert_done()
        assert peer.session.state is SessionState.GREETING


class TestRequests:
    def test_each_gets_its_answer_whatever_the_order(self, online: ScriptedServer) -> None:
        first = _ask(online, lambda id: ListGames(id=id))
        second = _ask(online, _move())
        online.expect_request(ListGames, id=first)
        online.expect_request(Move, id=second)
        online.send(Done(re=second, seq=1), GameList(re=first, games=[], personalities=[]))
        assert online.next_event(Answered) == Answered(second, Done(re=second, seq=1))
        assert online.next_event(Answered).id == first
        online.assert_done()

    def test_a_second_answer_is_dropped(self, online: ScriptedServer) -> None:
        id = _ask(online, _move())
        online.expect_request(Move)
        online.send(Done(re=id), Done(re=id), Done(re=77))
        assert online.next_event(Answered).id == id
        online.assert_done()

    def test_a_refusal_without_an_id_is_told(self, online: ScriptedServer) -> None:
        refused = Refused(re=0, code=Code.MALFORMED, message="not JSON")
        online.send(refused)
        assert online.next_event(NewsReceived).news == refused

    def test_what_is_asked_before_the_welcome_goes_after_it(self, peer: ScriptedServer) -> None:
        id = _ask(peer, lambda id: ListGames(id=id))
        peer.accept_hello()
        peer.expect_request(ListGames, id=id)
        peer.next_event(Opened)
        peer.assert_done()

    def test_withdrawn_before_it_was_sent_it_is_never_sent(self, peer: ScriptedServer) -> None:
        peer.session.withdraw(_ask(peer, _move()))
        peer.accept_hello()
        peer.next_event(Opened)
        peer.assert_done()

    def test_withdrawn_afterwards_its_answer_is_dropped(self, online: ScriptedServer) -> None:
        id = _ask(online, _move())
        online.expect_request(Move)
        online.session.withdraw(id)
        online.send(Done(re=id))
        online.assert_done()

    def test_too_large_for_the_server_is_not_sent(self, online: ScriptedServer) -> None:
        with pytest.raises(ValueError, match=r"request of \d+ bytes, .* at most 16384"):
            _ask(online, lambda id: Host(id=id, settings=_enormous()))
        online.assert_done()

    def test_an_id_of_ones_own_is_not_taken(self, online: ScriptedServer) -> None:
        with pytest.raises(ValueError, match="was not made by new_id"):
            online.session.ask(ListGames(id=99))

    def test_an_answer_of_an_unknown_type_leaves_its_request_unanswered(
        self, online: ScriptedServer
    ) -> None:
        id = _ask(online, lambda id: ListGames(id=id))
        online.expect_request(ListGames)
        online.events += online.session.receive(
            b'{"type":"games_of_tomorrow","re":%d}' % id, online.now
        )
        assert online.next_event(Unanswered).id == id

    def test_news_of_an_unknown_type_is_passed_over(self, online: ScriptedServer) -> None:
        online.events += online.session.receive(b'{"type":"weather"}', online.now)
        online.assert_done()
        assert online.session.state is SessionState.ONLINE

    @pytest.mark.parametrize("frame", [b"", b"[]", b'{"type":"event"}', b'{"re":1}'])
    def test_what_cannot_be_read_ends_the_session(
        self, online: ScriptedServer, frame: bytes
    ) -> None:
        online.events += online.session.receive(frame, online.now)
        assert isinstance(online.next_event(SessionEnded).error, GarbledError)

    def test_the_pace_stays_below_the_servers_limit(self, peer: ScriptedServer) -> None:
        peer.accept_hello(limits=LIMITS.model_copy(update={"burst": 4, "messages_per_second": 2}))
        ids = [_ask(peer, lambda id: Note(id=id, match="m1", text="x")) for _ in range(4)]
        # Hello used two of four credits.
        peer.expect_request(Note, id=ids[0])
        peer.expect_request(Note, id=ids[1])
        peer.next_event(Opened)
        peer.assert_done()
        assert peer.session.deadline() == 500
        peer.advance(500)
        peer.expect_request(Note, id=ids[2])
        peer.assert_done()
        peer.advance(500)
        peer.expect_request(Note, id=ids[3])

    def test_a_move_waits_for_nothing_but_the_rejoin_of_its_match(
        self, online: ScriptedServer
    ) -> None:
        moves = [_ask(online, _move(match)) for match in ("m1", "m2")]
        online.expect_request(Move)
        online.expect_request(Move)
        online.disconnect()
        online.next_event(Disconnected)
        limits = LIMITS.model_copy(update={"burst": 3, "messages_per_second": 1})
        online.accept_hello(seats=["m1", "m2"], limits=limits)
        online.expect_request(Rejoin, match="m1")
        online.expect_request(Move, id=moves[0])
        online.next_event(Opened)
        online.assert_done()
        online.advance(1_000)
        online.expect_request(Rejoin, match="m2")
        online.expect_request(Move, id=moves[1])

    def test_a_move_refused_for_its_pace_is_sent_again_when_the_server_says(
        self, online: ScriptedServer
    ) -> None:
        id = _ask(online, _move())
        online.expect_request(Move)
        online.send(Refused(re=id, code=Code.RATE_LIMITED, message="slow down", retry_after_ms=250))
        online.assert_done()
        assert online.session.deadline() == online.now + 250
        online.advance(250)
        online.expect_request(Move, id=id)
        online.send(Done(re=id, seq=1))
        assert online.next_event(Answered).id == id

    def test_a_move_that_cannot_be_taken_now_is_sent_again(self, online: ScriptedServer) -> None:
        id = _ask(online, _move())
        online.expect_request(Move)
        wait = 1_000
        refused = Refused(
            re=id, code=Code.UNAVAILABLE, message="it changes its node", retry_after_ms=wait
        )
        online.send(refused)
        other = _ask(online, lambda id: ListGames(id=id))
        online.expect_request(ListGames, id=other)  # the rate of this connection does not matter
        online.advance(wait)
        online.expect_request(Move, id=id)
        online.send(Done(re=id, seq=1))
        assert online.next_event(Answered).id == id

    def test_any_request_is_sent_again_when_the_server_asks_for_it(
        self, online: ScriptedServer
    ) -> None:
        id = _ask(online, lambda id: Resign(id=id, match="m1"))
        online.expect_request(Resign)
        lost = Refused(re=id, code=Code.UNAVAILABLE, message="it is reloaded", retry_after_ms=200)
        online.send(lost)
        online.assert_done()
        online.advance(200)
        online.expect_request(Resign, id=id)
        online.send(lost.model_copy(update={"retry_after_ms": None}))
        assert isinstance(online.next_event(Answered).answer, Refused)
        online.assert_done()

    def test_another_request_refused_for_its_pace_is_the_callers_matter(
        self, online: ScriptedServer
    ) -> None:
        id = _ask(online, lambda id: ListGames(id=id))
        online.expect_request(ListGames)
        online.send(Refused(re=id, code=Code.RATE_LIMITED, message="slow down"))
        assert isinstance(online.next_event(Answered).answer, Refused)
        online.assert_done()


def _enormous() -> LobbySettings:
    item = SETTINGS.programme[0]
    options = {f"field-{index}": "x" * 200 for index in range(32)}
    crowded = item.model_copy(update={"options": options})
    return SETTINGS.model_copy(update={"programme": [crowded] * 4})


def welcomed(peer: ScriptedServer) -> type[Request]:
    """The welcome lists the seat; the rejoin gets no answer."""
    peer.disconnect()
    peer.accept_hello(seats=["m1"])
    peer.expect_request(Rejoin, match="m1")
    return Rejoin


def rejoined(peer: ScriptedServer) -> type[Request]:
    """The caller's rejoin is answered, and the snapshot is lost."""
    _ask(peer, lambda id: Rejoin(id=id, match="m1"))
    peer.send(Done(re=peer.expect_request(Rejoin).id))
    return Rejoin


def watched(peer: ScriptedServer) -> type[Request]:
    """The caller's watch is answered, and the snapshot is lost."""
    _ask(peer, lambda id: Watch(id=id, match="m1"))
    peer.send(Done(re=peer.expect_request(Watch).id))
    return Watch


def played(peer: ScriptedServer) -> type[Request]:
    """The match has begun on this connection."""
    peer.send(_snapshot("m1", 1, you=0))
    return Rejoin


def shown(peer: ScriptedServer) -> type[Request]:
    """The spectator has the snapshot."""
    _watch(peer, "m1", 1)
    return Watch


LEARNED = (welcomed, rejoined, watched, played, shown)
"""The ways in which a client learns that it plays or watches match m1; each returns the type of the
request that asks for the match again. A wall has tests of its own."""

SEAT_REQUESTS: dict[str, Callable[[int], Request]] = {
    "move": _move("m1"),
    "resign": lambda id: Resign(id=id, match="m1"),
    "leave": lambda id: LeaveMatch(id=id, match="m1"),
    "note": lambda id: Note(id=id, match="m1", text="a note"),
    "comment": lambda id: AddComment(id=id, match="m1", text="well played"),
}
"""The requests that the server refuses on a connection without a seat in match m1."""


def _reloading(id: int) -> Refused:
    return Refused(re=id, code=Code.UNAVAILABLE, message="it is reloaded", retry_after_ms=200)


def _unplaced(request: Request) -> Refused:
    """Refuse a request for lack of a seat, as the server does."""
    code = Code.WRONG_STATE if isinstance(request, AddComment) else Code.NOT_SEATED
    return Refused(re=request.id, code=code, message="this connection has no seat in this match")


class TestReconnect:
    def test_a_move_without_an_answer_is_sent_again_with_its_old_id(
        self, online: ScriptedServer
    ) -> None:
        id = _ask(online, _move(ply=4))
        online.expect_request(Move)
        online.disconnect()
        online.next_event(Disconnected)
        online.accept_hello(seats=["m1"])
        online.expect_request(Rejoin, match="m1")
        assert online.expect_request(Move, id=id).ply == 4
        online.send(Done(re=id, seq=5))
        online.next_event(Opened)
        assert online.next_event(Answered).id == id
        online.assert_done()

    def test_a_request_without_an_answer_is_resent_by_the_same_program(
        self, online: ScriptedServer
    ) -> None:
        sent = _ask(online, lambda id: Host(id=id, settings=SETTINGS))
        online.expect_request(Host)
        online.disconnect()
        online.next_event(Disconnected)
        online.accept_hello()
        online.next_event(Opened)
        online.expect_request(Host, id=sent)
        online.assert_done()

    def test_what_was_never_sent_is_sent_whatever_it_is(self, online: ScriptedServer) -> None:
        online.disconnect()
        online.next_event(Disconnected)
        id = _ask(online, lambda id: Host(id=id, settings=SETTINGS))
        online.accept_hello()
        online.expect_request(Host, id=id)

    def test_seats_lobbies_and_watched_matches_are_taken_up_again(
        self, online: ScriptedServer
    ) -> None:
        _ask(online, lambda id: Join(id=id, lobby="L1", invite="fox"))
        online.send(Done(re=online.expect_request(Join).id))
        _ask(online, lambda id: Join(id=id, lobby="L2", role="spectator"))
        online.send(Done(re=online.expect_request(Join).id))
        _watch_after(online, "m7")
        online.disconnect()
        online.events.clear()
        online.accept_hello(seats=["m1", "m2"], lobbies=["L1", "L3"])
        online.next_event(Opened)
        online.expect_request(Rejoin, match="m1")
        online.expect_request(Rejoin, match="m2")
        online.expect_request(Join, lobby="L1", invite="fox", role="player")
        online.expect_request(Join, lobby="L3", role="player")
        online.expect_request(Join, lobby="L2", role="spectator")
        online.expect_request(Watch, match="m7")
        online.assert_done()

    def test_who_only_looks_or_hosts_leaves_seats_to_the_one_who_plays(self) -> None:
        identity = ClientIdentity(resume="the-secret", seated=False)
        peer = ScriptedServer(Session(identity, 0, chance=lambda: 0.5))
        peer.accept_hello(seats=["m1"], lobbies=["L1"])
        peer.next_event(Opened)
        _ask(peer, lambda id: Join(id=id, lobby="L1", role="spectator"))
        peer.send(Done(re=peer.expect_request(Join, role="spectator").id))
        _watch_after(peer, "m1")
        peer.disconnect()
        peer.events.clear()
        peer.accept_hello(seats=["m1"], lobbies=["L1"])
        peer.next_event(Opened)
        peer.expect_request(Join, lobby="L1", role="spectator")
        peer.expect_request(Watch, match="m1")
        peer.assert_done()

    def test_a_lobby_that_does_not_know_us_any_more_is_closed(self, online: ScriptedServer) -> None:
        _ask(online, lambda id: Join(id=id, lobby="L1"))
        online.send(Done(re=online.expect_request(Join).id))
        online.next_event(Answered)
        online.disconnect()
        online.next_event(Disconnected)
        online.accept_hello()
        online.next_event(Opened)
        assert online.next_event(NewsReceived).news == LobbyClosed(lobby="L1", reason="closed")
        online.assert_done()

    def test_a_lobby_being_left_is_not_joined_again(self, online: ScriptedServer) -> None:
        _ask(online, lambda id: Join(id=id, lobby="L1"))
        online.send(Done(re=online.expect_request(Join).id))
        online.next_event(Answered)
        _ask(online, lambda id: Leave(id=id, lobby="L1"))
        online.expect_request(Leave)
        online.disconnect()
        online.next_event(Disconnected)
        online.accept_hello(lobbies=["L1"])
        online.next_event(Opened)
        online.expect_request(Leave, lobby="L1")
        online.assert_done()

    @pytest.mark.parametrize("code", [Code.OVER, Code.NO_SUCH_MATCH])
    def test_a_match_that_ended_meanwhile_is_gone(self, online: ScriptedServer, code: Code) -> None:
        online.send(_snapshot("m1", 3, you=0))
        online.next_event(NewsReceived)
        online.disconnect()
        online.next_event(Disconnected)
        online.accept_hello()
        online.next_event(Opened)
        rejoin = online.expect_request(Rejoin, match="m1")
        online.send(Refused(re=rejoin.id, code=code, message="m1 is over"))
        assert online.next_event(MatchLost) == MatchLost("m1", code, "m1 is over")
        online.assert_done()

    @pytest.mark.parametrize("learned", LEARNED, ids=lambda each: each.__name__)
    def test_a_match_is_asked_for_on_each_connection_until_its_end_is_known(
        self, online: ScriptedServer, learned: Callable[[ScriptedServer], type[Request]]
    ) -> None:
        """Even if a connection is lost before the first snapshot, and the match ends meanwhile."""
        place = learned(online)
        for _ in range(2):
            online.disconnect()
            online.accept_hello()
            online.events.clear()
            asked = online.expect_request(place)
        online.send(Refused(re=asked.id, code=Code.OVER, message="m1 is over"))
        assert online.next_event(MatchLost) == MatchLost("m1", Code.OVER, "m1 is over")
        online.disconnect()
        online.accept_hello()
        online.events.clear()
        online.assert_done()

    @pytest.mark.parametrize("learned", LEARNED, ids=lambda each: each.__name__)
    def test_a_match_that_is_shown_as_over_is_not_asked_for_again(
        self, online: ScriptedServer, learned: Callable[[ScriptedServer], type[Request]]
    ) -> None:
        place = learned(online)
        online.disconnect()
        online.accept_hello()
        asked = online.expect_request(place)
        online.events.clear()
        over = _snapshot("m1", 3).model_copy(update={"result": FINISHED.result})
        online.send(Done(re=asked.id), over, FINISHED.model_copy(update={"match": "m1"}))
        assert _told(online) == ["Snapshot", "Finished"]
        online.disconnect()
        online.accept_hello()
        online.events.clear()
        online.assert_done()

    @pytest.mark.parametrize("build", SEAT_REQUESTS.values(), ids=SEAT_REQUESTS)
    @pytest.mark.parametrize("late", [False, True], ids=["before the retry", "after the retry"])
    def test_a_request_that_overtook_its_rejoin_waits_for_it(
        self, online: ScriptedServer, build: Callable[[int], Request], late: bool
    ) -> None:
        """The server reloaded the match after the rejoin, and before the request behind it."""
        id = _ask(online, build)
        online.disconnect()
        online.accept_hello(seats=["m1"])
        online.events.clear()
        rejoin = online.expect_request(Rejoin, match="m1")
        request = online.expect_request(Request, id=id)
        online.send(_reloading(rejoin.id))
        if late:
            online.advance(200)
            online.expect_request(Rejoin, id=rejoin.id)
        online.send(_unplaced(request))
        online.assert_done()
        if not late:
            online.advance(200)
            online.expect_request(Rejoin, id=rejoin.id)
        online.send(Done(re=rejoin.id))
        online.expect_request(Request, id=id)
        online.send(Done(re=id, seq=7))
        assert online.next_event(Answered) == Answered(id, Done(re=id, seq=7))
        online.assert_done()

    def test_a_comment_that_overtook_its_watch_waits_for_it(self, online: ScriptedServer) -> None:
        _watch(online, "m1", 3)
        id = _ask(online, lambda id: AddComment(id=id, match="m1", text="well played"))
        online.disconnect()
        online.accept_hello()
        online.events.clear()
        watch = online.expect_request(Watch, match="m1")
        comment = online.expect_request(AddComment, id=id)
        online.send(_reloading(watch.id), _unplaced(comment))
        online.advance(200)
        online.expect_request(Watch, id=watch.id)
        online.send(Done(re=watch.id))
        online.expect_request(AddComment, id=id)
        online.assert_done()

    @pytest.mark.parametrize("build", SEAT_REQUESTS.values(), ids=SEAT_REQUESTS)
    def test_a_request_is_refused_if_its_rejoin_is(
        self, online: ScriptedServer, build: Callable[[int], Request]
    ) -> None:
        id = _ask(online, build)
        online.disconnect()
        online.accept_hello(seats=["m1"])
        online.events.clear()
        rejoin = online.expect_request(Rejoin)
        refused = _unplaced(online.expect_request(Request, id=id))
        online.send(_reloading(rejoin.id), refused)
        online.advance(200)
        online.expect_request(Rejoin)
        online.send(Refused(re=rejoin.id, code=Code.NOT_SEATED, message="substituted"))
        assert online.next_event(MatchLost).match == "m1"
        online.expect_request(Request, id=id)
        online.send(refused)
        assert online.next_event(Answered) == Answered(id, refused)
        online.assert_done()

    @pytest.mark.parametrize("build", SEAT_REQUESTS.values(), ids=SEAT_REQUESTS)
    def test_a_request_without_a_seat_is_refused_at_once(
        self, online: ScriptedServer, build: Callable[[int], Request]
    ) -> None:
        """A rejoin of another match does not matter."""
        _ask(online, lambda id: Rejoin(id=id, match="m2"))
        online.expect_request(Rejoin)
        id = _ask(online, build)
        refused = _unplaced(online.expect_request(Request, id=id))
        online.send(refused)
        assert online.next_event(Answered) == Answered(id, refused)
        online.assert_done()

    def test_a_rejoin_refused_for_its_pace_is_asked_again(self, online: ScriptedServer) -> None:
        online.send(_snapshot("m1", 3, you=0))
        online.disconnect()
        online.accept_hello(seats=["m1"])
        online.events.clear()
        rejoin = online.expect_request(Rejoin)
        online.send(Refused(re=rejoin.id, code=Code.RATE_LIMITED, message="slow down"))
        online.advance(1_000)
        online.expect_request(Rejoin, id=rejoin.id)
        online.assert_done()

    def test_a_refused_watch_of_the_own_match_changes_nothing(self, online: ScriptedServer) -> None:
        online.send(_snapshot("m1", 3, you=0))
        id = _ask(online, lambda id: Watch(id=id, match="m1"))
        online.expect_request(Watch)
        online.events.clear()
        online.send(Refused(re=id, code=Code.NOT_WATCHABLE, message="you play there"))
        assert isinstance(online.next_event(Answered).answer, Refused)
        online.send(_event("m1", 4))
        assert online.next_event(NewsReceived).news == _event("m1", 4)

    def test_the_callers_own_rejoin_is_not_doubled(self, online: ScriptedServer) -> None:
        online.disconnect()
        online.next_event(Disconnected)
        id = _ask(online, lambda id: Rejoin(id=id, match="m1"))
        online.accept_hello(seats=["m1"])
        online.next_event(Opened)
        online.expect_request(Rejoin, id=id)
        online.assert_done()

    def test_a_turn_whose_move_is_on_its_way_is_not_told_again(
        self, online: ScriptedServer
    ) -> None:
        id = _ask(online, _move(ply=YOUR_TURN.ply))
        online.expect_request(Move)
        online.disconnect()
        online.next_event(Disconnected)
        online.accept_hello(seats=["m1"])
        online.next_event(Opened)
        rejoin = online.expect_request(Rejoin)
        online.expect_request(Move)
        online.send(Done(re=rejoin.id), _snapshot("m1", 0, you=0), YOUR_TURN)
        assert _told(online) == ["Snapshot"]
        online.send(Done(re=id, seq=1))
        online.next_event(Answered)
        online.send(YOUR_TURN)
        assert _told(online) == ["YourTurn"]

    def test_pauses_grow_and_keep_their_bound(self, peer: ScriptedServer) -> None:
        peer.session = _session(patience=SessionTimeouts(opening_ms=None))
        pauses = []
        for _ in range(9):
            peer.now = peer.session.connect_at
            peer.disconnect(None)
            pauses.append(peer.next_event(Disconnected).connect_at - peer.now)
        assert pauses == [75, 150, 300, 600, 1_200, 2_400, 3_750, 3_750, 3_750]

    def test_a_connection_that_lasted_makes_the_next_pause_short(
        self, online: ScriptedServer
    ) -> None:
        for _ in range(5):
            online.disconnect()
            online.accept_hello()
        online.advance(5_000)
        online.events.clear()
        online.disconnect()
        assert online.next_event(Disconnected).connect_at == online.now + 75

    def test_a_farewell_is_told_and_its_wait_kept(self, online: ScriptedServer) -> None:
        farewell = Farewell(code=Code.UNAVAILABLE, message="restart", retry_after_ms=4_000)
        online.send(farewell)
        assert online.next_event(NewsReceived).news == farewell
        online.disconnect(1012)
        assert online.next_event(Disconnected).connect_at >= online.now + 4_000

    def test_nobody_waits_longer_than_the_patience(self) -> None:
        peer = ScriptedServer(_session(patience=SessionTimeouts(away_ms=1_000)))
        peer.accept_hello()
        peer.next_event(Opened)
        id = _ask(peer, _move())
        peer.disconnect()
        while peer.session.state is SessionState.AWAY:
            peer.next_event(Disconnected)
            peer.now = peer.session.connect_at
            peer.disconnect(None, "refused")
        assert peer.now == 1_000
        assert peer.next_event(Unanswered).id == id
        error = peer.next_event(SessionEnded).error
        assert isinstance(error, UnreachableError)
        assert str(error) == "the server was unreachable for too long: refused"
        peer.assert_done()

    @pytest.mark.parametrize(
        ("code", "error"),
        [(CloseCode.REPLACED, ReplacedError), (CloseCode.KICKED, KickedError)],
    )
    def test_some_close_codes_are_final(
        self, online: ScriptedServer, code: int, error: type[SessionError]
    ) -> None:
        id = _ask(online, _move())
        online.disconnect(code)
        assert online.next_event(Unanswered).id == id
        assert isinstance(online.next_event(SessionEnded).error, error)
        assert online.session.deadline() is None

    @pytest.mark.parametrize("code", [None, 1000, 1001, 1006, 1008, 1012, CloseCode.TOO_SLOW])
    def test_all_others_are_not(self, online: ScriptedServer, code: int | None) -> None:
        online.disconnect(code)
        online.next_event(Disconnected)
        assert online.session.state is SessionState.AWAY

    def test_closed_by_its_owner_it_says_so(self, online: ScriptedServer) -> None:
        id = _ask(online, _move())
        online.events += online.session.close()
        assert online.next_event(Unanswered).id == id
        assert isinstance(online.next_event(SessionEnded).error, ClosedError)
        assert online.session.close() == []
        online.disconnect()
        online.send(YOUR_TURN)
        online.assert_done()


def _watch_after(peer: ScriptedServer, match: str) -> None:
    _ask(peer, lambda id: Watch(id=id, match=match))
    peer.send(Done(re=peer.expect_request(Watch).id), _snapshot(match, 1))


class TestNumbers:
    def test_events_follow_the_snapshot_and_each_other(self, online: ScriptedServer) -> None:
        _watch(online, "m1", 3)
        online.send(_event("m1", 4), _event("m1", 5))
        assert _told(online) == [4, 5]

    def test_duplicates_are_dropped(self, online: ScriptedServer) -> None:
        _watch(online, "m1", 3)
        online.send(_event("m1", 3), _event("m1", 4), _event("m1", 4), _event("m1", 5))
        assert _told(online) == [4, 5]

    def test_a_gap_in_a_watched_match_asks_for_a_snapshot_once(
        self, online: ScriptedServer
    ) -> None:
        _watch(online, "m1", 3)
        online.send(_event("m1", 5), _event("m1", 6), _event("m1", 9))
        watch = online.expect_request(Watch, match="m1")
        online.assert_done()
        online.send(Done(re=watch.id), _snapshot("m1", 9), _event("m1", 9), _event("m1", 10))
        assert _told(online) == ["Snapshot", 10]

    def test_a_gap_at_an_own_seat_rejoins(self, online: ScriptedServer) -> None:
        online.send(_snapshot("m1", 0, you=1), _event("m1", 2))
        online.expect_request(Rejoin, match="m1")

    def test_matches_have_numbers_of_their_own(self, online: ScriptedServer) -> None:
        _watch(online, "m1", 3)
        _watch(online, "m2", 10)
        online.send(_event("m2", 11), _event("m1", 4))
        assert _told(online) == [11, 4]

    def test_events_of_a_match_left_alone_are_dropped(self, online: ScriptedServer) -> None:
        _watch(online, "m1", 3)
        id = _ask(online, lambda id: Unwatch(id=id, match="m1"))
        online.expect_request(Unwatch)
        online.send(_event("m1", 4), Done(re=id), _event("m1", 5))
        assert online.next_event(NewsReceived).news == _event("m1", 4)
        online.next_event(Answered)
        online.assert_done()

    def test_a_finished_match_is_not_asked_for_again(self, online: ScriptedServer) -> None:
        online.send(_snapshot("m1", 0, you=0), FINISHED)
        assert _told(online) == ["Snapshot", "Finished"]
        online.disconnect()
        online.next_event(Disconnected)
        online.accept_hello()
        online.next_event(Opened)
        online.assert_done()

    def test_history_does_not_count_as_following(self, online: ScriptedServer) -> None:
        id = _ask(online, lambda id: History(id=id, match="m1"))
        online.expect_request(History)
        answer = next(message for message in NEWS if message.type == "events")
        assert isinstance(answer, Answer)
        online.send(answer.model_copy(update={"re": id}))
        online.next_event(Answered)
        online.send(_event("m1", 2))
        online.assert_done()


class Room:
    """An in-memory server with one match that counts moves, applied once by id and ply."""

    def __init__(self) -> None:
        self.log: list[int] = []
        """The request id of the move at each ply."""

    def hear(self, frame: bytes) -> list[ServerMessage]:
        request = decode_request(frame)
        match request:
            case Hello():
                return [self._welcome(request)]
            case Rejoin():
                return [Done(re=request.id), _snapshot("m1", len(self.log), you=0)]
            case Move():
                return self._move(request)
            case Note():
                return [Done(re=request.id)]
            case _:
                raise AssertionError(f"not expected: {request!r}")

    def _welcome(self, hello: Hello) -> Welcome:
        limits = Limits(frame_bytes=16_384, messages_per_second=1e6, burst=1_000, lobbies=1)
        return Welcome(
            re=hello.id,
            version=1,
            player="p1",
            name="ada",
            kind="bot",
            resume="a-secret-for-coming-back",
            server="room",
            limits=limits,
            seats=["m1"],
            lobbies=[],
        )

    def _move(self, move: Move) -> list[ServerMessage]:
        if move.id in self.log:
            return [Done(re=move.id, seq=self.log.index(move.id) + 1)]
        if move.ply != len(self.log):
            return [Refused(re=move.id, code=Code.STALE, message="too late", ply=len(self.log))]
        self.log.append(move.id)
        return [Done(re=move.id, seq=len(self.log)), _event("m1", len(self.log))]


class Wire:
    """Connects a session with the fake server; the test controls deliveries and failures."""

    def __init__(self) -> None:
        self.session = _session(patience=SessionTimeouts(opening_ms=None, away_ms=None))
        self.room = Room()
        self.now = 0
        self.happened: list[SessionEvent] = []
        self._there: deque[bytes] = deque()
        self._back: deque[bytes] = deque()

    def step(self, choice: str) -> None:
        if self.session.state is SessionState.AWAY:
            self._connect()
        self._there.extend(self.session.frames(self.now))
        match choice:
            case "there" if self._there:
                self._back.extend(encode(one) for one in self.room.hear(self._there.popleft()))
            case "back" if self._back:
                self.happened += self.session.receive(self._back.popleft(), self.now)
            case "cut":
                self.happened += self.session.lost(self.now)
            case _:
                pass

    def settle(self) -> None:
        """Deliver everything in transit."""
        self.step("pause")
        while self._there or self._back:
            self.step("there")
            self.step("back")
            self.step("pause")

    def _connect(self) -> None:
        self._there.clear()
        self._back.clear()
        self.now = self.session.connect_at
        self.session.connected(self.now)


@settings(max_examples=profiles.examples(300), deadline=None)
@given(st.lists(st.sampled_from(["there", "back", "back", "there", "cut", "move"]), max_size=120))
def test_whatever_breaks_every_move_is_applied_once_and_answered_once(choices: list[str]) -> None:
    wire = Wire()
    asked: list[int] = []
    for choice in [*choices, "move"]:
        if choice == "move":
            id = wire.session.new_id()
            wire.session.ask(Move(id=id, match="m1", ply=len(asked), action={"to": 1}))
            asked.append(id)
        wire.step(choice)
    wire.settle()
    answers = [one for one in wire.happened if isinstance(one, Answered)]
    assert wire.room.log == asked
    assert [(one.id, one.answer) for one in answers] == [
        (id, Done(re=id, seq=seq)) for seq, id in enumerate(asked, start=1)
    ]
    _assert_unbroken(wire.happened, len(asked))


def _assert_unbroken(happened: list[SessionEvent], last: int) -> None:
    """Each event directly follows the previous event or snapshot, up to the last one."""
    seen: int | None = None
    for one in happened:
        if not isinstance(one, NewsReceived):
            continue
        if isinstance(one.news, Snapshot):
            seen = one.news.seq
        elif isinstance(one.news, Event):
            assert seen is not None
            assert one.news.entry.seq == seen + 1
            seen += 1
    assert seen == last


class TestLobbyViews:
    """The server sends the full lobby once and then changes; the owner receives full lobbies."""

    def _views(self, peer: ScriptedServer) -> list[LobbyNews]:
        found = []
        while peer.events:
            news = peer.next_event(NewsReceived).news
            if isinstance(news, LobbyNews):
                found.append(news)
        return found

    def test_a_change_is_told_as_the_lobby_that_comes_of_it(self, online: ScriptedServer) -> None:
        online.send(LOBBY)
        member = LOBBY.lobby.members["p1"]
        other = member.model_copy(update={"player": "p0", "name": "bob", "seat": 1})
        fields = json.loads(encode(other))
        online.send(LobbyChanged(lobby="L1", patch={"done": 2, "members": {"p0": fields}}))
        whole, changed = self._views(online)
        assert whole == LOBBY
        wanted = {"done": 2, "members": {"p1": member, "p0": other}}
        assert changed.lobby == LOBBY.lobby.model_copy(update=wanted)
        online.send(LobbyChanged(lobby="L1", patch={"members": {"p1": None}}))
        assert self._views(online)[0].lobby.members == {"p0": other}

    def test_lines_of_the_table_are_patched_and_sorted(self, online: ScriptedServer) -> None:
        online.send(LOBBY)
        line = LOBBY.lobby.standings["p1"]
        best = line.model_copy(update={"player": "p9", "name": "zoe", "points": 3.0})
        fields = json.loads(encode(best))
        online.send(LobbyChanged(lobby="L1", patch={"standings": {"p9": fields}}))
        online.send(LobbyChanged(lobby="L1", patch={"standings": {"p9": None, "p1": {"wins": 9}}}))
        last = line.model_copy(update={"wins": 9})
        assert [view.lobby.table() for view in self._views(online)[1:]] == [[best, line], [last]]

    def test_a_patch_that_does_not_fit_ends_the_session(self, online: ScriptedServer) -> None:
        online.send(LOBBY)
        self._views(online)
        online.send(LobbyChanged(lobby="L1", patch={"members": 3}))
        assert isinstance(online.next_event(SessionEnded).error, GarbledError)

    def test_matches_that_begin_and_end_are_in_the_lobby_that_is_told(
        self, online: ScriptedServer
    ) -> None:
        second = STARTED.match.model_copy(update={"match": "m2", "number": 2})
        online.send(LOBBY, MatchStarted(lobby="L1", match=second))
        first = LOBBY.lobby.live["m1"]
        assert [[*view.lobby.live.values()] for view in self._views(online)] == [
            [first],
            [first, second],
        ]
        online.send(MatchEnded(lobby="L1", match=first))
        assert isinstance(online.next_event(NewsReceived).news, MatchEnded)
        assert [view.lobby.live for view in self._views(online)] == [{"m2": second}]

    def test_what_was_told_on_an_earlier_connection_is_not_changed_any_more(
        self, online: ScriptedServer
    ) -> None:
        """A reconnecting client receives the full lobby; until then its state is unknown."""
        online.send(LOBBY)
        self._views(online)
        online.disconnect()
        online.next_event(Disconnected)
        online.accept_hello()
        online.next_event(Opened)
        online.send(LobbyChanged(lobby="L1", patch={"done": 3}))
        assert self._views(online) == []

    def test_a_lobby_that_is_closed_is_forgotten(self, online: ScriptedServer) -> None:
        online.send(LOBBY, LobbyClosed(lobby="L1", reason="closed"))
        self._views(online)
        online.send(LobbyChanged(lobby="L1", patch={"done": 3}))
        assert self._views(online) == []


class TestHall:
    """The session always reports the full hall, whatever the server sends."""

    def test_changes_are_put_into_the_hall(self, online: ScriptedServer) -> None:
        _ask(online, lambda id: Subscribe(id=id, topic="hall"))
        online.send(Done(re=online.expect_request(Subscribe).id), HALL)
        online.next_event(Answered)
        assert online.next_event(NewsReceived).news == HALL
        online.send(next(news for news in NEWS if isinstance(news, HallChanged)))
        told = online.next_event(NewsReceived).news
        assert isinstance(told, HallNews)
        assert (told.lobbies, told.lobbies_in_all, told.matches["m1"].ply) == ({}, 0, 12)

    def test_a_change_of_a_hall_that_was_not_told_is_passed_over(
        self, online: ScriptedServer
    ) -> None:
        online.send(HallChanged(patch={"lobbies_in_all": 3}))
        online.assert_done()

    def test_it_is_subscribed_to_again_until_it_is_not(self, online: ScriptedServer) -> None:
        _ask(online, lambda id: Subscribe(id=id, topic="hall"))
        online.send(Done(re=online.expect_request(Subscribe).id), HALL)
        online.disconnect()
        online.accept_hello()
        online.send(Done(re=online.expect_request(Subscribe).id))
        _ask(online, lambda id: Unsubscribe(id=id, topic="hall"))
        online.send(Done(re=online.expect_request(Unsubscribe).id))
        online.disconnect()
        online.accept_hello()
        online.events.clear()
        online.assert_done()


def _wall(peer: ScriptedServer, *matches: str, watching: list[str] | None = None) -> None:
    """Request a wall, and let the server show all of it or only `watching`."""
    _ask(peer, lambda id: Wall(id=id, matches=list(matches)))
    shown = list(matches) if watching is None else watching
    request = peer.expect_request(Wall, matches=list(matches))
    refused = [
        NotWatched(match=match, code=Code.OVER, message="over")
        for match in matches
        if match not in shown
    ]
    peer.send(Walled(re=request.id, watching=shown, refused=refused))
    peer.next_event(Answered)


class TestWalls:
    """Many matches watched by one request."""

    def test_a_wall_follows_its_matches_and_no_others(self, online: ScriptedServer) -> None:
        _watch(online, "m9", 1)
        _wall(online, "m1", "m2")
        online.send(_snapshot("m1", 4), _event("m1", 5), _event("m9", 2))
        assert _told(online) == ["Snapshot", 5]

    def test_it_is_asked_for_again_as_one_request(self, online: ScriptedServer) -> None:
        _wall(online, "m1", "m2", "m3")
        online.send(_snapshot("m1", 4), FINISHED.model_copy(update={"match": "m3"}))
        _watch_after(online, "m5")
        online.disconnect()
        online.accept_hello()
        request = online.expect_request(Wall, matches=["m1", "m2", "m5"])
        online.events.clear()
        lost = NotWatched(match="m2", code=Code.OVER, message="it is over")
        online.send(Walled(re=request.id, watching=["m1", "m5"], refused=[lost]))
        assert online.next_event(MatchLost) == MatchLost("m2", Code.OVER, "it is over")
        online.assert_done()

    def test_what_does_not_fit_on_it_is_watched_beside_it(self, online: ScriptedServer) -> None:
        keys = [f"m{number}" for number in range(MAX_WALL)]
        _wall(online, *keys)
        _watch_after(online, "beside")
        online.disconnect()
        online.accept_hello()
        online.expect_request(Wall, matches=keys)
        online.advance(60_000)
        online.expect_request(Watch, match="beside")

    def test_it_waits_for_what_the_server_may_charge(self, online: ScriptedServer) -> None:
        keys = [f"m{number}" for number in range(MAX_WALL)]
        for _ in range(2):
            _ask(online, lambda id: Wall(id=id, matches=keys))
        online.expect_request(Wall)
        online.assert_done()
        online.advance(60_000)
        online.expect_request(Wall)


# --- several servers --------------------------------------------------------------------------

THERE = "ws://there.example.org"
REDIRECT = Redirect(url=THERE, ticket="a-ticket-to-there")


def _elsewhere(request: Request) -> Refused:
    return Refused(re=request.id, code=Code.ELSEWHERE, message="it is there", redirect=REDIRECT)


def _welcome(peer: ScriptedServer, hello: Hello, **fields: object) -> None:
    peer.send(
        Welcome(
            re=hello.id,
            version=1,
            player="p1",
            name="ada",
            kind="bot",
            server="script",
            limits=LIMITS,
            **({"resume": "", "seats": [], "lobbies": []} | fields),
        )
    )


def _come_with_ticket(peer: ScriptedServer, **fields: object) -> None:
    """Connect to the session's redirect, with the ticket and nothing else."""
    assert peer.session.addresses.present == THERE
    assert peer.session.connect_at <= peer.now
    peer.connect()
    hello = peer.expect_request(Hello, ticket=REDIRECT.ticket, name=None, resume=None, token=None)
    _welcome(peer, hello, **fields)


def test_a_request_goes_where_it_was_sent_and_is_answered_there(online: ScriptedServer) -> None:
    id = _ask(online, lambda id: Host(id=id, settings=SETTINGS))
    online.send(_elsewhere(online.expect_request(Host)))
    online.next_event(Disconnected)
    _come_with_ticket(online)
    online.next_event(Opened)
    online.send(Done(re=online.expect_request(Host).id, lobby="x"))
    assert online.next_event(Answered) == Answered(id, Done(re=id, lobby="x"))
    online.assert_done()


def test_the_secret_of_the_first_welcome_stays_good(online: ScriptedServer) -> None:
    _ask(online, lambda id: Join(id=id, lobby="x"))
    online.send(_elsewhere(online.expect_request(Join)))
    _come_with_ticket(online)
    assert online.session.welcome is not None
    assert online.session.welcome.resume == "a-secret-for-coming-back"
    online.disconnect()
    online.connect()
    assert online.session.addresses.present == THERE
    online.expect_request(Hello, resume="a-secret-for-coming-back", ticket=None)


def test_who_comes_back_is_sent_to_its_lobby(peer: ScriptedServer) -> None:
    peer.connect()
    peer.send(_elsewhere(peer.expect_request(Hello)))
    _come_with_ticket(peer, lobbies=["x"])
    peer.expect_request(Join, lobby="x")


def test_a_server_that_is_gone_is_looked_for_at_the_others(online: ScriptedServer) -> None:
    """The order is the last server, the configured URL, then the other servers."""
    _ask(online, lambda id: Join(id=id, lobby="x"))
    online.send(_elsewhere(online.expect_request(Join)))
    _come_with_ticket(online, nodes=["ws://b", "ws://c"])
    online.disconnect()
    tried = [online.session.addresses.present]
    for _ in range(4):
        online.now = online.session.connect_at
        online.disconnect(None, "refused")
        tried.append(online.session.addresses.present)
    assert tried == [THERE, None, "ws://b", "ws://c", None]


def test_a_server_that_lets_nobody_in_is_passed_over(online: ScriptedServer) -> None:
    online.disconnect()
    online.connect()
    _welcome(online, online.expect_request(Hello), nodes=["ws://b"])
    online.disconnect()
    online.connect()
    refused = Refused(
        re=online.expect_request(Hello).id, code=Code.UNAVAILABLE, message="it stands by"
    )
    online.send(refused)
    assert online.session.addresses.present == "ws://b"


def test_a_ticket_is_shown_again_where_its_player_is_not_known_yet(peer: ScriptedServer) -> None:
    peer.connect()
    peer.send(_elsewhere(peer.expect_request(Hello)))
    peer.connect()
    hello = peer.expect_request(Hello, ticket=REDIRECT.ticket)
    wait = Refused(re=hello.id, code=Code.UNAVAILABLE, message="not yet", retry_after_ms=300)
    peer.send(wait)
    assert peer.session.connect_at >= peer.now + 300
    peer.advance(1_000)
    _come_with_ticket(peer)


def test_who_is_never_let_in_where_it_was_sent_asks_at_home_again(online: ScriptedServer) -> None:
    """The other server has lost its database, and this one does not know it yet."""
    online.disconnect()
    for _ in range(MOST_HOPS + 1):
        assert online.session.addresses.present is None
        online.connect()
        online.send(_elsewhere(online.expect_request(Hello)))
        for _ in range(MOST_TRIES):
            assert online.session.addresses.present == THERE
            online.connect()
            hello = online.expect_request(Hello, ticket=REDIRECT.ticket)
            online.send(Refused(re=hello.id, code=Code.UNAVAILABLE, message="it stands by"))
            assert online.session.connect_at > online.now
    online.accept_hello()
    assert online.session.state is SessionState.ONLINE


def test_a_ticket_that_comes_too_late_sends_its_player_home(peer: ScriptedServer) -> None:
    peer.connect()
    peer.send(_elsewhere(peer.expect_request(Hello)))
    peer.connect()
    hello = peer.expect_request(Hello)
    peer.send(Refused(re=hello.id, code=Code.UNAUTHORIZED, message="too old"))
    assert peer.session.addresses.present is None
    peer.accept_hello()
    assert peer.session.state is SessionState.ONLINE


def test_a_request_is_not_sent_to_and_fro_for_ever(online: ScriptedServer) -> None:
    id = _ask(online, lambda id: Join(id=id, lobby="x"))
    for _ in range(MOST_HOPS):
        online.send(_elsewhere(online.expect_request(Join)))
        _come_with_ticket(online)
    online.events.clear()
    refused = _elsewhere(online.expect_request(Join))
    online.send(refused)
    assert online.next_event(Answered) == Answered(id, refused)
    assert online.session.state is SessionState.ONLINE


def test_a_request_is_sent_on_as_long_as_servers_die_meanwhile(online: ScriptedServer) -> None:
    """In a failing cluster, a move follows its match however often that moves."""
    id = _ask(online, lambda id: Move(id=id, match="m1", ply=0, action={"x": 1}))
    for _ in range(2 * MOST_HOPS):
        online.send(_elsewhere(online.expect_request(Move)))
        _come_with_ticket(online)
        online.expect_request(Move)
        online.disconnect()
        online.accept_hello()
    online.events.clear()
    moved = online.expect_request(Move)
    online.send(Done(re=moved.id, seq=1))
    assert online.next_event(Answered) == Answered(id, Done(re=moved.id, seq=1))


def test_a_hello_is_not_sent_to_and_fro_for_ever(peer: ScriptedServer) -> None:
    peer.connect()
    for _ in range(MOST_HOPS):
        peer.send(_elsewhere(peer.expect_request(Hello)))
        assert peer.session.connect_at == peer.now
        peer.connect()
    peer.send(_elsewhere(peer.expect_request(Hello)))
    assert peer.session.connect_at > peer.now  # like a request for which the server was too busy


def test_what_was_watched_is_followed_once_and_then_given_up(online: ScriptedServer) -> None:
    """Two matches on two servers: a connection is to one of them."""
    _watch(online, "m1", 1)
    _watch(online, "m2", 1)
    online.disconnect()
    online.accept_hello()
    online.events.clear()
    first = online.expect_request(Watch, match="m1")
    online.expect_request(Watch, match="m2")
    online.send(_elsewhere(first))
    _come_with_ticket(online)
    online.send(Done(re=online.expect_request(Watch, match="m1").id), _snapshot("m1", 1))
    online.events.clear()
    online.send(_elsewhere(online.expect_request(Watch, match="m2")))
    assert online.next_event(MatchLost).match == "m2"
    assert online.session.state is SessionState.ONLINE


def test_a_seat_is_followed_from_where_hello_was_sent_to_by_who_did_not_know_better(
    peer: ScriptedServer,
) -> None:
    """A suspended server redirects a player to the lobby's earlier node."""
    peer.accept_hello()
    peer.send(_snapshot("m1", 1, you=0))
    peer.disconnect()
    peer.connect()
    peer.send(_elsewhere(peer.expect_request(Hello)))
    _come_with_ticket(peer)
    rejoin = peer.expect_request(Rejoin, match="m1")
    onward = Redirect(url="ws://onward.example.org", ticket="a-ticket-to-onward")
    moved = Refused(re=rejoin.id, code=Code.ELSEWHERE, message="it moved", redirect=onward)
    peer.send(moved)
    assert peer.session.addresses.present == "ws://onward.example.org"
    peer.connect()
    _welcome(peer, peer.expect_request(Hello, ticket="a-ticket-to-onward"))
    again = peer.expect_request(Rejoin, match="m1")
    peer.send(moved.model_copy(update={"re": again.id}))  # not back and forth
    assert peer.session.state is SessionState.ONLINE
    peer.events.clear()


def test_elsewhere_without_a_way_there_is_an_answer(online: ScriptedServer) -> None:
    id = _ask(online, lambda id: Join(id=id, lobby="x"))
    request = online.expect_request(Join)
    refused = Refused(re=request.id, code=Code.ELSEWHERE, message="you have a seat here")
    online.send(refused)
    assert online.next_event(Answered) == Answered(id, refused)
