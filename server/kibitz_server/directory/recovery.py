"""Restores matches and lobbies from disk, at startup or when taking over from another node.

Matches and lobbies that cannot be restored are set aside (`storage.quarantine`), and do not affect
the others.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import ValidationError

from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.records import Result
from kibitz_server.directory.loading import Loader, games_of
from kibitz_server.directory.registry import MAX_FINISHED_LISTED, Registry
from kibitz_server.directory.rules import Rules
from kibitz_server.directory.tails import Tails
from kibitz_server.lobby.commands import Resume
from kibitz_server.lobby.entries import Opened
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match import lifecycle
from kibitz_server.match.runner import MatchRunner
from kibitz_server.storage.errors import StoreError, UnusableDatabase
from kibitz_server.storage.interface import Store, TakenLobby
from kibitz_server.storage.quarantine import Quarantine
from kibitz_server.storage.streams import Kind, Stored

LOG = logging.getLogger("kibitz.directory")


class OpenStreams(NamedTuple):
    """The stored data of all open matches and lobbies."""

    matches: list[Stored]
    lobbies: list[Stored]


class Recovery:
    """Restores one server's matches and lobbies."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        quarantine: Quarantine,
        loader: Loader,
        rules: Rules,
        tails: Tails | None = None,
    ) -> None:
        """`tails` are the followed matches of other nodes."""
        self._store = store
        self._registry = registry
        self._quarantine = quarantine
        self._loader = loader
        self._rules = rules
        self._tails = tails

    # --- at startup -----------------------------------------------------------------------

    def read(self) -> OpenStreams:
        """Read all open matches and lobbies from disk. Blocks.

        Raises `StoreError` if the database itself cannot be read.
        """
        return OpenStreams(self._store.load("match"), self._store.load("lobby"))

    def restore(self, streams: OpenStreams) -> None:
        """Restore everything that was read. Blocks; the rules of the matches must be loaded."""
        registry = self._registry
        for line in reversed(self._store.summaries("match", MAX_FINISHED_LISTED)):
            self._list_finished(line)
        self._quarantine.load()
        for stored in streams.matches:
            self._restore_match(stored)
        for stored in streams.lobbies:
            self._restore_lobby(stored)
        for lobby in list(registry.lobbies.values()):
            self.resume_lobby(lobby)
        for match in list(registry.matches.values()):
            self._resume_match(match)

    async def load_rules(self, read: Mapping[str, Stored | StoreError]) -> None:
        """Load the rules needed for matches taken over from another node."""
        await self._rules.load(games_of(read.values()))

    def take_up(self, taken: TakenLobby, stored: Mapping[str, Stored | StoreError]) -> None:
        """Restore a lobby and its matches, taken over from another node."""
        for key in taken.matches:
            self._take_up_stream("match", key, stored[key])
            self._take_over_spectators(key, stored[key])
        if taken.open:
            self._take_up_stream("lobby", taken.key, stored[taken.key])
        lobby = self._registry.lobbies.get(taken.key)
        if lobby is not None:
            self.resume_lobby(lobby)
        for key in taken.matches:
            if key in self._registry.matches:
                self._resume_match(self._registry.matches[key])

    def _take_up_stream(self, kind: Kind, key: str, stored: Stored | StoreError) -> None:
        if isinstance(stored, StoreError):
            self._quarantine.add(kind, key, stored)
        elif kind == "match":
            self._restore_match(stored)
        else:
            self._restore_lobby(stored)

    def _take_over_spectators(self, key: str, stored: Stored | StoreError) -> None:
        """Move the spectators of a followed match from its tail to its new runner."""
        if self._tails is None:
            return
        match = self._registry.matches.get(key)
        if match is not None and not isinstance(stored, StoreError):
            self._tails.taken_over(match, stored.lines, stored.stream.chain)
        elif self._tails.get(key) is not None:
            self._tails.give_up(key, StoreError("its log cannot be loaded"))

    def _resume_match(self, match: MatchRunner) -> None:
        lobby = self._registry.lobby_of(match)
        match.listed = lobby is not None and lobby.engine.state.settings.listed
        lifecycle.resume(match)
        self.end_without_lobby(match)

    def _list_finished(self, line: bytes) -> None:
        try:
            brief = MatchBrief.model_validate_json(line)
        except ValidationError:
            LOG.warning("the summary of a finished match is damaged, so lists omit it")
        else:
            self._registry.note_finished(brief, listed=self._is_listed(brief.lobby))

    def _is_listed(self, lobby: str | None) -> bool:
        """Return whether an open or closed lobby is listed; False for unknown ones."""
        head = None if lobby is None else self._store.lobby_head(lobby)
        try:
            return head is not None and Opened.model_validate_json(head).settings.listed
        except ValidationError:
            return False

    def _restore_match(self, stored: Stored) -> None:
        """Restore a match; if that fails, set it aside and leave it unchanged on disk."""
        try:
            self._registry.add_match(self._loader.match(stored))
        except UnusableDatabase:
            raise  # a disk error, not damage to the match
        except Exception as error:
            LOG.debug("cannot restore match %s", stored.stream.key, exc_info=True)
            self._quarantine.add("match", stored.stream.key, error)

    def _restore_lobby(self, stored: Stored) -> None:
        try:
            self._registry.add_lobby(self._loader.lobby(stored))
        except Exception as error:
            LOG.debug("cannot restore lobby %s", stored.stream.key, exc_info=True)
            self._quarantine.add("lobby", stored.stream.key, error)

    def resume_lobby(self, lobby: LobbyRunner) -> None:
        """Send a lobby `Resume` with its existing matches, and results that it has not received."""
        if lobby.engine.state.closed is not None:
            lobby.finish_closing()
            return
        running = lobby.engine.state.round.running
        there = {key for key in running if key in self._registry.matches}
        ended: dict[str, Result] = {}
        for key, planned in running.items():
            seats = len(planned.players)
            result = None if key in there else self._loader.result(key, seats)
            if result is not None:
                ended[key] = result
        lobby.command(Resume(there | ended.keys()))
        for key, result in ended.items():
            lobby.match_lost(key, result)
        for key in lobby.engine.state.round.running.keys() - there:
            begun = self._registry.matches.get(key)
            if begun is not None:
                begun.seats.await_absent()

    def end_without_lobby(self, match: MatchRunner) -> None:
        """End a match whose lobby was set aside, if the match cannot continue without it.

        A match between people and external bots continues to its end, and its result counts. House
        bots are started by their lobby, so without it nothing would play their seats.
        """
        state = match.engine.state
        lobby = state.setup.lobby
        if lobby is None or lobby in self._registry.lobbies:
            return
        if self._quarantine.reason(lobby) is None:
            return
        if any(
            player.kind == "house" and seat not in state.departed
            for seat, player in enumerate(state.players)
        ):
            lifecycle.abort(match, "the log of its lobby is damaged")
