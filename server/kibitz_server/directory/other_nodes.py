"""The lobbies, players and matches of the other nodes, according to their lines.

Each node writes a line about each of its lobbies, and one about itself (`hall_sharing`). This
module combines them, so that a node can find and list other nodes' lobbies. It reads a clock only
to know whether the last exchange is older than `STALE_S`, when its data counts as outdated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict

from kibitz_protocol.wire.lobbies import LobbyBrief, MatchBrief
from kibitz_server.storage.interface import HallExchange, OtherNode

STALE_S: Final = 3.0
"""Seconds for which the result of an exchange counts as current."""


class LobbyLine(BaseModel):
    """A node's line about one of its lobbies."""

    model_config = ConfigDict(defer_build=True)

    lobby: str
    brief: LobbyBrief | None = None
    """None for a lobby that is closed or set aside while its matches continue."""
    listed: bool = False
    """Whether the lobby and its matches are in public lists."""
    host: str = ""
    """The key of its host; the open lobby counts toward the host's limits."""
    house_seats: int = 0
    """The number of its seats for house bots, which also count toward the host's limits."""
    players: list[str] = []
    """The keys of its host, its members and the players of its running matches."""
    matches: list[MatchBrief] = []
    """Its running matches, from a spectator's point of view."""


class NodeLine(BaseModel):
    """A node's line about itself."""

    model_config = ConfigDict(defer_build=True)

    finished: list[MatchBrief] = []
    """The latest listed matches that ended on that node, oldest first."""
    players: frozenset[str] = frozenset()
    """The players who are connected there."""


class BetweenNodes(Exception):
    """A lobby is open, but no living node has loaded it."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A lobby on another node."""

    lobby: str
    node: OtherNode


def node_key(name: str) -> str:
    """Return the key of a node's line about itself; lobby keys contain no space."""
    return f"node {name}"


class OtherNodes:
    """Finds the lobbies, matches and players of other nodes."""

    def __init__(self, url: str | None, seconds: Callable[[], float]) -> None:
        """`url` is this node's own, None for a single server; `seconds` is a monotonic clock."""
        self._url = url
        self._seconds = seconds
        self._nodes: dict[str, OtherNode] = {}
        self._lines: dict[str, tuple[str, LobbyLine]] = {}
        self._node_lines: dict[str, NodeLine] = {}
        self._lobbies_of: dict[str, list[str]] | None = {}
        """The lobbies of each player and match; None if the lines have changed since."""
        self._settled = False
        self._heard_at = float("-inf")

    # --- reading -----------------------------------------------------------------------

    def apply(self, exchange: HallExchange) -> list[MatchBrief]:
        """Apply an exchange; return the matches that ended on other nodes since the last one.

        Raises `ValueError` for an invalid line.
        """
        self._nodes = {node.name: node for node in exchange.nodes}
        if exchange.whole:
            self._lines.clear()
            self._lobbies_of = None
        ended: list[MatchBrief] = []
        for key, node, text in exchange.lines:
            if key == node_key(node):
                ended += self._put_node(node, text)
            else:
                self._put_lobby(key, node, text)
        self._settled, self._heard_at = exchange.settled, self._seconds()
        return ended

    def _put_node(self, node: str, text: bytes | None) -> Iterable[MatchBrief]:
        former = self._node_lines.get(node, NodeLine())
        line = NodeLine() if text is None else NodeLine.model_validate_json(text)
        self._node_lines[node] = line
        known = {brief.match for brief in former.finished}
        return [brief for brief in line.finished if brief.match not in known]

    def _put_lobby(self, key: str, node: str, text: bytes | None) -> None:
        self.forget(key)
        if text is not None:
            self._lines[key] = (node, LobbyLine.model_validate_json(text))
            self._lobbies_of = None

    def forget(self, key: str) -> None:
        """Drop a lobby that this node now owns or that no longer exists."""
        if self._lines.pop(key, None) is not None:
            self._lobbies_of = None

    def doubt(self) -> None:
        """Be uncertain until the next exchange; see `HallSharing.lost_lobbies`."""
        self._settled = False

    # --- queries ----------------------------------------------------------------------

    @property
    def certain(self) -> bool:
        """Whether every open lobby is here or known to be on a living node."""
        return self._settled and self._seconds() <= self._heard_at + STALE_S

    @property
    def beside(self) -> bool:
        """Whether nodes with other URLs are alive; these serve at the same time as this one."""
        return any(node.alive and node.url != self._url for node in self._nodes.values())

    @property
    def urls(self) -> list[str]:
        """The URLs of the living nodes, except this one's."""
        living = (node.url for node in self._nodes.values() if node.alive)
        return sorted({url for url in living if url != self._url})

    def lobby(self, key: str) -> Elsewhere | None:
        """Return where a lobby is, or None if no living node with another URL has it."""
        node, _ = self._lines.get(key, ("", None))
        return self.at(key, node)

    def match(self, key: str) -> Elsewhere | None:
        """Return where a running match is; see `lobby`."""
        return self.lobby(next(iter(self._with(key)), ""))

    def line_of(self, match: str) -> LobbyLine | None:
        """Return the last line about the lobby of a running match, even if its node is dead."""
        return next((self._lines[lobby][1] for lobby in self._with(match)), None)

    def player(self, key: str) -> Elsewhere | None:
        """Return where a player's oldest lobby is, as its host or with a seat in it."""
        places = (self.lobby(lobby) for lobby in sorted(self._with(key)))
        return next(filter(None, places), None)

    def at(self, lobby: str, node: str) -> Elsewhere | None:
        """Return a lobby's location on a node, or None if that is not another living node."""
        known = self._nodes.get(node)
        if known is None or not known.alive or known.url == self._url:
            return None
        return Elsewhere(lobby, known)

    def is_busy(self, player: str) -> bool:
        """Return whether a player has a lobby or a seat elsewhere, or is connected there."""
        present = (line.players for node, line in self._node_lines.items() if self._is_alive(node))
        return bool(self._with(player)) or any(player in players for players in present)

    def hosted_by(self, player: str) -> list[LobbyLine]:
        """Return the lines of open lobbies elsewhere that a player hosts.

        Lobbies of a dead node count too: they are open, and another node will take them over soon.
        """
        lines = (self._lines[key][1] for key in self._with(player))
        return [line for line in lines if line.host == player]

    def listed(self) -> Iterator[LobbyLine]:
        """Yield the lines of listed lobbies on living nodes."""
        for node, line in self._lines.values():
            if line.listed and self._is_alive(node):
                yield line

    def _is_alive(self, node: str) -> bool:
        known = self._nodes.get(node)
        return known is not None and known.alive

    def _with(self, key: str) -> list[str]:
        """Return the lobbies of a player, or the lobby of a match."""
        if self._lobbies_of is None:
            self._lobbies_of = {}
            for lobby, (_, line) in self._lines.items():
                for each in {*line.players, *(match.match for match in line.matches)}:
                    self._lobbies_of.setdefault(each, []).append(lobby)
        return self._lobbies_of.get(key, [])
