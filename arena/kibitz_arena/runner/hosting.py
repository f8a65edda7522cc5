"""Hosting: the connection that arranges a tournament's games, and its lobby."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

from kibitz_arena.runner.directory import HostSession, TournamentDirectory
from kibitz_arena.runner.players import EntrantPlayers
from kibitz_arena.runner.scheduler import programme_item
from kibitz_arena.tournament import Tournament
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import HelloRefusedError, RefusedError
from kibitz_protocol.wire.lobbies import LobbySettings, ReservedSeat
from kibitz_protocol.wire.records import Conduct, Spectating
from kibitz_protocol.wire.refusals import Code

START_SECONDS: Final = 600.0
"""How long entrants may take to be ready: what they need may have to be compiled first."""
GRACE_MS: Final = 300_000
"""How long the seat of a lost connection is kept: a bot that was killed has to warm up again."""
USUAL_AT_ONCE: Final = 100
"""How many matches of one lobby a server lets run at the same time by default."""
MAX_AT_ONCE: Final = 1000
"""The scheduler says how many games there are at the same time; the lobby need not."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Where to play: a server of the tournament's own, or the one at `server`."""

    server: str | None = None
    token: str | None = None
    """The token of the account that hosts there; without one a guest does."""
    wait: float = START_SECONDS
    """Seconds that the entrants may take to be ready."""


class TournamentHost:
    """Connects as the host of a tournament, and finds its lobby again."""

    def __init__(
        self, tournament: Tournament, directory: TournamentDirectory, options: ServerOptions
    ) -> None:
        self._tournament = tournament
        self._directory = directory
        self._options = options

    @contextlib.asynccontextmanager
    async def connect(self, url: str, organizer: str | None = None) -> AsyncIterator[Client]:
        """Connect as the player that hosted before, or as a new one where the server does not know
        it. `organizer` is the secret of a server of the tournament's own."""
        session = self._host_session()
        resume = None if session is None or self._options.token is not None else session.resume
        stack = contextlib.AsyncExitStack()
        try:
            client = await stack.enter_async_context(self._client(url, organizer, resume))
        except HelloRefusedError as error:
            if resume is None or error.code != Code.UNAUTHORIZED:
                raise
            self._directory.remove_secrets()
            client = await stack.enter_async_context(self._client(url, organizer, None))
        async with stack:
            yield client

    def _client(self, url: str, organizer: str | None, resume: str | None) -> Client:
        return Client(
            url,
            name=f"arena-{self._tournament.hash[:8]}" if self._options.token is None else None,
            kind="human",
            token=self._options.token,
            organizer=organizer,
            resume=resume,
            agent="kibitz arena",
            patience=120.0 if self._options.server else 10.0,
        )

    def _host_session(self) -> HostSession | None:
        """Return where the tournament was played before, if that is on this server."""
        session = self._directory.host_session()
        if session is None or session.server == self._options.server:
            return session
        self._directory.remove_secrets()  # secrets are worth nothing on another server
        return None

    async def lobby(self, client: Client, players: EntrantPlayers) -> str:
        """Return the tournament's lobby: the one from before if it is still open, or a new one.

        In a new one each seat is kept for the player that its entrant is, whatever others are
        called.
        """
        session = self._host_session()
        if session is not None and session.lobby is not None:
            with contextlib.suppress(RefusedError):
                await client.join(session.lobby, role="spectator")
                return session.lobby
        keys = await players.register(self._tournament.entrants)
        lobby = (await client.host(self._settings(keys))).lobby
        assert lobby is not None
        self._directory.save_host_session(
            HostSession(resume=client.resume, lobby=lobby, server=self._options.server)
        )
        return lobby

    def _most_at_once(self) -> int:
        """Return how many matches the lobby may run at the same time.

        Other servers refuse more than their limit, which is `USUAL_AT_ONCE` by default.
        """
        wanted = self._tournament.concurrency
        if self._options.server is None:
            return MAX_AT_ONCE
        return USUAL_AT_ONCE if wanted == "auto" else max(USUAL_AT_ONCE, wanted)

    def _settings(self, keys: Mapping[str, str]) -> LobbySettings:
        names = self._tournament.names
        return LobbySettings(
            name=self._tournament.name,
            joinable="closed",
            seats=[ReservedSeat(name=name, player=keys.get(name)) for name in names],
            programme=[programme_item(self._tournament)],
            arranged=True,
            rated=self._tournament.rated,
            at_once=self._most_at_once(),
            conduct=Conduct(grace_ms=GRACE_MS),
            spectating=Spectating(
                comments=self._tournament.comments,
                delay_ms=round(self._tournament.spectator_delay * 1000),
            ),
            commitment=self._tournament.commitment,
        )
