"""The spectators of one match: whose eyes they look through, and how late.

Without a delay they are shown each entry when the players are. With one, entries wait here
until the match has gone on by so many plies and so many milliseconds; who enters meanwhile
gets a snapshot of the moment that is shown, and only what is shown reaches anybody here. All
is revealed when the match is over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from kibitz_protocol.codec import encode
from kibitz_protocol.messages import Event, Snapshot
from kibitz_protocol.records import Left, Player, Replaced, Returned
from kibitz_server.match import Match
from kibitz_server.outbox import Outbox, text_frame
from kibitz_server.view import Sight, Viewer, eyes

Framed: TypeAlias = Callable[[Event], bytes]
Settled: TypeAlias = Callable[[Callable[[], None]], None]
"""Calls back once nothing of the match waits for the disk."""
Why: TypeAlias = Literal["watching", "lagged"]


class Gallery:
    """Spectators of a match. `show` is told of every durable entry, in order."""

    __slots__ = ("_clock", "_eyes", "_framed", "_late", "_match", "_settled", "viewers")

    def __init__(
        self, match: Match, framed: Framed, settled: Settled, clock: Callable[[], int]
    ) -> None:
        self._match = match
        self._framed = framed
        self._settled = settled
        self._clock = clock
        self._eyes = eyes(match.setup.spectating)
        self._late = Late(match, self._eyes) if _delayed(match) and self._eyes is not None else None
        self.viewers: dict[Outbox, None] = {}

    @property
    def open(self) -> bool:
        """Whether the host lets spectators in at all."""
        return self._eyes is not None

    @property
    def eyes(self) -> Viewer | None:
        return self._eyes

    @property
    def seq(self) -> int:
        """The newest entry that spectators may know of."""
        return self._match.seq if self._late is None else self._late.seq

    @property
    def ply(self) -> int:
        return self._match.ply if self._late is None else self._late.ply

    def enter(self, outbox: Outbox) -> None:
        """Show the match from now on, beginning with a snapshot; nothing may wait for the disk."""
        self.viewers[outbox] = None
        outbox.caught_up(self)
        outbox.send(self._snapshot("watching"))

    def leave(self, outbox: Outbox) -> None:
        self.viewers.pop(outbox, None)

    def catch_up(self, outbox: Outbox) -> None:
        """Tell a spectator who was too slow where the match is now."""
        self._settled(lambda: self._repeat(outbox))

    def _repeat(self, outbox: Outbox) -> None:
        if outbox in self.viewers:
            outbox.caught_up(self)
            outbox.send(self._snapshot("lagged"))

    def recall(self, sights: Iterable[Sight], now: int) -> None:
        """After a restart: take back what was shown, and what was waiting to be."""
        if self._late is not None:
            self._late.recall(sights, now)

    def show(self, sight: Sight, now: int) -> None:
        """An entry is durable."""
        if self._late is not None:
            self._late.add(sight, now)
            self.shift(now)
        elif self.viewers:
            self._spread(sight)

    def shift(self, now: int) -> None:
        """Show what is due of what waits."""
        if self._late is not None:
            for sight in self._late.due(now):
                self._spread(sight)

    def reveal(self) -> None:
        """The match is over: show everything."""
        if self._late is not None:
            for sight in self._late.rest():
                self._spread(sight)
            self._late = None

    def deadline(self) -> int | None:
        """When `shift` has something to show, if the match stands still."""
        return None if self._late is None else self._late.deadline()

    def tell(self, frame: bytes) -> None:
        """Send all spectators something that must not be dropped."""
        for outbox in self.viewers:
            outbox.send(frame)

    def _spread(self, sight: Sight) -> None:
        if not self.viewers or self._eyes is None:
            return
        frame = self._framed(sight.shown(self._eyes))
        for outbox in self.viewers:
            outbox.show(frame, self)

    def _snapshot(self, why: Why) -> bytes:
        if self._eyes is None:
            raise AssertionError("nobody watches a match that is not shown")
        snapshot = self._match.snapshot(self._eyes, why, now=self._clock())
        if self._late is not None:
            snapshot = self._late.rewound(snapshot)
        return text_frame(encode(snapshot))


class Late:
    """The moment that delayed spectators see, and the entries between it and the present."""

    __slots__ = ("_eyes", "_match", "_present", "_shown", "_waiting", "away", "ply", "seats", "seq")

    def __init__(self, match: Match, eyes: Viewer) -> None:
        start = match if match.seq == 0 else Match.new(match.game, match.setup)
        self._match = match
        self._eyes = eyes
        self._waiting: deque[tuple[int, Sight]] = deque()
        self._present = start.ply
        """Plies that were played in the present."""
        self.seq = 0
        self.ply = start.ply
        self.away: frozenset[int] = frozenset()
        self.seats: tuple[Player, ...] = tuple(match.setup.seats)
        self._shown = {
            "to_act": start.to_act,
            "view": start.view(eyes),
            "clocks": start.clocks,
        }

    def recall(self, sights: Iterable[Sight], now: int) -> None:
        entries = list(sights)
        newest = entries[-1].entry.at_ms if entries else 0
        for sight in entries:
            self.add(sight, now - (newest - sight.entry.at_ms))
        self.due(now)

    def add(self, sight: Sight, now: int) -> None:
        self._present = sight.ply
        self._waiting.append((now + self._match.setup.spectating.delay_ms, sight))

    def due(self, now: int) -> list[Sight]:
        """Return the entries that may be shown now, the moment moving on with them."""
        shown: list[Sight] = []
        plies = self._match.setup.spectating.delay_plies
        while self._waiting:
            due, sight = self._waiting[0]
            if due > now or sight.ply > self._present - plies:
                break
            self._waiting.popleft()
            self._advance(sight)
            shown.append(sight)
        return shown

    def rest(self) -> list[Sight]:
        sights = [sight for _, sight in self._waiting]
        self._waiting.clear()
        return sights

    def deadline(self) -> int | None:
        if not self._waiting:
            return None
        due, sight = self._waiting[0]
        plies = self._match.setup.spectating.delay_plies
        return due if sight.ply <= self._present - plies else None

    def rewound(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot of the present as one of the moment that is shown."""
        moment = {
            "seq": self.seq,
            "ply": self.ply,
            "away": sorted(self.away),
            "seats": list(self.seats),
            "result": None,
            "left_ms": None,
            **self._shown,
        }
        return snapshot.model_copy(update=moment)

    def _advance(self, sight: Sight) -> None:
        event = sight.shown(self._eyes)
        self.seq = sight.entry.seq
        self.ply = sight.ply
        self._shown["to_act"] = event.to_act
        self._shown["clocks"] = event.clocks
        if event.view is not None:
            self._shown["view"] = event.view
        match sight.entry:
            case Left(seat=seat):
                self.away |= {seat}
            case Returned(seat=seat):
                self.away -= {seat}
            case Replaced(seat=seat, player=player):
                self.away -= {seat}
                self.seats = (*self.seats[:seat], player, *self.seats[seat + 1 :])
            case _:
                pass


def _delayed(match: Match) -> bool:
    spectating = match.setup.spectating
    return bool(spectating.delay_plies or spectating.delay_ms)
