"""The input line for moves and commands."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import Input

from kibitz_protocol import printable

MAX_LENGTH = 80
"""The maximum length of a line; no move is longer."""
LINE_STARTS = ":/(+-"
"""Characters other than letters and digits that can start a line."""


class MoveLine(Input):
    """An input that passes the board's keys through while it is empty.

    It keeps the focus while the match runs, so that no typed key is lost. The callbacks run
    immediately, not through messages, so keys that follow enter in a burst start the next line.
    """

    DEFAULT_CSS = """
    MoveLine, MoveLine:focus { width: 1fr; background: $panel; background-tint: transparent; }
    """

    def __init__(self, edited: Callable[[], None], submitted: Callable[[], None]) -> None:
        super().__init__(id="line", compact=True, max_length=MAX_LENGTH, select_on_focus=False)
        self._edited = edited
        self._submitted = submitted

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self.value)

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return character is not None and character.isprintable() and self._takes(character)

    async def _on_key(self, event: events.Key) -> None:
        if event.character is None or not self._takes(event.character):
            event.prevent_default()  # stop the base class from inserting it

    def _takes(self, character: str) -> bool:
        return bool(self.value) or character.isalnum() or character in LINE_STARTS

    def insert_text_at_cursor(self, text: str) -> None:
        super().insert_text_at_cursor(printable.line(text))

    def _on_paste(self, event: events.Paste) -> None:
        """Insert the first non-empty line; Enter plays it."""
        super()._on_paste(events.Paste(event.text.strip("\r\n")))
        event.stop()
        event.prevent_default()

    def watch_value(self, value: str) -> None:
        self._edited()

    async def action_submit(self) -> None:
        self._submitted()
