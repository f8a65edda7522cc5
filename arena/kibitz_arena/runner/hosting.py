"""Hosting: connect the host that arranges games, and find or open its lobby."""

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
from kibitz_protocol.client.client import Client, connect_again
from kibitz_protocol.client.errors import RefusedError
from kibitz_protocol.wire.lobbies import LobbySettings, ReservedSeat
from kibitz_protocol.wire.records import Conduct, Spectating
from kibitz_protocol.wire.refusals import Code

START_SECONDS: Final = 600.0
"""The timeout for entrants to become ready, in seconds; they may have to compile code first."""
GRACE_MS: Final = 300_000
"""How long the server reserves the seat of a lost connection, in milliseconds; a restarted bot must
warm up again."""
USUAL_AT_ONCE: Final = 100
"""A server's default limit on concurrent matches per lobby."""
MAX_AT_ONCE: Final = 1000
"""The lobby's own limit, kept high because the scheduler limits concurrent games."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """The server to play on: the external one at `server`, or a private one."""

    server: str | None = None
    token: str | None = None
    """The token of the hosting account; None to host as a guest."""
    wait: float = START_SECONDS
    """The timeout for entrants to become ready, in seconds."""


class TournamentHost:
    """Connects as the host of a tournament and finds or opens its lobby."""

    def __init__(
        self, tournament: Tournament, directory: TournamentDirectory, options: ServerOptions
    ) -> None:
        self._tournament = tournament
        self._directory = directory
        self._options = options

    def connect(
        self, url: str, organizer: str | None = None
    ) -> AbstractAsyncContextManager[Client]:
        """Reconnect as the earlier host, or connect as a new player.

        `organizer` is the secret of the private server.
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
        """Find or open the tournament's lobby and follow it.

        In a new lobby each seat is reserved for its entrant's player, by key rather than by name.
        """

        async def settings() -> LobbySettings:
            return self._settings(await players.register(self._tournament.entrants))

        session = self._directory.host_session()
        assert session is not None, "the session was saved when the host connected"
        lobby = await find_lobby(client, session.lobby, settings)
        self._directory.save_host_session(session.model_copy(update={"lobby": lobby}))
        return lobby

    def _most_at_once(self) -> int:
        """Return the lobby's limit on concurrent matches.

        External servers refuse more than their own limit, which is `USUAL_AT_ONCE` by default.
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
    """Reconnect as the earlier host, or connect as a new player if the server does not know it.

    `make` creates a client, with the earlier host's secret if there is one. A host that is not
    `anonymous` has an account and needs no secret.
    """
    session = directory.host_session()
    if session is not None and session.server != server:
        directory.remove_secrets()  # secrets are not valid on another server
        session = None
    resume = session.resume if session is not None and anonymous else None
    async with connect_again(make, resume, lambda _: directory.remove_secrets()) as client:
        # Saved before hosting, so that a later run can find the lobby.
        session = directory.host_session()
        lobby = None if session is None else session.lobby
        directory.save_host_session(HostSession(resume=client.resume, lobby=lobby, server=server))
        yield client


async def find_lobby(
    client: Client,
    known: str | None,
    settings: Callable[[], Awaitable[LobbySettings]],
    own_name: str | None = None,
) -> str:
    """Find or open a lobby and follow it.

    Use the `known` lobby if it is still open. Otherwise use a lobby that this host opened as
    `own_name`, because the runner may have been killed before it saved the key. If there is none,
    open a new lobby.
    """
    if known is not None and await _enter(client, known):
        return known
    lobby = None if own_name is None else await _own_lobby(client, own_name)
    if lobby is None:
        lobby = (await client.hosting.host(await settings())).lobby
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
    """Return a lobby with this name that this client has opened, if any."""
    lobbies = (await client.hall.lobbies()).lobbies
    own = (brief.lobby for brief in lobbies if brief.name == name and brief.host == client.name)
    return next(own, None)
