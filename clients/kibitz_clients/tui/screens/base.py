"""What every screen has: the application that it belongs to, and its static texts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias, TypeVar, cast

from rich.table import Table
from rich.text import Text
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from kibitz_clients.client_state import ClientState
from kibitz_clients.move_input import MoveOption
from kibitz_clients.server_connection import ServerConnection
from kibitz_clients.timeline import MatchInfo, Timeline
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_protocol.wire.messages import YourTurn

_R = TypeVar("_R")

OnAnswer: TypeAlias = Callable[[str], None]
"""Takes what became of a request: a sentence, or nothing when it was done."""
OnLists: TypeAlias = Callable[[list[LobbyBrief], list[MatchBrief]], None]
"""Takes the lobbies and the matches of the server."""
RulesLookup: TypeAlias = Callable[[str], str | None]
"""Returns the rules of a game in Markdown, None where there are none."""


class Application(Protocol):
    """What the screens need of the application; `KibitzApp` has it."""

    client_state: ClientState
    recorded: Timeline | None
    """The record that is shown; None where matches are live."""
    follow: bool
    """Whether the next match opens when one ends."""
    server_label: str
    now: Callable[[], int]
    rules: RulesLookup

    @property
    def online(self) -> bool: ...

    @property
    def player(self) -> str | None: ...

    @property
    def connection(self) -> ServerConnection: ...

    def request(self, request: Awaitable[object], answered: OnAnswer) -> None: ...

    def send_move(
        self, match: str, turn: YourTurn, choice: MoveOption, answered: OnAnswer
    ) -> None: ...

    def ask_lists(self, show: OnLists) -> None: ...

    def back(self) -> None: ...

    def enter_lobby(self, lobby: str) -> None: ...

    def show_lobby(self, lobby: str) -> None: ...

    def watch_match(self, match: str) -> None: ...

    def show_on_wall(self, match: str) -> None: ...

    def show_next(self, info: MatchInfo) -> None: ...

    def open_next_match(self, info: MatchInfo) -> None: ...


class BaseScreen(Screen[None]):
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

    @property
    def kibitz_app(self) -> Application:
        """The application."""
        return cast(Application, self.app)

    def refresh_content(self) -> None:
        """Bring the screen up to date: the server has told something, or time has passed."""
        if self._populated:
            self.render_content()

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


class Dialog(ModalScreen[_R]):
    """A box over a screen; its result is the answer to its question."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: black 60%; }
    Dialog > Static {
        width: auto; max-width: 74; height: auto; padding: 1 3;
        border: round #6f7a8c; background: #1d222b; color: #d5dae3;
    }
    """
