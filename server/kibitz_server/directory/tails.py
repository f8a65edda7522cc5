"""The matches of other nodes that are watched at this one: each is followed once, for all.

    begin(key) --> head of the log --> entries, up to its end --> spectators are let in
                                          ^
        every LOOK_S, as long as there are tails: what is new in all of their logs, in one question

The log is the truth: whose the match is does not matter, and nothing changes here when that
changes. When this node takes the match over, its spectators become those of the runner. While the
database is away nobody hears anything new. A log that cannot be read here (it is damaged, or of
rules that this release does not know) is watched where the match is played, if anywhere.

A tail ends when its match is over, and when nobody has watched it for two looks: who is about to
be let in has no part of that, and who comes back at once costs nothing.
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
"""Seconds between two looks for new entries: about half of it is added to what spectators wait."""
MAX_REMEMBERED: Final = 1000
"""Matches that are over, or that cannot be read here, of which that is remembered."""
TRY_AGAIN_LATER: Final = 1013
"""The code of RFC 6455's registry with which spectators are sent away."""


class NoRoom(Exception):
    """As many matches of other nodes are watched here as may be."""


class Unreadable(Exception):
    """The log of a match cannot be read here."""


class NoSuchMatch(Exception):
    """There is no match of this name, and was none."""


class TakenOverHere(Exception):
    """The match is this node's by now: whoever has asked for its tail asks again."""


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
        """Those that are not begun before the rules of their games are loaded."""
        self._tails: dict[str, MatchTail] = {}
        self._opening: dict[str, Future[MatchTail]] = {}
        """Those that somebody waits for, until their logs were read to the end since."""
        self._unwatched: set[str] = set()
        """Those that nobody watched at the last look."""
        self._over: OrderedDict[str, None] = OrderedDict()
        self._unreadable: OrderedDict[str, None] = OrderedDict()
        self._timer: TimerHandle | None = None
        self._reading = False
        self._troubled = False
        """Whether the database could not be asked the last time."""
        self._stopped = False

    # --- what others ask --------------------------------------------------------------------

    def get(self, key: str) -> MatchTail | None:
        """Return a match that spectators are let in to."""
        tail = self._tails.get(key)
        return tail if tail is not None and tail.caught_up else None

    def is_over(self, key: str) -> bool:
        """Whether a match was followed to its end here, lately."""
        return key in self._over

    def may_begin(self, key: str, besides: Collection[str] = ()) -> bool:
        """Whether a match may be followed `besides` others, as far as its log can be read here."""
        if self._stopped or key in self._unreadable:
            return False
        begun = self._begun
        return key in begun or len(begun.union(besides)) < self._most

    @property
    def _begun(self) -> set[str]:
        return self._tails.keys() | self._opening.keys()

    @property
    def followed(self) -> int:
        """How many matches are followed."""
        return len(self._tails)

    @property
    def spectators(self) -> int:
        """How many connections watch them, each counted once for each match."""
        return sum(len(tail.watchers) for tail in self._tails.values())

    # --- beginning and end ------------------------------------------------------------------

    def begin(self, key: str) -> Future[MatchTail]:
        """Follow a match, if it is not followed yet; who waits for the result shares it.

        Of a match that is followed the log is read once more, so that nobody who comes from another
        node is shown what is older than what it has seen there. Spectators have to be let in as
        soon as the result is there. Raises `NoRoom` and `Unreadable`; so
        does the result, and `NoSuchMatch`, `TakenOverHere` and `StoreError`.
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
        """Follow nothing any more: the server goes down."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def taken_over(self, match: MatchRunner, lines: Sequence[bytes], chain: str) -> None:
        """This node plays the match from now on: its spectators are the runner's.

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
        """The log of a match cannot be read: its spectators are sent away."""
        LOG.error("match %s of another node cannot be followed: %s", key, error)
        _remember(self._unreadable, key)
        tail = self._drop(key, Unreadable(str(error)))
        for peer in () if tail is None else list(tail.watchers):
            peer.subscriptions.pop(key, None)
            peer.close(TRY_AGAIN_LATER, "the log of the match cannot be read here")

    def _drop(self, key: str, why: Exception) -> MatchTail | None:
        """Follow a match no more, and tell who waits for it."""
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
        """Show what is due, announce ends, and drop what nobody watches."""
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
        """Tell the end of a match; who watched it has nothing to do with it any more."""
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
        """Read what is new; return whether there is more, so that it should be read at once."""
        try:
            await self._read_heads()
            more = await self._read_entries()
        except StoreError as error:
            self._note_trouble(error)
            return False
        self._troubled = False
        return more or bool(self._opening.keys() - self._unloaded)

    def _note_trouble(self, error: StoreError) -> None:
        """The database is away: who waits to be let in is told so, the others wait for it."""
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
        """Begin a tail; one whose rules are not loaded yet begins later, and nobody waits for it.

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
        """Who waits since before this question, so that its answer is new enough."""
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
        """Show what was read of one match; return whether there may be more."""
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
    """Take note of an error that nobody waits for any more."""
    if not opening.cancelled():
        opening.exception()
