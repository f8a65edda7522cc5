"""Restores matches and lobbies from their logs. `Recovery.restore` does so on every occasion:

- The server starts: all open matches and lobbies, in place of nothing.
- This node takes over a lobby (`failover`): the lobby and its open matches, in place of tails.
- Entries were lost, or a runner is ahead of its log (`reload`): in place of the former runner.

    log --load--> new runner --register--> takes over connections --resume--> plays on
         |\\--damaged: set aside; connections are closed; for its lobby, a match counts as aborted
          \\--never stored: removed; a lobby begins its match again

A log that cannot be restored does not affect the others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from pydantic import ValidationError

from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.messages import LobbyClosed
from kibitz_protocol.wire.records import Result
from kibitz_server.directory.loading import Loader, games_of
from kibitz_server.directory.match_setup import DAMAGED_LOG, aborted_result
from kibitz_server.directory.registry import MAX_FINISHED_LISTED, Registry
from kibitz_server.directory.rules import Rules
from kibitz_server.directory.substitutes import Substitutes
from kibitz_server.directory.tails import TRY_AGAIN_LATER, Tails
from kibitz_server.lobby.commands import BeginMatch, Connected, Fail, Resume
from kibitz_server.lobby.entries import Opened
from kibitz_server.lobby.runner import LobbyRunner
from kibitz_server.match import lifecycle
from kibitz_server.match.runner import MatchRunner
from kibitz_server.net.connections import Connections
from kibitz_server.net.peer import Peer
from kibitz_server.storage.errors import NotStored, StoreError, UnusableDatabase
from kibitz_server.storage.interface import Store
from kibitz_server.storage.quarantine import Quarantine
from kibitz_server.storage.streams import Kind, Stored

LOG = logging.getLogger("kibitz.directory")


class StoredLog(NamedTuple):
    """The log of an open match or lobby as read from the store, or the error of reading it."""

    kind: Kind
    key: str
    stored: Stored | StoreError


class Recovery:
    """Restores one server's matches and lobbies."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        quarantine: Quarantine,
        loader: Loader,
        rules: Rules,
        substitutes: Substitutes,
        connections: Connections,
        begin_match: Callable[[LobbyRunner, BeginMatch], None],
        tails: Tails | None = None,
    ) -> None:
        """`tails` are the followed matches of other nodes."""
        self._store = store
        self._registry = registry
        self._quarantine = quarantine
        self._loader = loader
        self._rules = rules
        self._substitutes = substitutes
        self._connections = connections
        self._begin_match = begin_match
        self._tails = tails

    # --- at startup -----------------------------------------------------------------------

    def read(self) -> list[StoredLog]:
        """Read the logs of all open matches and lobbies from disk. Blocks.

        Raises `StoreError` if the database itself cannot be read.
        """
        kinds: tuple[Kind, ...] = ("match", "lobby")
        return [
            StoredLog(kind, stored.stream.key, stored)
            for kind in kinds
            for stored in self._store.load(kind)
        ]

    async def load_rules(self, logs: Iterable[StoredLog]) -> None:
        """Load the rules that are needed to restore matches."""
        await self._rules.load(games_of(log.stored for log in logs))

    def list_finished(self) -> None:
        """List the matches that ended before the start, and log all damage found earlier."""
        for line in reversed(self._store.summaries("match", MAX_FINISHED_LISTED)):
            try:
                brief = MatchBrief.model_validate_json(line)
            except ValidationError:
                LOG.warning("the summary of a finished match is damaged, so lists omit it")
            else:
                self._registry.note_finished(brief, listed=self._is_listed(brief.lobby))
        self._quarantine.load()

    def _is_listed(self, lobby: str | None) -> bool:
        """Return whether an open or closed lobby is listed; False for unknown ones."""
        head = None if lobby is None else self._store.lobby_head(lobby)
        try:
            return head is not None and Opened.model_validate_json(head).settings.listed
        except ValidationError:
            return False

    # --- restoring ------------------------------------------------------------------------

    def restore(self, logs: Iterable[StoredLog]) -> None:
        """Restore matches and lobbies, each in place of its former runner if there is one.

        All are loaded before the first one is resumed, because a lobby looks up its matches, and a
        match its lobby. Blocks; the rules of the matches must be loaded. Raises `UnusableDatabase`,
        because an error of the disk is no damage to a log; logs that were not resumed can then be
        restored again.
        """
        resumes: list[tuple[StoredLog, Callable[[], None]]] = []
        for log in sorted(logs, key=lambda log: log.kind):  # lobbies first, then matches
            with self._giving_up(log):
                resumes.append((log, self._load(log)))
        for log, resume in resumes:
            with self._giving_up(log):
                resume()

    @contextmanager
    def _giving_up(self, log: StoredLog) -> Iterator[None]:
        """Give up a log if the block raises."""
        try:
            yield
        except UnusableDatabase:
            raise
        except Exception as error:
            unforeseen = not isinstance(error, StoreError | ValueError)
            LOG.log(
                logging.ERROR if unforeseen else logging.DEBUG,
                "cannot restore %s %s",
                log.kind,
                log.key,
                exc_info=True,
            )
            self._give_up(log, error)

    def _load(self, log: StoredLog) -> Callable[[], None]:
        """Load and register a runner; return a function that resumes it."""
        stored, key = log.stored, log.key
        if isinstance(stored, StoreError):
            raise stored
        if log.kind == "lobby":
            lobby, former_lobby = self._loader.lobby(stored), self._registry.lobbies.get(key)
            self._registry.add_lobby(lobby)
            return partial(self._resume_lobby, lobby, former_lobby)
        match, former = self._loader.match(stored), self._registry.matches.get(key)
        self._registry.add_match(match)
        if self._tails is not None:
            self._tails.taken_over(match, stored.lines, stored.stream.chain)
        return partial(self._resume_match, match, former, ended=stored.stream.closed)

    def _resume_match(self, match: MatchRunner, former: MatchRunner | None, *, ended: bool) -> None:
        """Continue a match; `ended` if a commit that seemed to fail has closed its log."""
        lobby = self._registry.lobby_of(match)
        match.listed = lobby is not None and lobby.engine.state.settings.listed
        if former is not None:
            for peer in self._followers(match.key):
                peer.subscriptions[match.key] = match
            self._substitutes.match_reloaded(former, match)
        lifecycle.resume(match, former)
        if ended:
            match.context.over(match)
        self._end_without_lobby(match)

    def _resume_lobby(self, lobby: LobbyRunner, former: LobbyRunner | None) -> None:
        if former is not None:
            lobby.failures = former.failures
            lobby.news.take_over(former.news)
        if lobby.engine.state.closed is None:
            self._resume_programme(lobby)
        else:
            lobby.finish_closing()
        if former is not None:
            for player in lobby.engine.state.insiders():
                if self._connections.peer_of(player) is not None:
                    lobby.command(Connected(player))
        if lobby.failures > lobby.MAX_FAILURES:
            lobby.command(Fail())

    def _resume_programme(self, lobby: LobbyRunner) -> None:
        """Send a lobby `Resume` with its existing matches, and results that it has not received."""
        running = lobby.engine.state.round.running
        there = {key for key in running if key in self._registry.matches}
        ended: dict[str, Result] = {}
        for key, planned in running.items():
            result = None if key in there else self._loader.result(key, len(planned.players))
            if result is not None:
                ended[key] = result
        lobby.command(Resume(there | ended.keys()))
        for key, result in ended.items():
            lobby.match_lost(key, result)
        for key in lobby.engine.state.round.running.keys() - there:
            begun = self._registry.matches.get(key)
            if begun is not None:
                begun.seats.await_absent()

    # --- what cannot be restored ------------------------------------------------------------

    def _give_up(self, log: StoredLog, error: Exception) -> None:
        """Remove a match or lobby that cannot be restored; set it aside if it is on disk at all."""
        never_stored = isinstance(error, NotStored)
        if not never_stored:
            self._quarantine.add(log.kind, log.key, error)
        if log.kind == "lobby":
            self._give_up_lobby(log.key)
        else:
            self._give_up_match(log.key, never_stored=never_stored)

    def _give_up_lobby(self, key: str) -> None:
        lobby = self._registry.lobbies.get(key)
        if lobby is None:
            return
        for peer in self._followers(key):
            peer.send(LobbyClosed(lobby=key, reason="closed"))
        self._registry.remove_lobby(lobby)
        for match in list(self._registry.matches.values()):
            self._end_without_lobby(match)

    def _give_up_match(self, key: str, *, never_stored: bool) -> None:
        """Remove a match; if it is not on disk, its lobby begins it again."""
        if self._tails is not None and self._tails.get(key) is not None:
            self._tails.give_up(key, StoreError("its log cannot be loaded"))
        match = self._registry.matches.get(key)
        if match is None:
            return  # if its lobby is restored too, it finds out when it is resumed
        peers = self._followers(key)
        self._registry.remove_match(match)
        self._substitutes.match_over(match)
        for peer in () if never_stored else peers:
            peer.close(TRY_AGAIN_LATER, "the log of the match cannot be read")
        lobby = self._registry.lobby_of(match)
        planned = None if lobby is None else lobby.engine.state.round.running.get(key)
        if lobby is None or planned is None:
            return
        if never_stored:
            self._begin_match(lobby, BeginMatch(key, planned))
        else:
            lobby.match_lost(key, aborted_result(len(planned.players), DAMAGED_LOG))

    def _followers(self, key: str) -> list[Peer]:
        """Return the connections that play, watch or follow a match or lobby."""
        return [peer for peer in self._connections.peers if key in peer.subscriptions]

    def _end_without_lobby(self, match: MatchRunner) -> None:
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
