"""Hosting a ladder: the connection of its keeper, and its lobby, found again or opened."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.directory import LadderDirectory
from kibitz_arena.ladder.entries import Entry, GameCancelled, Hosted
from kibitz_arena.ladder.state import LadderState
from kibitz_protocol.client.client import Client
from kibitz_protocol.client.errors import HelloRefusedError, RefusedError, UnansweredError
from kibitz_protocol.wire.lobbies import HouseSeat, LobbySettings, OpenSeat
from kibitz_protocol.wire.records import Conduct
from kibitz_protocol.wire.refusals import Code

USUAL_AT_ONCE: Final = 100
"""How many matches of one lobby a server lets run at the same time by default; the keeper itself
decides how many there are."""
GRACE_MS: Final = 30_000
"""How long the seat of a lost connection is kept."""


@dataclass(frozen=True)
class LadderHost:
    """Connects as the host of a ladder at `server`; without a token a guest hosts."""

    ladder: Ladder
    directory: LadderDirectory
    server: str
    token: str | None = None

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[Client]:
        """Connect as the player that hosted before, or as a new one where the server does not know
        it."""
        session = None if self.token is not None else self.directory.host_session(self.server)
        stack = contextlib.AsyncExitStack()
        try:
            resume = None if session is None else session.resume
            client = await stack.enter_async_context(self._client(resume))
        except HelloRefusedError as error:
            if session is None or error.code != Code.UNAUTHORIZED:
                raise
            self.directory.forget_host_session()
            client = await stack.enter_async_context(self._client(None))
        async with stack:
            if self.token is None:  # before anything is hosted, so that it is found again
                self.directory.save_host_session(client.resume, self.server)
            yield client

    def _client(self, resume: str | None) -> Client:
        return Client(
            self.server,
            name=None if self.token is not None else f"ladder {self.ladder.name}"[:32],
            kind="human",
            token=self.token,
            resume=resume,
            agent="kibitz ladder",
            patience=None,
            opening=None,
        )


async def find_lobby(client: Client, state: LadderState) -> str:
    """Return the ladder's lobby, which is followed from now on.

    It is the one of the journal while that is open; else one that this host has opened under the
    ladder's name, when a keeper was killed before it could write that down; else a new one.
    """
    if state.lobby is not None and await _enter(client, state.lobby):
        return state.lobby
    while True:
        lobby = await _own_lobby(client, state.ladder.lobby_name)
        if lobby is None:
            try:
                lobby = (await client.host(settings(state.ladder))).lobby
            except UnansweredError:
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
    lobbies = (await client.lobbies()).lobbies
    own = (each.lobby for each in lobbies if each.name == name and each.host == client.name)
    return next(own, None)


def settings(ladder: Ladder) -> LobbySettings:
    """Return the settings of a ladder's lobby: places for who comes, and its house bots."""
    return LobbySettings(
        name=ladder.lobby_name,
        seats=[
            *(HouseSeat(personality=each.bot) for each in ladder.house),
            *(OpenSeat() for _ in range(ladder.places)),
        ],
        programme=[ladder.item()],
        arranged=True,
        rated=ladder.rated,
        at_once=max(USUAL_AT_ONCE, ladder.at_once),
        auto_start=False,
        conduct=Conduct(grace_ms=GRACE_MS),
    )


def moving_entries(state: LadderState, lobby: str, at_ms: int) -> list[Entry]:
    """Return what is to be written when the ladder is played in `lobby` from now on.

    What was outstanding in another lobby can never be heard of again.
    """
    if lobby == state.lobby:
        return []
    lost = [
        GameCancelled(at_ms=at_ms, tag=tag, detail="the lobby is gone") for tag in state.outstanding
    ]
    return [*lost, Hosted(at_ms=at_ms, lobby=lobby)]
