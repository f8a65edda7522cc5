"""What every screen has: the application that it belongs to, and its static texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar, cast

from rich.table import Table
from rich.text import Text
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.matches.timeline import MatchInfo, Timeline
from kibitz_clients.palette import Palette
from kibitz_clients.tui.server_requests import ServerRequests

_R = TypeVar("_R")

RulesLookup: TypeAlias = Callable[[str], str | None]
"""Returns the rules of a game in Markdown, None where there are none."""


class Navigation(Protocol):
    """Goes from screen to screen."""

    follow: bool
    """Whether the next match opens when one ends."""

    def back(self) -> None: ...

    def enter_lobby(self, lobby: str) -> None: ...

    def show_lobby(self, lobby: str) -> None: ...

    def watch_match(self, match: str) -> None: ...

    def show_on_wall(self, match: str) -> None: ...

    def show_next(self, facts: MatchInfo) -> None: ...

    def open_next_match(self, facts: MatchInfo) -> None: ...

    def show_warning(self, sentence: str) -> None: ...


class Application(Protocol):
    """What the screens need of the application; `KibitzApp` has it."""

    client_state: ClientState
    requests: ServerRequests
    navigation: Navigation
    recorded: Timeline | None
    """The record that is shown; None where matches are live."""
    server_label: str
    now: Callable[[], int]
    rules: RulesLookup

    @property
    def online(self) -> bool: ...

    @property
    def palette(self) -> Palette: ...


class AppScreen(Screen[_R]):
    """A screen of the application."""

    @property
    def kibitz_app(self) -> Application:
        """The application."""
        return cast(Application, self.app)


class BaseScreen(AppScreen[None]):
    """A screen over the application's client state."""

    def __init__(self) -> None:
        super().__init__()
        # Whether all widgets are there: news may come before.
        self._populated = False
        # What each `Static` shows.
        self._static_contents: dict[str, Text | str | Table] = {}

    def on_mount(self) -> None:
        """Called after the screen's own `on_mount`."""
        self._populated = True
        self.render_content()

    def refresh_content(self) -> None:
        """Bring the screen up to date: the server has told something, or time has passed."""
        if self._populated:
            self.render_content()

    def recolor(self) -> None:
        """Draw everything again in the colors of a new theme."""
        self._static_contents.clear()
        self.refresh_content()

    def update_static(self, id: str, content: Text | str | Table) -> None:
        """Update a `Static`, unless it shows the same already: layouts are expensive."""
        if content == self._static_contents.get(id):
            return
        self._static_contents[id] = content
        # A string would be read as markup, which what others have written must not be.
        shown = Text(content) if isinstance(content, str) else content
        self.query_one(f"#{id}", Static).update(shown)

    @abstractmethod
    def render_content(self) -> None:
        """Bring every widget up to date; they all exist by now."""


class Dialog(AppScreen[_R], ModalScreen[_R]):
    """A box over a screen; its result is the answer to its question."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: black 60%; }
    Dialog > Static {
        width: auto; max-width: 74; height: auto; padding: 1 3;
        border: round $border; background: $surface; color: $foreground;
    }
    """
