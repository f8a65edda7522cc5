"""A round: its matches, from waiting to settled."""

from __future__ import annotations

import pytest

from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.records import Cause
from kibitz_server.lobby.entries import ArrangedMatch, MatchBegun, MatchEnded
from kibitz_server.lobby.round import Round
from tests.server.lobby.test_engine import player, result

PLAYERS = (player("ada"), player("bob"))


def arranged(*tags: str) -> Round:
    """Return a round of waiting matches of ada and bob."""
    current = Round("l1", 1, seed=7)
    current.start(PLAYERS)
    for tag in tags:
        item = ProgrammeItem(game="toy", seats=2)
        match = ArrangedMatch(tag=tag, item=item, players=["ada", "bob"], seed=5)
        current.arrange(match, PLAYERS)
    return current


def play(current: Round, number: int, cause: Cause, *here: str) -> None:
    match = current.match_key(number)
    players = list(PLAYERS)
    current.begin(MatchBegun(seq=10, number=number, match=match, players=players))
    assert list(current.running) == [match]
    ended = MatchEnded(seq=11, number=number, match=match, result=result(cause=cause))
    current.end(ended, here)


def counts(current: Round) -> tuple[int, int, int, int]:
    return len(current.waiting), current.ended, current.aborted, current.void


def test_the_longest_identifier_of_a_match_fits() -> None:
    longest = Round("l" * 16, 9999, seed=0, repeated=frozenset({20_000}))
    assert len(longest.match_key(20_000)) <= 32


def test_a_match_ends_with_a_result_that_counts() -> None:
    current = arranged("one")
    play(current, 1, Cause.RULES)
    assert (counts(current), current.done, current.playing) == ((0, 1, 0, 0), 1, False)
    assert current.settled[1].result is not None
    assert current.standings.tallies["ada"].played == 1


def test_the_server_s_failure_is_played_once_more() -> None:
    current = arranged("one")
    play(current, 1, Cause.INFRASTRUCTURE, "ada", "bob")
    assert (counts(current), current.failed_in_a_row) == ((1, 0, 0, 0), 1)
    assert current.match_key(1) == "l1-1-1b"
    play(current, 1, Cause.INFRASTRUCTURE, "ada", "bob")
    assert (counts(current), current.failed_in_a_row) == ((0, 0, 1, 0), 2)


@pytest.mark.parametrize("here", [(), ("ada",)])
def test_it_is_void_without_its_players(here: tuple[str, ...]) -> None:
    current = arranged("one")
    play(current, 1, Cause.INFRASTRUCTURE, *here)
    assert counts(current) == (0, 0, 0, 1)
    assert current.settled[1].result is None


def test_an_aborted_match_is_not_repeated() -> None:
    current = arranged("one")
    play(current, 1, Cause.ABORTED, "ada", "bob")
    assert (counts(current), current.standings.tallies) == ((0, 0, 1, 0), {})


def test_the_matches_of_a_player_who_leaves_are_void() -> None:
    current = arranged("one", "two")
    current.drop("cyd")
    assert counts(current) == (2, 0, 0, 0)
    current.drop("ada")
    assert (counts(current), current.done, current.planned) == ((0, 0, 0, 2), 2, 2)
    assert [settled.result for settled in current.settled.values()] == [None, None]


def test_a_player_who_joins_again_is_in_the_roster_once() -> None:
    current = arranged()
    for name in ("cyd", "ada", "cyd"):
        current.admit(player(name))
    assert [seated.player for seated in current.roster] == ["ada", "bob", "cyd"]
