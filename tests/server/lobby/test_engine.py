"""Lobbies: every command in every state, and each rule in the module's docstring."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kibitz_protocol.wire.lobbies import (
    Arrangement,
    HouseSeat,
    LobbyPhase,
    LobbySettings,
    LobbyView,
    OpenSeat,
    ProgrammeItem,
    ReservedSeat,
    SeatSpec,
)
from kibitz_protocol.wire.messages import Capabilities, GameClaim
from kibitz_protocol.wire.records import Cause, Conduct, Player, PlayerKind, Result, SeatResult
from kibitz_protocol.wire.refusals import Code
from kibitz_server.directory.match_setup import aborted_result
from kibitz_server.lobby import entries
from kibitz_server.lobby.arranging import MAX_MATCHES
from kibitz_server.lobby.bot_failures import MAX_BOT_FAILURES
from kibitz_server.lobby.commands import (
    Accepted,
    AnswerArranged,
    Append,
    Arrange,
    BeginMatch,
    BotFailed,
    Close,
    Command,
    Connected,
    Disconnected,
    Effect,
    Join,
    Kick,
    Leave,
    LobbyOver,
    MatchFinished,
    NotifyRemoved,
    Ready,
    Refuse,
    Rematch,
    Resume,
    Start,
    StartBot,
    Step,
    VacateSeat,
)
from kibitz_server.lobby.engine import IDLE_MS, MIN_GRACE_MS, LobbyEngine
from kibitz_server.lobby.entries import Entry
from kibitz_server.lobby.match_flow import MAX_MATCH_FAILURES
from kibitz_server.lobby.schedule import PlannedMatch
from kibitz_server.lobby.settings import settings_problem
from kibitz_server.lobby.views import arranged_briefs, changing_part, lobby_brief, lobby_view

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


class LobbyDriver:
    """A lobby with its log, maintained like a caller must: JSON lines appended in order."""

    def __init__(self, chosen: LobbySettings, **fields: object) -> None:
        opened = entries.Opened.model_validate(
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
        self.engine, opening = LobbyEngine.new(opened, self.now)
        self.opening = self._keep(opening)

    def command(self, command: Command) -> list[Effect]:
        return self._keep(self.engine.handle(command, self.now))

    def wait(self, millis: int) -> list[Effect]:
        self.now += millis
        return self._keep(self.engine.tick(self.now))

    def restored(self) -> LobbyEngine:
        return LobbyEngine.restore(self.entries(), self.now)

    def crash(self) -> None:
        self.engine = self.restored()

    def entries(self) -> list[Entry]:
        return [entries.ENTRY.validate_json(line) for line in self.log]

    def seat(self, *names: str, ready: bool = True) -> None:
        for name in names:
            self.command(Join(player(name)))
        for name in names if ready else ():
            self.command(Ready(name))

    def play(self) -> None:
        """End every match of the round, first seat first."""
        while self.engine.state.round.running:
            self.end()

    def end(self, cause: Cause = Cause.RULES) -> list[Effect]:
        match, planned = next(iter(self.engine.state.round.running.items()))
        return self.command(MatchFinished(match, result(len(planned.players), cause)))

    def view(
        self, viewer: str | None, *, spectators: int = 0, plies: Mapping[str, int] | None = None
    ) -> LobbyView:
        state, connected = self.engine.state, self.engine.presence.connected
        shared = changing_part(state, connected, spectators)
        return lobby_view(state, viewer, shared, plies=plies)

    def _keep(self, step: Step) -> list[Effect]:
        self.deadline = step.deadline
        self.log += [each.entry.model_dump_json() for each in of(Append, step.effects)]
        return step.effects


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

STATES: tuple[LobbyPhase, ...] = ("gathering", "running", "finished", "closed")
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


def in_state(state: LobbyPhase) -> LobbyDriver:
    """Return a lobby of three open seats in `state`, with ada and bob ready."""
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), OpenSeat()))
    room.seat("ada", "bob")
    if state != "gathering":
        room.command(Start("host"))
    if state in ("finished", "closed"):
        room.play()
    if state == "closed":
        room.command(Close("host"))
    assert room.engine.state.phase == state
    return room


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("case", TABLE)
def test_every_command_in_every_state(case: str, state: LobbyPhase) -> None:
    command, codes = TABLE[case]
    room = in_state(state)
    before = copy.deepcopy(room.engine.state)
    effects = room.command(command)
    code = codes[STATES.index(state)]
    if code is None:
        assert len(of(Accepted, effects)) == 1
        assert not of(Refuse, effects)
    else:
        assert refused(effects) is code
        assert room.engine.state == before
    assert room.restored().state == room.engine.state


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    "command",
    [
        Connected("ada"),
        Disconnected("ada"),
        Connected("stranger"),
        Disconnected("stranger"),
        MatchFinished("nobody-s-1", result()),
        BotFailed(0, "not a house seat"),
        BotFailed(99, "not a seat"),
        Resume(["l1-1-1"]),
    ],
    ids=lambda command: type(command).__name__,
)
def test_news_of_the_server_is_not_answered_and_changes_no_log(
    command: Command, state: LobbyPhase
) -> None:
    assert in_state(state).command(command) == []


# --- joining ------------------------------------------------------------------------------


def test_a_lobby_opens_with_its_entry_first_and_hires() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE))
    assert kinds(room.opening) == ["opened", "StartBot"]
    assert of(StartBot, room.opening) == [StartBot(1, "toy/random", None)]


def test_joining_again_changes_nothing() -> None:
    room = LobbyDriver(settings())
    assert kinds(room.command(Join(player("ada")))) == ["joined", "Accepted"]
    assert kinds(room.command(Join(player("ada")))) == ["Accepted"]


def test_a_full_lobby_says_so() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob", ready=False)
    (refusal,) = of(Refuse, room.command(Join(player("cyd"))))
    assert (refusal.code, refusal.message) == (
        Code.FULL,
        "all 2 seats of the lobby 'lobby' are taken",
    )


def test_reserved_seats_are_kept_for_their_name_however_written() -> None:
    room = LobbyDriver(settings(ReservedSeat(name="Ada"), OpenSeat()))
    room.seat("bob", ready=False)
    assert room.engine.state.seats.members["bob"].seat == 1
    (refusal,) = of(Refuse, room.command(Join(player("cyd"))))
    assert refusal.code is Code.FULL
    assert "are reserved" in refusal.message
    room.command(Join(Player(player="p9", name="ADA", kind="human")))
    assert room.engine.state.seats.members["p9"].seat == 0


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
    room = LobbyDriver(
        settings(ReservedSeat(name="ada"), OpenSeat(), OpenSeat(), joinable=joinable)
    )
    effects = room.command(Join(player("bob"), invite=invite))
    assert kinds(effects) == ["joined", "Accepted"] if code is None else refused(effects) is code
    assert kinds(room.command(Join(player("ada")))) == ["joined", "Accepted"]
    assert kinds(room.command(Join(player("host", "human")))) == ["joined", "Accepted"]


def test_whoever_was_removed_stays_out() -> None:
    room = LobbyDriver(settings())
    room.seat("ada")
    effects = room.command(Kick("host", "ada"))
    assert kinds(effects) == ["kicked", "Accepted", "NotifyRemoved"]
    assert of(NotifyRemoved, effects) == [NotifyRemoved("ada", "kicked")]
    assert refused(room.command(Join(player("ada")))) is Code.CLOSED
    assert kinds(room.command(Join(player("bob")))) == ["joined", "Accepted"]


def test_a_host_does_not_remove_itself() -> None:
    room = LobbyDriver(settings())
    room.command(Join(player("host", "human")))
    assert refused(room.command(Kick("host", "host"))) is Code.WRONG_STATE


def test_the_host_s_rights_outlive_its_seat() -> None:
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), OpenSeat()))
    room.command(Join(player("host", "human")))
    room.seat("ada", "bob")
    room.command(Leave("host"))
    assert kinds(room.command(Start("host")))[:2] == ["started", "Accepted"]


def test_a_bot_that_can_play_nothing_is_refused() -> None:
    room = LobbyDriver(settings())
    hex_only = Capabilities(games=[GameClaim(game="hex")])
    (refusal,) = of(Refuse, room.command(Join(player("ada"), hex_only)))
    assert refusal.code is Code.BAD_SEATS
    assert "it does not claim the game 'toy'" in refusal.message


def test_a_bot_that_would_leave_too_few_for_an_item_is_refused() -> None:
    both = [ProgrammeItem(game="toy"), ProgrammeItem(game="hex")]
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=both))
    only = Capabilities(games=[GameClaim(game="toy")])
    assert kinds(room.command(Join(player("ada"), only))) == ["joined", "Accepted"]
    assert refused(room.command(Join(player("bob"), only))) is Code.BAD_SEATS
    room.seat("bob", "cyd")
    room.command(Ready("ada"))
    assert room.engine.state.phase == "running"
    current = room.engine.state.round
    hex_match = [*current.waiting, *current.running.values()][0 if len(current.waiting) else 1]
    assert hex_match.number == 2
    assert {each.player for each in hex_match.players} == {"bob", "cyd"}


# --- starting -----------------------------------------------------------------------------


def test_the_programme_starts_by_itself_once_all_are_ready() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob", ready=False)
    room.command(Ready("ada"))
    effects = room.command(Ready("bob"))
    assert kinds(effects) == ["readied", "Accepted", "started", "match_begun", "BeginMatch"]
    (begin,) = of(BeginMatch, effects)
    assert begin.match == "l1-1-1"
    assert [each.player for each in begin.planned.players] == ["ada", "bob"]


def test_the_host_starts_where_the_lobby_does_not() -> None:
    room = LobbyDriver(settings(auto_start=False))
    room.seat("ada", "bob")
    assert room.view(None).state == "gathering"
    room.command(Start("host"))
    assert room.engine.state.phase == "running"


def test_start_names_who_is_not_ready() -> None:
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), HOUSE))
    room.seat("ada", "bob")

    def why() -> str:
        (refusal,) = of(Refuse, room.command(Start("host")))
        assert refusal.code is Code.NOT_READY
        return refusal.message

    assert why() == "the house bot of seat 3 has not joined yet"
    room.command(Join(player("h", "house"), house_seat=2))
    room.command(Ready("ada", False))
    assert why() == "'ada' is not ready"
    room.command(Disconnected("bob"))
    room.command(Ready("ada"))
    assert why() == "'bob' is not connected"


def test_too_few_members_cannot_start() -> None:
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), OpenSeat()))
    room.seat("ada")
    (refusal,) = of(Refuse, room.command(Start("host")))
    assert refusal.code is Code.BAD_SEATS
    assert "needs 2 members" in refusal.message


def test_nobody_starts_a_match_while_disconnected() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob", ready=False)
    room.command(Ready("ada"))
    room.command(Disconnected("ada"))
    assert room.command(Ready("bob"))[-1] == Accepted("bob")
    assert kinds(room.command(Connected("ada"))) == ["started", "match_begun", "BeginMatch"]


# --- the programme ------------------------------------------------------------------------


def test_matches_follow_each_other_and_the_standings_add_up() -> None:
    room = LobbyDriver(settings(programme=[ProgrammeItem(game="toy", games=4)]))
    room.seat("ada", "bob")
    room.play()
    view = room.view("ada")
    assert (view.state, view.planned, view.done, view.live) == ("finished", 4, 4, {})
    assert [(line.name, line.played, line.points) for line in view.table()] == [
        ("ada", 4, 2.0),
        ("bob", 4, 2.0),
    ]


def test_no_more_matches_run_than_the_host_allows() -> None:
    programme = [ProgrammeItem(game="toy", games=9)]
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=programme, at_once=3))
    for name in ("ada", "bob", "cyd"):
        room.command(Join(player(name), Capabilities(at_once=9)))
        room.command(Ready(name))
    most = 0
    while room.engine.state.phase == "running":
        most = max(most, len(room.engine.state.round.running))
        room.end()
    assert most == 3


def test_a_plan_that_is_long_to_look_for_goes_on_in_other_turns() -> None:
    """With ten members and four seats, none of thousands of matches is among these four only."""
    names = [f"p{number}" for number in range(10)]
    programme = [ProgrammeItem(game="toy", seats=4, games=3_000)]
    room = LobbyDriver(settings(*[OpenSeat()] * 10, programme=programme, at_once=1))
    room.seat(*names)
    here = {"p0", "p2", "p4", "p6"}
    for name in set(names) - here:
        room.command(Disconnected(name))
    running = next(iter(room.engine.state.round.running.values()))
    assert {each.player for each in running.players} == {"p0", "p1", "p2", "p3"}
    room.end()
    turns = 0
    while room.deadline == room.now:
        assert not room.engine.state.round.running
        room.wait(0)
        turns += 1
    assert turns > 2
    (running,) = room.engine.state.round.running.values()
    assert {each.player for each in running.players} == here
    assert running.number > turns * 400


def test_a_bot_plays_no_more_at_once_than_it_claims() -> None:
    programme = [ProgrammeItem(game="toy", games=9)]
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=programme, at_once=9))
    for name, places in (("ada", 1), ("bob", 2), ("cyd", 9)):
        room.command(Join(player(name), Capabilities(at_once=places)))
        room.command(Ready(name))
    running = [planned.players for planned in room.engine.state.round.running.values()]
    assert [tuple(each.player for each in players) for players in running] == [
        ("ada", "bob"),
        ("bob", "cyd"),
    ]


def test_a_match_told_twice_counts_once() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob")
    assert room.command(MatchFinished("l1-1-1", result()))
    assert room.command(MatchFinished("l1-1-1", result())) == []
    assert room.engine.state.round.ended == 1


def test_a_result_of_other_seats_is_the_caller_s_mistake() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob")
    with pytest.raises(ValueError, match="a result for 2 seats has 3"):
        room.command(MatchFinished("l1-1-1", result(3)))


def test_the_server_s_own_trouble_is_played_once_more_and_counts_for_nobody() -> None:
    room = LobbyDriver(settings(programme=[ProgrammeItem(game="toy", games=1)]))
    room.seat("ada", "bob")
    (again,) = of(BeginMatch, room.end(Cause.INFRASTRUCTURE))
    assert (again.match, again.planned.number) == ("l1-1-1b", 1)
    room.end(Cause.INFRASTRUCTURE)
    view = room.view(None)
    assert (view.state, view.done) == ("finished", 1)
    assert [line.played for line in view.table()] == [0, 0]
    assert room.engine.state.round.aborted == 1


def test_a_programme_of_which_nothing_can_be_played_stops() -> None:
    programme = [ProgrammeItem(game="toy", games=1000)]
    room = LobbyDriver(settings(programme=programme, at_once=1))
    room.seat("ada", "bob")
    failed = 0
    while room.engine.state.round.running:
        (match,) = room.engine.state.round.running
        room.command(MatchFinished(match, aborted_result(2)))
        failed += 1
    assert failed == 1 + MAX_MATCH_FAILURES
    view = room.view(None)
    assert (view.state, view.done, view.void) == ("finished", 1000, 997)
    assert view.stopped == "6 matches in a row could not be played: the match could not start"
    assert room.restored().state == room.engine.state
    room.command(Rematch("host"))
    assert room.view(None).stopped == ""


def test_what_fails_together_stops_no_programme() -> None:
    """A temporary failure affects at most the running matches."""
    programme = [ProgrammeItem(game="toy", games=100)]
    room = LobbyDriver(settings(programme=programme, at_once=8))
    for name in ("ada", "bob"):
        room.command(Join(player(name), Capabilities(at_once=8)))
        room.command(Ready(name))
    for match in list(room.engine.state.round.running):
        room.command(MatchFinished(match, result(2, Cause.INFRASTRUCTURE)))
    assert len(room.engine.state.round.running) == 8
    for _ in range(MAX_MATCH_FAILURES - 1):
        room.end(Cause.INFRASTRUCTURE)
    room.end()
    for _ in range(MAX_MATCH_FAILURES):
        room.end(Cause.INFRASTRUCTURE)
    assert room.engine.state.round.stopped == ""
    room.play()
    assert room.view(None).state == "finished"


def test_an_arranged_lobby_goes_on_as_its_host_says() -> None:
    room = arranged("ada", "bob")
    tags = [f"t{number}" for number in range(10)]
    arrange(room, *[match(tag, "ada", "bob") for tag in tags])
    for _ in range(19):
        room.end(Cause.INFRASTRUCTURE)
    assert room.engine.state.round.running
    assert room.engine.state.round.stopped == ""


def test_leaving_a_running_programme_voids_what_has_not_begun() -> None:
    room = LobbyDriver(
        settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=[ProgrammeItem(game="toy", games=6)])
    )
    room.seat("ada", "bob", "cyd")  # ada-bob runs; bob-cyd cyd-ada ada-cyd bob-ada cyd-bob wait
    effects = room.command(Leave("ada"))
    assert kinds(effects) == ["left", "VacateSeat", "Accepted", "NotifyRemoved"]
    assert of(VacateSeat, effects) == [VacateSeat("l1-1-1", "ada")]
    assert room.engine.state.round.void == 3
    room.play()
    assert room.engine.state.phase == "finished"
    assert room.engine.state.round.ended == 3
    assert {line.name: line.played for line in room.view(None).table()} == {
        "ada": 1,
        "bob": 3,
        "cyd": 2,
    }


def test_a_match_of_somebody_who_has_left_is_not_repeated() -> None:
    room = LobbyDriver(settings(programme=[ProgrammeItem(game="toy", games=1)]))
    room.seat("ada", "bob")
    room.command(Leave("ada"))
    room.end(Cause.INFRASTRUCTURE)
    assert room.engine.state.phase == "finished"
    assert room.engine.state.round.void == 1


def test_matches_of_the_disconnected_wait_while_others_go_on() -> None:
    room = LobbyDriver(
        settings(OpenSeat(), OpenSeat(), OpenSeat(), programme=[ProgrammeItem(game="toy", games=3)])
    )
    room.seat("ada", "bob", "cyd")
    room.command(Disconnected("ada"))
    assert [begin.planned.number for begin in of(BeginMatch, room.end())] == [2]
    assert of(BeginMatch, room.end()) == []
    assert [begin.planned.number for begin in of(BeginMatch, room.command(Connected("ada")))] == [3]


def test_a_rematch_rotates_and_forgets_the_table() -> None:
    room = LobbyDriver(
        settings(OpenSeat(), OpenSeat(), HOUSE, programme=[ProgrammeItem(game="toy")])
    )
    room.command(Join(player("h", "house"), house_seat=2))
    room.command(Ready("h"))
    room.seat("ada", "bob")
    first = room.engine.state.round.running["l1-1-1"]
    room.play()
    room.command(Rematch("host"))
    view = room.view("ada")
    assert (view.round, view.state, view.done) == (2, "gathering", 0)
    assert [(member.name, member.ready) for member in view.by_seat()] == [
        ("ada", False),
        ("bob", False),
        ("h", True),
    ]
    room.command(Ready("ada"))
    room.command(Ready("bob"))
    second = room.engine.state.round.running["l1-2-1"]
    assert [each.player for each in first.players] == ["ada", "bob"]
    assert [each.player for each in second.players] == ["bob", "h"]
    assert first.seed != second.seed


def test_closing_lets_running_matches_finish() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob")
    assert kinds(room.command(Close("host"))) == ["closing", "Accepted"]
    assert kinds(room.command(Close("host"))) == ["Accepted"]
    assert (room.engine.state.phase, room.engine.state.round.void) == ("running", 1)
    effects = room.end()
    assert kinds(effects) == [
        "match_ended",
        "closed",
        "LobbyOver",
    ]
    assert room.engine.state.phase == "closed"


def test_closing_dismisses_house_bots() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE))
    room.seat("ada")
    effects = room.command(Close("host"))
    assert kinds(effects) == ["closed", "Accepted", "StopBot", "LobbyOver"]
    assert room.deadline is None
    assert room.wait(IDLE_MS) == []


# --- house bots ---------------------------------------------------------------------------


@pytest.mark.parametrize("joinable", ["closed", "invite"])
def test_a_house_bot_needs_no_invitation(joinable: str) -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE, joinable=joinable))
    assert kinds(room.command(Join(player("h", "house"), house_seat=1))) == ["joined", "Accepted"]


def test_a_house_bot_takes_the_seat_of_its_ticket_and_no_other() -> None:
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), HOUSE))
    assert refused(room.command(Join(player("h", "house"), house_seat=0))) is Code.FULL
    assert refused(room.command(Join(player("h", "house"), house_seat=9))) is Code.FULL
    room.command(Join(player("h", "house"), house_seat=2))
    assert room.engine.state.seats.members["h"].seat == 2
    assert refused(room.command(Join(player("i", "house"), house_seat=2))) is Code.FULL


def test_a_house_bot_that_fails_is_hired_again_until_its_seat_is_given_up() -> None:
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), HOUSE))
    bot = player("h", "house")
    room.command(Join(bot, house_seat=2))
    room.command(Ready("h"))
    assert of(StartBot, room.command(BotFailed(2, "exit 1"))) == [StartBot(2, "toy/random", bot)]
    assert room.engine.state.seats.members["h"].ready is False
    for _ in range(MAX_BOT_FAILURES - 2):
        assert kinds(room.command(BotFailed(2, "exit 1"))) == ["house_lost", "StartBot"]
    assert kinds(room.command(BotFailed(2, "exit 1"))) == ["house_lost", "StopBot"]
    assert "h" not in room.engine.state.seats.members
    assert room.command(BotFailed(2, "late news")) == []
    room.seat("ada", "bob", "cyd")
    assert room.engine.state.seats.members["cyd"].seat == 2


def test_a_house_bot_given_up_in_a_running_programme_vacates_its_matches() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE, programme=[ProgrammeItem(game="toy", games=3)]))
    room.command(Join(player("h", "house"), house_seat=1))
    room.command(Ready("h"))
    room.seat("ada")
    for _ in range(MAX_BOT_FAILURES - 1):
        room.command(BotFailed(1, "exit 1"))
    effects = room.command(BotFailed(1, "exit 1"))
    assert of(VacateSeat, effects) == [VacateSeat("l1-1-1", "h")]
    assert room.engine.state.round.void == 2


def test_removing_a_house_bot_opens_its_seat() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE))
    room.command(Join(player("h", "house"), house_seat=1))
    effects = room.command(Kick("host", "h"))
    assert kinds(effects) == ["kicked", "Accepted", "NotifyRemoved", "StopBot"]
    room.seat("ada", "bob")
    assert room.engine.state.phase == "running"


def test_a_house_bot_that_leaves_is_hired_again() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE))
    room.command(Join(player("h", "house"), house_seat=1))
    effects = room.command(Leave("h"))
    assert kinds(effects) == ["house_lost", "StartBot", "Accepted", "NotifyRemoved"]


def test_a_rematch_hires_the_house_bots_that_have_gone() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE))
    bot = player("h", "house")
    room.command(Join(bot, house_seat=1))
    room.command(Ready("h"))
    room.seat("ada")
    room.play()
    assert kinds(room.command(BotFailed(1, "killed"))) == ["house_lost"]
    assert of(StartBot, room.command(Rematch("host"))) == [StartBot(1, "toy/random", bot)]


# --- time ---------------------------------------------------------------------------------


def test_a_member_who_stays_away_has_left() -> None:
    room = LobbyDriver(settings(conduct=Conduct(grace_ms=40_000)))
    room.seat("ada", "bob", ready=False)
    room.command(Disconnected("ada"))
    assert room.deadline == 40_000
    assert room.wait(39_999) == []
    effects = room.wait(1)
    assert kinds(effects) == ["left", "NotifyRemoved"]
    assert of(NotifyRemoved, effects) == [NotifyRemoved("ada", "expired")]
    assert room.deadline is None


def test_a_member_who_comes_back_stays() -> None:
    room = LobbyDriver(settings(conduct=Conduct(grace_ms=0)))
    room.seat("ada", ready=False)
    room.command(Disconnected("ada"))
    room.wait(MIN_GRACE_MS - 1)
    room.command(Connected("ada"))
    assert room.wait(MIN_GRACE_MS) == []
    assert "ada" in room.engine.state.seats.members


def test_a_house_bot_that_stays_away_is_hired_again() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE, conduct=Conduct(grace_ms=0)))
    room.command(Join(player("h", "house"), house_seat=1))
    room.command(Disconnected("h"))
    assert kinds(room.wait(MIN_GRACE_MS)) == ["house_lost", "StartBot"]
    assert room.deadline == 2 * MIN_GRACE_MS


def test_a_lobby_where_nobody_is_expires() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE))
    room.command(Join(player("h", "house"), house_seat=1))
    room.wait(IDLE_MS)
    assert room.engine.state.phase == "gathering"
    room.command(Disconnected("host"))
    assert room.deadline == 2 * IDLE_MS
    room.wait(IDLE_MS - 1)
    assert room.engine.state.phase == "gathering"
    effects = room.wait(1)
    assert kinds(effects) == ["closed", "StopBot", "LobbyOver"]
    assert of(LobbyOver, effects) == [LobbyOver("expired")]


def test_somebody_who_looks_in_keeps_a_lobby_open() -> None:
    room = LobbyDriver(settings())
    room.command(Disconnected("host"))
    room.command(Connected("spectator"))
    assert room.deadline is None
    room.now += 5
    room.command(Disconnected("spectator"))
    assert room.deadline == 5 + IDLE_MS


def test_a_running_programme_does_not_expire() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob")
    for name in ("host", "ada", "bob"):
        room.command(Disconnected(name))
    room.wait(IDLE_MS)
    assert room.view(None).state == "running"
    assert room.engine.state.seats.members == {}
    room.end()
    assert room.engine.state.phase == "finished"


# --- restarts -----------------------------------------------------------------------------


def test_a_restart_begins_again_what_was_never_made() -> None:
    room = LobbyDriver(
        settings(
            *[OpenSeat()] * 4, at_once=2, programme=[ProgrammeItem(game="toy", games=4, seed=5)]
        )
    )
    room.seat("ada", "bob", "cyd", "dan")
    running = dict(room.engine.state.round.running)
    assert list(running) == ["l1-1-1", "l1-1-3"]
    room.crash()
    effects = room.command(Resume(["l1-1-1"]))
    assert effects == [BeginMatch("l1-1-3", running["l1-1-3"])]
    assert room.command(Resume(["l1-1-1", "l1-1-3"])) == []
    for name in ("ada", "bob", "cyd", "dan"):
        room.command(Connected(name))
    room.play()
    assert room.engine.state.phase == "finished"
    assert room.engine.state.round.ended == 4


def test_a_restart_hires_house_bots_as_who_they_were_and_cold() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE))
    bot = player("h", "house")
    room.command(Join(bot, house_seat=1))
    room.command(Ready("h"))
    room.crash()
    effects = room.command(Resume([]))
    assert kinds(effects) == ["readied", "StartBot"]
    assert of(StartBot, effects) == [StartBot(1, "toy/random", bot)]


def test_after_a_restart_everybody_has_time_to_come_back() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob", ready=False)
    room.now = 1_000_000
    room.crash()
    room.command(Resume([]))
    assert room.deadline == 1_000_000 + 60_000


# --- views --------------------------------------------------------------------------------


def test_the_invite_code_is_for_host_and_members() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", ready=False)
    seen = {viewer: room.view(viewer).invite for viewer in ("host", "ada", "bob", None)}
    assert seen == {"host": "open-sesame", "ada": "open-sesame", "bob": None, None: None}


def test_seeds_are_for_the_host() -> None:
    room = LobbyDriver(settings(programme=[ProgrammeItem(game="toy", seed=99)]))
    room.seat("ada", ready=False)
    assert room.view("host").settings.programme[0].seed == 99
    assert "99" not in room.view("ada").model_dump_json()
    assert "99" not in room.view(None).model_dump_json()


def test_a_view_lists_live_matches_with_their_plies() -> None:
    room = LobbyDriver(settings())
    room.seat("ada", "bob")
    view = room.view("ada", spectators=3, plies={"l1-1-1": 7})
    assert view.spectators == 3
    (brief,) = view.live.values()
    assert (brief.match, brief.number, brief.ply, brief.watchable) == ("l1-1-1", 1, 7, True)
    assert all(member.connected for member in view.members.values())


def test_a_brief_is_a_line() -> None:
    room = LobbyDriver(settings(OpenSeat(), OpenSeat(), HOUSE, name="arena"))
    room.seat("ada", ready=False)
    brief = lobby_brief(room.engine.state)
    assert (brief.name, brief.host, brief.games) == ("arena", "host", ["toy"])
    assert (brief.members, brief.places, brief.state) == (1, 3, "gathering")


@pytest.mark.parametrize(("watchable", "stranger"), [(True, True), (False, False)])
def test_who_may_watch(watchable: bool, stranger: bool) -> None:
    room = LobbyDriver(settings(watchable=watchable))
    room.seat("ada", ready=False)
    state = room.engine.state
    assert state.may_watch("ada")
    assert state.may_watch("host")
    assert state.may_watch("stranger") is stranger


# --- settings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "code", "part"),
    [
        (settings(OpenSeat(), ReservedSeat(name="a/b")), Code.NAME_INVALID, "solidus"),
        (settings(ReservedSeat(name="ada"), ReservedSeat(name="АDA")), Code.BAD_SEATS, "'АDA'"),
        (
            settings(programme=[ProgrammeItem(game="toy", games=MAX_MATCHES // 2)] * 3),
            Code.LIMIT,
            "this one has 30000",
        ),
        (settings(conduct=Conduct(on_leave="replace")), Code.BAD_OPTION, "stand_in"),
        (settings(spectating={"mode": "shoulder"}), Code.BAD_OPTION, "spectating.seat"),
    ],
)
def test_settings_that_no_lobby_can_have(chosen: LobbySettings, code: Code, part: str) -> None:
    trouble = settings_problem(chosen)
    assert trouble is not None
    assert trouble[0] is code
    assert part in trouble[1]


def test_a_balanced_game_is_asked_for_in_whole_blocks() -> None:
    chosen = settings(programme=[ProgrammeItem(game="hex"), ProgrammeItem(game="toy", games=3)])
    trouble = settings_problem(chosen, balanced=["toy"])
    assert trouble is not None
    assert trouble[0] is Code.BAD_OPTION
    assert trouble[1].startswith("settings.programme.1.games: 'toy' with 2 seats is played in")
    assert settings_problem(chosen, balanced=["hex"]) is None
    assert settings_problem(chosen) is None


def test_blocks_count_all_their_matches_against_the_limit() -> None:
    items = [ProgrammeItem(game="toy", games=MAX_MATCHES // 2)] * 2
    assert settings_problem(settings(programme=items), balanced=["toy"]) is None
    trouble = settings_problem(
        settings(programme=[*items, ProgrammeItem(game="toy")]), balanced=["toy"]
    )
    assert trouble is not None
    assert "this one has 20002" in trouble[1]


def test_only_an_arranged_lobby_may_have_no_programme() -> None:
    chosen = LobbySettings(seats=[OpenSeat()], programme=[])
    assert settings_problem(chosen) is not None
    assert settings_problem(chosen.model_copy(update={"arranged": True})) is None
    prepared = settings(programme=[ProgrammeItem(game="toy", games=9_999)] * 3, arranged=True)
    assert settings_problem(prepared) is None


def test_a_house_bot_is_known_by_its_personality() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE))
    room.seat("ada")
    room.command(Join(player("h", "house"), house_seat=1))
    assert room.engine.state.seats.personality("h") == "toy/random"
    assert room.engine.state.seats.personality("ada") is None
    assert room.engine.state.seats.personality("nobody") is None


def test_good_settings_have_no_objection() -> None:
    chosen = settings(OpenSeat(), ReservedSeat(name="ada"), HOUSE)
    assert settings_problem(chosen) is None


# --- arranged lobbies ---------------------------------------------------------------------

TOY = ProgrammeItem(game="toy")
Refusal = tuple[Code, str]


def arranged(*players: str, seats: int = 3, started: bool = True, **fields: object) -> LobbyDriver:
    chosen = {"seats": [OpenSeat()] * seats, "programme": [], "arranged": True} | fields
    room = LobbyDriver(LobbySettings.model_validate(chosen))
    room.seat(*players)
    if started:
        room.command(Start("host"))
    return room


def match(tag: str, *players: str, **fields: object) -> Arrangement:
    item = ProgrammeItem.model_validate({"game": "toy", "seats": len(players)} | fields)
    return Arrangement(tag=tag, item=item, players=list(players))


def arrange(room: LobbyDriver, *matches: Arrangement, hidden: tuple[str, ...] = ()) -> list[Effect]:
    return room.command(Arrange("host", matches, hidden))


def stand(lobby: LobbyEngine, *tags: str) -> list[str]:
    """Return the states of matches as words."""
    return [
        "waits"
        if brief is None
        else "void"
        if brief.void
        else "runs"
        if brief.result is None
        else brief.result.cause.value
        for brief in arranged_briefs(lobby.state, tags)
    ]


def test_the_host_arranges_match_by_match() -> None:
    room = arranged("ada", "bob", "cyd")
    assert (room.engine.state.phase, room.view(None).planned) == ("running", 0)
    effects = arrange(room, match("b1.1", "bob", "ada"), match("b1.2", "ada", "bob"))
    assert kinds(effects) == ["arranged", "AnswerArranged", "match_begun", "BeginMatch"]
    assert of(AnswerArranged, effects) == [AnswerArranged(["b1.1", "b1.2"])]
    (begin,) = of(BeginMatch, effects)
    assert begin.planned.tag == "b1.1"
    assert [each.name for each in begin.planned.players] == ["bob", "ada"]
    assert stand(room.engine, "b1.2", "b1.1") == ["waits", "runs"]
    (live,) = room.view(None).live.values()
    assert (live.tag, live.number, live.void) == ("b1.1", 1, False)
    room.play()
    assert room.engine.state.phase == "running"
    view = room.view("ada")
    assert (view.planned, view.done, view.void) == (2, 2, 0)
    assert [(line.name, line.played) for line in view.table()] == [
        ("ada", 2),
        ("bob", 2),
        ("cyd", 0),
    ]
    assert lobby_brief(room.engine.state).games == ["toy"]


def test_a_tag_that_is_known_is_not_played_again_but_told() -> None:
    room = arranged("ada", "bob")
    wanted = [match("one", "ada", "bob"), match("two", "bob", "ada")]
    arrange(room, *wanted)
    room.end()
    lines = list(room.log)
    assert kinds(arrange(room, *wanted)) == ["AnswerArranged"]
    assert room.log == lines
    one, two = arranged_briefs(room.engine.state, ["one", "two"])
    assert one is not None
    assert two is not None
    assert one.result == result()
    assert (one.match, one.tag, one.ply, one.game) == ("l1-1-1", "one", 3, "toy")
    assert [each.name for each in one.seats] == ["ada", "bob"]
    assert (two.match, two.result) == ("l1-1-2", None)
    more = arrange(room, *wanted, match("three", "ada", "bob"))
    assert kinds(more) == ["arranged", "AnswerArranged"]
    assert room.engine.state.round.planned == 3


def test_known_tags_are_told_to_a_host_whose_players_have_gone_and_while_closing() -> None:
    room = arranged("ada", "bob")
    wanted = [match("one", "ada", "bob"), match("two", "bob", "ada")]
    arrange(room, *wanted)
    room.command(Leave("bob"))
    assert kinds(arrange(room, *wanted)) == ["AnswerArranged"]
    room.command(Close("host"))
    assert kinds(arrange(room, *wanted)) == ["AnswerArranged"]
    assert stand(room.engine, "one", "two") == ["runs", "void"]


@pytest.mark.parametrize(
    ("matches", "code", "part"),
    [
        ([match("a", "ada", "bob"), match("a", "bob", "ada")], Code.BAD_OPTION, "matches.1.tag"),
        ([match("a", "ada", "ada")], Code.BAD_SEATS, "'a': a player cannot have two of its seats"),
        ([match("a", "ada", "eve")], Code.NO_SUCH_PLAYER, "not a member of this lobby: 'eve'"),
        (
            [match("a", "ada", "bob", seats=3)],
            Code.BAD_SEATS,
            "expected a player for each of its 3 seats, got 2",
        ),
        ([match("a", "ada", "hex")], Code.BAD_SEATS, "'hex' cannot play it: it does not claim"),
        (
            [match("new", "ada", "bob"), match("b", "ada", "eve")],
            Code.NO_SUCH_PLAYER,
            "match 'b'",
        ),
        ([match(f"t{n}", "ada", "bob") for n in range(MAX_MATCHES + 1)], Code.LIMIT, "20001"),
    ],
    ids=["twice", "two seats", "stranger", "too few", "unable", "all or nothing", "too many"],
)
def test_what_cannot_be_arranged(matches: list[Arrangement], code: Code, part: str) -> None:
    room = arranged("ada", "bob", started=False)
    room.command(Join(player("hex"), Capabilities(games=[GameClaim(game="hex")])))
    room.command(Start("host"))
    before = copy.deepcopy(room.engine.state)
    (refusal,) = of(Refuse, arrange(room, *matches))
    assert refusal.code is code
    assert part in refusal.message
    assert room.engine.state == before


def test_who_may_arrange_and_when() -> None:
    room = arranged("ada", "bob", started=False)
    wanted = [match("one", "ada", "bob")]
    assert refused(arrange(room, *wanted)) is Code.WRONG_STATE
    room.command(Start("host"))
    assert refused(room.command(Arrange("ada", wanted))) is Code.NOT_HOST
    arrange(room, *wanted)
    room.command(Close("host"))
    assert refused(arrange(room, match("two", "ada", "bob"))) is Code.WRONG_STATE
    room.end()
    assert refused(arrange(room, *wanted)) is Code.CLOSED
    (refusal,) = of(Refuse, arrange(in_state("running"), *wanted))
    assert "opened with arranged=true" in refusal.message


def test_an_arranged_lobby_starts_when_its_host_says_whoever_is_there() -> None:
    room = arranged("ada", "bob", seats=2, started=False)
    assert room.engine.state.phase == "gathering"
    room = arranged(seats=2)
    assert room.engine.state.phase == "running"
    room.seat("ada", ready=False)
    assert kinds(room.command(Join(player("bob")))) == ["joined", "Accepted"]
    assert of(BeginMatch, arrange(room, match("one", "ada", "bob"))) == []
    room.command(Ready("ada"))
    assert kinds(room.command(Ready("bob"))) == ["readied", "Accepted", "match_begun", "BeginMatch"]
    room.play()
    assert [line.name for line in room.view(None).table()] == ["ada", "bob"]


def test_members_are_away_and_come_back() -> None:
    room = arranged("ada", "bob", "cyd")
    room.command(Disconnected("ada"))
    effects = arrange(room, match("one", "ada", "bob"), match("two", "bob", "cyd"))
    assert [begin.planned.tag for begin in of(BeginMatch, effects)] == ["two"]
    room.end()
    assert of(BeginMatch, room.command(Connected("ada")))[0].planned.tag == "one"


def test_who_leaves_voids_what_waits_and_may_come_back_for_new_matches() -> None:
    room = arranged("ada", "bob", "cyd")
    arrange(room, match("one", "ada", "bob"), match("two", "bob", "ada"), match("3", "bob", "cyd"))
    effects = room.command(Leave("ada"))
    assert of(VacateSeat, effects) == [VacateSeat("l1-1-1", "ada")]
    assert stand(room.engine, "one", "two", "3") == ["runs", "void", "waits"]
    assert room.view(None).void == 1
    (brief,) = arranged_briefs(room.engine.state, ["two"])
    assert brief is not None
    assert (brief.result, brief.tag) == (None, "two")
    assert refused(arrange(room, match("two~1", "bob", "ada"))) is Code.NO_SUCH_PLAYER
    room.seat("ada")
    arrange(room, match("two~1", "bob", "ada"))
    room.play()
    assert stand(room.engine, "one", "two", "3", "two~1") == ["rules", "void", "rules", "rules"]
    assert room.engine.state.round.done == room.engine.state.round.planned == 4
    assert [line.name for line in room.view(None).table()].count("ada") == 1


def test_the_server_s_own_trouble_in_an_arranged_match() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("one", "ada", "bob"))
    (again,) = of(BeginMatch, room.end(Cause.INFRASTRUCTURE))
    assert (again.match, again.planned.tag) == ("l1-1-1b", "one")
    room.end(Cause.INFRASTRUCTURE)
    (brief,) = arranged_briefs(room.engine.state, ["one"])
    assert brief is not None
    assert brief.result is not None
    assert (brief.match, brief.result.cause) == ("l1-1-1b", Cause.INFRASTRUCTURE)
    assert kinds(arrange(room, match("one", "ada", "bob"))) == ["AnswerArranged"]
    assert of(BeginMatch, arrange(room, match("one~1", "ada", "bob")))


def test_closing_an_arranged_lobby_voids_what_waits() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("one", "ada", "bob"), match("two", "bob", "ada"))
    assert kinds(room.command(Close("host"))) == ["closing", "Accepted"]
    assert stand(room.engine, "one", "two") == ["runs", "void"]
    assert refused(room.command(Join(player("cyd")))) is Code.WRONG_STATE
    assert kinds(room.end())[:2] == ["match_ended", "closed"]


def test_an_arranged_lobby_has_no_rematch() -> None:
    room = arranged("ada", "bob")
    (refusal,) = of(Refuse, room.command(Rematch("host")))
    assert "no rematch" in refusal.message


def test_an_arranged_lobby_expires_when_it_plays_nothing_and_nobody_is_there() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("one", "ada", "bob"))
    for name in ("host", "ada", "bob"):
        room.command(Disconnected(name))
    room.wait(2 * IDLE_MS)
    assert room.engine.state.phase == "running"
    room.end()
    room.wait(IDLE_MS)
    assert room.view(None).state == "closed"


def test_after_a_restart_every_tag_is_known() -> None:
    room = arranged("ada", "bob", "cyd")
    wanted = [match(f"t{n}", *pair, seed=n) for n, pair in enumerate([("ada", "bob")] * 4)]
    arrange(room, *wanted, match("gone", "bob", "cyd"))
    room.command(Leave("cyd"))
    room.end()
    room.end(Cause.TIME)
    tags = [*(each.tag for each in wanted), "gone"]
    before = stand(room.engine, *tags)
    room.crash()
    assert stand(room.engine, *tags) == before == ["rules", "time", "runs", "waits", "void"]
    (begin,) = of(BeginMatch, room.command(Resume([])))
    assert (begin.match, begin.planned.tag, begin.planned.seed) == ("l1-1-3", "t2", 2)
    for name in ("ada", "bob"):
        room.command(Connected(name))
    assert kinds(arrange(room, *wanted)) == ["AnswerArranged"]
    room.play()
    assert stand(room.engine, *tags) == ["rules", "time", "rules", "rules", "void"]


def test_a_house_bot_that_is_hired_again_says_ready_before_it_plays() -> None:
    room = LobbyDriver(settings(OpenSeat(), HOUSE, programme=[TOY], arranged=True))
    room.command(Start("host"))
    room.command(Join(player("h", "house"), house_seat=1))
    room.command(Ready("h"))
    room.seat("ada")
    arrange(room, match("one", "ada", "h"), match("two", "h", "ada"))
    room.crash()
    assert kinds(room.command(Resume(["l1-1-1"]))) == ["readied", "StartBot"]
    for name in ("ada", "h"):
        room.command(Connected(name))
    assert of(BeginMatch, room.end()) == []
    assert of(BeginMatch, room.command(Ready("h")))[0].planned.tag == "two"


def test_one_seed_is_one_deal_but_never_of_what_is_hidden() -> None:
    room = arranged("ada", "bob")
    block = [match(f"b.{n}", "ada", "bob", seed=7) for n in (1, 2)]
    arrange(room, *block, match("own", "ada", "bob"), match("other", "ada", "bob"))
    veil = [match(f"v.{n}", "ada", "bob", game="veil", seed=7) for n in (1, 2)]
    arrange(room, *veil, hidden=("veil",))
    seeds = [planned.seed for planned in room.engine.state.round.running.values()]
    seeds += [
        planned.seed
        for planned in room.engine.state.round.waiting
        if isinstance(planned, PlannedMatch)
    ]
    assert seeds[:2] == [7, 7]
    assert len({7, *seeds[2:]}) == 5
    again = arranged("ada", "bob")
    arrange(again, *veil, hidden=("veil",))
    (begun,) = again.engine.state.round.running.values()
    assert begun.seed == seeds[4]


def test_seeds_of_arranged_matches_are_in_no_view() -> None:
    room = arranged("ada", "bob")
    arrange(room, match("b.1", "ada", "bob", seed=123456789))
    for viewer in ("host", "ada", None):
        assert "123456789" not in room.view(viewer).model_dump_json()


def test_what_became_of_a_tag_is_kept_small() -> None:
    room = arranged("ada", "bob")
    arrange(room, *[match(f"r3.b{n}.1", "ada", "bob", seed=n) for n in range(250)])
    room.play()
    kept = room.engine.state.round
    assert len(kept.tags) == len(kept.settled) == 250
    assert len(kept.item_kinds) == len({id(each.item) for each in kept.settled.values()}) == 1
    assert len({id(each.players[0]) for each in kept.settled.values()}) == 1
    assert all(len(each.result or b"") < 200 for each in kept.settled.values())


# --- random commands ----------------------------------------------------------------------

NAMES = st.sampled_from(["host", "ada", "bob", "cyd", "dan", "h"])
CAUSES = st.sampled_from([Cause.RULES, Cause.RULES, Cause.TIME, Cause.INFRASTRUCTURE])
ITEMS = st.builds(
    ProgrammeItem,
    game=st.just("toy"),
    seats=st.integers(1, 3),
    games=st.integers(1, 7),
    rotate=st.booleans(),
)


class LobbyMachine(RuleBasedStateMachine):
    """In every sequence of commands, a lobby matches its log, respects its limits, and ends."""

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
        self.room = LobbyDriver(
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
        before = copy.deepcopy(self.room.engine.state)
        effects = self.room.command(command)
        if of(Refuse, effects):
            assert len(effects) == 1
            assert self.room.engine.state == before
            assert self.room.log == lines
        assert len(of(Accepted, effects)) <= 1
        return effects

    @rule(name=NAMES)
    def join(self, name: str) -> None:
        house = name == "h"
        kind: PlayerKind = "house" if house else "bot"
        self.do(Join(player(name, kind), self.capabilities, house_seat=3 if house else None))

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
        for name in list(self.room.engine.state.seats.members):
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
        """Arranging a tag again returns its state without playing a match twice."""
        fresh = {tag: match(tag, *players, seed=seed) for tag in tags}
        before = dict(self.room.engine.state.round.tags)
        effects = self.do(Arrange(by, [self.wanted.get(tag, fresh[tag]) for tag in tags]))
        tags_now = self.room.engine.state.round.tags
        if of(Refuse, effects):
            assert tags_now == before
            return
        (briefed,) = of(AnswerArranged, effects)
        assert briefed.tags == tags
        assert tags_now.keys() == before.keys() | set(tags)
        assert before.items() <= tags_now.items()
        self.wanted = fresh | self.wanted

    @rule()
    def everybody_is_arranged(self) -> None:
        """Ensure that there is frequently something to play."""
        here = [
            name
            for name in ("ada", "bob", "dan", "h")
            if name in self.room.engine.state.seats.members
        ]
        for name in here[1:]:
            self.arrange("host", [f"{here[0]}-{name}", f"{name}-{here[0]}"], [name, here[0]], 1)

    @rule(name=NAMES, here=st.booleans())
    def connection(self, name: str, here: bool) -> None:
        self.do(Connected(name) if here else Disconnected(name))

    @rule(pick=st.integers(0, 9), cause=CAUSES)
    def end_match(self, pick: int, cause: Cause) -> None:
        running = self.room.engine.state.round.running
        if running:
            match = list(running)[pick % len(running)]
            self.do(MatchFinished(match, result(len(running[match].players), cause)))

    @rule(times=st.integers(1, 9))
    def matches_fail(self, times: int) -> None:
        for pick in range(times):
            self.end_match(pick, Cause.INFRASTRUCTURE)

    @rule()
    def house_fails(self) -> None:
        self.do(BotFailed(3, "exit 1"))

    @rule(millis=st.sampled_from([1, MIN_GRACE_MS, 2 * MIN_GRACE_MS, IDLE_MS]))
    def time_passes(self, millis: int) -> None:
        self.room.wait(millis)

    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        self.room.crash()
        running = dict(self.room.engine.state.round.running)
        alive = data.draw(st.sets(st.sampled_from(sorted(running)))) if running else set()
        begun = {begin.match for begin in of(BeginMatch, self.do(Resume(alive)))}
        assert begun == set(running) - alive

    @invariant()
    def the_log_says_it_all(self) -> None:
        if hasattr(self, "room"):
            assert self.room.restored().state == self.room.engine.state

    @invariant()
    def limits_hold(self) -> None:
        if not hasattr(self, "room"):
            return
        kept = self.room.engine.state
        current = kept.round
        assert len(current.running) <= kept.settings.at_once
        failing = current.failed_in_a_row >= kept.settings.at_once + MAX_MATCH_FAILURES
        assert kept.settings.arranged or not (failing and current.waiting)
        busy = Counter(
            each.player for planned in current.running.values() for each in planned.players
        )
        assert all(count <= self.capabilities.at_once for count in busy.values())
        seats = [member.seat for member in kept.seats.members.values()]
        assert len(seats) == len(set(seats)) <= 4
        settled = current.done + len(current.waiting) + len(current.running)
        assert current.planned == settled or not current.started
        if kept.settings.arranged:
            assert len(current.tags) == current.planned
            assert len(current.settled) == current.done
            void = [each for each in current.settled.values() if each.result is None]
            assert len(void) == current.void
            at_play = [planned.number for planned in current.running.values()]
            numbers = [*(each.number for each in current.waiting), *at_play, *current.settled]
            assert sorted(numbers) == sorted(current.tags.values())

    @invariant()
    def the_deadline_lies_ahead_after_a_tick(self) -> None:
        if hasattr(self, "room"):
            self.room.wait(0)
            deadline = self.room.deadline
            assert deadline is None or deadline > self.room.now

    def teardown(self) -> None:
        """Let some members leave for good and the others return; then every programme finishes."""
        if not hasattr(self, "room") or self.room.engine.state.phase != "running":
            return
        lobby = self.room.engine
        for name in list(lobby.state.seats.members):
            self.room.command(Connected(name))
            if lobby.state.settings.arranged:
                self.room.command(Ready(name))
        self.room.play()
        assert lobby.state.phase in (
            "running" if lobby.state.settings.arranged else "finished",
            "closed",
        )
        assert lobby.state.round.done == lobby.state.round.planned


TestAnyOrder = LobbyMachine.TestCase
