"""Hosting: the connection that arranges games, and their lobby, found again or opened."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from kibitz_arena.runner.directory import HostSession, RunDirectory, TournamentDirectory
from kibitz_arena.runner.players import EntrantPlayers
from kibitz_arena.runner.scheduler import programme_item
from kibitz_arena.tournament import Tournament
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import HelloRefusedError, RefusedError, UnansweredError
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
    """The server to play on: the tournament's own, or the one at `server`."""

    server: str | None = None
    token: str | None = None
    """The token of the account that hosts there; without one a guest hosts."""
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

    def connect(
        self, url: str, organizer: str | None = None
    ) -> AbstractAsyncContextManager[Client]:
        """Connect as the player that hosted before, or as a new one.

        `organizer` is the secret of a server of the tournament's own.
        """
        return connect_host(
            self._directory,
            self._options.server,
            lambda resume: self._client(url, organizer, resume),
            self._options.token is None,
        )

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

    async def lobby(self, client: Client, players: EntrantPlayers) -> str:
        """Return the tournament's lobby, which is followed from now on.

        In a new one each seat is reserved for its entrant's player, by key and not by name.
        """

        async def settings() -> LobbySettings:
            return self._settings(await players.register(self._tournament.entrants))

        session = self._directory.host_session()
        assert session is not None, "the session is saved as the host connects"
        lobby = await find_lobby(client, session.lobby, settings)
        self._directory.save_host_session(session.model_copy(update={"lobby": lobby}))
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


@contextlib.asynccontextmanager
async def connect_host(
    directory: RunDirectory,
    server: str | None,
    make: Callable[[str | None], Client],
    anonymous: bool,
) -> AsyncIterator[Client]:
    """Connect as the player that hosted before, or as a new one where the server does not know it.

    `make` makes a client, with the secret of the player if it is one that hosted before. A host
    that is not `anonymous` has an account and needs no secret.
    """
    session = directory.host_session()
    if session is not None and session.server != server:
        directory.remove_secrets()  # secrets are worth nothing on another server
        session = None
    resume = session.resume if session is not None and anonymous else None
    stack = contextlib.AsyncExitStack()
    try:
        client = await stack.enter_async_context(make(resume))
    except HelloRefusedError as error:
        if resume is None or error.code != Code.UNAUTHORIZED:
            raise
        directory.remove_secrets()
        session = None
        client = await stack.enter_async_context(make(None))
    async with stack:
        # Before anything is hosted, so that it is found again.
        lobby = None if session is None else session.lobby
        directory.save_host_session(HostSession(resume=client.resume, lobby=lobby, server=server))
        yield client


async def find_lobby(
    client: Client,
    known: str | None,
    settings: Callable[[], Awaitable[LobbySettings]],
    own_name: str | None = None,
) -> str:
    """Return a lobby, which is followed from now on.

    It is the `known` one while that is open; else one that this host has opened under `own_name`,
    if its runner was killed before it could write that down; else a new one.
    """
    if known is not None and await _enter(client, known):
        return known
    while True:
        lobby = None if own_name is None else await _own_lobby(client, own_name)
        if lobby is None:
            try:
                lobby = (await client.hosting.host(await settings())).lobby
            except UnansweredError:
                if own_name is None:
                    raise
                continue  # it may be open now
        assert lobby is not None, "a lobby that was opened has a key"
        await client.join(lobby, role="spectator")
        return lobby


async def _enter(client: Client, lobby: str) -> bool:
    """Follow a lobby; return whether it is still open."""
    try:
        await client.join(lobby, role="spectator")
    except RefusedError as error:
        if error.code in (Code.NO_SUCH_LOBBY, Code.CLOSED, Code.DAMAGED, Code.NOT_WATCHABLE):
            return False
        raise
    return True


async def _own_lobby(client: Client, name: str) -> str | None:
    """Return a lobby of this name that this client has opened."""
    lobbies = (await client.hall.lobbies()).lobbies
    own = (brief.lobby for brief in lobbies if brief.name == name and brief.host == client.name)
    return next(own, None)
