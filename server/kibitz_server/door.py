"""The door: every connection of a server, where it comes from, and whose it is."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from kibitz_server.accounts import Identity
from kibitz_server.credits import Bucket, Tariff
from kibitz_server.peer import Peer


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """How much of the server one address or player may take."""

    connections: int = 10_000
    connections_an_address: int = 200
    """Loopback is not counted."""
    lobbies: int = 8
    """Open lobbies that one player may host."""


class Address:
    """An address that connections come from."""

    __slots__ = ("bucket", "count")

    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket
        self.count = 0


def same_program(one: Peer, other: Peer) -> bool:
    """Whether two connections of a player are one program's: it came back on the other."""
    return one is other or (one.instance is not None and one.instance == other.instance)


class Door:
    """Who is here."""

    def __init__(self, loop: asyncio.AbstractEventLoop, tariff: Tariff, quotas: Quotas) -> None:
        self.tariff = tariff
        self.quotas = quotas
        self._loop = loop
        self._peers: set[Peer] = set()
        self._addresses: dict[str, Address] = {}
        self._present: dict[str, list[Peer]] = {}
        """The connections of each player, the newest last."""
        self._purses: dict[str, Bucket] = {}
        """The bucket of each player who is present."""
        self._emptied: asyncio.Future[None] | None = None

    @property
    def peers(self) -> Collection[Peer]:
        return self._peers

    @property
    def players(self) -> Collection[str]:
        return self._present.keys()

    def admit(self, peer: Peer, *, open_: bool) -> bool:
        """Count a connection; return whether there is room for it."""
        self._peers.add(peer)
        room = open_ and len(self._peers) <= self.quotas.connections
        if peer.local:
            return room
        address = self._addresses.get(peer.address)
        if address is None:
            bucket = Bucket(self.tariff.address, self._loop.time())
            address = self._addresses[peer.address] = Address(bucket)
        address.count += 1
        peer.share(address.bucket)
        return room and address.count <= self.quotas.connections_an_address

    def lost(self, peer: Peer) -> None:
        """A socket is closed."""
        self._peers.discard(peer)
        if not self._peers and self._emptied is not None and not self._emptied.done():
            self._emptied.set_result(None)
        address = self._addresses.get(peer.address)
        if address is None:
            return
        address.count -= 1
        # A flooder that comes back at once finds its bucket as empty as it left it.
        full = address.bucket.level(self._loop.time()) >= address.bucket.rate.burst
        if address.count <= 0 and full:
            del self._addresses[peer.address]

    def arrive(self, peer: Peer, identity: Identity) -> None:
        """A connection has said whose it is."""
        peer.greeted(identity)
        purse = self._purses.get(identity.key)
        if purse is None:
            purse = self._purses[identity.key] = Bucket(self.tariff.account, self._loop.time())
        peer.share(purse)
        self._present.setdefault(identity.key, []).append(peer)

    def depart(self, peer: Peer, identity: Identity) -> bool:
        """A connection is gone; return whether it was the player's last one."""
        peers = self._present.get(identity.key, [])
        if peer in peers:
            peers.remove(peer)
        if peers or self._present.pop(identity.key, None) is None:
            return False
        del self._purses[identity.key]
        return True

    def peer_of(self, player: str) -> Peer | None:
        """Return a player's newest connection."""
        peers = self._present.get(player)
        return peers[-1] if peers else None

    def shared(self, player: str) -> bool:
        """Whether several programs are connected as one player."""
        there = [peer for peer in self._present.get(player, ()) if not peer.leaving]
        return any(not same_program(there[0], each) for each in there[1:])

    async def empty(self) -> None:
        """Wait until every socket is closed."""
        if self._peers:
            self._emptied = self._loop.create_future()
            await self._emptied
