"""Shortening names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kibitz_clients.wording.short_names import shorten, shown_name


@pytest.mark.parametrize(
    ("name", "room", "shown"),
    [
        ("ada", 8, "ada"),
        ("alphabeta-deep-1", 8, "alpha…-1"),
        ("alphabeta-deep-2", 8, "alpha…-2"),
        ("日本語の名前です", 7, "日…です"),
    ],
)
def test_names_lose_their_middle(name: str, room: int, shown: str) -> None:
    assert shorten(name, room) == shown


def test_the_prefix_of_house_bots_is_not_shown() -> None:
    assert shown_name("house greedy 2", "house") == "greedy 2"
    assert shown_name("Computer, level 2", "house") == "Computer, level 2"
    assert shown_name("house ada", "human") == "house ada"
    assert shown_name("house greedy") == "greedy"
    assert "\x1b" not in shown_name("ada\x1b[2J", "bot")


@given(st.text("ab-1日", max_size=16), st.integers(1, 18))
def test_names_fit(name: str, room: int) -> None:
    shown = shorten(name, room)
    assert cell_len(shown) <= room
    assert shown == name or cell_len(name) > room
