"""Boxes over a screen: a question, and the list of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from kibitz_clients import palette
from kibitz_clients.screens.base import Dialog


class Confirm(Dialog[bool]):
    """A question with yes and no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y,enter", "answer(True)", "yes"),
        ("n,escape", "answer(False)", "no"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        text = Text(self._question + "\n\n")
        yield Static(text.append("y", "bold").append(" yes    ").append("n", "bold").append(" no"))

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class Keys(Dialog[None]):
    """What the keys of a screen do."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,question_mark,enter,q", "close", "close")]

    def __init__(self, title: str, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title = title
        self._keys = keys

    def compose(self) -> ComposeResult:
        text = Text(self._title + "\n\n", style="bold")
        width = max(len(key) for key, _ in self._keys) + 3
        for key, does in self._keys:
            text.append(key.ljust(width), f"bold {palette.HINT}").append(does + "\n", "not bold")
        yield Static(text.append("\nescape closes this", f"not bold {palette.DIM}"))

    def action_close(self) -> None:
        self.dismiss(None)
