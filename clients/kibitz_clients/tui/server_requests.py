"""Requests to the server. Each runs in a worker of the application and reports its outcome."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from textual.app import App

from kibitz_clients.matches.client_state import ClientState
from kibitz_clients.matches.fetch import RecordFetcher
from kibitz_clients.matches.match_source import fetch_events, fetch_timeline
from kibitz_clients.matches.timeline import Timeline
from kibitz_clients.wording import descriptions
from kibitz_clients.wording.move_input import MoveOption
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import KibitzError, RefusedError
from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_protocol.wire.messages import YourTurn

OnAnswer: TypeAlias = Callable[[str], None]
"""A callback that gets the outcome of a request: a sentence, empty if it succeeded."""
OnLists: TypeAlias = Callable[[list[LobbyBrief], list[MatchBrief]], None]
"""A callback that gets the lobbies and matches of the server."""


def ignore_answer(_: str) -> None:
    """Ignore the outcome of a request."""


class ServerRequests:
    """The screens' requests to the server; `refresh` redraws the screens after new data.

    `established` is the connection, or None until it is open.
    """

    def __init__(
        self, app: App[str], state: ClientState, fetch: RecordFetcher, refresh: Callable[[], None]
    ) -> None:
        self._app = app
        self._state = state
        self._fetch = fetch
        self.refresh = refresh
        self.established: Client | None = None

    @property
    def connection(self) -> Client:
        if self.established is None:
            raise AssertionError("requests need an open connection")
        return self.established

    @property
    def online(self) -> bool:
        """Whether the connection is open and not being reestablished."""
        return self.established is not None and self.established.online

    @property
    def player(self) -> str | None:
        """The user's player id on the server."""
        return None if self.established is None else self.established.player

    def send(self, request: Awaitable[object], answered: OnAnswer = ignore_answer) -> None:
        """Send a request, and pass its outcome to `answered`."""
        self._app.run_worker(_report(request, answered), group="requests")

    def send_move(self, match: str, turn: YourTurn, choice: MoveOption, answered: OnAnswer) -> None:
        """Play a move; a refusal restores the turn if it is still current."""

        def on_answer(sentence: str) -> None:
            newest = self._state.matches[match].newest
            if sentence and newest.ply == turn.ply and newest.to_act == turn.seat:
                self._state.turns.setdefault(match, turn)
            answered(sentence)

        self.send(self.connection.move(match, turn.ply, choice.action), on_answer)

    def ask_lists(self, show: OnLists, refused: OnAnswer) -> None:
        """Request the lobbies and then the matches."""
        if self.online:
            self._ask("lists", partial(self._ask_lists, show, refused))

    def _ask(self, group: str, ask: Callable[[], Awaitable[None]]) -> None:
        """Run `ask` instead of the previous request of its group.

        The function is called by its worker: a coroutine that is replaced before it starts would
        never be awaited.
        """
        self._app.run_worker(ask, group=group, exclusive=True)

    async def _ask_lists(self, show: OnLists, refused: OnAnswer) -> None:
        try:
            lobbies = await self.connection.hall.lobbies()
            matches = await self.connection.hall.matches()
        except RefusedError as error:
            refused(descriptions.explain_error(error))
        except KibitzError:
            # The task that reads messages reports the end of the session.
            pass
        else:
            show(lobbies.lobbies, matches.matches)

    def fill_missing(self, match: str) -> None:
        if self._state.matches[match].missing() is not None:
            self._ask(f"history {match}", partial(self._ask_history, match))

    async def _ask_history(self, match: str) -> None:
        """Fetch the events from before this client joined, oldest first."""
        # The task that reads messages reports the end of the session.
        with contextlib.suppress(KibitzError):
            while await fetch_events(self.connection, self._state, match):
                self.refresh()

    def unmask_finished(self, timeline: Timeline) -> None:
        """Fetch the hidden information of a match that has ended."""
        game = self._state.games.get(timeline.info.game)
        if game is not None and game.info.hidden:
            self.send(self._fetch_unmasked(timeline))

    async def _fetch_unmasked(self, timeline: Timeline) -> None:
        timeline.unmask(await self.fetch_timeline(timeline.info.match))
        self.refresh()

    async def fetch_timeline(self, match: str) -> Timeline:
        """Fetch the record of a finished match, and replay it."""
        return await fetch_timeline(self.connection, self._fetch, self._state, match)


async def _report(request: Awaitable[object], answered: OnAnswer) -> None:
    try:
        await request
    except (KibitzError, OSError, ValueError) as error:
        answered(descriptions.explain_error(error))
    else:
        answered("")
