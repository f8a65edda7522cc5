"""Finds lobbies and matches: on this node, on other nodes, and among those that are set aside."""

from __future__ import annotations

from kibitz_server.directory.other_nodes import BetweenNodes, Elsewhere, OtherNodes
from kibitz_server.directory.registry import Registry
from kibitz_server.directory.tails import Tails
from kibitz_server.match.watched import WatchedMatch
from kibitz_server.storage.interface import Nodes
from kibitz_server.storage.quarantine import Quarantine


class Directory:
    """The lobbies and matches that a server can find."""

    def __init__(
        self,
        registry: Registry,
        quarantine: Quarantine,
        others: OtherNodes,
        nodes: Nodes | None,
        tails: Tails | None,
    ) -> None:
        """A single server has no `nodes` and no `tails`."""
        self.registry = registry
        self.quarantine = quarantine
        self.others = others
        """The lobbies and matches of the other nodes."""
        self.nodes = nodes
        """The nodes' records in their database."""
        self.tails = tails
        """The followed matches of the other nodes."""

    def watched(self, key: str) -> WatchedMatch | None:
        """Return a match that can be watched here: running, just finished, or followed."""
        match = self.registry.find_match(key)
        return match if match is not None or self.tails is None else self.tails.get(key)

    async def find_elsewhere(self, key: str) -> Elsewhere | None:
        """Return where an open lobby or match is according to the database.

        Returns None if it is on this node, is not open, or was set aside. Raises `BetweenNodes` and
        `StoreError`.
        """
        if self.nodes is None or self.quarantine.reason(key) is not None:
            return None
        owner = await self.nodes.owner(key)
        if owner is None or self.registry.runner(key) is not None:
            return None
        lobby, node = owner
        place = None if node is None else self.others.at(lobby, node)
        if place is None:
            raise BetweenNodes(f"lobby {lobby} is moving to another node")
        return place
