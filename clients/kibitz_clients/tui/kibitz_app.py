"""The terminal client: a Textual application over one connection, or over a record.

    server browser ──enter──> lobby ──enter──> match     b goes back, q quits, ? shows the keys
    wall ──────────1 2 3 ...─────────────────> match

The application reads messages in one task and applies them to a `ClientState`; the screens draw the
state and are refreshed when it changes. `ScreenNavigation` switches screens, and `ServerRequests`
sends their requests to the server.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.theme import Theme

from kibitz_clients import palette
from kibitz_clients.matches import fetch
from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.matches.fetch import RecordFetcher
from kibitz_clients.matches.timeline import Timeline
from kibitz_clients.palette import Palette
from kibitz_clients.tui.hangup import end_with_terminal
from kibitz_clients.tui.navigation import ScreenNavigation
from kibitz_clients.tui.printable_filter import PrintableFilter
from kibitz_clients.tui.screens.base import BaseScreen, RulesLookup
from kibitz_clients.tui.screens.server_browser import ServerBrowserScreen
from kibitz_clients.tui.screens.wall import WallPlan, WallScreen
from kibitz_clients.tui.server_requests import ServerRequests
from kibitz_clients.wording import descriptions
from kibitz_games.core.game import Game, GameError
from kibitz_protocol.client.client import Connector
from kibitz_protocol.client.errors import KibitzError
from kibitz_protocol.wire.recordfile import RecordError


def _theme(name: str, colors: Palette, *, dark: bool) -> Theme:
    return Theme(
        name=name,
        dark=dark,
        primary=colors.seats[1],
        secondary=colors.seats[3],
        accent=colors.accent,
        warning=colors.warning,
        error=colors.error,
        success=colors.hint,
        foreground=colors.text,
        background=colors.background,
        surface=colors.surface,
        panel=colors.panel,
        variables={
            "text-muted": colors.dim,
            "border": colors.dim,
            "block-cursor-background": colors.selected,
            "block-cursor-foreground": colors.cursor,
            "block-cursor-blurred-background": colors.panel,
            "block-cursor-blurred-foreground": colors.text,
            "footer-background": colors.surface,
            "footer-foreground": colors.dim,
            "footer-description-foreground": colors.dim,
            "footer-key-foreground": colors.text,
            "scrollbar": colors.selected,
            "scrollbar-hover": colors.dim,
            "scrollbar-active": colors.dim,
            "scrollbar-background": colors.background,
            "scrollbar-background-hover": colors.background,
            "scrollbar-background-active": colors.background,
            "scrollbar-corner-color": colors.background,
        },
    )


THEMES: Final = (
    _theme("kibitz", palette.DARK, dark=True),
    _theme("kibitz-light", palette.LIGHT, dark=False),
)
THEME_VARIABLE: Final = "KIBITZ_THEME"
"""The environment variable with the name of the initial theme."""
_GREETING_TIMEOUT_S: Final = 10.0
"""How long to show a greeting, in seconds."""


def _no_rules(game: str) -> str | None:
    return None


def monotonic() -> int:
    """Return a monotonic time in milliseconds."""
    return time.monotonic_ns() // 1_000_000


class KibitzApp(App[str]):
    """Shows live matches over `connect`, or the match `recorded` from frame `at`.

    `match` and `lobby` set the first screen, by default the server browser. With `wall` the app
    shows all matches of the lobby or the server at once instead. `play` takes a seat in the lobby.
    `failure` is the error that ended the application, and the application returns an explanation of
    it; both are None if the user quit.
    """

    TITLE = "kibitz"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ("q", "quit", "quit"),
        ("f3", "switch_theme", "colors"),
    ]

    def __init__(
        self,
        games: Mapping[str, Game],
        connect: Connector | None = None,
        *,
        recorded: Timeline | None = None,
        at: int | None = None,
        match: str | None = None,
        lobby: str | None = None,
        invite: str | None = None,
        play: bool = False,
        follow: bool = False,
        wall: WallPlan | None = None,
        server_label: str = "",
        now: Callable[[], int] = monotonic,
        fetch: RecordFetcher = fetch.fetch_record,
        greetings: Callable[[], Sequence[str]] = tuple,
        rules: RulesLookup = _no_rules,
    ) -> None:
        super().__init__()
        # Filters every line that any screen sends to the terminal.
        self._printable_filter = PrintableFilter()
        for theme in THEMES:
            self.register_theme(theme)
        wanted = os.environ.get(THEME_VARIABLE)
        self.theme = wanted if wanted in self.available_themes else THEMES[0].name
        self.client_state = ClientState(games)
        self.requests = ServerRequests(self, self.client_state, fetch, self.refresh_screens)
        self.navigation = ScreenNavigation(
            self, self.client_state, self.requests, live=connect is not None, follow=follow
        )
        self.recorded = recorded
        self._at = at
        self.server_label = server_label
        self.now = now
        self.rules = rules
        self.failure: Exception | None = None
        self._connect = connect
        self._open_initial = functools.partial(
            self.navigation.open_initial, match, lobby, invite, play=play
        )
        self._first_screen: Callable[[], BaseScreen] = ServerBrowserScreen
        if wall is not None:
            self._first_screen = functools.partial(WallScreen, wall, lobby)
        # Notices to show once the connection is open.
        self._greetings = greetings

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters for every line of every screen."""
        return [*super().get_line_filters(), self._printable_filter]

    @property
    def online(self) -> bool:
        return self._connect is None or self.requests.online

    @property
    def offline_text(self) -> Text:
        """The notice of screens while the connection is not open."""
        state = "connecting …" if self.requests.established is None else "reconnecting …"
        return Text(state, f"bold {self.palette.warning}")

    @property
    def palette(self) -> Palette:
        """The colors not covered by the theme's variables: texts and boards."""
        return palette.DARK if self.current_theme.dark else palette.LIGHT

    def action_switch_theme(self) -> None:
        """Switch between the dark and the light theme."""
        self.theme = THEMES[1 if self.current_theme.dark else 0].name

    def watch_theme(self) -> None:
        for screen in self.screen_stack if self.is_running else ():
            if isinstance(screen, BaseScreen):
                screen.recolor()

    async def on_mount(self) -> None:
        if not self.is_headless:
            end_with_terminal()
        if self.recorded is not None:
            self.client_state.matches[self.recorded.info.match] = self.recorded
            self.navigation.open_match(self.recorded.info.match, at=self._at)
        elif self._connect is not None:
            await self.push_screen(self._first_screen())
            self.run_worker(self._run_session(self._connect), group="news", exit_on_error=True)

    async def _run_session(self, connect: Connector) -> None:
        """Process messages from the welcome to the end of the session."""
        try:
            async with connect() as link:
                self.requests.established = link
                for sentence in self._greetings():
                    self.navigation.show_notice(sentence, timeout=_GREETING_TIMEOUT_S)
                await self._open_initial()
                async for message in link.news():
                    self.client_state.apply(message, self.now())
                    self.navigation.follow_message(message)
                    self.refresh_screens()
        except (KibitzError, OSError, GameError, RecordError) as error:
            self.failure = error
            self.exit(descriptions.explain_error(error, self.server_label), return_code=1)

    def refresh_screens(self) -> None:
        """Refresh every screen."""
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen):
                screen.refresh_content()
