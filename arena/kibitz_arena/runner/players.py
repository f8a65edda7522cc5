"""The entrants' players on the server.

Each entrant is registered as a player before any entrant's process starts, and its seat in the
lobby is reserved for the key of that player. A process receives only its own player's secret, so it
cannot impersonate another entrant or take its name or seat.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

from kibitz_arena.runner.directory import TournamentDirectory
from kibitz_arena.runner.errors import EntrantFailedError
from kibitz_arena.runner.services import Services
from kibitz_arena.tournament import Entrant
from kibitz_protocol.client.client import Client
from kibitz_protocol.wire.messages import Capabilities


class EntrantPlayers:
    """Registers entrants as players and connects as them."""

    def __init__(
        self,
        directory: TournamentDirectory,
        services: Services,
        url: str,
        at_once: int,
        organizer: str | None = None,
    ) -> None:
        """Create the registry; `organizer` is the secret of a private server."""
        self._directory = directory
        self._services = services
        self._url = url
        self._at_once = at_once
        self._organizer = organizer

    async def register(self, entrants: Sequence[Entrant]) -> dict[str, str]:
        """Register the entrants that are started here; return the players' keys by name.

        Raises `EntrantFailedError` if an entrant's token belongs to another player.
        """
        keys = {}
        for entrant in entrants:
            if not entrant.remote:
                async with self.connect(entrant) as client:
                    keys[entrant.name] = client.player
        return keys

    @contextlib.asynccontextmanager
    async def connect(self, entrant: Entrant) -> AsyncIterator[Client]:
        """Connect briefly as an entrant, registering it if it is new."""
        token = self._services.token(entrant)
        resume = self._directory.load_secret(entrant.name) if token is None else None
        new = token is None and resume is None
        client = Client(
            self._url,
            name=entrant.name if new else None,
            token=token,
            resume=resume,
            organizer=self._organizer if new else None,
            capabilities=Capabilities(at_once=self._at_once),
            agent="kibitz arena",
        )
        async with client:
            if new:
                self._directory.save_secret(entrant.name, client.resume)
            elif token is not None:
                _require_own_name(entrant, client)
            yield client


def _require_own_name(entrant: Entrant, client: Client) -> None:
    """Require that the account has the entrant's name, since its results use that name."""
    name = client.welcome.name
    if name != entrant.name:
        text = f"{entrant.name}: {entrant.token_file} contains the token of {name}"
        raise EntrantFailedError(entrant.name, f"{text}; expected the entrant's own name")
