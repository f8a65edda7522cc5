"""Pairing: similar ratings, few earlier meetings, short waits; and seating."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from kibitz_arena.ladder.pairing import Candidate, Met, Terms, pair, seating

TERMS = Terms(seats=2, patience=0.5, spread=100)


def here(**waited: float | None) -> list[Candidate]:
    """Candidates with equal ratings, by name, with their waiting times."""
    return [Candidate(name, 1500, each) for name, each in waited.items()]


def met(**times: int) -> Met:
    """Return meeting counts such as ``ab=3``; all others are 0."""

    def of(one: str, other: str) -> int:
        return times.get(one + other, times.get(other + one, 0))

    return of


def rated(**ratings: float) -> list[Candidate]:
    return [Candidate(name, rating, 0.0) for name, rating in ratings.items()]


def pairs(found: list[tuple[str, ...]]) -> list[str]:
    return sorted("".join(sorted(group)) for group in found)


def test_who_is_near_is_paired() -> None:
    found = pair(rated(a=1000, b=1010, c=1500, d=1490), met(), TERMS, 9)
    assert pairs(found) == ["ab", "cd"]


def test_who_has_met_least_is_paired() -> None:
    found = pair(rated(a=1500, b=1500, c=1500, d=1500), met(ab=2, cd=2, ac=1, bd=1), TERMS, 9)
    assert pairs(found) == ["ad", "bc"]


def test_a_meeting_less_is_worth_the_spread() -> None:
    there = rated(a=1500, b=1500, c=1590)
    assert pairs(pair(there, met(ab=1), TERMS, 9)) == ["ac"]
    there = rated(a=1500, b=1500, c=1610)
    assert pairs(pair(there, met(ab=1), TERMS, 9)) == ["ab"]


def test_who_waits_longest_comes_first() -> None:
    found = pair(here(a=0.0, b=3.0, c=1.0), met(), TERMS, 9)
    assert found == [("b", "a")]
    found = pair(here(a=0.0, b=3.0, c=1.0), met(ab=5), TERMS, 9)
    assert found == [("b", "c")]


def test_two_who_have_just_met_wait_for_somebody_else_but_not_for_long() -> None:
    often = met(ab=4, ac=1, bc=1)
    assert pair(here(a=0.0, b=0.0, c=None), often, TERMS, 9) == []
    assert pair(here(a=0.5, b=0.0, c=None), often, TERMS, 9) == [("a", "b")]
    assert pair(here(a=0.0, b=0.0), often, TERMS, 9) == [("a", "b")], "nobody else is here"


def test_there_are_no_more_games_than_there_is_room_for() -> None:
    assert len(pair(here(a=1.0, b=1.0, c=1.0, d=1.0), met(), TERMS, 1)) == 1
    assert pair(here(a=1.0, b=1.0), met(), TERMS, 0) == []


def test_house_bots_are_company() -> None:
    house = [Candidate("x", 1500, 9.0, house=True), Candidate("y", 1500, 9.0, house=True)]
    assert pair(house, met(), TERMS, 9) == []
    assert pair([*here(a=1.0), *house], met(), TERMS, 9) == [("a", "x")]
    assert pairs(pair([*here(a=0.0, b=0.0), *house], met(), TERMS, 9)) == ["ab"]
    assert pairs(pair([*here(a=0.0, b=0.0), *house], met(ab=9), TERMS, 9)) == ["ax", "by"]


def test_games_of_several_seats_take_a_group() -> None:
    there = [*rated(a=1000, b=1010, c=1020, d=1500, e=1510, f=1520)]
    found = pair(there, met(), Terms(seats=3, patience=0.5, spread=100), 9)
    assert pairs(found) == ["abc", "def"]
    assert pair(there[:2], met(), Terms(seats=3, patience=0.5, spread=100), 9) == []


@given(
    st.lists(
        st.tuples(st.integers(0, 3000), st.one_of(st.none(), st.floats(0, 10)), st.booleans()),
        max_size=12,
    ),
    st.integers(2, 4),
    st.integers(0, 6),
    st.randoms(use_true_random=False),
)
def test_what_always_holds(
    facts: list[tuple[int, float | None, bool]], seats: int, most: int, luck: object
) -> None:
    """No player is paired twice or while busy, and none waits longer than its patience."""
    there = [
        Candidate(f"p{place}", rating, waited, house)
        for place, (rating, waited, house) in enumerate(facts)
    ]
    counts: Counter[frozenset[str]] = Counter()
    draw: Callable[[int], int] = luck.randrange  # type: ignore[attr-defined]
    for one in there:
        for other in there:
            counts[frozenset((one.name, other.name))] = draw(9)
    found = pair(there, lambda a, b: counts[frozenset((a, b))], Terms(seats, 0.5, 100), most)
    names = [name for group in found for name in group]
    by_name = {each.name: each for each in there}
    assert len(names) == len({*names})
    assert all(by_name[name].waited is not None for name in names)
    assert all(len(group) == seats for group in found)
    assert all(not all(by_name[name].house for name in group) for group in found)
    assert len(found) <= most
    left = [each for each in there if each.waited is not None and each.name not in names]
    impatient = [each for each in left if not each.house and (each.waited or 0) >= 0.5]
    if len(found) < most and len(left) >= seats:
        assert not impatient


def test_in_a_block_everybody_has_every_seat_once() -> None:
    for seed in range(5):
        games = [seating("cab", played, seed) for played in range(3)]
        assert all(sorted(game) == ["a", "b", "c"] for game in games)
        for seat in range(3):
            assert {game[seat] for game in games} == {"a", "b", "c"}
    assert {seating("ab", 0, seed) for seed in range(2)} == {("a", "b"), ("b", "a")}
