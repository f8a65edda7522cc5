"""The matches of other nodes that are watched at this one: each is followed once, for all.

    begin(key) --> head of the log --> entries, up to its end --> spectators are let in
                                          ^
        every LOOK_S, as long as there are tails: what is new in all of their logs, in one question

A tail depends on the log alone, so nothing changes here when the match changes its node. When this
node takes the match over, its spectators become those of the runner. While the database is down,
spectators get no news. If a log cannot be read here (because it is damaged, or this release does
not have its rules), the match can only be watched where it is played.

A tail ends when its match is over, or when nobody has watched it for two looks. Spectators about to
be let in do not count. Reconnecting at once costs nothing.
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
"""Seconds between two looks for new entries; half of it is the average delay for spectators."""
MAX_REMEMBERED: Final = 1000
"""The number of finished or unreadable matches whose status is remembered."""
TRY_AGAIN_LATER: Final = 1013
"""The close code (RFC 6455 registry) for spectators who should try again later."""


class NoRoom(Exception):
    """Too many matches of other nodes are watched here."""


class Unreadable(Exception):
    """The log of a match cannot be read here."""


class NoSuchMatch(Exception):
    """No match of this name exists or existed."""


class TakenOverHere(Exception):
    """This node plays the match by now; ask again for its runner."""


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
        """`most` matches are followed at a time; without `rules` those of all games are loaded."""
        self._loop = loop
        self._clock = clock
        self._spawn = spawn
        self._logs = logs
        self._games = games
        self._most = most
        self._rules = Rules.all_loaded() if rules is None else rules
        self._unloaded: set[str] = set()
        """The tails that wait for the rules of their games."""
        self._tails: dict[str, MatchTail] = {}
        self._opening: dict[str, Future[MatchTail]] = {}
        """The tails that requests wait for, until their logs have since been read to the end."""
        self._unwatched: set[str] = set()
        """The tails without spectators at the last look."""
        self._over: OrderedDict[str, None] = OrderedDict()
        self._unreadable: OrderedDict[str, None] = OrderedDict()
        self._timer: TimerHandle | None = None
        self._reading = False
        self._troubled = False
        """Whether the last query of the database failed."""
        self._stopped = False

    # --- what others ask --------------------------------------------------------------------

    def get(self, key: str) -> MatchTail | None:
        """Return a followed match that lets spectators in, or None."""
        tail = self._tails.get(key)
        return tail if tail is not None and tail.caught_up else None

    def is_over(self, key: str) -> bool:
        """Return whether a match was recently followed to its end here."""
        return key in self._over

    def may_begin(self, key: str, besides: Collection[str] = ()) -> bool:
        """Return whether a match may be followed `besides` others, if its log is readable here."""
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
        """The number of connections that watch them, each counted once for each match."""
        return sum(len(tail.watchers) for tail in self._tails.values())

    # --- beginning and end ------------------------------------------------------------------

    def begin(self, key: str) -> Future[MatchTail]:
        """Follow a match if it is not followed yet; all waiting callers share the result.

        If the match is followed already, its log is read once more, so that a spectator from
        another node is not shown an older position than it has seen there. Let spectators in as
        soon as the result is there. Raises `NoRoom` and `Unreadable`. The result raises these, or
        `NoSuchMatch`, `TakenOverHere` or `StoreError`.
        """
        opening = self._opening.get(key)
        if opening is not None:
            return opening
        if key in self._unreadable:
            raise Unreadable(key)
        if not self.may_begin(key):
            raise NoRoom(f"{self._most} matches of other nodes are watched here")
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
        """Stop following all matches: the server is shutting down."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def taken_over(self, match: MatchRunner, lines: Sequence[bytes], chain: str) -> None:
        """Hand the spectators to the runner of a match that this node now plays.

        `lines` are all of its log, which end with `chain`; the runner has added nothing to them.
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
            LOG.exception("spectators of match %s are told anew where it is", match.key)
            for peer in watchers:
                tail.unwatch(peer)
                match.admit_spectator(peer)
        for peer in watchers:
            peer.subscriptions[match.key] = match

    def give_up(self, key: str, error: Exception) -> None:
        """Disconnect the spectators of a match whose log cannot be read."""
        LOG.error("match %s of another node cannot be followed: %s", key, error)
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

    # --- every look -------------------------------------------------------------------------

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
        """Show due entries, announce ends, and drop tails without spectators."""
        now = self._clock()
        for key, tail in list(self._tails.items()):
            if not tail.caught_up:
                continue
            try:
                self._look_at(tail, now)
            except Exception as error:
                LOG.exception("match %s cannot be shown", key)
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
        """Read new entries; return whether there are more, to be read at once."""
        try:
            await self._read_heads()
            more = await self._read_entries()
        except StoreError as error:
            self._note_trouble(error)
            return False
        self._troubled = False
        return more or bool(self._opening.keys() - self._unloaded)

    def _note_trouble(self, error: StoreError) -> None:
        """Note that the database is down: refuse waiting requests, and let spectators wait."""
        if not self._troubled:
            LOG.warning("the matches of other nodes cannot be read: %s", error)
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
        """Begin a tail; if its rules are not loaded yet, it begins later, without blocking others.

        Its head is read once more then, as it may have changed.
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
            LOG.debug("match %s cannot be followed", key, exc_info=True)
            self.give_up(key, error)

    def _tail(self, key: str, head: MatchHead) -> MatchTail:
        """Return a tail that stands before the first entry. Raises `BrokenLog`, `ValueError`."""
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
        """The requests that wait since before this query, which may be answered from it."""
        if not asked:
            return False
        read = await self._logs.new_entries([tail.stream for tail in asked.values()])
        more = False
        for key, tail in asked.items():
            if self._tails.get(key) is not tail:
                continue  # it was dropped meanwhile, or begun again
            new, began = read.get(key), self._loop.time()
            try:
                more |= self._take(tail, new, openings.get(key))
            except Exception as error:
                LOG.debug("match %s cannot be followed", key, exc_info=True)
                self.give_up(key, error)
            # A log that is read from its beginning takes half of the time at most.
            await asyncio.sleep(self._loop.time() - began)
        return more

    def _take(
        self,
        tail: MatchTail,
        new: NewEntries | StoreError | None,
        opening: Future[MatchTail] | None,
    ) -> bool:
        """Show the new entries of one match; return whether there may be more."""
        if isinstance(new, StoreError):
            raise new
        now = self._clock()
        if new is not None:
            tail.take(new, now)
            if new.more:
                return True
        tail.catch_up(now)
        waiting = self._opening.get(tail.key)
        if waiting is not None and (waiting is opening or tail.over):  # nothing comes after the end
            del self._opening[tail.key]
            waiting.set_result(tail)
        if tail.over and tail.watchers:
            self._end(tail)
        return False


def _game_of(head: MatchHead) -> list[str]:
    """Return the game of a match, as far as its setup can be read."""
    try:
        return [record.read_setup(head.head).game]
    except ValueError:
        return []


def _remember(keys: OrderedDict[str, None], key: str) -> None:
    keys[key] = None
    if len(keys) > MAX_REMEMBERED:
        keys.popitem(last=False)


def _note_outcome(opening: Future[MatchTail]) -> None:
    """Take note of an error that no request waits for any more."""
    if not opening.cancelled():
        opening.exception()
