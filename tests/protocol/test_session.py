"""The session, told by a scripted server what a server may tell it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_protocol.codec import decode_request, encode
from kibitz_protocol.errors import (
    ClosedError,
    GarbledError,
    HelloRefusedError,
    KickedError,
    ReplacedError,
    SessionError,
    UnreachableError,
)
from kibitz_protocol.messages import (
    Answer,
    Done,
    Event,
    Farewell,
    Finished,
    GameList,
    Hello,
    History,
    Host,
    Join,
    Leave,
    Limits,
    ListGames,
    LobbyClosed,
    Move,
    Note,
    Refused,
    Rejoin,
    Request,
    ServerMessage,
    Snapshot,
    Unwatch,
    Watch,
    Welcome,
    YourTurn,
)
from kibitz_protocol.records import Hidden
from kibitz_protocol.refusals import CloseCode, Code
from kibitz_protocol.rooms import LobbySettings
from kibitz_protocol.samples import NEWS, SETTINGS
from kibitz_protocol.session import (
    Answered,
    Ended,
    Gone,
    Happening,
    Identity,
    Lost,
    Opened,
    Patience,
    Session,
    State,
    Told,
    Unanswered,
)
from kibitz_protocol.testing import LIMITS, Peer


def _session(**options: object) -> Session:
    identity = Identity(name="ada", agent="test")
    return Session(identity, 0, chance=lambda: 0.5, **options)  # type: ignore[arg-type]


@pytest.fixture
def peer() -> Peer:
    return Peer(_session())


@pytest.fixture
def online(peer: Peer) -> Peer:
    peer.greet()
    peer.take(Opened)
    return peer


SNAPSHOT = next(message for message in NEWS if isinstance(message, Snapshot))
YOUR_TURN = next(message for message in NEWS if isinstance(message, YourTurn))
FINISHED = next(message for message in NEWS if isinstance(message, Finished))


def _snapshot(match: str, seq: int, *, you: int | None = None) -> Snapshot:
    return SNAPSHOT.model_copy(update={"match": match, "seq": seq, "you": you})


def _event(match: str, seq: int) -> Event:
    return Event(match=match, ply=seq, to_act=0, entry=Hidden(seq=seq, at_ms=seq))


def _ask(peer: Peer, build: Callable[[int], Request]) -> int:
    id = peer.session.new_id()
    peer.session.ask(build(id))
    return id


def _move(match: str = "m1", ply: int = 0) -> Callable[[int], Request]:
    return lambda id: Move(id=id, match=match, ply=ply, action={"to": 12})


def _told(peer: Peer) -> list[object]:
    """What was told of a match: numbers of events, and snapshots."""
    told: list[object] = []
    while peer.happened:
        news = peer.take(Told).news
        told.append(news.entry.seq if isinstance(news, Event) else type(news).__name__)
    return told


def _watch(peer: Peer, match: str, seq: int) -> None:
    _ask(peer, lambda id: Watch(id=id, match=match))
    peer.say(Done(re=peer.expect(Watch, match=match).id), _snapshot(match, seq))
    peer.take(Answered)
    peer.take(Told)


class TestHello:
    def test_the_first_message_is_hello_with_all_that_was_given(self, peer: Peer) -> None:
        hello = peer.greet()
        assert hello == Hello(id=1, versions=[1], name="ada", agent="test")
        assert peer.take(Opened).again is False
        assert peer.session.state is State.ONLINE
        peer.assert_done()

    def test_the_second_hello_resumes_with_the_secret_of_the_first_welcome(
        self, online: Peer
    ) -> None:
        online.lose()
        online.take(Lost)
        hello = online.greet()
        assert (hello.resume, hello.name) == ("a-secret-for-coming-back", None)
        assert online.take(Opened).again is True

    def test_an_account_comes_back_with_its_token(self) -> None:
        session = Session(Identity(token="token-of-ada"), 0, chance=lambda: 0.5)
        peer = Peer(session)
        peer.greet()
        peer.lose()
        hello = peer.greet()
        assert (hello.token, hello.resume) == ("token-of-ada", None)

    def test_a_refused_hello_ends_the_session(self, peer: Peer) -> None:
        peer.connect()
        refused = Refused(re=peer.expect(Hello).id, code=Code.NAME_TAKEN, message="ada is here")
        peer.say(refused)
        error = peer.take(Ended).error
        assert isinstance(error, HelloRefusedError)
        assert error.code is Code.NAME_TAKEN
        with pytest.raises(HelloRefusedError):
            _ask(peer, _move())

    def test_a_name_that_a_lost_hello_may_have_taken_is_asked_for_again(self, peer: Peer) -> None:
        peer.connect()
        peer.expect(Hello)
        peer.lose()
        peer.connect()
        refused = Refused(re=peer.expect(Hello).id, code=Code.NAME_TAKEN, message="ada is here")
        peer.say(refused)
        peer.take(Lost)
        peer.greet()
        assert peer.session.welcome is not None

    def test_a_busy_server_is_tried_again_when_it_says(self, peer: Peer) -> None:
        peer.connect()
        hello = peer.expect(Hello)
        peer.say(
            Refused(re=hello.id, code=Code.UNAVAILABLE, message="starting", retry_after_ms=3_000)
        )
        assert peer.take(Lost).connect_at >= peer.now + 3_000
        assert peer.greet().id > hello.id

    def test_a_hello_without_an_answer_is_given_up(self, peer: Peer) -> None:
        peer.connect()
        peer.expect(Hello)
        assert peer.session.deadline() == peer.now + 10_000
        peer.wait(9_999)
        assert not peer.happened
        peer.wait(1)
        # Ten seconds are all the patience that there is for a first welcome.
        assert isinstance(peer.take(Ended).error, UnreachableError)

    def test_a_version_of_the_future_is_not_spoken(self, peer: Peer) -> None:
        peer.connect()
        welcome = next(message for message in NEWS if isinstance(message, Welcome))
        peer.say(welcome.model_copy(update={"re": peer.expect(Hello).id, "version": 9}))
        assert isinstance(peer.take(Ended).error, GarbledError)

    def test_two_connections_at_once_are_a_mistake_of_the_owner(self, online: Peer) -> None:
        with pytest.raises(AssertionError, match="a second connection"):
            online.session.connected(online.now)


class TestRequests:
    def test_each_gets_its_answer_whatever_the_order(self, online: Peer) -> None:
        first = _ask(online, lambda id: ListGames(id=id))
        second = _ask(online, _move())
        online.expect(ListGames, id=first)
        online.expect(Move, id=second)
        online.say(Done(re=second, seq=1), GameList(re=first, games=[], personalities=[]))
        assert online.take(Answered) == Answered(second, Done(re=second, seq=1))
        assert online.take(Answered).id == first
        online.assert_done()

    def test_a_second_answer_is_dropped(self, online: Peer) -> None:
        id = _ask(online, _move())
        online.expect(Move)
        online.say(Done(re=id), Done(re=id), Done(re=77))
        assert online.take(Answered).id == id
        online.assert_done()

    def test_a_refusal_without_an_id_is_told(self, online: Peer) -> None:
        refused = Refused(re=0, code=Code.MALFORMED, message="not JSON")
        online.say(refused)
        assert online.take(Told).news == refused

    def test_what_is_asked_before_the_welcome_goes_after_it(self, peer: Peer) -> None:
        id = _ask(peer, lambda id: ListGames(id=id))
        peer.greet()
        peer.expect(ListGames, id=id)
        peer.take(Opened)
        peer.assert_done()

    def test_withdrawn_before_it_was_sent_it_is_never_sent(self, peer: Peer) -> None:
        peer.session.withdraw(_ask(peer, _move()))
        peer.greet()
        peer.take(Opened)
        peer.assert_done()

    def test_withdrawn_afterwards_its_answer_is_dropped(self, online: Peer) -> None:
        id = _ask(online, _move())
        online.expect(Move)
        online.session.withdraw(id)
        online.say(Done(re=id))
        online.assert_done()

    def test_too_large_for_the_server_is_not_sent(self, online: Peer) -> None:
        with pytest.raises(ValueError, match=r"request of \d+ bytes, .* at most 16384"):
            _ask(online, lambda id: Host(id=id, settings=_enormous()))
        online.assert_done()

    def test_an_id_of_ones_own_is_not_taken(self, online: Peer) -> None:
        with pytest.raises(ValueError, match="was not made by new_id"):
            online.session.ask(ListGames(id=99))

    def test_an_answer_of_an_unknown_type_leaves_its_request_unanswered(self, online: Peer) -> None:
        id = _ask(online, lambda id: ListGames(id=id))
        online.expect(ListGames)
        online.happened += online.session.receive(
            b'{"type":"games_of_tomorrow","re":%d}' % id, online.now
        )
        assert online.take(Unanswered).id == id

    def test_news_of_an_unknown_type_is_passed_over(self, online: Peer) -> None:
        online.happened += online.session.receive(b'{"type":"weather"}', online.now)
        online.assert_done()
        assert online.session.state is State.ONLINE

    @pytest.mark.parametrize("frame", [b"", b"[]", b'{"type":"event"}', b'{"re":1}'])
    def test_what_cannot_be_read_ends_the_session(self, online: Peer, frame: bytes) -> None:
        online.happened += online.session.receive(frame, online.now)
        assert isinstance(online.take(Ended).error, GarbledError)

    def test_the_pace_stays_below_the_servers_limit(self, peer: Peer) -> None:
        peer.greet(limits=LIMITS.model_copy(update={"burst": 4, "messages_per_second": 2}))
        ids = [_ask(peer, lambda id: Note(id=id, match="m1", text="x")) for _ in range(4)]
        # Hello counted for two of four.
        peer.expect(Note, id=ids[0])
        peer.expect(Note, id=ids[1])
        peer.take(Opened)
        peer.assert_done()
        assert peer.session.deadline() == 500
        peer.wait(500)
        peer.expect(Note, id=ids[2])
        peer.assert_done()
        peer.wait(500)
        peer.expect(Note, id=ids[3])

    def test_a_move_waits_for_nothing_but_the_rejoin_of_its_match(self, online: Peer) -> None:
        moves = [_ask(online, _move(match)) for match in ("m1", "m2")]
        online.expect(Move)
        online.expect(Move)
        online.lose()
        online.take(Lost)
        limits = LIMITS.model_copy(update={"burst": 3, "messages_per_second": 1})
        online.greet(seats=["m1", "m2"], limits=limits)
        online.expect(Rejoin, match="m1")
        online.expect(Move, id=moves[0])
        online.take(Opened)
        online.assert_done()
        online.wait(1_000)
        online.expect(Rejoin, match="m2")
        online.expect(Move, id=moves[1])

    def test_a_move_refused_for_its_pace_is_sent_again_when_the_server_says(
        self, online: Peer
    ) -> None:
        id = _ask(online, _move())
        online.expect(Move)
        online.say(Refused(re=id, code=Code.RATE_LIMITED, message="slow down", retry_after_ms=250))
        online.assert_done()
        assert online.session.deadline() == online.now + 250
        online.wait(250)
        online.expect(Move, id=id)
        online.say(Done(re=id, seq=1))
        assert online.take(Answered).id == id

    def test_another_request_refused_for_its_pace_is_the_callers_matter(self, online: Peer) -> None:
        id = _ask(online, lambda id: ListGames(id=id))
        online.expect(ListGames)
        online.say(Refused(re=id, code=Code.RATE_LIMITED, message="slow down"))
        assert isinstance(online.take(Answered).answer, Refused)
        online.assert_done()


def _enormous() -> LobbySettings:
    item = SETTINGS.programme[0]
    options = {f"field-{index}": "x" * 200 for index in range(32)}
    crowded = item.model_copy(update={"options": options})
    return SETTINGS.model_copy(update={"programme": [crowded] * 4})


class TestReconnect:
    def test_a_move_without_an_answer_is_sent_again_with_its_old_id(self, online: Peer) -> None:
        id = _ask(online, _move(ply=4))
        online.expect(Move)
        online.lose()
        online.take(Lost)
        online.greet(seats=["m1"])
        online.expect(Rejoin, match="m1")
        assert online.expect(Move, id=id).ply == 4
        online.say(Done(re=id, seq=5))
        online.take(Opened)
        assert online.take(Answered).id == id
        online.assert_done()

    def test_what_could_be_done_twice_stays_without_an_answer(self, online: Peer) -> None:
        sent = _ask(online, lambda id: Host(id=id, settings=SETTINGS))
        online.expect(Host)
        online.lose()
        assert online.take(Unanswered).id == sent
        online.take(Lost)
        online.greet()
        online.take(Opened)
        online.assert_done()

    def test_what_was_never_sent_is_sent_whatever_it_is(self, online: Peer) -> None:
        online.lose()
        online.take(Lost)
        id = _ask(online, lambda id: Host(id=id, settings=SETTINGS))
        online.greet()
        online.expect(Host, id=id)

    def test_seats_lobbies_and_watched_matches_are_taken_up_again(self, online: Peer) -> None:
        _ask(online, lambda id: Join(id=id, lobby="L1", invite="fox"))
        online.say(Done(re=online.expect(Join).id))
        _ask(online, lambda id: Join(id=id, lobby="L2", role="spectator"))
        online.say(Done(re=online.expect(Join).id))
        _watch_after(online, "m7")
        online.lose()
        online.happened.clear()
        online.greet(seats=["m1", "m2"], lobbies=["L1", "L3"])
        online.take(Opened)
        online.expect(Rejoin, match="m1")
        online.expect(Rejoin, match="m2")
        online.expect(Join, lobby="L1", invite="fox", role="player")
        online.expect(Join, lobby="L3", role="player")
        online.expect(Join, lobby="L2", role="spectator")
        online.expect(Watch, match="m7")
        online.assert_done()

    def test_who_only_looks_or_hosts_leaves_seats_to_the_one_who_plays(self) -> None:
        identity = Identity(resume="the-secret", seated=False)
        peer = Peer(Session(identity, 0, chance=lambda: 0.5))
        peer.greet(seats=["m1"], lobbies=["L1"])
        peer.take(Opened)
        _ask(peer, lambda id: Join(id=id, lobby="L1", role="spectator"))
        peer.say(Done(re=peer.expect(Join, role="spectator").id))
        _watch_after(peer, "m1")
        peer.lose()
        peer.happened.clear()
        peer.greet(seats=["m1"], lobbies=["L1"])
        peer.take(Opened)
        peer.expect(Join, lobby="L1", role="spectator")
        peer.expect(Watch, match="m1")
        peer.assert_done()

    def test_a_lobby_that_does_not_know_us_any_more_is_closed(self, online: Peer) -> None:
        _ask(online, lambda id: Join(id=id, lobby="L1"))
        online.say(Done(re=online.expect(Join).id))
        online.take(Answered)
        online.lose()
        online.take(Lost)
        online.greet()
        online.take(Opened)
        assert online.take(Told).news == LobbyClosed(lobby="L1", reason="closed")
        online.assert_done()

    def test_a_lobby_being_left_is_not_joined_again(self, online: Peer) -> None:
        _ask(online, lambda id: Join(id=id, lobby="L1"))
        online.say(Done(re=online.expect(Join).id))
        online.take(Answered)
        _ask(online, lambda id: Leave(id=id, lobby="L1"))
        online.expect(Leave)
        online.lose()
        online.take(Lost)
        online.greet(lobbies=["L1"])
        online.take(Opened)
        online.expect(Leave, lobby="L1")
        online.assert_done()

    @pytest.mark.parametrize("code", [Code.OVER, Code.NO_SUCH_MATCH])
    def test_a_match_that_ended_meanwhile_is_gone(self, online: Peer, code: Code) -> None:
        online.say(_snapshot("m1", 3, you=0))
        online.take(Told)
        online.lose()
        online.take(Lost)
        online.greet()
        online.take(Opened)
        rejoin = online.expect(Rejoin, match="m1")
        online.say(Refused(re=rejoin.id, code=code, message="m1 is over"))
        assert online.take(Gone) == Gone("m1", code, "m1 is over")
        online.assert_done()

    def test_a_rejoin_refused_for_its_pace_is_asked_again(self, online: Peer) -> None:
        online.say(_snapshot("m1", 3, you=0))
        online.lose()
        online.greet(seats=["m1"])
        online.happened.clear()
        rejoin = online.expect(Rejoin)
        online.say(Refused(re=rejoin.id, code=Code.RATE_LIMITED, message="slow down"))
        online.wait(1_000)
        online.expect(Rejoin, id=rejoin.id)
        online.assert_done()

    def test_a_refused_watch_of_the_own_match_changes_nothing(self, online: Peer) -> None:
        online.say(_snapshot("m1", 3, you=0))
        id = _ask(online, lambda id: Watch(id=id, match="m1"))
        online.expect(Watch)
        online.happened.clear()
        online.say(Refused(re=id, code=Code.NOT_WATCHABLE, message="you play there"))
        assert isinstance(online.take(Answered).answer, Refused)
        online.say(_event("m1", 4))
        assert online.take(Told).news == _event("m1", 4)

    def test_the_callers_own_rejoin_is_not_doubled(self, online: Peer) -> None:
        online.lose()
        online.take(Lost)
        id = _ask(online, lambda id: Rejoin(id=id, match="m1"))
        online.greet(seats=["m1"])
        online.take(Opened)
        online.expect(Rejoin, id=id)
        online.assert_done()

    def test_a_turn_whose_move_is_on_its_way_is_not_told_again(self, online: Peer) -> None:
        id = _ask(online, _move(ply=YOUR_TURN.ply))
        online.expect(Move)
        online.lose()
        online.take(Lost)
        online.greet(seats=["m1"])
        online.take(Opened)
        rejoin = online.expect(Rejoin)
        online.expect(Move)
        online.say(Done(re=rejoin.id), _snapshot("m1", 0, you=0), YOUR_TURN)
        assert _told(online) == ["Snapshot"]
        online.say(Done(re=id, seq=1))
        online.take(Answered)
        online.say(YOUR_TURN)
        assert _told(online) == ["YourTurn"]

    def test_pauses_grow_and_keep_their_bound(self, peer: Peer) -> None:
        peer.session = _session(patience=Patience(opening_ms=None))
        pauses = []
        for _ in range(9):
            peer.now = peer.session.connect_at
            peer.lose(None)
            pauses.append(peer.take(Lost).connect_at - peer.now)
        assert pauses == [75, 150, 300, 600, 1_200, 2_400, 3_750, 3_750, 3_750]

    def test_a_connection_that_lasted_makes_the_next_pause_short(self, online: Peer) -> None:
        for _ in range(5):
            online.lose()
            online.greet()
        online.wait(5_000)
        online.happened.clear()
        online.lose()
        assert online.take(Lost).connect_at == online.now + 75

    def test_a_farewell_is_told_and_its_wait_kept(self, online: Peer) -> None:
        farewell = Farewell(code=Code.UNAVAILABLE, message="restart", retry_after_ms=4_000)
        online.say(farewell)
        assert online.take(Told).news == farewell
        online.lose(1012)
        assert online.take(Lost).connect_at >= online.now + 4_000

    def test_nobody_waits_longer_than_the_patience(self) -> None:
        peer = Peer(_session(patience=Patience(away_ms=1_000)))
        peer.greet()
        peer.take(Opened)
        id = _ask(peer, _move())
        peer.lose()
        while peer.session.state is State.AWAY:
            peer.take(Lost)
            peer.now = peer.session.connect_at
            peer.lose(None, "refused")
        assert peer.now == 1_000
        assert peer.take(Unanswered).id == id
        assert isinstance(peer.take(Ended).error, UnreachableError)
        peer.assert_done()

    @pytest.mark.parametrize(
        ("code", "error"),
        [(CloseCode.REPLACED, ReplacedError), (CloseCode.KICKED, KickedError)],
    )
    def test_some_close_codes_are_final(
        self, online: Peer, code: int, error: type[SessionError]
    ) -> None:
        id = _ask(online, _move())
        online.lose(code)
        assert online.take(Unanswered).id == id
        assert isinstance(online.take(Ended).error, error)
        assert online.session.deadline() is None

    @pytest.mark.parametrize("code", [None, 1000, 1001, 1006, 1008, 1012, CloseCode.TOO_SLOW])
    def test_all_others_are_not(self, online: Peer, code: int | None) -> None:
        online.lose(code)
        online.take(Lost)
        assert online.session.state is State.AWAY

    def test_closed_by_its_owner_it_says_so(self, online: Peer) -> None:
        id = _ask(online, _move())
        online.happened += online.session.close()
        assert online.take(Unanswered).id == id
        assert isinstance(online.take(Ended).error, ClosedError)
        assert online.session.close() == []
        online.lose()
        online.say(YOUR_TURN)
        online.assert_done()


def _watch_after(peer: Peer, match: str) -> None:
    _ask(peer, lambda id: Watch(id=id, match=match))
    peer.say(Done(re=peer.expect(Watch).id), _snapshot(match, 1))


class TestNumbers:
    def test_events_follow_the_snapshot_and_each_other(self, online: Peer) -> None:
        _watch(online, "m1", 3)
        online.say(_event("m1", 4), _event("m1", 5))
        assert _told(online) == [4, 5]

    def test_duplicates_are_dropped(self, online: Peer) -> None:
        _watch(online, "m1", 3)
        online.say(_event("m1", 3), _event("m1", 4), _event("m1", 4), _event("m1", 5))
        assert _told(online) == [4, 5]

    def test_a_gap_in_a_watched_match_asks_for_a_snapshot_once(self, online: Peer) -> None:
        _watch(online, "m1", 3)
        online.say(_event("m1", 5), _event("m1", 6), _event("m1", 9))
        watch = online.expect(Watch, match="m1")
        online.assert_done()
        online.say(Done(re=watch.id), _snapshot("m1", 9), _event("m1", 9), _event("m1", 10))
        assert _told(online) == ["Snapshot", 10]

    def test_a_gap_at_an_own_seat_rejoins(self, online: Peer) -> None:
        online.say(_snapshot("m1", 0, you=1), _event("m1", 2))
        online.expect(Rejoin, match="m1")

    def test_matches_have_numbers_of_their_own(self, online: Peer) -> None:
        _watch(online, "m1", 3)
        _watch(online, "m2", 10)
        online.say(_event("m2", 11), _event("m1", 4))
        assert _told(online) == [11, 4]

    def test_events_of_a_match_left_alone_are_dropped(self, online: Peer) -> None:
        _watch(online, "m1", 3)
        id = _ask(online, lambda id: Unwatch(id=id, match="m1"))
        online.expect(Unwatch)
        online.say(_event("m1", 4), Done(re=id), _event("m1", 5))
        assert online.take(Told).news == _event("m1", 4)
        online.take(Answered)
        online.assert_done()

    def test_a_finished_match_is_not_asked_for_again(self, online: Peer) -> None:
        online.say(_snapshot("m1", 0, you=0), FINISHED)
        assert _told(online) == ["Snapshot", "Finished"]
        online.lose()
        online.take(Lost)
        online.greet()
        online.take(Opened)
        online.assert_done()

    def test_history_does_not_count_as_following(self, online: Peer) -> None:
        id = _ask(online, lambda id: History(id=id, match="m1"))
        online.expect(History)
        answer = next(message for message in NEWS if message.type == "events")
        assert isinstance(answer, Answer)
        online.say(answer.model_copy(update={"re": id}))
        online.take(Answered)
        online.say(_event("m1", 2))
        online.assert_done()


class Room:
    """A server in memory: one match that counts moves, applied once by id and ply."""

    def __init__(self) -> None:
        self.log: list[int] = []
        """The request id of each ply's move."""

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
    """Joins a session with a room; whoever holds it decides what arrives and when it breaks."""

    def __init__(self) -> None:
        self.session = _session(patience=Patience(opening_ms=None, away_ms=None))
        self.room = Room()
        self.now = 0
        self.happened: list[Happening] = []
        self._there: deque[bytes] = deque()
        self._back: deque[bytes] = deque()

    def step(self, choice: str) -> None:
        if self.session.state is State.AWAY:
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
        """Let everything arrive that is on its way."""
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


@settings(max_examples=300, deadline=None)
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


def _assert_unbroken(happened: list[Happening], last: int) -> None:
    """Each event is the one after the event or the snapshot before it, up to the last."""
    seen: int | None = None
    for one in happened:
        if not isinstance(one, Told):
            continue
        if isinstance(one.news, Snapshot):
            seen = one.news.seq
        elif isinstance(one.news, Event):
            assert seen is not None
            assert one.news.entry.seq == seen + 1
            seen += 1
    assert seen == last
