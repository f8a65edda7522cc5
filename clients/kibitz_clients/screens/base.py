"""What every screen has: the application that it belongs to, told when something changed."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, TypeVar, cast

from rich.table import Table
from rich.text import Text
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

if TYPE_CHECKING:
    from kibitz_clients.terminal import KibitzApp

_R = TypeVar("_R")


class View(Screen[None]):
    """A screen over the application's gallery."""

    def __init__(self) -> None:
        super().__init__()
        # Whether all widgets are there: news may come before.
        self._stands = False
        # What each `Static` shows.
        self._put: dict[str, Text | str | Table] = {}

    def on_mount(self) -> None:
        """Called after the screen's own `on_mount`."""
        self._stands = True
        self.draw()

    @property
    def house(self) -> KibitzApp:
        """The application."""
        return cast("KibitzApp", self.app)

    def told(self) -> None:
        """Something was told by the server, or time has passed: draw again."""
        if self._stands:
            self.draw()

    def put(self, id: str, content: Text | str | Table) -> None:
        """Update a `Static`, unless it shows the same already: layouts are dear."""
        if content == self._put.get(id):
            return
        self._put[id] = content
        # A string would be read as markup, which what others have written must not be.
        shown = Text(content) if isinstance(content, str) else content
        self.query_one(f"#{id}", Static).update(shown)

    @abstractmethod
    def draw(self) -> None:
        """Bring every widget up to date; they all exist by now."""


class Dialog(ModalScreen[_R]):
    """A box over a screen; its result is what it was asked for."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: black 60%; }
    Dialog > Static {
        width: auto; max-width: 74; height: auto; padding: 1 3;
        border: round #6f7a8c; background: #1d222b; color: #d5dae3;
    }
    """
