"""The base classes of all screens, with access to the application and static texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from rich.table import Table
from rich.text import Text
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

if TYPE_CHECKING:
    from kibitz_clients.tui.kibitz_app import KibitzApp

_R = TypeVar("_R")

RulesLookup: TypeAlias = Callable[[str], str | None]
"""A function from a game's name to its rules in Markdown, or None if there are none."""


class AppScreen(Screen[_R]):
    """A screen of the application."""

    @property
    def kibitz_app(self) -> KibitzApp:
        """The application."""
        return cast("KibitzApp", self.app)


class BaseScreen(AppScreen[None]):
    """A screen over the application's client state."""

    def __init__(self) -> None:
        super().__init__()
        # Whether all widgets exist; messages may arrive earlier.
        self._populated = False
        # The content of each `Static`.
        self._static_contents: dict[str, Text | str | Table] = {}

    def on_mount(self) -> None:
        """Finish mounting; called after the screen's own `on_mount`."""
        self._populated = True
        self.render_content()

    def refresh_content(self) -> None:
        """Update the screen after messages from the server, or over time."""
        if self._populated:
            self.render_content()

    def recolor(self) -> None:
        """Redraw everything in the colors of a new theme."""
        self._static_contents.clear()
        self.refresh_content()

    def action_follow(self) -> None:
        self.kibitz_app.navigation.follow = not self.kibitz_app.navigation.follow
        self.refresh_content()

    def update_static(self, id: str, content: Text | str | Table) -> None:
        """Update a `Static` if its content changes, because layouts are expensive."""
        if content == self._static_contents.get(id):
            return
        self._static_contents[id] = content
        # A string would be parsed as markup, which is unsafe for untrusted text.
        shown = Text(content) if isinstance(content, str) else content
        self.query_one(f"#{id}", Static).update(shown)

    @abstractmethod
    def render_content(self) -> None:
        """Update every widget; all exist at this point."""


class Dialog(AppScreen[_R], ModalScreen[_R]):
    """A modal box over a screen; its result is the answer to its question."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: black 60%; }
    Dialog > Static {
        width: auto; max-width: 74; height: auto; padding: 1 3;
        border: round $border; background: $surface; color: $foreground;
    }
    """
