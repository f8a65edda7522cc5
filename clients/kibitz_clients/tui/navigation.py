"""Navigation between the screens, with the requests that each screen needs."""

from __future__ import annotations

from textual.app import App
from textual.notifications import SeverityLevel

from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.matches.timeline import MatchInfo, Timeline
from kibitz_clients.tui.screens.lobby import LobbyScreen
from kibitz_clients.tui.screens.match import MatchScreen
from kibitz_clients.tui.screens.play import PlayScreen
from kibitz_clients.tui.screens.server_browser import ServerBrowserScreen
from kibitz_clients.tui.screens.wall import WallScreen
from kibitz_clients.tui.server_requests import OnAnswer, ServerRequests, ignore_answer
from kibitz_clients.wording import descriptions
from kibitz_protocol import printable
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.client.events import MatchLost, News
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.messages import Finished, LobbyClosed, MatchStarted, Snapshot, YourTurn
from kibitz_protocol.wire.refusals import Code

_OWN_END_S = 10.0
"""How long to show the result of the user's match over the next one, in seconds."""


class ScreenNavigation:
    """Opens and closes the screens of the application.

    `live` is False if the application shows a record without a server. With `follow`, the next
    match of the lobby opens when one ends.
    """

    def __init__(
        self,
        app: App[str],
        state: ClientState,
        requests: ServerRequests,
        *,
        live: bool,
        follow: bool,
    ) -> None:
        self._app = app
        self._state = state
        self._requests = requests
        self._live = live
        self.follow = follow
        # The lobbies that the user has entered.
        self._entered: set[str] = set()
        # The matches on the wall, including one opened from it.
        self._on_wall: set[str] = set()
        # The requested match, which is shown as soon as its snapshot arrives.
        self._awaited: str | None = None

    async def open_initial(
        self, match: str | None, lobby: str | None, invite: str | None, *, play: bool
    ) -> None:
        """Open the first screen: a lobby, a match, or both."""
        if lobby is not None:
            role = "player" if play else "spectator"
            self._entered.add(lobby)
            try:
                await self._requests.connection.join(lobby, invite=invite, role=role)  # type: ignore[arg-type]
            except RefusedError as error:
                # The lobby may be gone while the user still has a seat in a match; then show the
                # match.
                if not self._requests.connection.seats:
                    raise
                self._entered.discard(lobby)
                self.show_warning(descriptions.explain_error(error))
            else:
                if not self._has_wall():
                    self.show_lobby(lobby)
        if match is not None:
            self._awaited = match
            await self._watch(match)
        if lobby is None and match is None:
            self._requests.refresh()
            if isinstance(self._app.screen, ServerBrowserScreen):
                self._app.screen.action_refresh_lists()

    def follow_message(self, message: News | MatchLost) -> None:
        """Open the screen for a message, if any."""
        match message:
            case Snapshot(match=match, you=you):
                if match == self._awaited or (
                    you is not None and not self._shows_running_match(match)
                ):
                    self._awaited = None
                    self.open_match(match)
                self._requests.fill_missing(match)
            case YourTurn(match=match) if not self._shows_running_match(match):
                self.open_match(match)
            case MatchStarted(lobby=lobby, match=brief) if (
                self.follow and self._shows_only_lobby(lobby) and not self._has_seat(brief)
            ):
                self.watch_match(brief.match)
            case Finished(match=match) if match in self._state.matches:
                self._requests.unmask_finished(self._state.matches[match])
            case LobbyClosed(lobby=lobby, reason=reason):
                self._entered.discard(lobby)
                self.show_notice(descriptions.lost_lobby(lobby, reason))
            case MatchLost(match=match, code=Code.OVER) if match in self._on_wall:
                # The match ended before the client requested it again. The wall replaces it
                # automatically.
                if match in self._state.matches:
                    self._requests.send(self._open_record(match))
            case MatchLost(match=match, message=sentence):
                self.show_notice(f"match {match}: {sentence}", severity="warning")
            case _:
                pass

    def _shows_running_match(self, match: str) -> bool:
        """Return whether the screen shows this match or a running match in which the user plays."""
        if not isinstance(self._app.screen, MatchScreen):
            return False
        shown = self._app.screen.timeline
        return self._app.screen.match == match or (shown.info.you is not None and not shown.over)

    def _has_seat(self, brief: MatchBrief) -> bool:
        """Return whether the user has a seat; such a match opens automatically."""
        return any(player.player == self._requests.player for player in brief.seats)

    def _shows_only_lobby(self, lobby: str) -> bool:
        """Return whether the screen shows only this lobby."""
        return isinstance(self._app.screen, LobbyScreen) and self._app.screen.lobby == lobby

    def _has_wall(self) -> bool:
        """Return whether a wall is on the screen or behind a match opened from it."""
        return any(isinstance(screen, WallScreen) for screen in self._app.screen_stack)

    def back(self) -> None:
        """Close the current screen; on the last one, quit."""
        if isinstance(self._app.screen, MatchScreen):
            self.stop_watching(self._app.screen.timeline)
        if len(self._app.screen_stack) > 2:
            self._app.pop_screen()
            self._requests.refresh()
        else:
            self._app.exit()

    def watch_match(self, match: str) -> None:
        """Show a match, and follow it if it is still running."""
        known = self._state.matches.get(match)
        if known is not None and (
            known.over or known.info.you is not None or match in self._on_wall
        ):
            self.open_match(match)
            return
        self._awaited = match
        brief = self._state.briefs.get(match)
        if brief is None or not self._has_seat(brief):
            self._requests.send(self._watch(match), self.show_warning)

    def show_on_wall(self, match: str) -> None:
        """Follow a match without opening it."""
        self._on_wall.add(match)
        self._requests.send(self._watch(match))

    async def _watch(self, match: str) -> None:
        """Follow a running match; show the record of a finished one."""
        try:
            await self._requests.connection.watch(match)
        except RefusedError as error:
            if error.code is not Code.OVER:
                raise
            await self._open_record(match)

    async def _open_record(self, match: str) -> None:
        self._state.matches[match] = await self._requests.fetch_timeline(match)
        if self._awaited == match:
            self._awaited = None
            self.open_match(match)

    def enter_lobby(self, lobby: str) -> None:
        """Enter a lobby as a spectator and show it."""
        self._enter_lobby(lobby, self.show_warning)
        self.show_lobby(lobby)

    def show_lobby(self, lobby: str) -> None:
        for screen in self._app.screen_stack:
            if isinstance(screen, LobbyScreen) and screen.lobby == lobby:
                while self._app.screen is not screen:
                    self._app.pop_screen()
                return
        if self._live:
            self._enter_lobby(lobby, self.show_warning)
            self._app.push_screen(LobbyScreen(lobby))

    def open_next_match(self, facts: MatchInfo) -> None:
        """Open the next match as soon as there is one."""
        if facts.lobby is not None and self._live and self._awaited is None:
            brief = self._state.next_match(facts.lobby, facts.number)
            if brief is not None:
                self.watch_match(brief.match)

    def show_next(self, facts: MatchInfo) -> None:
        """Open the next running match of the same lobby, or say why not."""
        if facts.lobby is None or not self._live:
            self.show_notice("there is no next match because this one does not belong to a lobby")
            return
        brief = self._state.next_match(facts.lobby, facts.number)
        if brief is None:
            self.show_notice("no other match of the lobby is running now")
            return
        self.stop_watching(self._state.matches[facts.match])
        self.watch_match(brief.match)

    def open_match(self, match: str, *, at: int | None = None) -> None:
        """Show a known match at frame `at`, by default the newest."""
        timeline = self._state.matches[match]
        game = self._state.games.get(timeline.info.game)
        kind = MatchScreen if timeline.info.you is None else PlayScreen
        screen = kind(timeline, game)
        if at is not None:
            screen.timeline_cursor.go_to(at)
        if isinstance(self._app.screen, MatchScreen):
            self._tell_own_end(self._app.screen.timeline)
            self._app.switch_screen(screen)
        else:
            self._app.push_screen(screen)
        lobby = timeline.info.lobby
        if self._live and lobby is not None:
            self._enter_lobby(lobby)

    def _tell_own_end(self, left: Timeline) -> None:
        """Show the result of the user's match as a notice; the next match may open at once."""
        if self._live and left.info.you is not None and left.result is not None:
            game = self._state.games.get(left.info.game)
            summary = descriptions.result_summary(left.info, left.result, game)
            self.show_notice(f"match {left.info.number}: {summary}", timeout=_OWN_END_S)

    def _enter_lobby(self, lobby: str, answered: OnAnswer = ignore_answer) -> None:
        """Enter a lobby as a spectator, once."""
        if lobby not in self._entered and lobby not in self._state.lobbies:
            self._entered.add(lobby)
            self._requests.send(self._requests.connection.join(lobby, role="spectator"), answered)

    def stop_watching(self, timeline: Timeline) -> None:
        watched = timeline.info.you is None and not timeline.over
        if self._live and watched and timeline.info.match not in self._on_wall:
            self._requests.send(self._requests.connection.unwatch(timeline.info.match))

    def show_notice(
        self, sentence: str, *, severity: SeverityLevel = "information", timeout: float = 5.0
    ) -> None:
        """Show a sentence for a while, without parsing markup in it."""
        self._app.notify(printable.line(sentence), severity=severity, timeout=timeout, markup=False)

    def show_warning(self, sentence: str) -> None:
        if sentence:
            self._awaited = None
            self.show_notice(sentence, severity="warning")
