"""Follows the matches of other nodes that are watched here. All spectators of a match share a tail.

    begin(key) --> head of the log --> entries, up to its end --> spectators are admitted
                                          ^
        every LOOK_S, as long as there are tails: one query for all new entries in their logs

A tail depends only on the log, so nothing changes here when the match moves to another node. When
this node takes over the match, the new runner takes over the spectators. While the database is
down, spectators receive nothing. If a log cannot be read here (because it is damaged, or this
release does not have its rules), the match can only be watched on the node where it is played.

A tail ends when its match is over, or when it has had no spectators at two consecutive checks. So a
spectator who reconnects at once finds the tail still running. Spectators who are about to be
admitted do not count.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio import AbstractEventLoop, Future, TimerHandle
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final

from kibitz_games.core.game import Game
from kibitz_server.directory.rules import Rules
from kibitz_server.lobby.entries import Opened
from kibitz_server.match import record
from kibitz_server.match.runner import MatchRunner
from kibitz_server.match.state import BrokenLog
from kibitz_server.match.tail import MatchTail
from kibitz_server.storage.errors import StoreError
from kibitz_server.storage.interface import MatchHead, NewEntries, Nodes

LOG = logging.getLogger("kibitz.tails")
LOOK_S: Final = 0.25
"""Seconds between checks for new entries, which delay spectators by half of that on average."""
MAX_REMEMBERED: Final = 1000
"""How many keys of finished matches, and of unreadable ones, to remember."""
TRY_AGAIN_LATER: Final = 1013
"""The websocket close code for spectators who should try again later."""


class NoRoom(Exception):
    """This node cannot follow more matches of other nodes."""


class Unreadable(Exception):
    """The log of a match cannot be read here."""


class NoSuchMatch(Exception):
    """No match of this name exists or existed."""


class TakenOverHere(Exception):
    """This node now plays the match; look up its runner."""


class Tails:
    """Follows matches of other nodes."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        clock: Callable[[], int],
        spawn: Callable[[Callable[[], Awaitable[None]]], None],
        logs: Nodes,
        games: Mapping[str, Game],
        most: int,
        rules: Rules | None = None,
    ) -> None:
        """At most `most` matches are followed at a time. Without `rules`, all rules are loaded."""
        self._loop = loop
        self._clock = clock
        self._spawn = spawn
        self._logs = logs
        self._games = games
        self._most = most
        self._rules = Rules.all_loaded() if rules is None else rules
        self._unloaded: set[str] = set()
        """The matches that cannot be followed yet, because the rules of their games are loading."""
        self._tails: dict[str, MatchTail] = {}
        self._opening: dict[str, Future[MatchTail]] = {}
        """The matches that requests wait for, until their logs have been read to the end."""
        self._unwatched: set[str] = set()
        """The matches that had no spectators at the last check."""
        self._over: OrderedDict[str, None] = OrderedDict()
        self._unreadable: OrderedDict[str, None] = OrderedDict()
        self._timer: TimerHandle | None = None
        self._reading = False
        self._troubled = False
        """Whether the last database query failed."""
        self._stopped = False

    # --- queries --------------------------------------------------------------------

    def get(self, key: str) -> MatchTail | None:
        """Return a followed match that admits spectators, or None."""
        tail = self._tails.get(key)
        return tail if tail is not None and tail.caught_up else None

    def is_over(self, key: str) -> bool:
        """Return whether a match has ended recently while this node followed it."""
        return key in self._over

    def may_begin(self, key: str, besides: Collection[str] = ()) -> bool:
        """Return whether another match may be followed in addition to `besides`."""
        if self._stopped or key in self._unreadable:
            return False
        begun = self._begun
        return key in begun or len(begun.union(besides)) < self._most

    @property
    def _begun(self) -> set[str]:
        return self._tails.keys() | self._opening.keys()

    @property
    def followed(self) -> int:
        """The number of followed matches."""
        return len(self._tails)

    @property
    def spectators(self) -> int:
        """The number of spectators of followed matches; a connection counts once per match."""
        return sum(len(tail.watchers) for tail in self._tails.values())

    # --- start and end ------------------------------------------------------------------

    def begin(self, key: str) -> Future[MatchTail]:
        """Follow a match if it is not followed yet; all waiting callers share the future.

        If the match is already followed, its log is read once more: a spectator who comes from
        another node must not see an older position than it has seen there. Admit spectators as soon
        as the future is done. Raises `NoRoom` and `Unreadable`. The future raises these,
        `NoSuchMatch`, `TakenOverHere` or `StoreError`.
        """
        opening = self._opening.get(key)
        if opening is not None:
            return opening
        if key in self._unreadable:
            raise Unreadable(key)
        if not self.may_begin(key):
            raise NoRoom(f"{self._most} matches of other nodes are already being watched here")
        opening = self._loop.create_future()
        tail = self.get(key)
        if tail is not None and tail.over:
            opening.set_result(tail)
            return opening
        self._opening[key] = opening
        opening.add_done_callback(_note_outcome)
        self._wake()
        return opening

    def stop(self) -> None:
        """Stop following all matches, because the server is shutting down."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def taken_over(self, match: MatchRunner, lines: Sequence[bytes], chain: str) -> None:
        """Pass the spectators to the runner of a match that this node now plays.

        `lines` are its complete log, which ends with `chain`; the runner has not appended to it
        yet.
        """
        tail = self._drop(match.key, TakenOverHere(match.key))
        if tail is None or not tail.watchers:
            return
        watchers = dict(tail.watchers)
        try:
            rest = NewEntries(list(lines[tail.stream.tail :]), chain, more=False, closed=False)
            tail.take(rest, self._clock())
            match.spectators.take_over(tail.spectators)
            match.watchers.update(watchers)
        except Exception:
            LOG.exception("match %s: its spectators get new snapshots", match.key)
            for peer in watchers:
                tail.unwatch(peer)
                match.admit_spectator(peer)
        for peer in watchers:
            peer.subscriptions[match.key] = match

    def give_up(self, key: str, error: Exception) -> None:
        """Disconnect the spectators of a match whose log cannot be read."""
        LOG.error("cannot follow match %s of another node: %s", key, error)
        _remember(self._unreadable, key)
        tail = self._drop(key, Unreadable(str(error)))
        for peer in () if tail is None else list(tail.watchers):
            peer.subscriptions.pop(key, None)
            peer.close(TRY_AGAIN_LATER, "the log of the match cannot be read here")

    def _drop(self, key: str, why: Exception) -> MatchTail | None:
        """Stop following a match, and notify the requests that wait for it."""
        opening = self._opening.pop(key, None)
        if opening is not None and not opening.done():
            opening.set_exception(why)
        self._unwatched.discard(key)
        return self._tails.pop(key, None)

    # --- checks -------------------------------------------------------------------------

    def _wake(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(LOOK_S, self._on_timer)
        self._begin_reading()

    def _on_timer(self) -> None:
        self._timer = None
        self.look()
        if self._begun and not self._stopped:
            self._timer = self._loop.call_later(LOOK_S, self._on_timer)
            self._begin_reading()

    def look(self) -> None:
        """Show entries whose delay has passed, announce ends, and drop tails without spectators."""
        now = self._clock()
        for key, tail in list(self._tails.items()):
            if not tail.caught_up:
                continue
            try:
                self._look_at(tail, now)
            except Exception as error:
                LOG.exception("cannot show match %s", key)
                self.give_up(key, error)

    def _look_at(self, tail: MatchTail, now: int) -> None:
        tail.spectators.publish_due(now)
        if tail.watchers:
            self._unwatched.discard(tail.key)
            if tail.over:
                self._end(tail)
        elif tail.key in self._unwatched:
            self._drop(tail.key, NoSuchMatch(tail.key))
        else:
            self._unwatched.add(tail.key)

    def _end(self, tail: MatchTail) -> None:
        """Announce the end of a match, and remove it from its spectators' subscriptions."""
        tail.announce_end()
        self._drop(tail.key, NoSuchMatch(tail.key))
        _remember(self._over, tail.key)
        for peer in tail.watchers:
            peer.subscriptions.pop(tail.key, None)

    # --- reading ----------------------------------------------------------------------------

    def _begin_reading(self) -> None:
        if not self._reading:
            self._reading = True
            self._spawn(self._read)

    async def _read(self) -> None:
        try:
            while await self.read() and not self._stopped:
                pass
        finally:
            self._reading = False

    async def read(self) -> bool:
        """Read new entries; return whether more are already available."""
        try:
            await self._read_heads()
            more = await self._read_entries()
        except StoreError as error:
            self._note_trouble(error)
            return False
        self._troubled = False
        return more or bool(self._opening.keys() - self._unloaded)

    def _note_trouble(self, error: StoreError) -> None:
        """Handle a database error: refuse waiting requests; spectators wait."""
        if not self._troubled:
            LOG.warning("cannot read the matches of other nodes: %s", error)
        self._troubled = True
        for key, opening in list(self._opening.items()):
            if self.get(key) is None:
                self._drop(key, error)
            else:
                self._opening.pop(key)
                opening.set_exception(error)

    async def _read_heads(self) -> None:
        known = self._tails.keys() | self._unloaded
        keys = [key for key in self._opening if key not in known]
        if not keys:
            return
        heads = await self._logs.match_heads(keys)
        for key in keys:
            if key in self._opening and key not in self._tails:
                self._open_when_loaded(key, heads.get(key))

    def _open_when_loaded(self, key: str, head: MatchHead | StoreError | None) -> None:
        """Start a tail. If the game's rules are not loaded yet, load them first in another task.

        The match's head is then read once more, because it may have changed.
        """
        games = [] if head is None or isinstance(head, StoreError) else _game_of(head)
        if self._rules.are_loaded(games):
            self._open(key, head)
            return

        async def load() -> None:
            try:
                await self._rules.load(games)
            finally:
                self._unloaded.discard(key)
            if key in self._opening:
                self._wake()

        self._unloaded.add(key)
        self._spawn(load)

    def _open(self, key: str, head: MatchHead | StoreError | None) -> None:
        if head is None:
            self._drop(key, NoSuchMatch(key))
            return
        try:
            if isinstance(head, StoreError):
                raise head
            self._tails[key] = self._tail(key, head)
        except Exception as error:
            LOG.debug("cannot follow match %s", key, exc_info=True)
            self.give_up(key, error)

    def _tail(self, key: str, head: MatchHead) -> MatchTail:
        """Return a tail that has read no entries yet. Raises `BrokenLog`, `ValueError`."""
        setup = record.read_setup(head.head)
        game = self._games.get(setup.game)
        if setup.match != key or game is None:
            raise BrokenLog(f"its setup is of match {setup.match!r} of game {setup.game!r}")
        lobby = None if head.lobby_head is None else Opened.model_validate_json(head.lobby_head)
        shown = lobby is None or lobby.settings.watchable
        return MatchTail(game, setup, head.stream, self._clock, lobby_shown=shown)

    async def _read_entries(self) -> bool:
        asked = {key: tail for key, tail in self._tails.items() if not tail.over}
        openings = dict(self._opening)
        """The requests that were waiting before this query, so that its result may answer them."""
        if not asked:
            return False
        read = await self._logs.new_entries([tail.stream for tail in asked.values()])
        more = False
        for key, tail in asked.items():
            if self._tails.get(key) is not tail:
                continue  # this tail was dropped or replaced meanwhile
            new, began = read.get(key), self._loop.time()
            try:
                more |= self._take(tail, new, openings.get(key))
            except Exception as error:
                LOG.debug("cannot follow match %s", key, exc_info=True)
                self.give_up(key, error)
            # Processing entries takes at most half of the time, so that other work continues.
            await asyncio.sleep(self._loop.time() - began)
        return more

    def _take(
        self,
        tail: MatchTail,
        new: NewEntries | StoreError | None,
        opening: Future[MatchTail] | None,
    ) -> bool:
        """Show the new entries of one match; return whether more may be available."""
        if isinstance(new, StoreError):
            raise new
        now = self._clock()
        if new is not None:
            tail.take(new, now)
            if new.more:
                return True
        tail.catch_up(now)
        waiting = self._opening.get(tail.key)
        if waiting is not None and (waiting is opening or tail.over):  # all is read
            del self._opening[tail.key]
            waiting.set_result(tail)
        if tail.over and tail.watchers:
            self._end(tail)
        return False


def _game_of(head: MatchHead) -> list[str]:
    """Return the game of a match, or None if its setup cannot be read."""
    try:
        return [record.read_setup(head.head).game]
    except ValueError:
        return []


def _remember(keys: OrderedDict[str, None], key: str) -> None:
    keys[key] = None
    if len(keys) > MAX_REMEMBERED:
        keys.popitem(last=False)


def _note_outcome(opening: Future[MatchTail]) -> None:
    """Retrieve the error, so that asyncio does not log it if no request waits any more."""
    if not opening.cancelled():
        opening.exception()
