"""Hosting a ladder: connect its keeper, and find or open its lobby."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final

from kibitz_arena.ladder.config import Ladder
from kibitz_arena.ladder.directory import LadderDirectory
from kibitz_arena.ladder.entries import Entry, GameCancelled, Hosted
from kibitz_arena.ladder.state import LadderState
from kibitz_arena.runner.hosting import USUAL_AT_ONCE, connect_host, find_lobby
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.lobbies import HouseSeat, LobbySettings, OpenSeat
from kibitz_protocol.wire.records import Conduct

GRACE_MS: Final = 30_000
"""How long the server reserves the seat of a lost connection, in milliseconds."""


@dataclass(frozen=True)
class LadderHost:
    """Connects to `server` as the host of a ladder, as a guest if there is no token."""

    ladder: Ladder
    directory: LadderDirectory
    server: str
    token: str | None = None

    def connect(self) -> AbstractAsyncContextManager[Client]:
        """Reconnect as the earlier host, or connect as a new player."""
        return connect_host(self.directory, self.server, self._client, self.token is None)

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


async def find_ladder_lobby(client: Client, state: LadderState) -> str:
    """Find or open the ladder's lobby and follow it."""

    async def wanted() -> LobbySettings:
        return settings(state.ladder)

    return await find_lobby(client, state.lobby, wanted, state.ladder.lobby_name)


def settings(ladder: Ladder) -> LobbySettings:
    """Return the settings of a ladder's lobby: open seats and house bots."""
    return LobbySettings(
        name=ladder.lobby_name,
        seats=[
            *(HouseSeat(personality=bot.bot) for bot in ladder.house),
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
    """Return the entries for moving the ladder to `lobby`; none if it is already there.

    Outstanding games of the old lobby are lost.
    """
    if lobby == state.lobby:
        return []
    lost = [
        GameCancelled(at_ms=at_ms, tag=tag, detail="the lobby is gone") for tag in state.outstanding
    ]
    return [*lost, Hosted(at_ms=at_ms, lobby=lobby)]
