"""Lobbies: every command in every state, and each rule that the module's docstring states."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kibitz_protocol.messages import Capabilities, GameClaim
from kibitz_protocol.records import Cause, Conduct, Player, PlayerKind, Result, SeatResult
from kibitz_protocol.refusals import Code
from kibitz_protocol.rooms import (
    Arrangement,
    HouseSeat,
    LobbySettings,
    LobbyState,
    OpenSeat,
    ProgrammeItem,
    ReservedSeat,
    SeatSpec,
)
from kibitz_server import roll
from kibitz_server.lobby import (
    AWAY_MS,
    IDLE_MS,
    MOST_MATCHES,
    Accepted,
    Append,
    Arrange,
    Begin,
    Briefed,
    Close,
    Command,
    Connected,
    Disconnected,
    Effect,
    Gone,
    Hire,
    HouseFailed,
    Join,
    Kick,
    Leave,
    Lobby,
    MatchEnded,
    Ready,
    Refuse,
    Rematch,
    Resume,
    Start,
    Vacate,
    objection,
)
from kibitz_server.roll import HIRES, Entry

E = TypeVar("E", bound=Effect)
HOUSE = HouseSeat(personality="toy/random")


def player(name: str, kind: PlayerKind = "bot") -> Player:
    return Player(player=name, name=name, kind=kind)


def settings(
    *seats: SeatSpec, programme: Iterable[ProgrammeItem] = (), **fields: object
) -> LobbySettings:
    made = {"seats": list(seats) or [OpenSeat(), OpenSeat()], "programme": list(programme)}
    made["programme"] = made["programme"] or [ProgrammeItem(game="toy", games=2)]
    return LobbySettings.model_validate(made | fields)


def result(seats: int = 2, cause: Cause = Cause.RULES) -> Result:
    line = [SeatResult(rank=seat + 1, score=0.0) for seat in range(seats)]
    return Result(seats=line, cause=cause, plies=3)


class Room:
    """A lobby with its log, kept as the caller must: appended in order, lines of JSON."""

    def __init__(self, chosen: LobbySettings, **fields: object) -> None:
        opened = roll.Opened.model_validate(
            {
                "lobby": "l1",
                "host": player("host", "human"),
                "settings": chosen,
                "invite": "open-sesame",
                "created": "2026-01-01T00:00:00Z",
                "seed": 11,
                "hidden": [],
            }
            | fields
        )
        self.now = 0
        self.log: list[str] = []
        self.lobby, self.opening = Lobby.new(opened, self.now)
        self._keep(self.opening)

    def do(self, command: Command) -> list[Effect]:
        return self._keep(self.lobby.handle(command, self.now))

    def wait(self, millis: int) -> list[Effect]:
        self.now += millis
        return self._keep(self.lobby.tick(self.now))

    def restored(self) -> Lobby:
        return Lobby.restore(self.entries(), self.now)

    def crash(self) -> None:
        self.lobby = self.restored()

    def entries(self) -> list[Entry]:
        return [roll.ENTRY.validate_json(line) for line in self.log]

    def seat(self, *names: str, ready: bool = True) -> None:
        for name in names:
            self.do(Join(player(name)))
        for name in names if ready else ():
            self.do(Ready(name))

    def play(self) -> None:
        """End every match of the round, first seat first."""
        while self.lobby.roll.running:
            self.end()

    def end(self, cause: Cause = Cause.RULES) -> list[Effect]:
        match, planned = next(iter(self.lobby.roll.running.items()))
        return self.do(MatchEnded(match, result(len(planned.players), cause)))

    def _keep(self, effects: list[Effect]) -> list[Effect]:
        self.log += [each.entry.model_dump_json() for each in of(Append, effects)]
        return effects


def of(kind: type[E], effects: Iterable[Effect]) -> list[E]:
    return [effect for effect in effects if isinstance(effect, kind)]


def kinds(effects: Iterable[Effect]) -> list[str]:
    return [
        each.entry.kind if isinstance(each, Append) else type(each).__name__ for each in effects
    ]


def refused(effects: list[Effect]) -> Code:
    assert len(effects) == 1, effects
    assert isinstance(effects[0], Refuse), effects
    assert effects[0].message
    return effects[0].code


# --- every command in every state ---------------------------------------------------------

STATES: tuple[LobbyState, ...] = ("gathering", "running", "finished", "closed")
TABLE: dict[str, tuple[Command, tuple[Code | None, Code | None, Code | None, Code | None]]] = {
    "join": (
        Join(player("cyd")),
        (None, Code.WRONG_STATE, None, Code.CLOSED),
    ),
    "join again": (Join(player("ada")), (None, None, None, Code.CLOSED)),
    "leave": (Leave("ada"), (None, None, None, Code.CLOSED)),
    "leave, not a member": (
        Leave("cyd"),
        (Code.NOT_MEMBER, Code.NOT_MEMBER, Code.NOT_MEMBER, Code.CLOSED),
    ),
    "kick": (Kick("host", "ada"), (None, None, None, Code.CLOSED)),
    "kick, not the host": (
        Kick("bob", "ada"),
        (Code.NOT_HOST, Code.NOT_HOST, Code.NOT_HOST, Code.CLOSED),
    ),
    "kick nobody": (
        Kick("host", "cyd"),
        (Code.NO_SUCH_PLAYER, Code.NO_SUCH_PLAYER, Code.NO_SUCH_PLAYER, Code.CLOSED),
    ),
    "ready, said again": (Ready("ada"), (None, None, None, Code.CLOSED)),
    "unready": (
        Ready("ada", False),
        (None, Code.WRONG_STATE, Code.WRONG_STATE, Code.CLOSED),
    ),
    "ready, not a member": (
        Ready("cyd"),
        (Code.NOT_MEMBER, Code.NOT_MEMBER, Code.NOT_MEMBER, Code.CLOSED),
    ),
    "start": (Start("host"), (None, Code.WRONG_STATE, Code.WRONG_STATE, Code.CLOSED)),
    "start, not the host": (
        Start("ada"),
        (Code.NOT_HOST, Code.NOT_HOST, Code.NOT_HOST, Code.CLOSED),
    ),
    "rematch": (Rematch("host"), (Code.WRONG_STATE, Code.WRONG_STATE, None, Code.CLOSED)),
    "rematch, not the host": (
        Rematch("ada"),
        (Code.NOT_HOST, Code.NOT_HOST, Code.NOT_HOST, Code.CLOSED),
    ),
    "close": (Close("host"), (None, None, None, Code.CLOSED)),
    "close, not the host": (
        Close("ada"),
        (Code.NOT_HOST, Code.NOT_HOST, Code.NOT_HOST, Code.CLOSED),
    ),
}


def in_state(state: LobbyState) -> Room:
    """A lobby of three open seats, where ada and bob are ready, in `state`."""
    room = Room(settings(OpenSeat(), OpenSeat(), OpenSeat()))
    room.seat("ada", "bob")
    if state != "gathering":
        room.do(Start("host"))
    if state in ("finished", "closed"):
        room.play()
    if state == "closed":
        room.do(Close("host"))
    assert room.lobby.state == state
    return room


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("case", TABLE)
def test_every_command_in_every_state(case: str, state: LobbyState) -> None:
    command, codes = TABLE[case]
    room = in_state(state)
    before = copy.deepcopy(room.lobby.roll)
    effects = room.do(command)
    code = codes[STATES.index(state)]
    if code is None:
        assert len(of(Accepted, effects)) == 1
        assert not of(Refuse, effects)
    else:
        assert refused(effects) is code
        assert room.lobby.roll == before
    assert room.restored().roll == room.lobby.roll


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    "command",
    [
        Connected("ada"),
        Disconnected("ada"),
        Connected("stranger"),
        Disconnected("stranger"),
        MatchEnded("nobody-s-1", result()),
        HouseFailed(0, "not a house seat"),
        HouseFailed(99, "not a seat"),
        Resume(["l1-1-1"]),
    ],
    ids=lambda command: type(command).__name__,
)
def test_news_of_the_server_is_not_answered_and_changes_no_log(
    command: Command, state: LobbyState
) -> None:
    assert in_state(state).do(command) == []


# --- joining ------------------------------------------------------------------------------


def test_a_lobby_opens_with_its_entry_first_and_hires() -> None:
    room = Room(settings(OpenSeat(), HOUSE))
    assert kinds(room.opening) == ["opened", "Hire"]
    assert of(Hire, room.opening) == [Hire(1, "toy/random", None)]


def test_joining_again_changes_nothing() -> None:
    room = Room(settings())
    assert kinds(room.do(Join(player("ada")))) == ["joined", "Accepted"]
    assert kinds(room.do(Join(player("ada")))) == ["Accepted"]


def test_a_full_lobby_says_so() -> None:
    room = Room(settings())
    room.seat("ada", "bob", ready=False)
    (refusal,) = of(Refuse, room.do(Join(player("cyd"))))
    assert (refusal.code, refusal.message) == (
        Code.FULL,
        "all 2 seats of the lobby 'lobby' are taken",
    )


def test_reserved_seats_are_kept_for_their_name_however_written() -> None:
    room = Room(settings(ReservedSeat(name="Ada"), OpenSeat()))
    room.seat("bob", ready=False)
    assert room.lobby.roll.members["bob"].seat == 1
    (refusal,) = of(Refuse, room.do(Join(player("cyd"))))
    assert refusal.code is Code.FULL
    assert "kept for others" in refusal.message
    room.do(Join(Player(player="p9", name="ADA", kind="human")))
    assert room.lobby.roll.members["p9"].seat == 0


@pytest.mark.parametrize(
    ("joinable", "invite", "code"),
    [
        ("open", None, None),
        ("invite", "open-sesame", None),
        ("invite", None, Code.WRONG_INVITE),
        ("invite", "öpen-sesame", Code.WRONG_INVITE),
        ("closed", "open-sesame", Code.CLOSED),
    ],
)
def test_who_may_join(joinable: str, invite: str | None, code: Code | None) -> None:
    room = Room(settings(ReservedSeat(name="ada"), OpenSeat(), OpenSeat(), joinable=joinable))
    effects = room.do(Join(player("bob"), invite=invite))
    assert kinds(effects) == ["joined", "Accepted"] if code is None else refused(effects) is code
    assert kinds(room.do(Join(player("ada")))) == ["joined", "Accepted"]
    assert kinds(room.do(Join(player("host", "human")))) == ["joined", "Accepted"]


def test_whoever_was_removed_stays_out() -> None:
    room = Room(settings())
    room.seat("ada")
    effects = room.do(Kick("host", "ada"))
    assert kinds(effects) == ["kicked", "Accepted", "Gone"]
    assert of(Gone, effects) == [Gone("ada", "kicked")]
    assert refused(room.do(Join(player("ada")))) is Code.CLOSED
    assert kinds(room.do(Join(player("bob")))) == ["joined", "Accepted"]


def test_a_host_does_not_remove_itself() -> None:
    room = Room(settings())
    room.do(Join(player("host", "human")))
    assert refused(room.do(Kick("host", "host"))) is Code.WRONG_STATE


def test_the_host_s_rights_outlive_its_seat() -> None:
    room = Room(settings(OpenSeat(), OpenSeat(), OpenSeat()))
    room.do(Join(player("host", "human")))
    room.seat("ada", "bob")
    room.do(Leave("host"))
    assert kinds(room.do(Start("host")))[:2] == ["started", "Accepted"]


def test_a_bot_that_can_play_nothing_is_refused() -> None:
    room = Room(settings())
    hex_only = Capabilities(games=[GameClaim(game="hex")])
    (refusal,) = of(Refuse, room.do(Join(player("ada"), hex_only)))
    assert refusal.code is Code.BAD_SEATS
    assert "it does not claim the game 'toy'" in refusal.message


def test_a_bot_that_would_leave_too_few_for_an_item_is_refused() -> None:
    both = [ProgrammeItem(game="toy"), ProgrammeItem(game="hex")]
    room = Room(settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=both))
    only = Capabilities(games=[GameClaim(game="toy")])
    assert kinds(room.do(Join(player("ada"), only))) == ["joined", "Accepted"]
    assert refused(room.do(Join(player("bob"), only))) is Code.BAD_SEATS
    room.seat("bob", "cyd")
    room.do(Ready("ada"))
    assert room.lobby.state == "running"
    assert all(
        each.player != "ada"
        for planned in room.lobby.roll.waiting.values()
        if planned.item.game == "hex"
        for each in planned.players
    )


# --- starting -----------------------------------------------------------------------------


def test_the_programme_starts_by_itself_once_all_are_ready() -> None:
    room = Room(settings())
    room.seat("ada", "bob", ready=False)
    room.do(Ready("ada"))
    effects = room.do(Ready("bob"))
    assert kinds(effects) == ["readied", "Accepted", "started", "match_begun", "Begin"]
    (begin,) = of(Begin, effects)
    assert begin.match == "l1-1-1"
    assert [each.player for each in begin.planned.players] == ["ada", "bob"]


def test_the_host_starts_where_the_lobby_does_not() -> None:
    room = Room(settings(auto_start=False))
    room.seat("ada", "bob")
    assert room.lobby.view(None).state == "gathering"
    room.do(Start("host"))
    assert room.lobby.state == "running"


def test_start_names_who_is_not_ready() -> None:
    room = Room(settings(OpenSeat(), OpenSeat(), HOUSE))
    room.seat("ada", "bob")

    def why() -> str:
        (refusal,) = of(Refuse, room.do(Start("host")))
        assert refusal.code is Code.NOT_READY
        return refusal.message

    assert why() == "the house bot of seat 2 has not come yet"
    room.do(Join(player("h", "house"), ticket=2))
    room.do(Ready("ada", False))
    assert why() == "'ada' is not ready"
    room.do(Disconnected("bob"))
    room.do(Ready("ada"))
    assert why() == "'bob' is not connected"


def test_too_few_members_cannot_start() -> None:
    room = Room(settings(OpenSeat(), OpenSeat(), OpenSeat()))
    room.seat("ada")
    (refusal,) = of(Refuse, room.do(Start("host")))
    assert refusal.code is Code.BAD_SEATS
    assert "needs 2 members" in refusal.message


def test_nobody_starts_a_match_while_disconnected() -> None:
    room = Room(settings())
    room.seat("ada", "bob", ready=False)
    room.do(Ready("ada"))
    room.do(Disconnected("ada"))
    assert room.do(Ready("bob"))[-1] == Accepted("bob")
    assert kinds(room.do(Connected("ada"))) == ["started", "match_begun", "Begin"]


# --- the programme ------------------------------------------------------------------------


def test_matches_follow_each_other_and_the_standings_add_up() -> None:
    room = Room(settings(programme=[ProgrammeItem(game="toy", games=4)]))
    room.seat("ada", "bob")
    room.play()
    view = room.lobby.view("ada")
    assert (view.state, view.planned, view.done, view.live) == ("finished", 4, 4, [])
    assert [(line.name, line.played, line.points) for line in view.standings] == [
        ("ada", 4, 2.0),
        ("bob", 4, 2.0),
    ]


def test_no_more_matches_run_than_the_host_allows() -> None:
    programme = [ProgrammeItem(game="toy", games=9)]
    room = Room(settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=programme, at_once=3))
    for name in ("ada", "bob", "cyd"):
        room.do(Join(player(name), Capabilities(at_once=9)))
        room.do(Ready(name))
    most = 0
    while room.lobby.state == "running":
        most = max(most, len(room.lobby.roll.running))
        room.end()
    assert most == 3


def test_a_bot_plays_no_more_at_once_than_it_claims() -> None:
    programme = [ProgrammeItem(game="toy", games=9)]
    room = Room(settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=programme, at_once=9))
    for name, places in (("ada", 1), ("bob", 2), ("cyd", 9)):
        room.do(Join(player(name), Capabilities(at_once=places)))
        room.do(Ready(name))
    running = [planned.players for planned in room.lobby.roll.running.values()]
    assert [tuple(each.player for each in players) for players in running] == [
        ("ada", "bob"),
        ("bob", "cyd"),
    ]


def test_a_match_told_twice_counts_once() -> None:
    room = Room(settings())
    room.seat("ada", "bob")
    assert room.do(MatchEnded("l1-1-1", result()))
    assert room.do(MatchEnded("l1-1-1", result())) == []
    assert room.lobby.roll.ended == 1


def test_a_result_of_other_seats_is_the_caller_s_mistake() -> None:
    room = Room(settings())
    room.seat("ada", "bob")
    with pytest.raises(ValueError, match="a result for 2 seats has 3"):
        room.do(MatchEnded("l1-1-1", result(3)))


def test_the_server_s_own_trouble_is_played_once_more_and_counts_for_nobody() -> None:
    room = Room(settings(programme=[ProgrammeItem(game="toy", games=1)]))
    room.seat("ada", "bob")
    (again,) = of(Begin, room.end(Cause.INFRASTRUCTURE))
    assert (again.match, again.planned.number) == ("l1-1-1b", 1)
    room.end(Cause.INFRASTRUCTURE)
    view = room.lobby.view(None)
    assert (view.state, view.done) == ("finished", 1)
    assert [line.played for line in view.standings] == [0, 0]
    assert room.lobby.roll.aborted == 1


def test_leaving_a_running_programme_voids_what_has_not_begun() -> None:
    room = Room(
        settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=[ProgrammeItem(game="toy", games=6)])
    )
    room.seat("ada", "bob", "cyd")  # ada-bob runs; bob-cyd cyd-ada ada-cyd bob-ada cyd-bob wait
    effects = room.do(Leave("ada"))
    assert kinds(effects) == ["left", "Vacate", "Accepted"]
    assert of(Vacate, effects) == [Vacate("l1-1-1", "ada")]
    assert room.lobby.roll.void == 3
    room.play()
    assert room.lobby.state == "finished"
    assert room.lobby.roll.ended == 3
    assert {line.name: line.played for line in room.lobby.view(None).standings} == {
        "ada": 1,
        "bob": 3,
        "cyd": 2,
    }


def test_a_match_of_somebody_who_has_left_is_not_repeated() -> None:
    room = Room(settings(programme=[ProgrammeItem(game="toy", games=1)]))
    room.seat("ada", "bob")
    room.do(Leave("ada"))
    room.end(Cause.INFRASTRUCTURE)
    assert room.lobby.state == "finished"
    assert room.lobby.roll.void == 1


def test_matches_of_the_disconnected_wait_while_others_go_on() -> None:
    room = Room(
        settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=[ProgrammeItem(game="toy", games=3)])
    )
    room.seat("ada", "bob", "cyd")
    room.do(Disconnected("ada"))
    assert [begin.planned.number for begin in of(Begin, room.end())] == [2]
    assert of(Begin, room.end()) == []
    assert [begin.planned.number for begin in of(Begin, room.do(Connected("ada")))] == [3]


def test_a_rematch_rotates_and_forgets_the_table() -> None:
    room = Room(settings(OpenSeat(), OpenSeat(), HOUSE, programme=[ProgrammeItem(game="toy")]))
    room.do(Join(player("h", "house"), ticket=2))
    room.do(Ready("h"))
    room.seat("ada", "bob")
    first = room.lobby.roll.running["l1-1-1"]
    room.play()
    room.do(Rematch("host"))
    view = room.lobby.view("ada")
    assert (view.round, view.state, view.done) == (2, "gathering", 0)
    assert [(member.name, member.ready) for member in view.members] == [
        ("ada", False),
        ("bob", False),
        ("h", True),
    ]
    room.do(Ready("ada"))
    room.do(Ready("bob"))
    second = room.lobby.roll.running["l1-2-1"]
    assert [each.player for each in first.players] == ["ada", "bob"]
    assert [each.player for each in second.players] == ["bob", "h"]
    assert first.seed != second.seed


def test_closing_lets_running_matches_finish() -> None:
    room = Room(settings())
    room.seat("ada", "bob")
    assert kinds(room.do(Close("host"))) == ["closing", "Accepted"]
    assert kinds(room.do(Close("host"))) == ["Accepted"]
    assert (room.lobby.state, room.lobby.roll.void) == ("running", 1)
    effects = room.end()
    assert kinds(effects) == ["match_ended", "closed", "Gone", "Gone", "Closed"]
    assert room.lobby.state == "closed"


def test_closing_dismisses_house_bots() -> None:
    room = Room(settings(OpenSeat(), HOUSE))
    room.seat("ada")
    effects = room.do(Close("host"))
    assert kinds(effects) == ["closed", "Accepted", "Gone", "Dismiss", "Closed"]
    assert room.lobby.deadline() is None
    assert room.wait(IDLE_MS) == []


# --- house bots ---------------------------------------------------------------------------


def test_a_house_bot_takes_the_seat_of_its_ticket_and_no_other() -> None:
    room = Room(settings(OpenSeat(), OpenSeat(), HOUSE))
    assert refused(room.do(Join(player("h", "house"), ticket=0))) is Code.FULL
    assert refused(room.do(Join(player("h", "house"), ticket=9))) is Code.FULL
    room.do(Join(player("h", "house"), ticket=2))
    assert room.lobby.roll.members["h"].seat == 2
    assert refused(room.do(Join(player("i", "house"), ticket=2))) is Code.FULL


def test_a_house_bot_that_fails_is_hired_again_until_its_seat_is_given_up() -> None:
    room = Room(settings(OpenSeat(), OpenSeat(), HOUSE))
    bot = player("h", "house")
    room.do(Join(bot, ticket=2))
    room.do(Ready("h"))
    assert of(Hire, room.do(HouseFailed(2, "exit 1"))) == [Hire(2, "toy/random", bot)]
    assert room.lobby.roll.members["h"].ready is False
    for _ in range(HIRES - 2):
        assert kinds(room.do(HouseFailed(2, "exit 1"))) == ["house_lost", "Hire"]
    assert kinds(room.do(HouseFailed(2, "exit 1"))) == ["house_lost", "Dismiss"]
    assert "h" not in room.lobby.roll.members
    assert room.do(HouseFailed(2, "late news")) == []
    room.seat("ada", "bob", "cyd")
    assert room.lobby.roll.members["cyd"].seat == 2


def test_a_house_bot_given_up_in_a_running_programme_vacates_its_matches() -> None:
    room = Room(settings(OpenSeat(), HOUSE, programme=[ProgrammeItem(game="toy", games=3)]))
    room.do(Join(player("h", "house"), ticket=1))
    room.do(Ready("h"))
    room.seat("ada")
    for _ in range(HIRES - 1):
        room.do(HouseFailed(1, "exit 1"))
    effects = room.do(HouseFailed(1, "exit 1"))
    assert of(Vacate, effects) == [Vacate("l1-1-1", "h")]
    assert room.lobby.roll.void == 2


def test_removing_a_house_bot_opens_its_seat() -> None:
    room = Room(settings(OpenSeat(), HOUSE))
    room.do(Join(player("h", "house"), ticket=1))
    effects = room.do(Kick("host", "h"))
    assert kinds(effects) == ["kicked", "Accepted", "Gone", "Dismiss"]
    room.seat("ada", "bob")
    assert room.lobby.state == "running"


def test_a_house_bot_that_leaves_is_hired_again() -> None:
    room = Room(settings(OpenSeat(), HOUSE))
    room.do(Join(player("h", "house"), ticket=1))
    assert kinds(room.do(Leave("h"))) == ["house_lost", "Hire", "Accepted"]


def test_a_rematch_hires_the_house_bots_that_have_gone() -> None:
    room = Room(settings(OpenSeat(), HOUSE))
    bot = player("h", "house")
    room.do(Join(bot, ticket=1))
    room.do(Ready("h"))
    room.seat("ada")
    room.play()
    assert kinds(room.do(HouseFailed(1, "killed"))) == ["house_lost"]
    assert of(Hire, room.do(Rematch("host"))) == [Hire(1, "toy/random", bot)]


# --- time ---------------------------------------------------------------------------------


def test_a_member_who_stays_away_has_left() -> None:
    room = Room(settings(conduct=Conduct(grace_ms=40_000)))
    room.seat("ada", "bob", ready=False)
    room.do(Disconnected("ada"))
    assert room.lobby.deadline() == 40_000
    assert room.wait(39_999) == []
    effects = room.wait(1)
    assert kinds(effects) == ["left", "Gone"]
    assert of(Gone, effects) == [Gone("ada", "expired")]
    assert room.lobby.deadline() is None


def test_a_member_who_comes_back_stays() -> None:
    room = Room(settings(conduct=Conduct(grace_ms=0)))
    room.seat("ada", ready=False)
    room.do(Disconnected("ada"))
    room.wait(AWAY_MS - 1)
    room.do(Connected("ada"))
    assert room.wait(AWAY_MS) == []
    assert "ada" in room.lobby.roll.members


def test_a_house_bot_that_stays_away_is_hired_again() -> None:
    room = Room(settings(OpenSeat(), HOUSE, conduct=Conduct(grace_ms=0)))
    room.do(Join(player("h", "house"), ticket=1))
    room.do(Disconnected("h"))
    assert kinds(room.wait(AWAY_MS)) == ["house_lost", "Hire"]
    assert room.lobby.deadline() == 2 * AWAY_MS


def test_a_lobby_where_nobody_is_expires() -> None:
    room = Room(settings(OpenSeat(), HOUSE))
    room.do(Join(player("h", "house"), ticket=1))
    room.wait(IDLE_MS)
    assert room.lobby.state == "gathering"
    room.do(Disconnected("host"))
    assert room.lobby.deadline() == 2 * IDLE_MS
    room.wait(IDLE_MS - 1)
    assert room.lobby.state == "gathering"
    effects = room.wait(1)
    assert kinds(effects) == ["closed", "Gone", "Dismiss", "Closed"]
    assert of(Gone, effects) == [Gone("h", "expired")]


def test_somebody_who_looks_in_keeps_a_lobby_open() -> None:
    room = Room(settings())
    room.do(Disconnected("host"))
    room.do(Connected("spectator"))
    assert room.lobby.deadline() is None
    room.now += 5
    room.do(Disconnected("spectator"))
    assert room.lobby.deadline() == 5 + IDLE_MS


def test_a_running_programme_does_not_expire() -> None:
    room = Room(settings())
    room.seat("ada", "bob")
    for name in ("host", "ada", "bob"):
        room.do(Disconnected(name))
    room.wait(IDLE_MS)
    assert room.lobby.view(None).state == "running"
    assert room.lobby.roll.members == {}
    room.end()
    assert room.lobby.state == "finished"


# --- restarts -----------------------------------------------------------------------------


def test_a_restart_begins_again_what_was_never_made() -> None:
    room = Room(
        settings(
            *[OpenSeat()] * 4, at_once=2, programme=[ProgrammeItem(game="toy", games=4, seed=5)]
        )
    )
    room.seat("ada", "bob", "cyd", "dan")
    running = dict(room.lobby.roll.running)
    assert list(running) == ["l1-1-1", "l1-1-3"]
    room.crash()
    effects = room.do(Resume(["l1-1-1"]))
    assert effects == [Begin("l1-1-3", running["l1-1-3"])]
    assert room.do(Resume(["l1-1-1", "l1-1-3"])) == []
    for name in ("ada", "bob", "cyd", "dan"):
        room.do(Connected(name))
    room.play()
    assert room.lobby.state == "finished"
    assert room.lobby.roll.ended == 4


def test_a_restart_hires_house_bots_as_who_they_were_and_cold() -> None:
    room = Room(settings(OpenSeat(), HOUSE))
    bot = player("h", "house")
    room.do(Join(bot, ticket=1))
    room.do(Ready("h"))
    room.crash()
    effects = room.do(Resume([]))
    assert kinds(effects) == ["readied", "Hire"]
    assert of(Hire, effects) == [Hire(1, "toy/random", bot)]


def test_after_a_restart_everybody_has_time_to_come_back() -> None:
    room = Room(settings())
    room.seat("ada", "bob", ready=False)
    room.now = 1_000_000
    room.crash()
    assert room.lobby.deadline() == 1_000_000 + 60_000


# --- views --------------------------------------------------------------------------------


def test_the_invite_code_is_for_host_and_members() -> None:
    room = Room(settings())
    room.seat("ada", ready=False)
    seen = {viewer: room.lobby.view(viewer).invite for viewer in ("host", "ada", "bob", None)}
    assert seen == {"host": "open-sesame", "ada": "open-sesame", "bob": None, None: None}


def test_seeds_are_for_the_host() -> None:
    room = Room(settings(programme=[ProgrammeItem(game="toy", seed=99)]))
    room.seat("ada", ready=False)
    assert room.lobby.view("host").settings.programme[0].seed == 99
    assert "99" not in room.lobby.view("ada").model_dump_json()
    assert "99" not in room.lobby.view(None).model_dump_json()


def test_a_view_lists_live_matches_with_their_plies() -> None:
    room = Room(settings())
    room.seat("ada", "bob")
    view = room.lobby.view("ada", spectators=3, plies={"l1-1-1": 7})
    assert view.spectators == 3
    (brief,) = view.live
    assert (brief.match, brief.number, brief.ply, brief.watchable) == ("l1-1-1", 1, 7, True)
    assert all(member.connected for member in view.members)


def test_a_brief_is_a_line() -> None:
    room = Room(settings(OpenSeat(), OpenSeat(), HOUSE, name="arena"))
    room.seat("ada", ready=False)
    brief = room.lobby.brief()
    assert (brief.name, brief.host, brief.games) == ("arena", "host", ["toy"])
    assert (brief.members, brief.places, brief.state) == (1, 3, "gathering")


@pytest.mark.parametrize(("watchable", "stranger"), [(True, True), (False, False)])
def test_who_may_watch(watchable: bool, stranger: bool) -> None:
    room = Room(settings(watchable=watchable))
    room.seat("ada", ready=False)
    assert room.lobby.may_watch("ada")
    assert room.lobby.may_watch("host")
    assert room.lobby.may_watch("stranger") is stranger


# --- settings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "code", "part"),
    [
        (settings(OpenSeat()), Code.BAD_SEATS, "'toy' with 2 seats"),
        (settings(OpenSeat(), HouseSeat(personality="hex/mcts")), Code.BAD_SEATS, "there are 1"),
        (
            settings(OpenSeat(), OpenSeat(), HouseSeat(personality="hex/mcts")),
            Code.BAD_SEATS,
            "'hex/mcts' plays no game",
        ),
        (settings(OpenSeat(), ReservedSeat(name="a/b")), Code.NAME_INVALID, "solidus"),
        (settings(ReservedSeat(name="ada"), ReservedSeat(name="АDA")), Code.BAD_SEATS, "'АDA'"),
        (
            settings(programme=[ProgrammeItem(game="toy", games=MOST_MATCHES // 2)] * 3),
            Code.LIMIT,
            "this has 30000",
        ),
        (settings(conduct=Conduct(on_leave="replace")), Code.BAD_OPTION, "stand_in"),
        (settings(spectating={"mode": "shoulder"}), Code.BAD_OPTION, "spectating.seat"),
    ],
)
def test_settings_that_no_lobby_can_have(chosen: LobbySettings, code: Code, part: str) -> None:
    trouble = objection(chosen)
    assert trouble is not None
    assert trouble[0] is code
    assert part in trouble[1]


def test_a_balanced_game_is_asked_for_in_whole_blocks() -> None:
    chosen = settings(programme=[ProgrammeItem(game="hex"), ProgrammeItem(game="toy", games=3)])
    trouble = objection(chosen, balanced=["toy"])
    assert trouble is not None
    assert trouble[0] is Code.BAD_OPTION
    assert trouble[1].startswith("settings.programme.1.games: 'toy' with 2 seats is played in")
    assert objection(chosen, balanced=["hex"]) is None
    assert objection(chosen) is None


def test_blocks_count_all_their_matches_against_the_limit() -> None:
    items = [ProgrammeItem(game="toy", games=MOST_MATCHES // 2)] * 2
    assert objection(settings(programme=items), balanced=["toy"]) is None
    trouble = objection(settings(programme=[*items, ProgrammeItem(game="toy")]), balanced=["toy"])
    assert trouble is not None
    assert "this has 20002" in trouble[1]


def test_only_an_arranged_lobby_may_have_no_programme() -> None:
    chosen = LobbySettings(seats=[OpenSeat()], programme=[])
    assert objection(chosen) is not None
    assert objection(chosen.model_copy(update={"arranged": True})) is None
    prepared = settings(programme=[ProgrammeItem(game="toy", games=9_999)] * 3, arranged=True)
    assert objection(prepared) is None


def test_nobody_plays_for_another_in_a_rated_lobby() -> None:
    conduct = Conduct(on_leave="replace", stand_in="toy/random")
    trouble = objection(settings(rated=True, conduct=conduct))
    assert trouble is not None
    assert trouble[1].startswith("conduct.on_leave: expected 'forfeit'")
    assert objection(settings(rated=True)) is None


def test_a_house_bot_is_known_by_its_personality() -> None:
    room = Room(settings(OpenSeat(), HOUSE))
    room.seat("ada")
    room.do(Join(player("h", "house"), ticket=1))
    assert room.lobby.personality("h") == "toy/random"
    assert room.lobby.personality("ada") is None
    assert room.lobby.personality("nobody") is None


def test_good_settings_have_no_objection() -> None:
    chosen = settings(OpenSeat(), ReservedSeat(name="ada"), HOUSE)
    assert objection(chosen) is None


# --- arranged lobbies ---------------------------------------------------------------------

TOY = ProgrammeItem(game="toy")
Refusal = tuple[Code, str]


def arranged(*players: str, seats: int = 3, started: bool = True, **fields: object) -> Room:
    chosen = {"seats": [OpenSeat()] * seats, "programme": [], "arranged": True} | fields
    room = Room(LobbySettings.model_validate(chosen))
    room.seat(*players)
    if started:
        room.do(Start("host"))
    return room


def match(tag: str, *players: str, **fields: object) -> Arrangement:
    item = ProgrammeItem.model_validate({"game": "toy", "seats": len(players)} | fields)
    return Arrangement(tag=tag, item=item, players=list(players))


def arrange(room: Room, *matches: Arrangement, hidden: tuple[str, ...] = ()) -> list[Effect]:
    return room.do(Arrange("host", matches, hidden))


def stand(lobby: Lobby, *tags: str, durable: int = 10**6) -> list[str]:
    """In a word, how matches stand."""
    return [
        "waits"
        if brief is None
        else "void"
        if brief.void
        else "runs"
        if brief.result is None
        else brief.result.cause.value
        for brief in lobby.arranged(tags, durable)
    ]


def test_the_host_arranges_match_by_match() -> None:
    room = arranged("ada", "bob", "cyd")
    assert (room.lobby.state, room.lobby.view(None).planned) == ("running", 0)
    effects = arrange(room, match("b1.1", "bob", "ada"), match("b1.2", "ada", "bob"))
    assert kinds(effects) == ["arranged", "Briefed", "match_begun", "Begin"]
    assert of(Briefed, effects) == [Briefed("host", ["b1.1", "b1.2"])]
    (begin,) = of(Begin, effects)
    assert begin.planned.tag == "b1.1"
    assert [each.name for each in begin.planned.players] == ["bob", "ada"]
    assert stand(room.lobby, "b1.2", "b1.1") == ["waits", "runs"]
    (live,) = room.lobby.view(None).live
    assert (live.tag, live.number, live.void) == ("b1.1", 1, False)
    room.play()
    assert room.lobby.state == "running"
    view = room.lobby.view("ada")
    assert (view.planned, view.done, view.void) == (2, 2, 0)
    assert [(line.name, line.played) for line in view.standings] == [
        ("ada", 2),
        ("bob", 2),
        ("cyd", 0),
    ]
    assert room.lobby.brief().games == ["toy"]


def test_a_tag_that_is_known_is_not_played_again_but_told() -> None:
    room = arranged("ada", "bob")
    wanted = [match("one", "ada", "bob"), match("two", "bob", "ada")]
    arrange(room, *wanted)
    room.end()
    lines = list(room.log)
    assert kinds(arrange(room, *wanted)) == ["Briefed"]
    assert room.log == lines
    one, two = room.lobby.arranged(["one", "two"], 10**6)
    assert one is not None
    assert two is not None
    assert one.result == result()
    assert (one.match, one.tag, one.ply, one.game) == ("l1-1-1", "one", 3, "toy")
    assert [each.name for each in one.seats] == ["ada", "bob"]
    assert (two.match, two.result) == ("l1-1-2", None)
    more = arrange(room, *wanted, match("three", "ada", "bob"))
    assert kinds(more) == ["arranged", "Briefed"]
    assert room.lobby.roll.planned == 3


def test_known_tags_are_told_to_a_host_whose_players_have_gone_and_while_closing() -> None:
    room = arranged("ada", "bob")
    wanted = [match("one", "ada", "bob"), match("two", "bob", "ada")]
    arrange(room, *wanted)
    room.do(Leave("bob"))
    assert kinds(arrange(room, *wanted)) == ["Briefed"]
    room.do(Close("host"))
    assert kinds(arrange(room, *wanted)) == ["Briefed"]
    assert stand(room.lobby, "one", "two") == ["runs", "void"]


@pytest.mark.parametrize(
    ("matches", "code", "part"),
    [
        ([match("a", "ada", "bob"), match("a", "bob", "ada")], Code.BAD_OPTION, "matches.1.tag"),
        ([match("a", "ada", "ada")], Code.BAD_SEATS, "'a': nobody has two of its seats"),
        ([match("a", "ada", "eve")], Code.NO_SUCH_PLAYER, "no member of this lobby: 'eve'"),
        ([match("a", "ada", "bob", seats=3)], Code.BAD_SEATS, "3 seats need as many players"),
        ([match("a", "ada", "hex")], Code.BAD_SEATS, "'hex' cannot play it: it does not claim"),
        (
            [match("new", "ada", "bob"), match("b", "ada", "eve")],
            Code.NO_SUCH_PLAYER,
            "match 'b'",
        ),
        ([match(f"t{n}", "ada", "bob") for n in range(MOST_MATCHES + 1)], Code.LIMIT, "20001"),
    ],
    ids=["twice", "two seats", "stranger", "too few", "unable", "all or nothing", "too many"],
)
def test_what_cannot_be_arranged(matches: list[Arrangement], code: Code, part: str) -> None:
    room = arranged("ada", "bob", started=False)
    room.do(Join(player("hex"), Capabilities(games=[GameClaim(game="hex")])))
    room.do(Start("host"))
    before = copy.deepcopy(room.lobby.roll)
    (refusal,) = of(Refuse, arrange(room, *matches))
    assert refusal.code is code
    assert part in refusal.message
    assert room.lobby.roll == before


def test_who_may_arrange_and_when() -> None:
    room = arranged("ada", "bob", started=False)
    wanted = [match("one", "ada", "bob")]
    assert refused(arrange(room, *wanted)) is Code.WRONG_STATE
    room.do(Start("host"))
    assert refused(room.do(Arrange("ada", wanted))) is Code.NOT_HOST
    arrange(room, *wanted)
    room.do(Close("host"))
    assert refused(arrange(room, match("two", "ada", "bob"))) is Code.WRONG_STATE
    room.end()
    assert refused(arrange(room, *wanted)) is Code.CLOSED
    (refusal,) = of(Refuse, arrange(in_state("running"), *wanted))
    assert "opened with arranged=true" in refusal.message


def test_an_arranged_lobby_starts_when_its_host_says_whoever_is_there() -> None:
    room = arranged("ada", "bob", seats=2, started=False)
    assert room.lobby.state == "gathering"
    room = arranged(seats=2)
    assert room.lobby.state == "running"
    room.seat("ada", ready=False)
    assert kinds(room.do(Join(player("bob")))) == ["joined", "Accepted"]
    assert of(Begin, arrange(room, match("one", "ada", "bob"))) == []
    room.do(Ready("ada"))
    assert kinds(room.do(Ready("bob"))) == ["readied", "Accepted", "match_begun", "Begin"]
    room.play()
    assert [line.name for line in room.lobby.view(None).standings] == ["ada", "bob"]


def test_members_are_away_and_come_back() -> None:
    room = arranged("ada", "bob", "cyd")
    room.do(Disconnected("ada"))
    effects = arrange(room, match("one", "ada", "bob"), match("two", "bob", "cyd"))
    assert [begin.planned.tag for begin in of(Begin, effects)] == ["two"]
    room.end()
    assert of(Begin, room.do(Connected("ada")))[0].planned.tag == "one"


def test_who_leaves_voids_what_waits_and_may_come_back_for_new_matches() -> None:
    room = arranged("ada", "bob", "cyd")
    arrange(room, match("one", "ada", "bob"), match("two", "bob", "ada"), match("3", "bob", "cyd"))
    effects = room.do(Leave("ada"))
    assert of(Vacate, effects) == [Vacate("l1-1-1", "ada")]
    assert stand(room.lobby, "one", "two", "3") == ["runs", "void", "waits"]
    assert room.lobby.view(None).void == 1
    (brief,) = room.lobby.arranged(["two"], 10**6)
    assert brief is not None
    assert (brief.result, brief.tag) == (None, "two")
    assert refused(arrange(room, match("two~1", "bob", "ada"))) is Code.NO_SUCH_PLAYER
    room.seat("ada")
    arrange(room, match("two~1", "bob", "ada"))
    room.play()
    assert stand(room.lobby, "one", "two", "3", "two~1") == ["rules", "void", "rules", "rules"]
    assert room.lobby.roll.done == room.lobby.roll.planned == 4
    assert [line.name for line in room.lobby.view(None).standings].count("ada") == 1


def test_void_is_told_only_when_it_is_on_the_disk() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("one", "ada", "bob"), match("two", "bob", "ada"))
    before = room.lobby.roll.seq
    room.do(Leave("ada"))
    assert stand(room.lobby, "two", durable=before) == ["waits"]
    assert stand(room.lobby, "two", durable=before + 1) == ["void"]


def test_the_server_s_own_trouble_in_an_arranged_match() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("one", "ada", "bob"))
    (again,) = of(Begin, room.end(Cause.INFRASTRUCTURE))
    assert (again.match, again.planned.tag) == ("l1-1-1b", "one")
    room.end(Cause.INFRASTRUCTURE)
    (brief,) = room.lobby.arranged(["one"], 10**6)
    assert brief is not None
    assert brief.result is not None
    assert (brief.match, brief.result.cause) == ("l1-1-1b", Cause.INFRASTRUCTURE)
    assert kinds(arrange(room, match("one", "ada", "bob"))) == ["Briefed"]
    assert of(Begin, arrange(room, match("one~1", "ada", "bob")))


def test_closing_an_arranged_lobby_voids_what_waits() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("one", "ada", "bob"), match("two", "bob", "ada"))
    assert kinds(room.do(Close("host"))) == ["closing", "Accepted"]
    assert stand(room.lobby, "one", "two") == ["runs", "void"]
    assert refused(room.do(Join(player("cyd")))) is Code.WRONG_STATE
    assert kinds(room.end())[:2] == ["match_ended", "closed"]


def test_an_arranged_lobby_has_no_rematch() -> None:
    room = arranged("ada", "bob")
    (refusal,) = of(Refuse, room.do(Rematch("host")))
    assert "no rematch" in refusal.message


def test_an_arranged_lobby_expires_when_it_plays_nothing_and_nobody_is_there() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("one", "ada", "bob"))
    for name in ("host", "ada", "bob"):
        room.do(Disconnected(name))
    room.wait(2 * IDLE_MS)
    assert room.lobby.state == "running"
    room.end()
    room.wait(IDLE_MS)
    assert room.lobby.view(None).state == "closed"


def test_after_a_restart_every_tag_is_known() -> None:
    room = arranged("ada", "bob", "cyd")
    wanted = [match(f"t{n}", *pair, seed=n) for n, pair in enumerate([("ada", "bob")] * 4)]
    arrange(room, *wanted, match("gone", "bob", "cyd"))
    room.do(Leave("cyd"))
    room.end()
    room.end(Cause.TIME)
    tags = [*(each.tag for each in wanted), "gone"]
    before = stand(room.lobby, *tags)
    room.crash()
    assert stand(room.lobby, *tags) == before == ["rules", "time", "runs", "waits", "void"]
    (begin,) = of(Begin, room.do(Resume([])))
    assert (begin.match, begin.planned.tag, begin.planned.seed) == ("l1-1-3", "t2", 2)
    for name in ("ada", "bob"):
        room.do(Connected(name))
    assert kinds(arrange(room, *wanted)) == ["Briefed"]
    room.play()
    assert stand(room.lobby, *tags) == ["rules", "time", "rules", "rules", "void"]


def test_a_house_bot_that_is_hired_again_says_ready_before_it_plays() -> None:
    room = Room(settings(OpenSeat(), HOUSE, programme=[TOY], arranged=True))
    room.do(Start("host"))
    room.do(Join(player("h", "house"), ticket=1))
    room.do(Ready("h"))
    room.seat("ada")
    arrange(room, match("one", "ada", "h"), match("two", "h", "ada"))
    room.crash()
    assert kinds(room.do(Resume(["l1-1-1"]))) == ["readied", "Hire"]
    for name in ("ada", "h"):
        room.do(Connected(name))
    assert of(Begin, room.end()) == []
    assert of(Begin, room.do(Ready("h")))[0].planned.tag == "two"


def test_one_seed_is_one_deal_but_never_of_what_is_hidden() -> None:
    room = arranged("ada", "bob")
    block = [match(f"b.{n}", "ada", "bob", seed=7) for n in (1, 2)]
    arrange(room, *block, match("own", "ada", "bob"), match("other", "ada", "bob"))
    veil = [match(f"v.{n}", "ada", "bob", game="veil", seed=7) for n in (1, 2)]
    arrange(room, *veil, hidden=("veil",))
    seeds = [planned.seed for planned in room.lobby.roll.running.values()]
    seeds += [planned.seed for planned in room.lobby.roll.waiting.values()]
    assert seeds[:2] == [7, 7]
    assert len({7, *seeds[2:]}) == 5
    again = arranged("ada", "bob")
    arrange(again, *veil, hidden=("veil",))
    (begun,) = again.lobby.roll.running.values()
    assert begun.seed == seeds[4]


def test_seeds_of_arranged_matches_are_in_no_view() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("b.1", "ada", "bob", seed=123456789))
    for viewer in ("host", "ada", None):
        assert "123456789" not in room.lobby.view(viewer).model_dump_json()


def test_what_became_of_a_tag_is_kept_small() -> None:
    room = arranged("ada", "bob")
    arrange(room, *[match(f"r3.b{n}.1", "ada", "bob", seed=n) for n in range(250)])
    room.play()
    kept = room.lobby.roll
    assert len(kept.tags) == len(kept.settled) == 250
    assert len(kept.kinds) == len({id(each.item) for each in kept.settled.values()}) == 1
    assert len({id(each.players[0]) for each in kept.settled.values()}) == 1
    assert all(len(each.result or b"") < 200 for each in kept.settled.values())


# --- anything in any order ----------------------------------------------------------------

NAMES = st.sampled_from(["host", "ada", "bob", "cyd", "dan", "h"])
CAUSES = st.sampled_from([Cause.RULES, Cause.RULES, Cause.TIME, Cause.INFRASTRUCTURE])
ITEMS = st.builds(
    ProgrammeItem,
    game=st.just("toy"),
    seats=st.integers(1, 3),
    games=st.integers(1, 7),
    rotate=st.booleans(),
)


class AnyOrder(RuleBasedStateMachine):
    """Whatever happens, the log says what the lobby is, limits hold, and everything ends."""

    @initialize(
        programme=st.lists(ITEMS, min_size=1, max_size=2),
        at_once=st.sampled_from([1, 1, 2, 3]),
        auto_start=st.booleans(),
        places=st.integers(1, 3),
        arranged=st.booleans(),
    )
    def open(
        self,
        programme: list[ProgrammeItem],
        at_once: int,
        auto_start: bool,
        places: int,
        arranged: bool,
    ) -> None:
        seats: list[SeatSpec] = [OpenSeat(), OpenSeat(), ReservedSeat(name="dan"), HOUSE]
        self.room = Room(
            settings(
                *seats,
                programme=programme,
                at_once=at_once,
                auto_start=auto_start,
                arranged=arranged,
            )
        )
        self.capabilities = Capabilities(at_once=places)
        self.wanted: dict[str, Arrangement] = {}

    def do(self, command: Command) -> list[Effect]:
        lines = list(self.room.log)
        before = copy.deepcopy(self.room.lobby.roll)
        effects = self.room.do(command)
        if of(Refuse, effects):
            assert len(effects) == 1
            assert self.room.lobby.roll == before
            assert self.room.log == lines
        assert len(of(Accepted, effects)) <= 1
        return effects

    @rule(name=NAMES)
    def join(self, name: str) -> None:
        house = name == "h"
        kind: PlayerKind = "house" if house else "bot"
        self.do(Join(player(name, kind), self.capabilities, ticket=3 if house else None))

    @rule(name=NAMES, ready=st.sampled_from([True, True, True, False]))
    def say_ready(self, name: str, ready: bool) -> None:
        self.do(Ready(name, ready))

    @rule()
    def everybody_comes(self) -> None:
        for name in ("ada", "bob", "dan", "h"):
            self.join(name)
        self.all_ready()
        self.do(Start("host"))

    @rule()
    def all_ready(self) -> None:
        for name in list(self.room.lobby.roll.members):
            self.do(Connected(name))
            self.do(Ready(name))

    @rule(name=NAMES)
    def leave(self, name: str) -> None:
        self.do(Leave(name))

    @rule(by=st.sampled_from(["host", "ada"]), name=NAMES)
    def kick(self, by: str, name: str) -> None:
        self.do(Kick(by, name))

    @rule(
        make=st.sampled_from([Start, Rematch, Start, Rematch, Start, Rematch, Close]),
        by=st.sampled_from(["host", "host", "host", "bob"]),
    )
    def ask(self, make: Callable[[str], Command], by: str) -> None:
        self.do(make(by))

    @rule(
        by=st.sampled_from(["host", "host", "host", "ada"]),
        tags=st.lists(st.integers(0, 30).map("t{}".format), min_size=1, max_size=4),
        players=st.lists(NAMES, min_size=1, max_size=3),
        seed=st.none() | st.integers(0, 3),
    )
    def arrange(self, by: str, tags: list[str], players: list[str], seed: int | None) -> None:
        """Whoever asks again hears how a tag stands, and nothing of it is played twice."""
        fresh = {tag: match(tag, *players, seed=seed) for tag in tags}
        before = dict(self.room.lobby.roll.tags)
        effects = self.do(Arrange(by, [self.wanted.get(tag, fresh[tag]) for tag in tags]))
        tags_now = self.room.lobby.roll.tags
        if of(Refuse, effects):
            assert tags_now == before
            return
        (briefed,) = of(Briefed, effects)
        assert briefed.tags == tags
        assert tags_now.keys() == before.keys() | set(tags)
        assert before.items() <= tags_now.items()
        self.wanted = fresh | self.wanted

    @rule()
    def everybody_is_arranged(self) -> None:
        """Often enough there is something to play."""
        here = [name for name in ("ada", "bob", "dan", "h") if name in self.room.lobby.roll.members]
        for name in here[1:]:
            self.arrange("host", [f"{here[0]}-{name}", f"{name}-{here[0]}"], [name, here[0]], 1)

    @rule(name=NAMES, here=st.booleans())
    def connection(self, name: str, here: bool) -> None:
        self.do(Connected(name) if here else Disconnected(name))

    @rule(pick=st.integers(0, 9), cause=CAUSES)
    def end_match(self, pick: int, cause: Cause) -> None:
        running = self.room.lobby.roll.running
        if running:
            match = list(running)[pick % len(running)]
            self.do(MatchEnded(match, result(len(running[match].players), cause)))

    @rule()
    def house_fails(self) -> None:
        self.do(HouseFailed(3, "exit 1"))

    @rule(millis=st.sampled_from([1, AWAY_MS, 2 * AWAY_MS, IDLE_MS]))
    def time_passes(self, millis: int) -> None:
        self.room.wait(millis)

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        self.room.crash()
        running = dict(self.room.lobby.roll.running)
        alive = data.draw(st.sets(st.sampled_from(sorted(running)))) if running else set()
        begun = {begin.match for begin in of(Begin, self.do(Resume(alive)))}
        assert begun == set(running) - alive

    @invariant()
    def the_log_says_it_all(self) -> None:
        if hasattr(self, "room"):
            assert self.room.restored().roll == self.room.lobby.roll

    @invariant()
    def limits_hold(self) -> None:
        if not hasattr(self, "room"):
            return
        kept = self.room.lobby.roll
        assert len(kept.running) <= kept.settings.at_once
        busy = Counter(each.player for planned in kept.running.values() for each in planned.players)
        assert all(count <= self.capabilities.at_once for count in busy.values())
        seats = [member.seat for member in kept.members.values()]
        assert len(seats) == len(set(seats)) <= 4
        settled = kept.done + len(kept.waiting) + len(kept.running)
        assert kept.planned == settled or not kept.started
        if kept.settings.arranged:
            assert len(kept.tags) == kept.planned
            assert len(kept.settled) == kept.done
            void = [each for each in kept.settled.values() if each.result is None]
            assert len(void) == kept.void
            at_play = [planned.number for planned in kept.running.values()]
            numbers = [*kept.waiting, *at_play, *kept.settled]
            assert sorted(numbers) == sorted(kept.tags.values())

    @invariant()
    def the_deadline_lies_ahead_after_a_tick(self) -> None:
        if hasattr(self, "room"):
            self.room.wait(0)
            deadline = self.room.lobby.deadline()
            assert deadline is None or deadline > self.room.now

    def teardown(self) -> None:
        """Who is gone for good leaves, the others come back: then every programme finishes."""
        if not hasattr(self, "room") or self.room.lobby.state != "running":
            return
        lobby = self.room.lobby
        for name in list(lobby.roll.members):
            self.room.do(Connected(name))
            if lobby.settings.arranged:
                self.room.do(Ready(name))
        self.room.play()
        assert lobby.state in ("running" if lobby.settings.arranged else "finished", "closed")
        assert lobby.roll.done == lobby.roll.planned


TestAnyOrder = AnyOrder.TestCase
