"""A line editor: pure, one key after the other, so that no key can be lost.

A screen gives it every key in the order in which they come. A focused input widget would not
do: focus moves later than the key that asks for it, and what is typed in between goes astray.
"""

from __future__ import annotations

from dataclasses import dataclass

from kibitz_protocol import printable

MAX_LENGTH = 80
"""Characters of a line; no move has more."""


@dataclass
class LineEdit:
    """A text and the place of its cursor."""

    text: str = ""
    cursor: int = 0

    def insert(self, text: str) -> None:
        """Write a text at the cursor: its first line, without what cannot be shown."""
        lines = text.strip("\r\n").splitlines()
        shown = printable.line(lines[0])[: MAX_LENGTH - len(self.text)] if lines else ""
        self.text = self.text[: self.cursor] + shown + self.text[self.cursor :]
        self.cursor += len(shown)

    def clear(self) -> None:
        """Begin anew."""
        self.text, self.cursor = "", 0

    def press(self, key: str) -> bool:
        """Carry an editing key out, by its name; False for any other."""
        match key:
            case "backspace" | "ctrl+h":
                self._delete(self.cursor - 1, self.cursor)
            case "delete":
                self._delete(self.cursor, self.cursor + 1)
            case "ctrl+u":
                self._delete(0, self.cursor)
            case "ctrl+w":
                self._delete(self.text[: self.cursor].rstrip().rfind(" ") + 1, self.cursor)
            case "left":
                self.cursor = max(0, self.cursor - 1)
            case "right":
                self.cursor = min(len(self.text), self.cursor + 1)
            case "home" | "ctrl+a":
                self.cursor = 0
            case "end" | "ctrl+e":
                self.cursor = len(self.text)
            case _:
                return False
        return True

    def _delete(self, first: int, end: int) -> None:
        first = max(0, first)
        self.text = self.text[:first] + self.text[end:]
        self.cursor = first
