"""The line that is typed: every key in its order, and nothing in it that cannot be shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kibitz_clients.tui.line_edit import MAX_LENGTH, LineEdit
from kibitz_protocol import printable

KEYS = ("backspace", "delete", "left", "right", "home", "end", "ctrl+u", "ctrl+w")


def edited(*keys: str) -> LineEdit:
    line = LineEdit()
    for key in keys:
        if not line.press(key):
            line.insert(key)
    return line


def test_a_move_is_typed_and_mended() -> None:
    assert edited(*"f7-h8", "backspace", "7") == LineEdit("f7-h7", 5)
    assert edited(*"7-h7", "home", "f", "end").text == "f7-h7"
    assert edited(*"ff7", "left", "left", "backspace").text == "f7"
    assert edited(*"ab", "home", "delete").text == "b"
    assert edited(*"turn right", "ctrl+w").text == "turn "
    assert edited(*"turn right", "ctrl+u") == LineEdit()


def test_of_what_is_pasted_the_first_line_is_taken() -> None:
    assert edited("\r\nf7-h7\nand more\n").text == "f7-h7"
    assert edited("\n").text == ""


def test_other_keys_are_not_its_own() -> None:
    assert not LineEdit().press("f2")
    assert not LineEdit().press("a")


@given(st.lists(st.sampled_from(KEYS) | st.text(max_size=90), max_size=30))
def test_whatever_is_typed_the_line_can_be_shown_and_the_cursor_is_in_it(keys: list[str]) -> None:
    line = edited(*keys)
    assert 0 <= line.cursor <= len(line.text) <= MAX_LENGTH
    assert all(map(printable.is_safe, line.text))
