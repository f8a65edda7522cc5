"""Creates the runners of matches and lobbies from their data in the store.

A match is resumed from a valid checkpoint if it has one, and otherwise replayed from its whole log.
If it cannot be restored, the functions raise an error, and the caller sets the match aside.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from kibitz_games.core.game import Game
from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.records import Footer, Result, Setup
from kibitz_server.directory.match_setup import DAMAGED_LOG, aborted_result
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.entries import ENTRY
from kibitz_server.lobby.runner import LobbyContext, LobbyRunner
from kibitz_server.lobby.state import LobbyState
from kibitz_server.match import checkpoint, record
from kibitz_server.match.engine import MatchEngine
from kibitz_server.match.runner import MatchContext, MatchRunner
from kibitz_server.match.state import BrokenLog
from kibitz_server.match.visibility import replay
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.streams import Stored

LOG = logging.getLogger("kibitz.directory")


class Loader:
    """Loads one server's matches and lobbies."""

    def __init__(
        self, match_context: MatchContext, lobby_context: LobbyContext, games: Mapping[str, Game]
    ) -> None:
        self._match_context = match_context
        self._lobby_context = lobby_context
        self._games = games
        self._store = match_context.store

    def match(self, stored: Stored) -> MatchRunner:
        """Return a restored match. Raises `BrokenLog`, `ValueError`, `StoreError`."""
        setup = record.read_setup(stored.head)
        game = self._game_of(setup, stored.stream.key)
        delayed = bool(setup.spectating.delay_ms or setup.spectating.delay_plies)
        engine = None if delayed else self._from_checkpoint(game, setup, stored)
        if engine is None:
            if stored.checkpoint is not None:
                stored = self._store.load_from_head(stored)
            engine = MatchEngine.restore(game, setup, map(record.read_entry, stored.lines))
        checkpointed = 0 if stored.checkpoint is None else stored.checkpoint.seq
        match = MatchRunner(
            self._match_context, engine, stored.stream, listed=False, checkpointed=checkpointed
        )
        if delayed:  # delayed spectators see an earlier state of the match
            views = replay(game, setup, map(record.read_entry, stored.lines))
            match.spectators.restore_delay(views, self._match_context.clock())
        return match

    def lobby(self, stored: Stored) -> LobbyRunner:
        """Return a restored lobby; send it `Resume` next. Raises `ValueError`."""
        log = [ENTRY.validate_json(line) for line in [stored.head, *stored.lines]]
        context = self._lobby_context
        limits = context.connections.rate_limits
        engine = LobbyEngine.restore(log, context.clock(), limits=limits, room=context.room)
        shown = LobbyState.restore(log)
        return LobbyRunner(context, engine, shown, stored.stream, restored=True)

    def result(self, match: str, seats: int) -> Result | None:
        """Return the result of a match that is not running; None if there was no such match."""
        if not self._store.exists(match):
            return None
        summary, footer = self._store.ending(match)
        return (
            _result_in(MatchBrief, summary)
            or _result_in(Footer, footer)
            or aborted_result(seats, DAMAGED_LOG)
        )

    def _from_checkpoint(self, game: Game, setup: Setup, stored: Stored) -> MatchEngine | None:
        """Return a match from its checkpoint and later entries, or None if that fails."""
        saved = stored.checkpoint
        read = (
            None if saved is None else self._match_context.checkpoints.read(saved.data, game, setup)
        )
        if saved is None or read is None or (saved.seq, saved.link) != (read.seq, read.link):
            return None
        try:
            entries = [record.read_entry(line) for line in stored.lines]
            return MatchEngine.resume(checkpoint.resume(game, setup, read, []), entries)
        except BrokenLog as error:
            LOG.warning("match %s: its checkpoint cannot be used: %s", setup.match, error)
            return None

    def _game_of(self, setup: Setup, key: str) -> Game:
        if setup.match != key:
            raise BrokenLog(f"its setup is that of match {setup.match!r}")
        game = self._games.get(setup.game)
        if game is None:
            raise BrokenLog(f"this server has no game {setup.game!r}")
        return game


def games_of(matches: Iterable[Stored | StoreError]) -> set[str]:
    """Return the games of matches, ignoring unreadable setups."""
    games = set[str]()
    for stored in matches:
        if isinstance(stored, Stored):
            with contextlib.suppress(ValueError):
                games.add(record.read_setup(stored.head).game)
    return games


def _result_in(model: type[MatchBrief | Footer], line: bytes | None) -> Result | None:
    try:
        return None if line is None else model.model_validate_json(line).result
    except ValidationError:
        return None
