"""The pattern tables compared with their definition on strings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz_search.five_in_a_row import patterns
from tests.search.five_in_a_row import cases


@pytest.mark.parametrize("exact", [False, True])
@settings(deadline=None)
@given(data=st.data())
def test_a_pattern_is_what_one_more_stone_makes_of_it(exact: bool, data: st.DataObject) -> None:
    r = patterns.reach(exact)
    # Mostly stones, so that the slow definition tries few cells.
    half = st.text(st.sampled_from("x.x#.x"), min_size=r, max_size=r)
    text = data.draw(half) + "x" + data.draw(half)
    if text.count(".") > 7:
        text = text.replace(".", "#", 3)
    found = patterns.patterns(exact)[cases.number(text)]
    assert cases.ORDER[found] == cases.pattern(text, exact)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("xxxxx....", "five"),
        ("..xxxxxxx", "five"),
        ("...xxxx..", "open four"),
        ("x.xxx.x..", "open four"),  # with gaps: a five is next in two cells
        ("..#xxxx..", "four"),
        ("..xxx.x..", "four"),
        ("...xxx...", "open three"),
        ("..x.xx...", "open three"),
        ("..#xxx...", "three"),
        ("..x.x.x..", "three"),
        ("#.xxx.#..", "three"),
        ("...xx....", "open two"),
        ("....x....", "open one"),
        ("#...x#...", "nothing"),
        ("#...x.#..", "one"),
    ],
)
def test_rows_by_name(text: str, expected: str) -> None:
    assert cases.pattern(text, exact=False) == expected
    assert cases.ORDER[patterns.patterns(False)[cases.number(text)]] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".xxxxx.....", "five"),
        ("xxxxxx.....", "nothing"),
        (".xxxxxx....", "nothing"),
        ("xxxx.xx....", "two"),  # the gap makes seven
        ("..x.xxx.x..", "open four"),
        ("#.xx.xxx...", "three"),  # the gap makes six
        ("x.xxxx.x...", "nothing"),
    ],
)
def test_a_row_of_six_is_no_five_where_exactly_five_win(text: str, expected: str) -> None:
    assert cases.pattern(text, exact=True) == expected
    assert cases.ORDER[patterns.patterns(True)[cases.number(text)]] == expected


@pytest.mark.parametrize("exact", [False, True])
@settings(deadline=None)
@given(data=st.data())
def test_keys_tell_both_colours(exact: bool, data: st.DataObject) -> None:
    r = patterns.reach(exact)
    text = data.draw(st.text(st.sampled_from(".xo#"), min_size=2 * r, max_size=2 * r))
    key = sum(".xo#".index(cell) * 4**i for i, cell in enumerate(text))
    centred = text[:r] + "." + text[r:]
    table = patterns.patterns(exact)
    both = int(patterns.spread(table, exact)[key])
    assert both & 15 == table[cases.number(cases.seen(centred, "x"))]
    assert both >> 4 == table[cases.number(cases.seen(centred, "o"))]


@pytest.mark.parametrize("exact", [False, True])
@settings(deadline=None)
@given(data=st.data())
def test_a_code_tells_a_pattern_and_how_free_it_is(exact: bool, data: st.DataObject) -> None:
    half = st.text(st.sampled_from(".x.#."), min_size=patterns.reach(exact), max_size=5)
    ends = [data.draw(half)[: patterns.reach(exact)] for _ in range(2)]
    text = "x".join(ends)
    pattern = cases.pattern(text, exact)
    code = int(patterns.codes(exact)[cases.number(text)])
    assert cases.ORDER[patterns.PATTERN_OF_CODE[code]] == pattern
    limits = patterns.SPLITS.get(cases.ORDER.index(pattern), ())
    after = [cases.pattern(each, exact) for each in cases.with_one_more(text)]
    ways = after.count(cases.ORDER[min(cases.ORDER.index(pattern) + 2, patterns.FIVE)])
    freer = code - patterns.PATTERN_OF_CODE.index(patterns.PATTERN_OF_CODE[code])
    assert freer == sum(ways >= limit for limit in limits)


def test_every_code_occurs() -> None:
    for exact in (False, True):
        assert set(patterns.codes(exact).tolist()) == set(range(patterns.CODES))


def test_a_line_read_backwards_holds_the_same() -> None:
    for exact in (False, True):
        table, lines = patterns.codes(exact), patterns.lines(exact)
        cells = np.delete(lines[:, ::-1], patterns.reach(exact), axis=1)
        backwards = (cells * 3 ** np.arange(cells.shape[1])).sum(axis=1)
        assert (table[backwards] == table).all()
