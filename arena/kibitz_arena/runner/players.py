"""The players that the entrants of a tournament are on a server.

Each entrant is made a player before any process of an entrant runs, and its seat in the lobby is
kept for the key of that player. A process is given the secret of its own player only, so none can
be another entrant, or take its name or its seat.
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
    """Makes entrants players, and connects as them."""

    def __init__(
        self,
        directory: TournamentDirectory,
        services: Services,
        url: str,
        at_once: int,
        organizer: str | None = None,
    ) -> None:
        """`organizer` is the secret of the server, where that is the tournament's own."""
        self._directory = directory
        self._services = services
        self._url = url
        self._at_once = at_once
        self._organizer = organizer

    async def register(self, entrants: Sequence[Entrant]) -> dict[str, str]:
        """Make players of the entrants that are started here; return the key of each by its name.

        Raises `EntrantFailedError` for a token of somebody else.
        """
        keys = {}
        for entrant in entrants:
            if not entrant.remote:
                async with self.connect(entrant) as client:
                    keys[entrant.name] = client.player
        return keys

    @contextlib.asynccontextmanager
    async def connect(self, entrant: Entrant) -> AsyncIterator[Client]:
        """Connect as an entrant, for a moment; a new one is made a player."""
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
    """Its results stand under the entrant's name, so its account has that too."""
    name = client.welcome.name
    if name != entrant.name:
        text = f"{entrant.name}: {entrant.token_file} holds the token of {name}"
        raise EntrantFailedError(entrant.name, f"{text}; expected the entrant's own name")
