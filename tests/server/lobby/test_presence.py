"""The presence of members: connected ones, expected ones, and how long a lobby has been empty."""

from __future__ import annotations

from kibitz_server.lobby.presence import Presence


def test_after_a_restart_every_member_is_waited_for_from_then_on() -> None:
    presence = Presence(["ada", "bob"], 100)
    assert presence.first_overdue(50) == 150
    presence.arrive("ada")
    assert presence.overdue(149, 50) == []
    assert presence.overdue(150, 50) == ["bob"]


def test_only_members_are_waited_for_and_from_their_first_absence() -> None:
    presence = Presence([], 0)
    presence.arrive("ada")
    presence.arrive("eve")
    presence.depart("ada", 10, member=True)
    presence.depart("ada", 20, member=True)
    presence.depart("eve", 10, member=False)
    assert (presence.overdue(60, 50), presence.first_overdue(50)) == (["ada"], 60)
    presence.remove("ada")
    assert presence.first_overdue(50) is None


def test_house_bots_are_nobody() -> None:
    presence = Presence([], 0)
    presence.arrive("bot")
    presence.note_visitors({"bot"}.__contains__, 10)
    assert presence.empty_for(5) == 5  # it was empty from the start
    presence.arrive("ada")
    presence.note_visitors({"bot"}.__contains__, 20)
    assert presence.empty_for(5) is None
    presence.disconnect("ada")
    presence.note_visitors({"bot"}.__contains__, 30)
    presence.note_visitors({"bot"}.__contains__, 40)
    assert presence.empty_for(5) == 35
