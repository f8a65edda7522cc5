"""Follows the matches of other nodes that are watched here. All spectators of a match share a tail.

    follow(key) --> head of the log --> entries, up to its end --> spectators are admitted
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
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import count
from typing import Final
from weakref import WeakValueDictionary

from kibitz_games.core.game import Game
from kibitz_server.directory.other_nodes import BetweenNodes
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


class CannotFollow(Exception):
    """This node cannot show the match: it does not exist, is unreadable, or there are too many."""


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
        rules: Rules,
    ) -> None:
        """At most `most` matches are followed at a time."""
        self._loop = loop
        self._clock = clock
        self._spawn = spawn
        self._logs = logs
        self._games = games
        self._most = most
        self._rules = rules
        self._tails: dict[str, MatchTail] = {}
        self._asked: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Held while the log of a match is read for requests, which wait in turn."""
        self._order = count()
        """Numbers requests and reads in the order in which they began."""
        self._unwatched: set[str] = set()
        """The matches that had no spectators at the last check."""
        self._over: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._unreadable: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._running = False
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
        begun = {*self._tails, *self._asked}
        return key in begun or len(begun.union(besides)) < self._most

    @property
    def followed(self) -> int:
        """The number of followed matches."""
        return len(self._tails)

    @property
    def spectators(self) -> int:
        """The number of spectators of followed matches; a connection counts once per match."""
        return sum(len(tail.watchers) for tail in self._tails.values())

    # --- start and end ------------------------------------------------------------------

    async def follow(self, key: str) -> MatchTail:
        """Follow a match if it is not followed yet, and return it.

        If the match is already followed, its log is read once more: a spectator who comes from
        another node must not see an older position than it has seen there. Requests that arrive
        before such a read begins share it. Admit spectators at once, without another `await`.
        Raises `CannotFollow`, `BetweenNodes` and `StoreError`.
        """
        if not self.may_begin(key):
            raise CannotFollow(f"match {key} cannot be followed here")
        arrived, turn = next(self._order), self._asked.setdefault(key, asyncio.Lock())
        async with turn:
            tail = self._tails.get(key) or await self._open(key)
            more = not tail.over and tail.read_at < arrived
            while more:
                began = next(self._order)
                new = await self._logs.new_entries([tail.stream])
                more = self._tails.get(key) is tail and await self._take(tail, new.get(key))
                if not more:
                    tail.read_at = began
        if key in self._unreadable:
            raise CannotFollow(f"the log of match {key} cannot be read")
        if not tail.over and self._tails.get(key) is not tail:
            raise BetweenNodes(f"match {key} is moving to another node")
        return tail

    def stop(self) -> None:
        """Stop following all matches, because the server is shutting down."""
        self._stopped = True

    def taken_over(self, match: MatchRunner, lines: Sequence[bytes], chain: str) -> None:
        """Pass the spectators to the runner of a match that this node now plays.

        `lines` are its complete log, which ends with `chain`; the runner has not appended to it
        yet.
        """
        tail = self._drop(match.key)
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
        self._unreadable.append(key)
        tail = self._drop(key)
        for peer in () if tail is None else list(tail.watchers):
            peer.subscriptions.pop(key, None)
            peer.close(TRY_AGAIN_LATER, "the log of the match cannot be read here")

    def _drop(self, key: str) -> MatchTail | None:
        """Stop following a match."""
        self._unwatched.discard(key)
        return self._tails.pop(key, None)

    async def _open(self, key: str) -> MatchTail:
        """Start to follow a match, once the rules of its game are loaded."""
        head = (await self._logs.match_heads([key])).get(key)
        if head is None:
            raise CannotFollow(f"there is no match {key}")
        try:
            if isinstance(head, StoreError):
                raise head
            tail = self._tails[key] = await self._tail(key, head)
        except Exception as error:
            LOG.debug("cannot follow match %s", key, exc_info=True)
            self.give_up(key, error)
            raise CannotFollow(str(error)) from None
        if not self._running:
            self._running = True
            self._spawn(self._run)
        return tail

    async def _tail(self, key: str, head: MatchHead) -> MatchTail:
        """Return a tail that has read no entries yet. Raises `BrokenLog`, `ValueError`."""
        setup = record.read_setup(head.head)
        game = self._games.get(setup.game)
        if setup.match != key or game is None:
            raise BrokenLog(f"its setup is of match {setup.match!r} of game {setup.game!r}")
        lobby = None if head.lobby_head is None else Opened.model_validate_json(head.lobby_head)
        shown = lobby is None or lobby.settings.watchable
        await self._rules.load([setup.game])
        return MatchTail(game, setup, head.stream, self._clock, lobby_shown=shown)

    # --- checks -------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            while self._tails and not self._stopped:
                self.look()
                if not await self.read():
                    await asyncio.sleep(LOOK_S)
        finally:
            self._running = False

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
            self._drop(tail.key)
        else:
            self._unwatched.add(tail.key)

    def _end(self, tail: MatchTail) -> None:
        """Announce the end of a match, and remove it from its spectators' subscriptions."""
        tail.announce_end()
        self._drop(tail.key)
        self._over.append(tail.key)
        for peer in tail.watchers:
            peer.subscriptions.pop(tail.key, None)

    # --- reading ----------------------------------------------------------------------------

    async def read(self) -> bool:
        """Read the new entries of all matches; return whether more are already available.

        While a match is read for a request, it is left out.
        """
        tails = [tail for tail in self._tails.values() if not tail.over]
        asked = [(tail, tail.stream.tail) for tail in tails if tail.key not in self._asked]
        if not asked:
            return False
        try:
            read = await self._logs.new_entries([tail.stream for tail, _ in asked])
        except Exception as error:
            if not self._troubled:
                unforeseen = not isinstance(error, StoreError)
                LOG.warning("cannot read other nodes' matches: %s", error, exc_info=unforeseen)
            self._troubled = True
            return False
        self._troubled, more = False, False
        for tail, former in asked:
            current = self._tails.get(tail.key) is tail and tail.stream.tail == former
            if current and tail.key not in self._asked:
                more |= await self._take(tail, read.get(tail.key))
        return more

    async def _take(self, tail: MatchTail, new: NewEntries | StoreError | None) -> bool:
        """Show the new entries of one match; return whether more may be available.

        Processing entries takes at most half of the time, so that other work continues.
        """
        began, more = self._loop.time(), False
        try:
            more = self._show(tail, new)
        except Exception as error:
            LOG.debug("cannot follow match %s", tail.key, exc_info=True)
            self.give_up(tail.key, error)
        await asyncio.sleep(self._loop.time() - began)
        return more

    def _show(self, tail: MatchTail, new: NewEntries | StoreError | None) -> bool:
        if isinstance(new, StoreError):
            raise new
        now = self._clock()
        if new is not None:
            tail.take(new, now)
            if new.more:
                return True
        tail.catch_up(now)
        if tail.over and tail.watchers:
            self._end(tail)
        return False
