"""A room: one lobby with its log, its members' connections, spectators and house bots.

As at a table, what a command makes goes to the store first and is told when it is durable. A lobby
is never ahead of its log: when something raises after an entry has changed the lobby and before
the entry was appended, the room is closed and given back to the hall, which loads the lobby again
as the disk has it. One that had to be loaded again `RELOADS` times is closed for good.
News of a lobby are the whole lobby, so they are sent at most every `NEWS_EVERY_S`: the first
at once, later ones together.
"""

from __future__ import annotations

import logging
from asyncio import AbstractEventLoop, TimerHandle
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeAlias, assert_never

from kibitz_protocol.messages import (
    Arranged,
    Capabilities,
    Done,
    LobbyClosed,
    LobbyNews,
    MatchEnded,
    MatchStarted,
)
from kibitz_protocol.records import Player, Result
from kibitz_protocol.refusals import Code
from kibitz_protocol.rooms import MatchBrief
from kibitz_server import lobby as rules
from kibitz_server import roll
from kibitz_server.accounts import Admission
from kibitz_server.database import StoreError
from kibitz_server.house import Employee
from kibitz_server.lobby import Command, Effect, Lobby
from kibitz_server.peer import Peer
from kibitz_server.pending import Backlog, Request, requests_in
from kibitz_server.server_clock import Deadline
from kibitz_server.store import Store, Stream
from kibitz_server.table import encoded

LOG = logging.getLogger("kibitz.room")
NEWS_EVERY_S = 0.1
TICK_AGAIN_MS = 1000
"""When what is due is looked at again after something raised."""
HIRE_PATIENCE_S = 30.0
"""How long a house bot may take to join and to be warm."""
RELOADS = 3
"""How often a lobby that was ahead of its log is loaded again."""
Held: TypeAlias = Callable[[], None]
_LATER = (Code.UNAVAILABLE, "nothing can be written just now; ask again in a while")
"""How a request is refused that this room cannot carry out, and another one soon can."""


class Estate(Protocol):
    """What a room needs around it."""

    loop: AbstractEventLoop
    clock: Callable[[], int]
    store: Store

    def peer_of(self, player: str) -> Peer | None: ...

    def begin(self, room: Room, begin: rules.Begin) -> None:
        """Make a match."""

    def vacate(self, vacate: rules.Vacate) -> None:
        """Let a player leave a running match."""

    def hire(
        self,
        personality: str,
        lobby: str,
        former: Player | None,
        ended: Callable[[Employee, Player], None],
    ) -> tuple[Employee, Admission]:
        """Start a house bot's process, once its identity is on the disk."""

    def plies(self, matches: Sequence[str]) -> Mapping[str, int]:
        """Return the plies of running matches, as spectators may know them."""

    def untied(self, player: str, room: Room) -> None:
        """The player has nothing to do with the room any more."""

    def room_closed(self, room: Room) -> None: ...

    def room_unwritten(self, room: Room, error: StoreError) -> None: ...


class Room:
    """The shell around one lobby."""

    def __init__(self, estate: Estate, lobby: Lobby, stream: Stream) -> None:
        self._estate = estate
        self.lobby = lobby
        self.stream = stream
        self.spectators: dict[Peer, None] = {}
        self.staff: dict[int, tuple[Employee, Player]] = {}
        """The process of each house seat, and whom it plays as."""
        self.closed = False
        """Whether nothing is carried out here any more."""
        self.reloads = 0
        """How often this lobby was loaded again because it was ahead of its log."""
        self.backlog: Backlog[Room] | None = None
        """What is to be done once the lobby was loaded again; None while its log is sound."""
        self.address: str | None = None
        """The address that it was opened from, unless that was this machine's; a server that is
        started again does not know."""
        self._held: deque[tuple[int, Held]] = deque()
        """What may be told once the entry of that number is durable."""
        self._timer: Deadline | None = None
        self._news_timer: TimerHandle | None = None
        self._news_at = 0.0
        """When the last news went out."""

    @property
    def key(self) -> str:
        return self.lobby.id

    # --- requests ---------------------------------------------------------------------------

    def open(self, effects: list[Effect], peer: Peer, request: int) -> None:
        """Carry out what a new lobby begins with; its head is on its way to the disk."""
        done = Done(re=request, lobby=self.key, invite=self.lobby.roll.opened.invite)
        answer = partial(peer.answer, done)
        again: Request[Room] = Request(lambda room: answer(), peer, request, answer)
        self._held.append((0, again))
        self._held.append((0, self.changed))
        self._attempt(lambda: effects[1:], again)

    def do(self, command: Command, peer: Peer | None = None, request: int = 0) -> bool:
        """Carry out a command; return whether it was refused to nobody."""
        again: Request[Room] = Request(lambda room: room.do(command, peer, request), peer, request)
        if self.backlog is not None:
            self.backlog.add(again)
        elif not self.closed:
            effects = self._attempt(lambda: self.lobby.handle(command, self._estate.clock()), again)
            return effects is not None and not any(isinstance(e, rules.Refuse) for e in effects)
        elif peer is not None and self.lobby.state == "closed":
            peer.refuse(request, Code.CLOSED, "the lobby is closed")
        else:
            again.refuse("the server is going down")
        return False

    def _attempt(
        self, work: Callable[[], list[Effect]], request: Request[Room] | None = None
    ) -> list[Effect] | None:
        """Do something with the lobby and what it asks for; None when something raised."""
        try:
            effects = work()
            self._carry_out(effects, request)
            self._arm()
        except Exception:
            LOG.exception("lobby %s cannot go on", self.key)
            self._recover()
            if request is not None and not self._answers_later(request):
                request.fail()
            return None
        return effects

    def _answers_later(self, request: Request[Room]) -> bool:
        waiting = requests_in(held for _, held in self._held)
        if self.backlog is not None:
            waiting += self.backlog.waiting()
        peer, number = request.peer, request.number
        return peer is not None and any(each.is_of(peer, number) for each in waiting)

    def join(
        self,
        peer: Peer,
        player: Player,
        invite: str | None,
        request: int,
    ) -> bool:
        command = rules.Join(
            player, peer.capabilities or Capabilities(), invite, self._ticket(player)
        )
        return self.do(command, peer, request)

    def watch(self, peer: Peer) -> None:
        """Let a spectator in, whom the hall found entitled to it."""
        self.spectators[peer] = None
        self._hold(self.stream.tail, self.changed)

    def unwatch(self, peer: Peer) -> bool:
        """Let a spectator go; return whether it was one."""
        found = peer in self.spectators
        self.spectators.pop(peer, None)
        return found

    def disconnected(self, peer: Peer) -> None:
        """A spectator's connection is gone; players' presence is the hall's to tell."""
        self.unwatch(peer)

    # --- news -------------------------------------------------------------------------------

    def changed(self) -> None:
        """Send news of the lobby soon."""
        if self._news_timer is None and not self.closed:
            loop = self._estate.loop
            wait = max(0.0, self._news_at + NEWS_EVERY_S - loop.time())
            self._news_timer = loop.call_later(wait, self._send_news)

    def match_started(self, brief: MatchBrief) -> None:
        self._tell_all(encoded(MatchStarted(lobby=self.key, match=brief)))

    def match_ended(self, brief: MatchBrief) -> None:
        self._tell_all(encoded(MatchEnded(lobby=self.key, match=brief)))

    def post_to(self, peer: Peer, player: str | None) -> None:
        """Send one connection the lobby as it is now."""
        self._when_settled(lambda: peer.outbox.post(self._news_for(player), self.key))

    def _send_news(self) -> None:
        self._news_timer = None
        self._when_settled(self._spread_news)

    def _spread_news(self) -> None:
        if self.closed:
            return
        self._news_at = self._estate.loop.time()
        host = self.lobby.host.player
        shared: bytes | None = None
        for player in dict.fromkeys((host, *self.lobby.roll.members)):
            peer = self._estate.peer_of(player)
            if peer is None:
                continue
            if player == host:
                frame = self._news_for(host)
            else:
                frame = shared = shared or self._news_for(player)
            peer.outbox.post(frame, self.key)
        if self.spectators:
            frame = self._news_for(None)
            for peer in self.spectators:
                peer.outbox.post(frame, self.key)

    def _news_for(self, viewer: str | None) -> bytes:
        """Return news as a viewer sees it: the host, any member, anybody else (None)."""
        plies = self._estate.plies(list(self.lobby.roll.running))
        view = self.lobby.view(viewer, spectators=len(self.spectators), plies=plies)
        return encoded(LobbyNews(lobby=view))

    def _tell_all(self, frame: bytes) -> None:
        """Tell everybody once, also a host or member who watches on the same connection."""
        players = [self.lobby.host.player, *self.lobby.roll.members]
        for peer in dict.fromkeys([*map(self._estate.peer_of, players), *self.spectators]):
            if peer is not None:
                peer.outbox.send(frame)

    # --- the mechanism ----------------------------------------------------------------------

    def durable(self, seq: int) -> None:
        held = self._held
        while held and held[0][0] <= seq:
            self._tell_now(held.popleft()[1])

    def lost(self, error: StoreError) -> None:
        self.suspend()
        self._keep_requests()
        self._estate.room_unwritten(self, error)

    def _keep_requests(self) -> None:
        """Drop what waits for the disk, but for the requests, which are carried out again."""
        if self.backlog is None:
            self.backlog = Backlog()
        for request in requests_in(held for _, held in self._held):
            self.backlog.add(request)
        self._held.clear()

    def inherit(self, former: Room) -> None:
        """Take the spectators of a lobby whose log was lost, and do what was asked of it."""
        for peer in former.spectators:
            if not peer.leaving:
                self.watch(peer)
        if former.backlog is None:
            return
        for request in former.backlog.take():
            try:
                request.again(self)
            except Exception:
                LOG.exception("lobby %s: a request that was lost", self.key)
                request.fail()

    def _tell_now(self, told: Held) -> None:
        try:
            told()
        except Exception:
            LOG.exception("lobby %s cannot be told", self.key)
            if isinstance(told, Request):
                told.fail()

    # --- when something raised --------------------------------------------------------------

    def _recover(self) -> None:
        """Go on if the lobby is what its log says, and otherwise have it loaded from there."""
        if self.closed or self.lobby.roll.seq == self.stream.tail:
            return
        if self.reloads >= RELOADS:
            self._cut_off()
            return
        self.reloads += 1
        self.suspend()
        self.backlog = Backlog()

        def hand_over() -> None:
            self.stream.failed = True  # whatever the store still means to do with it
            self._keep_requests()
            self._estate.room_unwritten(self, StoreError("the lobby was ahead of its log"))

        self._hold(self.stream.tail, hand_over)

    def _cut_off(self) -> None:
        """Close a lobby that cannot be gone on with; its running matches go on."""
        LOG.error("lobby %s is closed: it cannot be gone on with", self.key)
        self.suspend()
        self.lobby.roll.closed = "failed"
        try:
            closed = roll.Closed(seq=self.stream.tail + 1, reason="failed")
            self._estate.store.append(self.stream, closed.seq, _line(closed), self)
        except Exception:
            LOG.exception("lobby %s cannot even be closed in its log", self.key)
        for player in list(self.lobby.roll.members):
            self._tell(partial(self._enact, rules.Gone(player, "failed")))
        self._tell(partial(self._enact, rules.Closed("failed")))

    def suspend(self) -> None:
        """Stop the timers: the server goes down, or the lobby is closed."""
        self.closed = True
        for timer in (self._timer, self._news_timer):
            if timer is not None:
                timer.cancel()
        self._timer = self._news_timer = None

    def tick(self) -> None:
        self._timer = None
        if not self.closed:
            done = self._attempt(lambda: self.lobby.tick(self._estate.clock()))
            if done is None and not self.closed:
                again = self._estate.clock() + TICK_AGAIN_MS
                self._timer = Deadline(self._estate.loop, self._estate.clock, again, self.tick)

    def _carry_out(self, effects: list[Effect], request: Request[Room] | None = None) -> None:
        """Do what the lobby asks for. All that is to be written can be, or nothing of it is."""
        peer, number = (request.peer, request.number) if request is not None else (None, 0)
        lines = iter([_line(each.entry) for each in effects if isinstance(each, rules.Append)])
        for effect in effects:
            match effect:
                case rules.Append(entry):
                    self._append(entry, next(lines))
                case rules.Accepted():
                    if peer is not None and request is not None:
                        answer = partial(peer.answer, Done(re=number))
                        self._tell(Request(request.again, peer, number, answer))
                case rules.Briefed(_, tags):
                    if peer is not None and request is not None:
                        answer = partial(self._brief, peer, number, tags)
                        self._tell(Request(request.again, peer, number, answer))
                case rules.Refuse(_, code, message):
                    if peer is not None:
                        peer.refuse(number, code, message)
                case _:
                    self._tell(partial(self._enact, effect))

    def _brief(self, peer: Peer, request: int, tags: Sequence[str]) -> None:
        """Answer how arranged matches stand now: no news that went out before is newer."""
        plies = self._estate.plies(list(self.lobby.roll.running))
        briefs = self.lobby.arranged(tags, self.stream.durable, plies=plies)
        peer.answer(Arranged(re=request, matches=briefs))

    def _append(self, entry: roll.Entry, line: bytes) -> None:
        self._estate.store.append(self.stream, entry.seq, line, self)
        self._held.append((entry.seq, self.changed))

    def _tell(self, told: Held) -> None:
        self._hold(self.stream.tail, told)

    def _when_settled(self, told: Held) -> None:
        """Tell how the lobby is once nothing of it waits for the disk, or to be carried out."""
        if not self._held and self.stream.tail <= self.stream.durable:
            self._tell_now(told)
            return
        seq = self.stream.tail

        def tell() -> None:
            if self.stream.tail == seq:
                told()
            else:
                self._when_settled(told)

        self._held.append((seq, tell))

    def _hold(self, seq: int, told: Held) -> None:
        if not self._held and seq <= self.stream.durable:
            self._tell_now(told)
        else:
            self._held.append((seq, told))

    def _enact(
        self,
        effect: rules.Hire | rules.Dismiss | rules.Begin | rules.Vacate | rules.Gone | rules.Closed,
    ) -> None:
        match effect:
            case rules.Hire():
                self._hire(effect)
            case rules.Dismiss(seat):
                self._dismiss(seat)
            case rules.Begin():
                self._estate.begin(self, effect)
            case rules.Vacate():
                self._estate.vacate(effect)
            case rules.Gone(player, reason):
                self._gone(player, LobbyClosed(lobby=self.key, reason=reason))
            case rules.Closed(reason):
                self._close(LobbyClosed(lobby=self.key, reason=reason))
            case _:
                assert_never(effect)

    def _gone(self, player: str, news: LobbyClosed) -> None:
        peer = self._estate.peer_of(player)
        if peer is not None:
            # The table as it ended, which news that is only due soon would not tell any more.
            self.post_to(peer, player)
            peer.tell(news)
        if player != self.lobby.host.player:
            self._estate.untied(player, self)

    def _close(self, news: LobbyClosed) -> None:
        host = self.lobby.host.player
        if host not in self.lobby.roll.members:
            self._gone(host, news)
        self._estate.untied(host, self)
        for peer in self.spectators:
            self.post_to(peer, None)
            peer.tell(news)
        for seat in list(self.staff):
            self._dismiss(seat)
        self.suspend()
        self._estate.room_closed(self)

    def _arm(self) -> None:
        due = self.lobby.deadline()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is not None and not self.closed:
            self._timer = Deadline(self._estate.loop, self._estate.clock, due, self.tick)

    # --- house bots -------------------------------------------------------------------------

    def _hire(self, hire: rules.Hire) -> None:
        self._dismiss(hire.seat)
        seat = hire.seat
        try:
            employee, admission = self._estate.hire(
                hire.personality, self.key, hire.player, partial(self._ended, seat)
            )
        except Exception:
            LOG.exception("house bot %s cannot be started", hire.personality)
            self.do(rules.HouseFailed(seat, "its process could not be started"))
            return
        self.staff[seat] = (employee, admission.identity.player)
        clock = self._estate.clock
        due = clock() + round(HIRE_PATIENCE_S * 1000)
        Deadline(self._estate.loop, clock, due, partial(self._look_after, seat, employee))

    def _dismiss(self, seat: int) -> None:
        employed = self.staff.pop(seat, None)
        if employed is not None:
            employed[0].dismiss()

    def _ended(self, seat: int, employee: Employee, player: Player) -> None:
        """A process has ended by itself."""
        self._fail(seat, employee, f"the process ended with status {employee.status}")

    def _look_after(self, seat: int, employee: Employee) -> None:
        """A house bot that has not joined by now never will."""
        occupant = self.lobby.roll.occupant(seat)
        if occupant is None or self._estate.peer_of(occupant.player.player) is None:
            self._fail(seat, employee, f"the bot did not come within {HIRE_PATIENCE_S:.0f} s")

    def _fail(self, seat: int, employee: Employee, reason: str) -> None:
        employed = self.staff.get(seat)
        if employed is None or employed[0] is not employee or self.closed:
            return
        self._dismiss(seat)
        self.do(rules.HouseFailed(seat, reason))

    def _ticket(self, player: Player) -> int | None:
        """Return the house seat that this bot was hired for."""
        for seat, (_, hired) in self.staff.items():
            if hired.player == player.player:
                return seat
        return None

    def result(self, match: str, result: Result) -> None:
        """A match of this lobby is over."""
        self.do(rules.MatchEnded(match, result))


def _line(entry: roll.Entry) -> bytes:
    return entry.model_dump_json().encode()
