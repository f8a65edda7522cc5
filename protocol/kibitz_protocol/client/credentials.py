"""The identity of a client, and the credentials that prove it to a server."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Literal

from kibitz_protocol.wire.messages import VERSIONS, Capabilities, Hello, Welcome
from kibitz_protocol.wire.visibility import WantedViews


@dataclass(frozen=True, kw_only=True)
class ClientIdentity:
    """The identity in hello: a token names an account, `resume` a player who reconnects."""

    name: str | None = None
    kind: Literal["bot", "human"] = "bot"
    token: str | None = None
    organizer: str | None = None
    """The organizer's secret for an event's own server, sent along with `name` or `resume`."""
    resume: str | None = None
    capabilities: Capabilities | None = None
    agent: str = ""
    seated: bool = True
    """Whether to take over the player's seats and lobbies from an earlier session. Off for sessions
    that only watch or host, because they would take the seats from the program that plays."""
    instance: str = field(default_factory=lambda: secrets.token_hex(16))
    """An id that distinguishes this program from others with the same secrets. It must stay the
    same on the next connection; otherwise the server carries out resent requests a second time."""
    views: WantedViews = "turn"
    """The messages that contain the view of a match, in addition to `snapshot` and `finished`."""


class Credentials:
    """The credentials in hello: an account's token, a secret for reconnecting, or a new guest's
    name."""

    def __init__(self, identity: ClientIdentity) -> None:
        self._identity = identity
        self._secret = identity.resume

    def hello(self, id: int, ticket: str | None) -> Hello:
        """Return the next hello; `ticket` is the ticket of the redirect that led to this server."""
        who = self._identity
        resume = self._secret if who.token is None and ticket is None else None
        return Hello(
            id=id,
            versions=list(VERSIONS),
            name=who.name if resume is None and ticket is None else None,
            token=(who.token or who.organizer) if ticket is None else None,
            resume=resume,
            ticket=ticket,
            kind=who.kind,
            agent=who.agent,
            instance=who.instance,
            capabilities=who.capabilities,
            views=who.views,
        )

    def renew(self, welcome: Welcome) -> Welcome:
        """Store the secret of a welcome for the next hello; return the welcome with that secret."""
        if not welcome.resume:  # a ticket was used, so the earlier secret stays
            kept = self._identity.token or self._secret or ""
            welcome = welcome.model_copy(update={"resume": kept})
        self._secret = welcome.resume or None
        return welcome

    def forget_secret(self) -> bool:
        """Drop a rejected secret; return whether the player can sign in by name instead.

        A server that is killed forgets guests who had just connected and done nothing.
        """
        usable = self._identity.token is None and self._identity.name is not None
        forgotten = usable and self._secret is not None
        self._secret = None if forgotten else self._secret
        return forgotten
