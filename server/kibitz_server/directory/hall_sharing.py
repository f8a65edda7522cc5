"""Exchanges lines about lobbies between a node and the others.

A line describes a lobby as it is on disk. The node rewrites it when the lobby or its running
matches change. If only the number of plies changes, it does so every `PLIES_S`. While no other node
serves, the node writes only the line about itself, which tells standby nodes which matches have
ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kibitz_server.accounts.tickets import Tickets
from kibitz_server.directory.other_nodes import LobbyLine, NodeLine, OtherNodes, node_key
from kibitz_server.directory.registry import Registry
from kibitz_server.lobby.settings import house_seats
from kibitz_server.lobby.state import LobbyState
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.connections import Connections
from kibitz_server.storage.interface import HallExchange, Nodes

PLIES_S: Final = 3.0
"""Seconds between rewrites of lines because only the plies of their matches have changed."""


@dataclass(frozen=True, slots=True)
class _MadeOf:
    """The data from which a line was made, to detect changes."""

    at_once: object
    """Changes of this data must be part of the next exchange."""
    plies: tuple[int, ...] = ()
    """Changes of this data may wait for `PLIES_S`."""


class HallSharing:
    """Writes the lines of one node, and reads those of the others."""

    def __init__(
        self,
        nodes: Nodes,
        registry: Registry,
        others: OtherNodes,
        tickets: Tickets,
        connections: Connections,
        seconds: Callable[[], float],
    ) -> None:
        """`seconds` is a monotonic clock."""
        self._nodes = nodes
        self._registry = registry
        self._others = others
        self._tickets = tickets
        self._connections = connections
        self._seconds = seconds
        self._written: dict[str, _MadeOf] = {}
        self._has_lost_lobbies = False
        """Whether other nodes have taken lobbies of this one since the last exchange began."""
        self._plies_at = float("-inf")
        """The time at which plies were last written."""

    def lost_lobbies(self) -> None:
        """Read all lines in the next exchange, and be uncertain about other nodes until then.

        While this node had the lobbies, it discarded the new owners' lines about them. It must not
        welcome the players of these lobbies until it knows where to redirect them.
        """
        self._has_lost_lobbies = True
        self._expire()

    def _expire(self) -> None:
        self._nodes.expire_lines()
        self._others.doubt()

    async def exchange(self, loading: Collection[str] = ()) -> None:
        """Write this node's changes, and read the other nodes' lines.

        Lobbies that are still `loading` have no line, so that other nodes let requests about them
        wait. Raises `StoreError`.
        """
        if self._nodes.needs_all:
            self._written.clear()
        matches = self._running_matches()
        made_of = self._made_of(matches, loading)
        plies_due = self._seconds() >= self._plies_at + PLIES_S
        lines: dict[str, bytes | None] = {
            key: self._line(key, matches.get(key, ()))
            for key, made in made_of.items()
            if self._is_due(key, made, plies_due=plies_due)
        }
        lines |= {key: None for key in self._written if key not in made_of}
        self._has_lost_lobbies = False
        exchange = await self._nodes.exchange(lines)
        if plies_due:
            self._plies_at = self._seconds()
        self._written = {
            key: made if key in lines else self._written[key] for key, made in made_of.items()
        }
        self._take_up(exchange)

    def _take_up(self, exchange: HallExchange) -> None:
        for key in exchange.missing:
            self._written.pop(key, None)
        self._tickets.synchronize(exchange.ticket_key, exchange.life, exchange.now_ms)
        known = {brief.match for brief in self._registry.finished_briefs(None)}
        ended = self._others.apply(exchange)
        if self._has_lost_lobbies:  # since the exchange began
            self._expire()
        for brief in ended:
            if brief.match not in known:
                self._registry.note_finished(brief, listed=True)
        for key in self._registry.lobbies:
            self._others.forget(key)

    def _is_due(self, key: str, made: _MadeOf, *, plies_due: bool) -> bool:
        former = self._written.get(key)
        if former is None or former.at_once != made.at_once:
            return True
        return plies_due and former.plies != made.plies

    # --- lines ------------------------------------------------------------------------------

    def _running_matches(self) -> dict[str, list[MatchRunner]]:
        """Return the running matches by lobby."""
        by_lobby: dict[str, list[MatchRunner]] = {}
        for match in self._registry.matches.values():
            lobby = match.engine.state.setup.lobby
            if lobby is not None and match.shown.stored and match.shown.result is None:
                by_lobby.setdefault(lobby, []).append(match)
        return by_lobby

    def _made_of(
        self, matches: Mapping[str, list[MatchRunner]], loading: Collection[str]
    ) -> dict[str, _MadeOf]:
        """Return the data for all current lines, by key."""
        ended = [brief.match for brief in self._registry.ended_here]
        made_of = {node_key(self._nodes.name): _MadeOf((ended, self._players()))}
        if not self._others.beside:
            return made_of
        for key in {*self._nodes.owned(), *matches, *self._registry.lobbies}.difference(loading):
            lobby = self._registry.lobbies.get(key)
            if lobby is not None and not lobby.stored:
                continue
            view = None if lobby is None else (lobby.brief, lobby.shown.insiders())
            running = matches.get(key, ())
            seats = [(match.key, *match.shown.players) for match in running]
            plies = tuple(match.shown.ply for match in running)
            made_of[key] = _MadeOf((view, seats), plies)
        return made_of

    def _line(self, key: str, matches: Sequence[MatchRunner]) -> bytes:
        if key == node_key(self._nodes.name):
            return self._node_line().model_dump_json().encode()
        lobby = self._registry.lobbies.get(key)
        briefs = [
            match.shown.brief().model_copy(update={"order": match.stream.number})
            for match in matches
        ]
        shown = None if lobby is None else lobby.shown
        line = LobbyLine(lobby=key, players=_players(shown, matches), matches=briefs)
        if lobby is not None:
            settings = lobby.shown.settings
            line.brief = lobby.brief.model_copy(update={"order": lobby.stream.number})
            line.listed = settings.listed
            line.host, line.house_seats = lobby.shown.host.player, house_seats(settings)
        return line.model_dump_json().encode()

    def _node_line(self) -> NodeLine:
        finished = list(self._registry.ended_here)
        return NodeLine(finished=finished, players=self._players())

    def _players(self) -> frozenset[str]:
        """Return the players who are connected here, if other nodes serve as well."""
        return frozenset(self._connections.players if self._others.beside else ())


def _players(lobby: LobbyState | None, matches: Sequence[MatchRunner]) -> list[str]:
    """Return the keys of all players who must connect to this node because of this lobby."""
    keys = dict.fromkeys(() if lobby is None else lobby.insiders())
    for match in matches:
        seats = (*match.shown.players, *match.engine.state.setup.seats)
        keys.update(dict.fromkeys(player.player for player in seats))
    return list(keys)
