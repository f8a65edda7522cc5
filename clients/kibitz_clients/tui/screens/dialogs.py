"""Modal boxes: a question, the list of keys, and the rules of a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Markdown, Static

from kibitz_clients.tui.screens.base import Dialog


class Confirm(Dialog[bool]):
    """A yes-or-no question."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y,enter", "dismiss(True)", "yes"),
        ("n,escape", "dismiss(False)", "no"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        text = Text(self._question + "\n\n")
        yield Static(text.append("y", "bold").append(" yes    ").append("n", "bold").append(" no"))


class Keys(Dialog[None]):
    """The list of a screen's keys and their actions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,question_mark,f1,enter,q", "dismiss", "close"),
    ]

    def __init__(self, title: str, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title = title
        self._keys = keys

    def compose(self) -> ComposeResult:
        text = Text(self._title + "\n\n", style="bold")
        width = max(len(key) for key, _ in self._keys) + 3
        for key, does in self._keys:
            text.append(key.ljust(width), f"bold {self.kibitz_app.palette.hint}").append(
                does + "\n", "not bold"
            )
        yield Static(text.append("\nescape to close", f"not bold {self.kibitz_app.palette.dim}"))


class Rules(Dialog[None]):
    """The rules of a game on a scrollable page."""

    DEFAULT_CSS = """
    Rules > VerticalScroll {
        width: 90%; max-width: 100; height: 90%; padding: 0 1;
        border: round $border; background: $surface; color: $foreground; scrollbar-size: 1 1;
    }
    Rules Markdown { background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,f2,enter", "dismiss", "close"),
        ("q", "dismiss", "close"),
    ]

    def __init__(self, page: str) -> None:
        super().__init__()
        self._page = page

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown(self._page, open_links=False)

    def on_mount(self) -> None:
        """Focus the page, so that the arrow keys scroll it."""
        page = self.query_one(VerticalScroll)
        page.border_title = "arrow and page keys to scroll, escape to close"
        page.focus()
