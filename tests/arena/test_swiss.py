from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_arena.swiss import NamePair, pair_round
from tests.tools import profiles


def pairings(names: Sequence[str]) -> Iterator[list[NamePair]]:
    """Yield every complete pairing."""
    if not names:
        yield []
        return
    first, *others = names
    for other in others:
        for rest in pairings([each for each in others if each != other]):
            yield [frozenset((first, other)), *rest]


def worst(paired: Sequence[NamePair], met: Mapping[NamePair, int]) -> int:
    return max((met.get(each, 0) for each in paired), default=0)


@given(st.data())
@settings(max_examples=profiles.examples(150), deadline=None)
def test_everybody_is_paired_and_no_more_rematches_than_there_must_be(data: st.DataObject) -> None:
    names = "abcdefgh"[: data.draw(st.integers(2, 8))]
    points = {name: data.draw(st.integers(0, 3)) * 1.0 for name in names}
    met = {
        frozenset((a, b)): data.draw(st.sampled_from([0, 1, 1, 2]))
        for i, a in enumerate(names)
        for b in names[:i]
    }
    ranking = sorted(names, key=lambda name: -points[name])
    found = pair_round(ranking, points, met, {})
    there = [name for each in found.pairs for name in each] + ([found.bye] if found.bye else [])
    assert sorted(there) == [*names]
    left = [name for name in names if name != found.bye]
    best = min(worst(each, met) for each in pairings(left))
    assert worst([frozenset(each) for each in found.pairs], met) == best


def test_the_upper_half_of_equals_plays_the_lower_half() -> None:
    found = pair_round("abcdefgh", dict.fromkeys("abcdefgh", 0.0), {}, {})
    assert found.pairs == (("a", "e"), ("b", "f"), ("c", "g"), ("d", "h"))


def test_winners_play_winners() -> None:
    points = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}
    met = {frozenset("ac"): 1, frozenset("bd"): 1}
    assert pair_round("abcd", points, met, {}).pairs == (("a", "b"), ("c", "d"))


@given(st.integers(1, 6).map(lambda n: 2 * n + 1), st.integers(1, 20))
@settings(max_examples=profiles.examples(30), deadline=None)
def test_nobody_has_a_second_bye_before_everybody_had_one(count: int, rounds: int) -> None:
    names = [f"p{i}" for i in range(count)]
    met: Counter[NamePair] = Counter()
    byes: Counter[str] = Counter()
    for _ in range(rounds):
        found = pair_round(names, dict.fromkeys(names, 0.0), met, byes)
        assert found.bye is not None
        byes[found.bye] += 1
        met.update(map(frozenset, found.pairs))
        assert max(byes.values()) - min(byes[name] for name in names) <= 1


def test_a_large_field_is_paired_until_everybody_has_met() -> None:
    names = [f"p{i}" for i in range(20)]
    met: Counter[NamePair] = Counter()
    for _ in range(19):
        found = pair_round(names, dict.fromkeys(names, 0.0), met, {})
        met.update(map(frozenset, found.pairs))
        assert max(met.values()) <= 2
    assert met.total() == 190


ROUNDS = """
04 15 26 37 8
07 18 23 64 5
10 75 36 82 4
17 80 34 65 2
78 14 60 25 3
74 12 86 35 0
72 84 13 50 6
76 85 03 42 1
16 83 02 45 7
71 85 06 23 4
"""
"""Pairs and byes of a tournament of nine, unchanged since the first version of Swiss
tournaments."""


def test_a_tournament_that_goes_on_pairs_as_it_did_before() -> None:
    """A journal has no pairings; they are derived from the results, equally in every version."""
    rng = random.Random(9)
    names = "012345678"
    points = dict.fromkeys(names, 0.0)
    met: Counter[NamePair] = Counter()
    byes: Counter[str] = Counter()
    for expected in ROUNDS.split("\n")[1:-1]:
        found = pair_round(sorted(names, key=lambda name: -points[name]), points, met, byes)
        assert f"{' '.join(a + b for a, b in found.pairs)} {found.bye}" == expected
        for a, b in found.pairs:
            met[frozenset((a, b))] += 1
            drawn = rng.random()
            for name in (a, b) if drawn < 0.3 else (a,) if drawn < 0.7 else (b,):
                points[name] += 0.5 if drawn < 0.3 else 1.0
        assert found.bye is not None
        byes[found.bye] += 1
        points[found.bye] += 1
