"""The terminal client: a Textual application over one connection, or over a record.

    server browser ──enter──> lobby ──enter──> match     b goes back, q quits, ? shows the keys

The application reads the news in one task and applies it to a `ClientState`; the screens draw what
the state holds and are refreshed when it has changed. Requests run in workers of their own and
report refusals as sentences to the screen that asked.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Final

from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.theme import Theme

from kibitz_clients import descriptions, fetch
from kibitz_clients.client_state import ClientState
from kibitz_clients.fetch import RecordFetcher
from kibitz_clients.match_source import fetch_events, fetch_timeline
from kibitz_clients.move_input import MoveOption
from kibitz_clients.render import palette
from kibitz_clients.server_connection import Connector, ServerConnection
from kibitz_clients.timeline import MatchInfo, Timeline
from kibitz_clients.tui.printable_filter import PrintableFilter
from kibitz_clients.tui.screens.base import BaseScreen, OnAnswer, OnLists, RulesLookup
from kibitz_clients.tui.screens.lobby import LobbyScreen
from kibitz_clients.tui.screens.match import MatchScreen
from kibitz_clients.tui.screens.play import PlayScreen
from kibitz_clients.tui.screens.server_browser import ServerBrowserScreen
from kibitz_clients.tui.screens.wall import WallPlan, WallScreen
from kibitz_games.core.game import Game, GameError
from kibitz_protocol import printable
from kibitz_protocol.client.errors import KibitzError, RefusedError
from kibitz_protocol.client.session import MatchLost, News
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.messages import Finished, LobbyClosed, MatchStarted, Snapshot, YourTurn
from kibitz_protocol.wire.recordfile import RecordError
from kibitz_protocol.wire.refusals import Code

THEME: Final = Theme(
    name="kibitz",
    dark=True,
    primary="#4fb3f0",
    secondary="#2cc295",
    accent="#f2de4b",
    warning="#ffb86b",
    error="#ff6b6b",
    success=palette.HINT,
    foreground=palette.TEXT,
    background=palette.BACKDROP,
    surface="#1d222b",
    panel="#242a35",
    variables={
        "scrollbar": "#39414f",
        "scrollbar-hover": palette.DIM,
        "scrollbar-active": palette.DIM,
        "scrollbar-background": palette.BACKDROP,
        "scrollbar-background-hover": palette.BACKDROP,
        "scrollbar-background-active": palette.BACKDROP,
        "scrollbar-corner-color": palette.BACKDROP,
    },
)

_GREETING_TIMEOUT_S: Final = 10.0
"""How long a sentence of greeting stays on the screen."""


def _no_rules(game: str) -> str | None:
    return None


def monotonic() -> int:
    """Return milliseconds of a clock that never runs backwards."""
    return time.monotonic_ns() // 1_000_000


class KibitzApp(App[str]):
    """Watches and plays over `connect`, or shows `recorded`, from frame `at` on.

    `match` and `lobby` say where to begin; with neither it is the server browser. `wall` shows all
    matches at once instead, those of the lobby or of the server. `play` takes a seat in the lobby.
    `failure` is what ended the application and its result the sentence about it; both are None
    when the person quit.
    """

    TITLE = "kibitz"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [("q", "quit", "quit")]

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
        where: str = "",
        now: Callable[[], int] = monotonic,
        fetch: RecordFetcher = fetch.fetch_record,
        greetings: Callable[[], Sequence[str]] = tuple,
        rules: RulesLookup = _no_rules,
    ) -> None:
        super().__init__()
        # Filters every line that goes to the terminal, whatever a screen shows.
        self._printable_filter = PrintableFilter()
        self.register_theme(THEME)
        self.theme = THEME.name
        self.client_state = ClientState(games)
        self.recorded = recorded
        self._at = at
        self.follow = follow
        self.server_label = where
        self.now = now
        self.failure: Exception | None = None
        self._connect = connect
        self._initial_target = (match, lobby, invite)
        self._play = play
        self._wall = wall
        self.rules = rules
        self._fetch = fetch
        # What a person has to hear once the connection stands.
        self._greetings = greetings
        self._connection: ServerConnection | None = None
        # Lobbies that were entered.
        self._entered: set[str] = set()
        # Matches that a wall shows, and goes on showing when one of them was looked at.
        self._on_wall: set[str] = set()
        # The match that was asked for and is shown as soon as its snapshot has come.
        self._awaited: str | None = None

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what every line of every screen passes on its way to the terminal."""
        return [*super().get_line_filters(), self._printable_filter]

    # ------------------------------------------------------------------------ the connection

    @property
    def online(self) -> bool:
        return self._connect is None or (self._connection is not None and self._connection.online)

    @property
    def player(self) -> str | None:
        """The server's id of the person here."""
        return None if self._connection is None else self._connection.player

    @property
    def connection(self) -> ServerConnection:
        if self._connection is None:
            raise AssertionError("a request before the connection stands")
        return self._connection

    async def on_mount(self) -> None:
        if self.recorded is not None:
            self.client_state.matches[self.recorded.info.match] = self.recorded
            self._open_match(self.recorded.info.match)
        elif self._connect is not None:
            lobby = self._initial_target[1]
            wall = None if self._wall is None else WallScreen(self._wall, lobby)
            await self.push_screen(wall or ServerBrowserScreen())
            self.run_worker(self._run_session(self._connect), group="news", exit_on_error=True)

    async def _run_session(self, connect: Connector) -> None:
        """Read the news from the welcome to the end of the session."""
        try:
            async with connect() as link:
                self._connection = link
                for sentence in self._greetings():
                    self._show_notice(sentence, timeout=_GREETING_TIMEOUT_S)
                await self._open_initial()
                async for message in link.news():
                    self.client_state.apply(message, self.now())
                    self._follow_message(message)
                    self._refresh_screens()
        except (KibitzError, OSError, GameError, RecordError) as error:
            self.failure = error
            self.exit(descriptions.explain_error(error, self.server_label), return_code=1)

    async def _open_initial(self) -> None:
        match, lobby, invite = self._initial_target
        if lobby is not None:
            role = "player" if self._play else "spectator"
            self._entered.add(lobby)
            try:
                await self.connection.join(lobby, invite=invite, role=role)  # type: ignore[arg-type]
            except RefusedError as error:
                # A seat may outlive its lobby: then the match is what the person came for.
                if not self.connection.seats:
                    raise
                self._entered.discard(lobby)
                self._show_warning(descriptions.explain_error(error))
            else:
                if self._wall is None:
                    self.show_lobby(lobby)
        if match is not None:
            self._awaited = match
            await self._watch(match)
        if lobby is None and match is None:
            self._refresh_screens()
            if isinstance(self.screen, ServerBrowserScreen):
                self.screen.action_refresh_lists()

    def _follow_message(self, message: News | MatchLost) -> None:
        """Open the screen that a message calls for."""
        match message:
            case Snapshot(match=match, you=you):
                if match == self._awaited or (
                    you is not None and not self._shows_running_match(match)
                ):
                    self._awaited = None
                    self._open_match(match)
                self._fill_missing(match)
            case YourTurn(match=match) if not self._shows_running_match(match):
                self._open_match(match)
            case MatchStarted(lobby=lobby, match=brief) if (
                self.follow and self._shows_only_lobby(lobby) and not self._has_seat(brief)
            ):
                self.watch_match(brief.match)
            case Finished(match=match) if match in self.client_state.matches:
                self._unmask_finished(self.client_state.matches[match])
            case LobbyClosed(lobby=lobby, reason=reason):
                self._entered.discard(lobby)
                self._show_notice(f"lobby {lobby} is gone: {reason}")
            case MatchLost(match=match, message=sentence):
                self._show_notice(f"match {match}: {sentence}", severity="warning")
            case _:
                pass

    def _shows_running_match(self, match: str) -> bool:
        """Whether this or another own match that still runs is on the screen."""
        if not isinstance(self.screen, MatchScreen):
            return False
        shown = self.screen.timeline
        return self.screen.match == match or (shown.info.you is not None and not shown.over)

    def _has_seat(self, brief: MatchBrief) -> bool:
        """Whether the person has a seat: such a match opens by itself."""
        return any(player.player == self.player for player in brief.seats)

    def _shows_only_lobby(self, lobby: str) -> bool:
        """Return whether the screen shows this lobby and nothing else."""
        return isinstance(self.screen, LobbyScreen) and self.screen.lobby == lobby

    def _refresh_screens(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, BaseScreen):
                screen.refresh_content()

    # ----------------------------------------------------------------------- going somewhere

    def back(self) -> None:
        """Leave the present screen; from the last one, quit."""
        if isinstance(self.screen, MatchScreen):
            self._stop_watching(self.screen.timeline)
        if len(self.screen_stack) > 2:
            self.pop_screen()
            self._refresh_screens()
        else:
            self.exit()

    def watch_match(self, match: str) -> None:
        """Show a match, following it from now on where it still runs."""
        known = self.client_state.matches.get(match)
        if known is not None and (
            known.over or known.info.you is not None or match in self._on_wall
        ):
            self._open_match(match)
            return
        self._awaited = match
        brief = self.client_state.briefs.get(match)
        if brief is None or not self._has_seat(brief):
            self.request(self._watch(match), self._show_warning)

    def show_on_wall(self, match: str) -> None:
        """Follow a match without opening it; what becomes of it is news."""
        self._on_wall.add(match)
        self.request(self._watch(match), _ignore_answer)

    async def _watch(self, match: str) -> None:
        """Follow a match that runs; of one that is over, show the record."""
        try:
            await self.connection.watch(match)
        except RefusedError as error:
            if error.code is not Code.OVER:
                raise
            await self._open_record(match)

    async def _open_record(self, match: str) -> None:
        self.client_state.matches[match] = await self._fetch_timeline(match)
        if self._awaited == match:
            self._awaited = None
            self._open_match(match)

    def _unmask_finished(self, timeline: Timeline) -> None:
        """Fetch what was hidden from a match that is over now."""
        game = self.client_state.games.get(timeline.info.game)
        if game is not None and game.info.hidden:
            self.request(self._fetch_unmasked(timeline), _ignore_answer)

    async def _fetch_unmasked(self, timeline: Timeline) -> None:
        timeline.unmask(await self._fetch_timeline(timeline.info.match))
        self._refresh_screens()

    async def _fetch_timeline(self, match: str) -> Timeline:
        return await fetch_timeline(self.connection, self._fetch, self.client_state, match)

    def enter_lobby(self, lobby: str) -> None:
        """Enter a lobby as a spectator and show it."""
        self._enter_lobby(lobby, self._show_warning)
        self.show_lobby(lobby)

    def show_lobby(self, lobby: str) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, LobbyScreen) and screen.lobby == lobby:
                while self.screen is not screen:
                    self.pop_screen()
                return
        if self._connect is not None:
            self._enter_lobby(lobby, self._show_warning)
            self.push_screen(LobbyScreen(lobby))

    def open_next_match(self, facts: MatchInfo) -> None:
        """Go to the next match as soon as there is one."""
        if facts.lobby is not None and self._connect is not None and self._awaited is None:
            brief = self.client_state.next_match(facts.lobby, facts.number)
            if brief is not None:
                self.watch_match(brief.match)

    def show_next(self, facts: MatchInfo) -> None:
        """Go to the running match of the same lobby that follows, or say why not."""
        if facts.lobby is None or self._connect is None:
            self._show_notice("there is no next match: this one belongs to no lobby")
            return
        brief = self.client_state.next_match(facts.lobby, facts.number)
        if brief is None:
            self._show_notice("no other match of the lobby is running now")
            return
        self._stop_watching(self.client_state.matches[facts.match])
        self.watch_match(brief.match)

    def _open_match(self, match: str) -> None:
        timeline = self.client_state.matches[match]
        game = self.client_state.games.get(timeline.info.game)
        kind = MatchScreen if timeline.info.you is None else PlayScreen
        screen = kind(timeline, game)
        if self._at is not None:
            screen.timeline_cursor.go_to(self._at)
        if isinstance(self.screen, MatchScreen):
            self.switch_screen(screen)
        else:
            self.push_screen(screen)
        lobby = timeline.info.lobby
        if self._connect is not None and lobby is not None:
            self._enter_lobby(lobby, _ignore_answer)

    def _enter_lobby(self, lobby: str, answered: OnAnswer) -> None:
        """Enter a lobby as a spectator, once."""
        if lobby not in self._entered and lobby not in self.client_state.lobbies:
            self._entered.add(lobby)
            self.request(self.connection.join(lobby, role="spectator"), answered)

    def _stop_watching(self, timeline: Timeline) -> None:
        watched = timeline.info.you is None and not timeline.over
        if self._connect is not None and watched and timeline.info.match not in self._on_wall:
            self.request(self.connection.unwatch(timeline.info.match), _ignore_answer)

    # ------------------------------------------------------------------------------ requests

    def send_move(self, match: str, turn: YourTurn, choice: MoveOption, answered: OnAnswer) -> None:
        """Play; a refusal gives the turn back where it still stands."""

        def on_answer(sentence: str) -> None:
            newest = self.client_state.matches[match].newest
            if sentence and newest.ply == turn.ply and newest.to_act == turn.seat:
                self.client_state.turns.setdefault(match, turn)
            answered(sentence)

        self.request(self.connection.move(match, turn.ply, choice.action), on_answer)

    def ask_lists(self, show: OnLists) -> None:
        """Ask for the lobbies and the matches, once at a time."""
        if self._connection is not None and self._connection.online:
            self.run_worker(self._ask_lists(show), group="lists", exclusive=True)

    async def _ask_lists(self, show: OnLists) -> None:
        try:
            lobbies = await self.connection.lobbies()
            matches = await self.connection.matches()
        except RefusedError as error:
            self._show_warning(descriptions.explain_error(error))
        except KibitzError:
            # The task that reads the news reports what ended the session.
            pass
        else:
            show(lobbies.lobbies, matches.matches)

    def _fill_missing(self, match: str) -> None:
        if self.client_state.matches[match].missing() is not None:
            self.run_worker(self._ask_history(match), group=f"history {match}", exclusive=True)

    async def _ask_history(self, match: str) -> None:
        """Fetch what happened before this client came, oldest first."""
        # The task that reads the news reports what ends the session.
        with contextlib.suppress(KibitzError):
            while await fetch_events(self.connection, self.client_state, match):
                self._refresh_screens()

    def request(self, request: Awaitable[object], answered: OnAnswer) -> None:
        """Carry out a request, and pass what became of it to `answered`."""
        self.run_worker(self._report(request, answered), group="requests")

    async def _report(self, request: Awaitable[object], answered: OnAnswer) -> None:
        try:
            await request
        except (KibitzError, OSError, ValueError) as error:
            answered(descriptions.explain_error(error))
        else:
            answered("")

    def _show_notice(
        self, sentence: str, *, severity: SeverityLevel = "information", timeout: float = 5.0
    ) -> None:
        """Show a sentence for a while, as it is: no markup is read in it."""
        self.notify(printable.line(sentence), severity=severity, timeout=timeout, markup=False)

    def _show_warning(self, sentence: str) -> None:
        if sentence:
            self._awaited = None
            self._show_notice(sentence, severity="warning")


def _ignore_answer(_: str) -> None:
    """Ignore what became of a request."""
