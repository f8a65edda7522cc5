"""Tickets: valid once, for half a minute, for one player and one start of one node."""

from __future__ import annotations

import base64
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_protocol.wire.messages import Hello
from kibitz_server.accounts.tickets import VALID_MS, BadTicket, Tickets

KEY, LIFE = b"the key of all nodes", "0123456789abcdef"


class Clock:
    def __init__(self, at: float) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


def node(life: str, at: float = 100.0, now_ms: int = 1_900_000_000_000) -> tuple[Tickets, Clock]:
    clock = Clock(at)
    made = Tickets(clock)
    made.synchronize(KEY, life, now_ms)
    return made, clock


def test_a_ticket_lets_its_player_in_once_whatever_the_clocks_of_the_machines_say() -> None:
    here, there = node("a" * 16, at=5.0)[0], node(LIFE, at=90_000.0)[0]
    ticket = here.issue("g0123456789abcdef", LIFE, "lobby")
    assert ticket is not None
    Hello(id=1, versions=[1], ticket=ticket)  # it fits
    assert there.player(ticket) == "g0123456789abcdef"
    assert there.player(ticket) == "g0123456789abcdef"
    there.use_up(ticket)
    with pytest.raises(BadTicket, match="already used"):
        there.player(ticket)


def test_a_ticket_is_for_one_start_of_one_node() -> None:
    ticket = node("a" * 16)[0].issue("p", LIFE, "lobby")
    assert ticket is not None
    with pytest.raises(BadTicket, match="another node"):
        node("b" * 16)[0].player(ticket)


def test_a_ticket_ends() -> None:
    (here, _), (there, clock) = node("a" * 16), node(LIFE)
    ticket = here.issue("p", LIFE, "lobby")
    assert ticket is not None
    clock.at += VALID_MS / 1000 - 0.5
    assert there.player(ticket) == "p"
    clock.at += 1
    with pytest.raises(BadTicket, match="has expired"):
        there.player(ticket)


def test_what_was_used_is_remembered_for_as_long_as_it_could_be_used() -> None:
    (here, _), (there, clock) = node("a" * 16), node(LIFE)
    tickets = [here.issue(f"p{number}", LIFE, "lobby") for number in range(3)]
    for each in tickets:
        assert each is not None
        there.use_up(each)
    assert len(there._used) == 3
    clock.at += VALID_MS / 1000 + 1
    there.use_up("another")
    assert list(there._used) == ["another"]


def test_without_the_common_key_there_is_no_ticket_and_none_is_good() -> None:
    alone = Tickets(Clock(0.0))
    assert alone.issue("p", LIFE, "lobby") is None
    ticket = node("a" * 16)[0].issue("p", LIFE, "lobby")
    assert ticket is not None
    with pytest.raises(BadTicket):
        alone.player(ticket)


@given(st.data())
def test_whatever_is_changed_in_a_ticket_makes_it_bad(data: st.DataObject) -> None:
    (here, _), (there, _) = node("a" * 16), node(LIFE)
    ticket = here.issue("g0123", LIFE, "lobby")
    assert ticket is not None
    place = data.draw(st.integers(0, len(ticket) - 1))
    letter = data.draw(st.sampled_from("abcXYZ019._-é"))
    changed = ticket[:place] + letter + ticket[place + 1 :]
    if changed != ticket:
        with pytest.raises(BadTicket):
            there.player(changed)


@given(st.text(max_size=128))
def test_whatever_is_no_ticket_is_a_bad_one(text: str) -> None:
    with pytest.raises(BadTicket):
        node(LIFE)[0].player(text)


def test_two_tickets_are_never_the_same() -> None:
    made = node("a" * 16)[0]
    issued = [made.issue("p", LIFE, "lobby") for _ in range(50)]
    assert all(one != other for one, other in pairwise(issued))


def test_another_key_makes_no_good_ticket() -> None:
    forger = Tickets(Clock(100.0))
    forger.synchronize(base64.b64encode(KEY), "a" * 16, 1_900_000_000_000)
    ticket = forger.issue("p", LIFE, "lobby")
    assert ticket is not None
    with pytest.raises(BadTicket, match="by this cluster"):
        node(LIFE)[0].player(ticket)
