"""The configuration of a server.

The fields here, including those of nested dataclasses, are the keys of the file that `kibitz serve
--config` reads, so they must not be renamed.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from kibitz_protocol.wire.server_address import websocket_url
from kibitz_server.accounts.sign_in import Guests
from kibitz_server.maintenance.retention import RetentionPolicy
from kibitz_server.net.access import AccessPolicy, access_policy, listed_origin
from kibitz_server.net.addresses import network
from kibitz_server.net.connections import Quotas
from kibitz_server.net.downloads import DownloadLimits
from kibitz_server.net.guest_networks import GuestNetworks, guest_network
from kibitz_server.net.rate_limit import UNLIMITED, RateLimits
from kibitz_server.net.send_queue import SendLimits
from kibitz_server.net.timeouts import TimeoutConfig
from kibitz_server.storage.location import Database, NodeIdentity, PostgresURL, database_of

_RATES: dict[str, Any] = {
    limit.name: UNLIMITED for limit in fields(RateLimits) if limit.type == "Rate"
}
UNLIMITED_RATES = RateLimits(**_RATES)
UNLIMITED_QUOTAS = Quotas(**{limit.name: 10**9 for limit in fields(Quotas)})
UNLIMITED_DOWNLOADS = DownloadLimits(at_once=10**9, an_address=10**9, held_bytes=10**12)


def _read_by(read: Callable[[str], object]) -> AfterValidator:
    """Return a validator that parses a text with `read`, so that error messages name the key."""

    def check(text: str) -> str:
        read(text)
        return text

    return AfterValidator(check)


@dataclass(frozen=True, kw_only=True)
class Config:
    """The configuration of a server."""

    db: Annotated[Database, BeforeValidator(database_of)]
    """The database file, which is created if it does not exist, or the URL of a PostgreSQL
    database: ``postgresql://user@host/name``."""
    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 0
    """The port to listen on; 0 for a free one."""
    name: str = "kibitz"
    """The server's name."""
    node: str | None = None
    """The node's name if several servers share a PostgreSQL database; None for a single server."""
    public_url: str | None = None
    """The URL at which clients reach this node, such as ``wss://a.example.org``, with its path."""
    guests: Guests = "loopback"
    """The clients that need no token: those on the same machine, all, or none."""
    public_boards: bool = False
    """Whether everybody may watch without a name. If not, only clients that may be guests can."""
    organizer: Annotated[str, Field(min_length=32)] | None = field(default=None, repr=False)
    """The secret of the organizer who runs this server. Only connections that send it as their
    token may create guests or watch. All others are entrants, who may only play their seats."""
    guests_from: tuple[Annotated[str, _read_by(guest_network)], ...] = ()
    """Additional networks that admit guests, each with the number of guests at a time:
    ``192.0.2.7=40``. Each address in such a network gets the limits of that many players."""
    operators: tuple[str, ...] = ()
    """Names of the accounts that may abort matches."""
    origins: tuple[Annotated[str, _read_by(listed_origin)], ...] = ()
    """Origins of pages that may connect, such as ``https://example.org``."""
    hosts: tuple[str, ...] = ()
    """Names of the server, in addition to IP addresses, ``localhost`` and the machine's name; ``*``
    for any.
    """
    proxies: tuple[Annotated[str, _read_by(network)], ...] = ()
    """Addresses or networks of proxies whose forwarding headers are trusted."""
    notes: bool = False
    """Whether downloaded records include bots' private notes, such as tracebacks."""
    unlimited: bool = False
    """Whether rate limits and quotas are off, for tests and measurements."""
    tariff: RateLimits = field(default_factory=RateLimits)
    """Rate limits: the costs of requests, and the rates of connections."""
    quotas: Quotas = field(default_factory=Quotas)
    """Limits on the numbers of connections and lobbies."""
    downloads: DownloadLimits = field(default_factory=DownloadLimits)
    """Limits on downloads of records."""
    patience: TimeoutConfig = field(default_factory=TimeoutConfig)
    """Timeouts of connections."""
    allowance: SendLimits = field(default_factory=SendLimits)
    """Limits on the output queued for a slow peer."""
    keeping: RetentionPolicy = field(default_factory=RetentionPolicy)
    """Retention times of closed matches and lobbies, and of absent guests."""
    drain_s: float = 10
    """Seconds that peers get to disconnect at a shutdown, before their connections are aborted."""

    def __post_init__(self) -> None:
        self.access_policy()
        self.guest_networks()
        self.identity()

    def identity(self) -> NodeIdentity | None:
        """Return this node's identity; None for a single server.

        Raises `ValueError` if it is invalid.
        """
        if self.node is None and self.public_url is None:
            return None
        if self.node is None or self.public_url is None:
            raise ValueError("node and public_url must be given together")
        if not isinstance(self.db, PostgresURL):
            raise ValueError("nodes share a PostgreSQL database, so db must be postgresql://...")
        return NodeIdentity(self.node, websocket_url(self.public_url))

    def guest_networks(self) -> GuestNetworks:
        """Return the networks that admit guests. Raises `ValueError` if one is invalid."""
        return GuestNetworks(map(guest_network, self.guests_from))

    def access_policy(self) -> AccessPolicy:
        """Return the policy for requests. Raises `ValueError` if a name or address is invalid."""
        return access_policy(
            host=self.host,
            names=self.hosts,
            origins=self.origins,
            proxies=self.proxies,
            machine=socket.gethostname(),
        )

    def rate_limits(self) -> RateLimits:
        """Return the rate limits: none if unlimited, except for an event's entrants."""
        if (
            self.unlimited and self.organizer is not None
        ):  # on an event's server only the organizer opens lobbies
            return replace(
                self.tariff,
                openings=UNLIMITED,
                lobby_changes=UNLIMITED,
                lobby_matches=UNLIMITED,
                arranged=UNLIMITED,
            )
        if not self.unlimited:
            return self.tariff
        return UNLIMITED_RATES

    def quota(self) -> Quotas:
        """Return the quotas: none if the server is unlimited."""
        return UNLIMITED_QUOTAS if self.unlimited else self.quotas

    def download_limits(self) -> DownloadLimits:
        """Return the limits on downloads: none if the server is unlimited."""
        return UNLIMITED_DOWNLOADS if self.unlimited else self.downloads

    def url(self, scheme: str, port: int) -> str:
        """Return the URL of a server that listens on `port`, for clients on this machine."""
        return f"{scheme}://{_reachable(self.host)}:{port}"


def _reachable(host: str) -> str:
    """Return the address at which a client on this machine reaches a listening address."""
    if host in {"", "0.0.0.0", "::"}:
        return "127.0.0.1" if host != "::" else "[::1]"
    return f"[{host}]" if ":" in host else host
