"""The input line: while it is empty it leaves all keys to the board."""

from __future__ import annotations

from typing import ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.events import Paste

from kibitz_clients.tui.widgets.move_line import MoveLine
from tests.clients.pilots import settle


class LineApp(App[str]):
    """An app with one input line that records submissions, and a key binding."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("left", "note('left')"),
        ("comma,space", "note('step')"),
        ("enter", "note('enter')"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[str] = []
        self.line = MoveLine(lambda: None, self._submit)

    def compose(self) -> ComposeResult:
        yield self.line

    def action_note(self, what: str) -> None:
        self.noted.append(what)

    def _submit(self) -> None:
        self.noted.append(self.line.value)
        self.line.clear()


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("f", "7", "minus", "h", "8", "backspace", "7"), "f7-h7"),
        (("a", "b", "left", "left", "x"), "xab"),
        (("a", "space", "b", "comma"), "a b,"),
        (("t", "u", "ctrl+u"), ""),
        (("comma", "space", "full_stop"), ""),
        (("colon", "q"), ":q"),
        (tuple("a" * 90), "a" * 80),
    ],
)
async def test_keys_edit_the_line(keys: tuple[str, ...], value: str) -> None:
    app = LineApp()
    async with app.run_test() as pilot:
        await pilot.press(*keys)
        assert app.line.value == value


async def test_an_empty_line_leaves_keys_to_what_is_behind_it() -> None:
    app = LineApp()
    async with app.run_test() as pilot:
        await pilot.press("left", "comma", "space", "enter", "a", "left", "comma", "enter", "left")
        assert app.noted == ["left", "step", "step", "enter", ",a", "left"]


async def test_what_is_pasted_is_its_first_line_without_control_characters() -> None:
    app = LineApp()
    async with app.run_test() as pilot:
        app.post_message(Paste("\nf7\x1b[31m\nand more\n"))
        await settle(pilot)
        assert app.line.value == "f7\\x1b[31m"
        assert app.noted == []
