"""All connections of a server, by address and player, with limits on their number."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from kibitz_server.accounts.identity import Identity
from kibitz_server.net.addresses import address_group
from kibitz_server.net.guest_networks import GuestNetwork, GuestNetworks, rate_of_people
from kibitz_server.net.peer import Peer
from kibitz_server.net.rate_limit import RateLimits, SharedBuckets

CONNECTIONS_A_PERSON = 8
"""Connections allowed per person at an address of a guest network: for bots and open pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """Limits on the share of the server that one address or player may use."""

    connections: int = 10_000
    connections_an_address: int = 200
    """Connections from one address. This machine is exempt from all limits on an address."""
    lobbies: int = 8
    """Open lobbies hosted by one player."""
    lobbies_an_address: int = 32
    """Open lobbies opened from one address."""
    lobbies_in_all: int = 1000
    """Open lobbies in total."""
    house_bots: int = 32
    """House bots in the open lobbies of one player."""
    house_bots_an_address: int = 32
    """House bots in the lobbies opened from one address."""
    house_bots_in_all: int = 64
    """House bots in total, including substitutes. Each house bot is a process."""
    matches_a_lobby: int = 100
    """Matches running at the same time in one lobby; further matches begin when others end."""
    matches_a_player: int = 100
    """Matches running with one player, in all lobbies of the server."""
    matches_in_all: int = 2000
    """Matches running on the server in total."""
    matches_elsewhere: int = 500
    """Matches of other nodes that a node follows for its own spectators. Spectators of further ones
    are redirected to the node that owns the match."""


def counted_address(peer: Peer) -> str | None:
    """Return the address that a connection counts toward, or None for this machine."""
    return None if peer.local else address_group(peer.address)


def same_program(one: Peer, other: Peer) -> bool:
    """Return whether two connections of a player belong to the same program."""
    return one is other or (one.instance is not None and one.instance == other.instance)


class Connections:
    """The connections of one server, by address and by player."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        rate_limits: RateLimits,
        quotas: Quotas,
        guest_networks: GuestNetworks | None = None,
    ) -> None:
        self.rate_limits = rate_limits
        self.quotas = quotas
        self.guest_networks = guest_networks or GuestNetworks()
        self._guests: dict[GuestNetwork, Counter[str]] = {}
        """For each guest network, its connected guests and their numbers of connections."""
        self._loop = loop
        self._peers: dict[Peer, None] = {}
        """All connections, in order of arrival."""
        self._address_buckets: SharedBuckets[str] = SharedBuckets(rate_limits.address)
        self._counted: dict[Peer, str] = {}
        """The address that each connection counts toward, if any."""
        self._by_player: dict[str, list[Peer]] = {}
        """The connections of each player, the newest last."""
        self._account_buckets: SharedBuckets[str] = SharedBuckets(rate_limits.account)
        self._player_comments: SharedBuckets[str] = SharedBuckets(rate_limits.comments)
        self._notes: SharedBuckets[str] = SharedBuckets(rate_limits.notes)
        self._openings: SharedBuckets[str] = SharedBuckets(rate_limits.openings)
        self._address_openings: SharedBuckets[str] = SharedBuckets(rate_limits.openings_an_address)
        self._address_comments: SharedBuckets[str] = SharedBuckets(rate_limits.comments_an_address)
        self.draining = False
        """Whether the server is shutting down and admits no more connections."""
        self._all_closed: asyncio.Future[None] | None = None

    # --- player rates -------------------------------------------------------------------

    def charge_comment(self, peer: Peer, identity: Identity) -> int:
        """Charge a player and an address for a comment.

        Return 0 or, if either has exceeded its rate, the milliseconds until a comment is allowed.
        """
        own, near = self._player_comments, self._address_comments
        return self._charge_both(own, near, peer, identity)

    def charge_note(self, identity: Identity, characters: int) -> int:
        """Charge a player for a note; return 0, or the milliseconds until it is allowed."""
        return self._notes.charge(identity.key, self._loop.time(), cost=characters)

    def charge_opening(self, peer: Peer, identity: Identity) -> int:
        """Charge a player and an address for opening a lobby.

        Return 0, or the milliseconds until both limits allow it.
        """
        return self._charge_both(self._openings, self._address_openings, peer, identity)

    def _charge_both(
        self,
        own: SharedBuckets[str],
        near: SharedBuckets[str],
        peer: Peer,
        identity: Identity,
    ) -> int:
        now, address = self._loop.time(), counted_address(peer)
        wait_ms = own.charge(identity.key, now)
        if wait_ms or address is None:
            return wait_ms
        people = self.guest_networks.people(peer.address)
        return near.charge(address, now, rate_of_people(near.rate, own.rate, people))

    @property
    def peers(self) -> Collection[Peer]:
        return self._peers.keys()

    @property
    def players(self) -> Collection[str]:
        return self._by_player.keys()

    def admit(self, peer: Peer) -> bool:
        """Count a connection; return whether the limits allow it."""
        self._peers[peer] = None
        room = not self.draining and len(self._peers) <= self.quotas.connections
        if peer.local or peer.proxied:
            return room
        return self._count(peer) and room

    def relocate(self, peer: Peer) -> bool:
        """Count a connection toward its actual address, which does not change afterwards.

        Before this call it counted toward its socket's address, unless that is this machine or a
        proxy.
        """
        self._discount(peer)
        return peer.local or self._count(peer)

    def may_stay(self, peer: Peer) -> bool:
        """Return whether an HTTP connection may stay open for another request.

        It may not if more than half of the connections allowed for the server or the address are in
        use. The rest are reserved for new connections.
        """
        if 2 * len(self._peers) > self.quotas.connections:
            return False
        address = self._counted.get(peer)
        users = 0 if address is None else self._address_buckets.users(address)
        return 2 * users <= self.quotas.connections_an_address

    def _count(self, peer: Peer) -> bool:
        """Count and charge a connection to its address; return whether it may stay."""
        address = self._counted[peer] = address_group(peer.address)
        limits, people = self.rate_limits, self.guest_networks.people(peer.address)
        rate = rate_of_people(limits.address, limits.socket, people)
        peer.rate_limiter.share(self._address_buckets.acquire(address, self._loop.time(), rate))
        most = self.address_quotas(peer).connections_an_address
        return self._address_buckets.users(address) <= most

    def address_quotas(self, peer: Peer) -> Quotas:
        """Return the quotas. If the peer's address counts as many people, its limits are higher."""
        quotas, people = self.quotas, self.guest_networks.people(peer.address)
        if not people:
            return quotas
        return replace(
            quotas,
            connections_an_address=max(
                quotas.connections_an_address, CONNECTIONS_A_PERSON * people
            ),
            lobbies_an_address=max(quotas.lobbies_an_address, quotas.lobbies * people),
            house_bots_an_address=max(quotas.house_bots_an_address, quotas.house_bots * people),
        )

    # --- guests -----------------------------------------------------------------------------

    def invites_guests(self, peer: Peer) -> bool:
        """Return whether guests are admitted from the network of a connection."""
        return self.guest_networks.network_of(peer.address) is not None

    def room_for_guests(self, peer: Peer) -> int | None:
        """Return how many more guests the peer's network admits; None for any number."""
        network = self.guest_networks.network_of(peer.address)
        return None if network is None else network.people - len(self._guests.get(network, ()))

    def _count_guest(self, peer: Peer, identity: Identity, change: int) -> None:
        network = self.guest_networks.network_of(peer.address)
        if network is None or identity.account or identity.player.kind == "house":
            return
        guests = self._guests.setdefault(network, Counter())
        guests[identity.key] += change
        if not guests[identity.key]:
            del guests[identity.key]

    def _discount(self, peer: Peer) -> None:
        address = self._counted.pop(peer, None)
        if address is not None:
            self._address_buckets.release(address, self._loop.time())

    def socket_closed(self, peer: Peer) -> None:
        """Handle the end of a socket."""
        self._peers.pop(peer, None)
        if not self._peers and self._all_closed is not None and not self._all_closed.done():
            self._all_closed.set_result(None)
        self._discount(peer)

    def greeted(self, peer: Peer, identity: Identity) -> None:
        """Record the identity of a connection."""
        peer.greeted(identity)
        if identity.viewer:  # a viewer is not a player, so only its address is charged
            return
        peer.rate_limiter.share(self._account_buckets.acquire(identity.key, self._loop.time()))
        self._by_player.setdefault(identity.key, []).append(peer)
        self._count_guest(peer, identity, 1)

    def left(self, peer: Peer, identity: Identity) -> bool:
        """Handle the end of a connection; return whether it was the player's last one."""
        peers = self._by_player.get(identity.key, [])
        if peer in peers:
            peers.remove(peer)
            self._count_guest(peer, identity, -1)
            self._account_buckets.release(identity.key, self._loop.time())
        return not peers and self._by_player.pop(identity.key, None) is not None

    def peer_of(self, player: str) -> Peer | None:
        """Return a player's newest connection."""
        peers = self._by_player.get(player)
        return peers[-1] if peers else None

    def has_several_programs(self, player: str) -> bool:
        """Return whether several programs are connected as one player."""
        there = [peer for peer in self._by_player.get(player, ()) if not peer.leaving]
        return any(not same_program(there[0], other) for other in there[1:])

    async def wait_closed(self) -> None:
        """Wait until every socket is closed."""
        if self._peers:
            self._all_closed = self._loop.create_future()
            await self._all_closed
