"""Seats: their occupants, removed players, and house bots that fail."""

from __future__ import annotations

from kibitz_protocol.wire.lobbies import HouseSeat, OpenSeat
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import PlayerKind
from kibitz_server.lobby.bot_failures import MAX_BOT_FAILURES
from kibitz_server.lobby.seats import SeatedMember, Seats
from tests.server.lobby.test_engine import player


def taken() -> Seats:
    """Return ada's open seat, a bot's house seat, and a free open seat."""
    seats = Seats([OpenSeat(), HouseSeat(personality="toy/random"), OpenSeat()])
    kinds: list[tuple[str, PlayerKind]] = [("ada", "human"), ("h", "house")]
    for seat, (name, kind) in enumerate(kinds):
        seats.members[name] = SeatedMember(player(name, kind), seat, Capabilities(), ready=True)
    return seats


def test_the_host_bans_a_player_and_opens_the_seat_of_a_bot() -> None:
    seats = taken()
    seats.kick("ada")
    assert (set(seats.banned), set(seats.abandoned), seats.free()) == ({"ada"}, set(), [0, 2])
    seats.kick("h")
    assert (set(seats.banned), set(seats.abandoned), seats.free()) == ({"ada"}, {1}, [0, 1, 2])
    assert isinstance(seats.spec(1), OpenSeat)
    assert seats.house() == []


def test_a_bot_that_fails_too_often_loses_its_seat() -> None:
    seats = taken()
    for number in range(MAX_BOT_FAILURES - 1):
        assert seats.note_failure(1, f"exit {number}") is None
        assert not seats.members["h"].ready
    assert seats.house() == [1]
    assert seats.note_failure(1, "exit 9") == "h"
    assert seats.failures.by_seat == {1: ("exit 0", "exit 1", "exit 9")}
    assert (list(seats.members), seats.house()) == (["ada"], [])


def test_a_bot_that_never_joined_loses_its_seat_too() -> None:
    seats = taken()
    del seats.members["h"]
    assert [seats.note_failure(1, "late") for _ in range(MAX_BOT_FAILURES)] == [None] * 3
    assert seats.abandoned == {1}


def test_a_new_round_forgets_failures_and_which_people_are_ready() -> None:
    seats = taken()
    seats.note_failure(1, "exit 1")
    seats.set_ready("h", True)
    seats.begin_round()
    assert seats.failures.by_seat == {}
    assert [member.ready for member in seats.by_seat()] == [False, True]


def test_only_house_bots_have_a_personality() -> None:
    seats = taken()
    assert [seats.personality(key) for key in ("ada", "h", "nobody")] == [None, "toy/random", None]
    assert [seats.is_house(seat) for seat in (-1, 0, 1, 2, 3)] == [False, False, True, False, False]
