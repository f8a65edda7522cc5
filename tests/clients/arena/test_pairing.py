from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_clients.arena.pairing import Pair, pair


def pairings(names: Sequence[str]) -> Iterator[list[Pair]]:
    """Yield every complete pairing."""
    if not names:
        yield []
        return
    first, *others = names
    for other in others:
        for rest in pairings([each for each in others if each != other]):
            yield [frozenset((first, other)), *rest]


def worst(paired: Sequence[Pair], met: Mapping[Pair, int]) -> int:
    return max((met.get(each, 0) for each in paired), default=0)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_everybody_is_paired_and_no_more_rematches_than_there_must_be(data: st.DataObject) -> None:
    names = "abcdefgh"[: data.draw(st.integers(2, 8))]
    points = {name: data.draw(st.integers(0, 3)) * 1.0 for name in names}
    met = {
        frozenset((a, b)): data.draw(st.sampled_from([0, 1, 1, 2]))
        for i, a in enumerate(names)
        for b in names[:i]
    }
    ranking = sorted(names, key=lambda name: -points[name])
    found = pair(ranking, points, met, {}, 3)
    there = [name for each in found.pairs for name in each] + ([found.bye] if found.bye else [])
    assert sorted(there) == [*names]
    left = [name for name in names if name != found.bye]
    best = min(worst(each, met) for each in pairings(left))
    assert worst([frozenset(each) for each in found.pairs], met) == best


def test_the_upper_half_of_equals_plays_the_lower_half() -> None:
    found = pair("abcdefgh", dict.fromkeys("abcdefgh", 0.0), {}, {}, 0)
    assert found.pairs == (("a", "e"), ("b", "f"), ("c", "g"), ("d", "h"))


def test_winners_play_winners() -> None:
    points = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}
    met = {frozenset("ac"): 1, frozenset("bd"): 1}
    assert pair("abcd", points, met, {}, 0).pairs == (("a", "b"), ("c", "d"))


@given(st.integers(1, 6).map(lambda n: 2 * n + 1), st.integers(1, 20))
@settings(max_examples=30, deadline=None)
def test_nobody_has_a_second_bye_before_everybody_had_one(count: int, rounds: int) -> None:
    names = [f"p{i}" for i in range(count)]
    met: Counter[Pair] = Counter()
    byes: Counter[str] = Counter()
    for seed in range(rounds):
        found = pair(names, dict.fromkeys(names, 0.0), met, byes, seed)
        assert found.bye is not None
        byes[found.bye] += 1
        met.update(map(frozenset, found.pairs))
        assert max(byes.values()) - min(byes[name] for name in names) <= 1


def test_a_large_field_is_paired_until_everybody_has_met() -> None:
    names = [f"p{i}" for i in range(20)]
    met: Counter[Pair] = Counter()
    for seed in range(19):
        found = pair(names, dict.fromkeys(names, 0.0), met, {}, seed)
        met.update(map(frozenset, found.pairs))
        assert max(met.values()) <= 2
    assert met.total() == 190
