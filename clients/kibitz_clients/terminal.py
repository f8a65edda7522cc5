"""The terminal client: a Textual application over one connection, or over a record.

    hall ──enter──> lobby ──enter──> match          b goes back, q quits, ? shows the keys

The application reads the news in one task and folds it into a `Gallery`; screens draw what
the gallery holds and are told when it has changed. Requests run in workers of their own and
report refusals as sentences to the screen that asked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar, Final

from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.notifications import SeverityLevel
from textual.theme import Theme

from kibitz_clients import fetch, palette, words
from kibitz_clients.fetch import Fetch
from kibitz_clients.follow import Facts, Gallery, Timeline
from kibitz_clients.linefilter import PrintableFilter
from kibitz_clients.link import Connect, Link
from kibitz_clients.player import Choice
from kibitz_clients.replay import fold, load
from kibitz_clients.screens.base import View
from kibitz_clients.screens.hall import HallScreen
from kibitz_clients.screens.lobby import LobbyScreen
from kibitz_clients.screens.match import MatchScreen
from kibitz_clients.screens.play import PlayScreen
from kibitz_games.api import Game, GameError
from kibitz_protocol import printable
from kibitz_protocol.errors import KibitzError, RefusedError
from kibitz_protocol.messages import (
    Finished,
    LobbyClosed,
    MatchStarted,
    Snapshot,
    YourTurn,
)
from kibitz_protocol.recordfile import RecordError
from kibitz_protocol.refusals import Code
from kibitz_protocol.rooms import LobbyBrief, MatchBrief
from kibitz_protocol.session import Gone, News

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

_GREETING_S: Final = 10.0
"""How long a sentence of greeting stays on the screen."""

Answered = Callable[[str], None]
"""Takes what became of a request: a sentence, or nothing when it was done."""
Rules = Callable[[str], str | None]
"""Returns the rules of a game in Markdown, None where there are none."""
Lists = Callable[[list[LobbyBrief], list[MatchBrief]], None]


def _no_rules(game: str) -> str | None:
    return None


def monotonic() -> int:
    """Return milliseconds of a clock that never runs backwards."""
    return time.monotonic_ns() // 1_000_000


class KibitzApp(App[str]):
    """Watches and plays over `connect`, or shows `recorded`.

    `match` and `lobby` say where to begin; with neither it is the hall. `play` takes a seat in
    the lobby. `failure` is what ended the application and its result the sentence about it;
    both are None when the person quit.
    """

    TITLE = "kibitz"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [("q", "quit", "quit")]

    def __init__(
        self,
        games: Mapping[str, Game],
        connect: Connect | None = None,
        *,
        recorded: Timeline | None = None,
        match: str | None = None,
        lobby: str | None = None,
        invite: str | None = None,
        play: bool = False,
        follow: bool = False,
        where: str = "",
        now: Callable[[], int] = monotonic,
        fetch: Fetch = fetch.record,
        greetings: Callable[[], Sequence[str]] = tuple,
        rules: Rules = _no_rules,
    ) -> None:
        super().__init__()
        # The last gate before the terminal, whatever a screen shows.
        self._printable = PrintableFilter()
        self.register_theme(THEME)
        self.theme = THEME.name
        self.gallery = Gallery(games)
        self.recorded = recorded
        self.follow = follow
        self.where = where
        self.now = now
        self.failure: Exception | None = None
        self._connect = connect
        self._begin_with = (match, lobby, invite)
        self._play = play
        self.rules = rules
        self._fetch = fetch
        # What a person has to hear once the connection stands.
        self._greetings = greetings
        self._link: Link | None = None
        # Lobbies that were entered.
        self._entered: set[str] = set()
        # The match that was asked for and is shown as soon as it is told.
        self._awaited: str | None = None

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what every line of every screen passes on its way to the terminal."""
        return [*super().get_line_filters(), self._printable]

    # ------------------------------------------------------------------------ the connection

    @property
    def online(self) -> bool:
        return self._connect is None or (self._link is not None and self._link.online)

    @property
    def player(self) -> str | None:
        """The server's id of the person here."""
        return None if self._link is None else self._link.player

    @property
    def link(self) -> Link:
        if self._link is None:
            raise AssertionError("a request before the connection stands")
        return self._link

    async def on_mount(self) -> None:
        if self.recorded is not None:
            self.gallery.matches[self.recorded.facts.match] = self.recorded
            self._open_match(self.recorded.facts.match)
        elif self._connect is not None:
            await self.push_screen(HallScreen())
            self.run_worker(self._live(self._connect), group="news", exit_on_error=True)

    async def _live(self, connect: Connect) -> None:
        """Read the news from the welcome to the end of the session."""
        try:
            async with connect() as link:
                self._link = link
                for sentence in self._greetings():
                    self._say(sentence, timeout=_GREETING_S)
                await self._begin()
                async for message in link.news():
                    self.gallery.fold(message, self.now())
                    self._heed(message)
                    self._tell()
        except (KibitzError, OSError, GameError, RecordError) as error:
            self.failure = error
            self.exit(words.explain(error, self.where), return_code=1)

    async def _begin(self) -> None:
        match, lobby, invite = self._begin_with
        if lobby is not None:
            role = "player" if self._play else "spectator"
            self._entered.add(lobby)
            try:
                await self.link.join(lobby, invite=invite, role=role)  # type: ignore[arg-type]
            except RefusedError as error:
                # A seat may outlive its lobby: then the match is what the person came for.
                if not self.link.seats:
                    raise
                self._entered.discard(lobby)
                self._complain(words.explain(error))
            else:
                self.show_lobby(lobby)
        if match is not None:
            self._awaited = match
            await self._watch(match)
        if lobby is None and match is None:
            self._tell()
            if isinstance(self.screen, HallScreen):
                self.screen.action_refresh_lists()

    def _heed(self, message: News | Gone) -> None:
        """Go where a message leads."""
        match message:
            case Snapshot(match=match, you=you):
                if match == self._awaited or (you is not None and not self._busy(match)):
                    self._awaited = None
                    self._open_match(match)
                self._fill(match)
            case YourTurn(match=match) if not self._busy(match):
                self._open_match(match)
            case MatchStarted(lobby=lobby, match=brief) if (
                self.follow and self._idle(lobby) and not self._plays(brief)
            ):
                self.watch_match(brief.match)
            case Finished(match=match) if match in self.gallery.matches:
                self._reveal(self.gallery.matches[match])
            case LobbyClosed(lobby=lobby, reason=reason):
                self._entered.discard(lobby)
                self._say(f"lobby {lobby} is gone: {reason}")
            case Gone(match=match, message=sentence):
                self._say(f"match {match}: {sentence}", severity="warning")
            case _:
                pass

    def _busy(self, match: str) -> bool:
        """Whether this or another own match that still runs is on the screen."""
        if not isinstance(self.screen, MatchScreen):
            return False
        shown = self.screen.timeline
        return self.screen.match == match or (shown.facts.you is not None and not shown.over)

    def _plays(self, brief: MatchBrief) -> bool:
        """Whether the person has a seat: such a match opens by itself when it is told."""
        return any(player.player == self.player for player in brief.seats)

    def _idle(self, lobby: str) -> bool:
        """Whether nothing but this lobby is looked at."""
        return isinstance(self.screen, LobbyScreen) and self.screen.lobby == lobby

    def _tell(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, View):
                screen.told()

    # ----------------------------------------------------------------------- going somewhere

    def back(self) -> None:
        """Leave the present screen; from the last one, quit."""
        if isinstance(self.screen, MatchScreen):
            self._stop_watching(self.screen.timeline)
        if len(self.screen_stack) > 2:
            self.pop_screen()
            self._tell()
        else:
            self.exit()

    def watch_match(self, match: str) -> None:
        """Show a match, following it from now on where it still runs."""
        known = self.gallery.matches.get(match)
        if known is not None and (known.over or known.facts.you is not None):
            self._open_match(match)
            return
        self._awaited = match
        brief = self.gallery.briefs.get(match)
        if brief is None or not self._plays(brief):
            self._request(self._watch(match), self._complain)

    async def _watch(self, match: str) -> None:
        """Follow a match that runs; of one that is over, show the record."""
        try:
            await self.link.watch(match)
        except RefusedError as error:
            if error.code is not Code.OVER:
                raise
            await self._open_record(match)

    async def _open_record(self, match: str) -> None:
        record = await self._fetch(self.link.url, match)
        game = self.gallery.games.get(record.setup.game)
        if game is None:
            raise GameError(f"this client does not know the game {record.setup.game!r}")
        self.gallery.matches[match] = fold(game, record, f"the record of {match}")
        if self._awaited == match:
            self._awaited = None
            self._open_match(match)

    def _reveal(self, timeline: Timeline) -> None:
        """Fetch what was hidden from a match that is over now."""
        game = self.gallery.games.get(timeline.facts.game)
        if game is not None and game.info.hidden:
            self._request(self._open_eyes(timeline, game), _ignore)

    async def _open_eyes(self, timeline: Timeline, game: Game) -> None:
        match = timeline.facts.match
        record = await self._fetch(self.link.url, match)
        timeline.reveal(fold(game, record, f"the record of {match}"))
        self._tell()

    def enter_lobby(self, lobby: str) -> None:
        """Look into a lobby as a spectator and show it."""
        self._enter(lobby, self._complain)
        self.show_lobby(lobby)

    def show_lobby(self, lobby: str) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, LobbyScreen) and screen.lobby == lobby:
                while self.screen is not screen:
                    self.pop_screen()
                return
        if self._connect is not None:
            self._enter(lobby, self._complain)
            self.push_screen(LobbyScreen(lobby))

    def go_on(self, facts: Facts) -> None:
        """Go to the next match as soon as there is one."""
        if facts.lobby is not None and self._connect is not None and self._awaited is None:
            brief = self.gallery.next_match(facts.lobby, facts.number)
            if brief is not None:
                self.watch_match(brief.match)

    def show_next(self, facts: Facts) -> None:
        """Go to the running match of the same lobby that follows, or say why not."""
        if facts.lobby is None or self._connect is None:
            self._say("there is no next match: this one belongs to no lobby")
            return
        brief = self.gallery.next_match(facts.lobby, facts.number)
        if brief is None:
            self._say("no other match of the lobby is running now")
            return
        self._stop_watching(self.gallery.matches[facts.match])
        self.watch_match(brief.match)

    def _open_match(self, match: str) -> None:
        timeline = self.gallery.matches[match]
        game = self.gallery.games.get(timeline.facts.game)
        kind = MatchScreen if timeline.facts.you is None else PlayScreen
        screen = kind(timeline, game)
        if isinstance(self.screen, MatchScreen):
            self.switch_screen(screen)
        else:
            self.push_screen(screen)
        lobby = timeline.facts.lobby
        if self._connect is not None and lobby is not None:
            self._enter(lobby, _ignore)

    def _enter(self, lobby: str, answered: Answered) -> None:
        """Look into a lobby as a spectator, once."""
        if lobby not in self._entered and lobby not in self.gallery.lobbies:
            self._entered.add(lobby)
            self._request(self.link.join(lobby, role="spectator"), answered)

    def _stop_watching(self, timeline: Timeline) -> None:
        if self._connect is not None and timeline.facts.you is None and not timeline.over:
            self._request(self.link.unwatch(timeline.facts.match), _ignore)

    # ------------------------------------------------------------------------------ requests

    def send_move(self, match: str, turn: YourTurn, choice: Choice, answered: Answered) -> None:
        """Play; a refusal gives the turn back where it still stands."""

        def told(sentence: str) -> None:
            newest = self.gallery.matches[match].newest
            if sentence and newest.ply == turn.ply and newest.to_act == turn.seat:
                self.gallery.turns.setdefault(match, turn)
            answered(sentence)

        self._request(self.link.move(match, turn.ply, choice.wire), told)

    def send_resignation(self, match: str, answered: Answered) -> None:
        self._request(self.link.resign(match), answered)

    def send_ready(self, lobby: str, ready: bool, answered: Answered) -> None:
        self._request(self.link.ready(lobby, ready), answered)

    def send_start(self, lobby: str, answered: Answered) -> None:
        self._request(self.link.start(lobby), answered)

    def send_rematch(self, lobby: str, answered: Answered) -> None:
        self._request(self.link.rematch(lobby), answered)

    def ask_lists(self, show: Lists) -> None:
        """Ask for the lobbies and the matches, once at a time."""
        if self._link is not None and self._link.online:
            self.run_worker(self._ask_lists(show), group="lists", exclusive=True)

    async def _ask_lists(self, show: Lists) -> None:
        try:
            lobbies = await self.link.lobbies()
            matches = await self.link.matches()
        except RefusedError as error:
            self._complain(words.explain(error))
        except KibitzError:
            # What ended the session is told by the task that reads the news.
            pass
        else:
            show(lobbies.lobbies, matches.matches)

    def _fill(self, match: str) -> None:
        if self.gallery.matches[match].wanted() is not None:
            self.run_worker(self._ask_history(match), group=f"history {match}", exclusive=True)

    async def _ask_history(self, match: str) -> None:
        """Fetch what happened before this client came, oldest first."""
        while (wanted := self.gallery.matches[match].wanted()) is not None:
            try:
                answer = await self.link.history(match, *wanted)
                self.gallery.fill(match, answer.events, wanted)
            except RefusedError:
                # The host may keep the past from spectators: then it is not asked for again.
                self.gallery.fill(match, (), wanted)
            except KibitzError:
                return
            self._tell()

    def _request(self, request: Awaitable[object], answered: Answered) -> None:
        self.run_worker(self._report(request, answered), group="requests")

    async def _report(self, request: Awaitable[object], answered: Answered) -> None:
        try:
            await request
        except (KibitzError, OSError, ValueError) as error:
            answered(words.explain(error))
        else:
            answered("")

    def _say(
        self, sentence: str, *, severity: SeverityLevel = "information", timeout: float = 5.0
    ) -> None:
        """Show a sentence for a while, as it is: no markup is read in it."""
        self.notify(printable.line(sentence), severity=severity, timeout=timeout, markup=False)

    def _complain(self, sentence: str) -> None:
        if sentence:
            self._awaited = None
            self._say(sentence, severity="warning")


def _ignore(_: str) -> None:
    """Nobody needs to hear of it."""


async def watch(
    client: AbstractAsyncContextManager[Link],
    games: Mapping[str, Game],
    *,
    match: str | None = None,
    lobby: str | None = None,
    follow: bool = False,
    where: str = "",
) -> None:
    """Watch a match, a lobby, or the hall, until the person quits.

    `client` is entered here; `where` is how the server is called on the screen. With `follow`
    the next match of the lobby opens when one ends. Raises what ended the session:
    `KibitzError`, `OSError`, `RecordError`.
    """
    await _run(
        KibitzApp(games, lambda: client, match=match, lobby=lobby, follow=follow, where=where)
    )


async def join_as_player(
    client: AbstractAsyncContextManager[Link],
    games: Mapping[str, Game],
    lobby: str,
    *,
    invite: str | None = None,
    where: str = "",
) -> None:
    """Take a seat of a lobby and play its matches, until the person quits; as `watch`."""
    await _run(KibitzApp(games, lambda: client, lobby=lobby, invite=invite, play=True, where=where))


async def replay(path: str | os.PathLike[str], games: Mapping[str, Game]) -> None:
    """Step through a record file. Raises `RecordError` and `OSError` before it begins."""
    await _run(KibitzApp(games, recorded=load(path, games).timeline, where=str(path)))


async def _run(app: KibitzApp) -> None:
    await app.run_async()
    if app.failure is not None:
        raise app.failure
