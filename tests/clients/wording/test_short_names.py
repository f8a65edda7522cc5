"""Names in little room; `short_names.json` is what both clients have to make of some."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kibitz_clients.wording.short_names import ELLIPSIS, shorten

CASES = json.loads(Path(__file__).with_name("short_names.json").read_text(encoding="utf-8"))
ALIKE = st.text("ab-1", min_size=1, max_size=16) | st.text("ab-1", max_size=9).map(
    "house x".__add__
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["names"]))
def test_names_are_shortened_by_the_rule(case: dict[str, list[str]]) -> None:
    assert shorten(case["names"], int(str(case["room"]))) == case["shown"]


@given(st.lists(ALIKE, min_size=2, max_size=6), st.integers(3, 18))
def test_names_fit_and_different_ones_stay_different(names: list[str], room: int) -> None:
    shown = shorten(names, room)
    assert all(cell_len(text) <= room for text in shown)
    assert len(set(shown)) == len(set(names))
    assert all(text == name for text, name in zip(shown, names, strict=True) if len(name) <= room)


def test_wide_letters_take_two_columns() -> None:
    assert shorten(["日本語の名前です", "日本語の名前では"], 7) == ["日本…す", "日本…は"]
    assert ELLIPSIS in shorten(["日本語", "ada"], 5)[0]
