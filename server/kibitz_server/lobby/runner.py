"""Runs one lobby: connects its engine to the log, timers, house bots and connections.

As with a match, the runner writes the entries of a command first, and announces its effects when
the entries are durable (`net.log_runner`). If an exception occurs after an entry has changed the
lobby, but before it was appended to the log, the lobby is reloaded from disk. A lobby to which this
happens too often is closed for good.

    request --> engine.handle --> effects --Append--> store ...commit... durable --> released
                 (answers, news, house bots, matches: after the entries before them)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, assert_never

from kibitz_protocol.wire.lobbies import MatchBrief
from kibitz_protocol.wire.messages import (
    Arranged,
    Capabilities,
    Done,
    LobbyClosed,
    MatchEnded,
    MatchStarted,
)
from kibitz_protocol.wire.records import Result
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.unchecked import construct
from kibitz_server.accounts.identity import Identity
from kibitz_server.housebots.house_bots import HouseBots
from kibitz_server.lobby import commands, entries
from kibitz_server.lobby.commands import Command, Effect, Step
from kibitz_server.lobby.engine import LobbyEngine
from kibitz_server.lobby.news import NewsFeed
from kibitz_server.lobby.room import Room
from kibitz_server.lobby.seat_bots import SeatBots
from kibitz_server.lobby.state import LobbyState
from kibitz_server.lobby.views import arranged_briefs, lobby_brief, match_brief
from kibitz_server.net.connections import Connections
from kibitz_server.net.log_runner import LogRunner, RunnerContext
from kibitz_server.net.peer import Peer
from kibitz_server.storage.streams import Stream

LOG = logging.getLogger("kibitz.lobby")
TICK_RETRY_MS = 1000
"""Delay before a retry after an exception in a timer."""
_OF_MEMBERS = (entries.Joined, entries.Left, entries.Kicked, entries.HouseLost)
"""The entries that change who is a member."""
_OF_MATCHES = (entries.MatchBegun, entries.MatchEnded)
"""The entries that change which matches are running."""
_ANY_MATCH = Capabilities()
"""The default capabilities; sharing one object saves memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LobbyContext(RunnerContext):
    """The services that all lobby runners of a server share."""

    connections: Connections
    house_bots: HouseBots
    room: Room
    plies: Callable[[Sequence[str]], Mapping[str, int]]
    """Returns the plies of running matches, as spectators may see them."""
    begin_match: Callable[[LobbyRunner, commands.BeginMatch], None]
    """Creates a match."""
    vacate_seat: Callable[[commands.VacateSeat], None]
    """Removes a player from its seat in a running match."""
    members_changed: Callable[[LobbyRunner], None]
    """Called after a change of the members."""
    closed: Callable[[LobbyRunner], None]
    """Called after the end of the lobby was announced."""


class LobbyRunner(LogRunner):
    """Carries out the commands to one lobby, and performs the effects of its engine."""

    MAX_FAILURES: ClassVar = 3
    context: LobbyContext

    def __init__(
        self,
        context: LobbyContext,
        engine: LobbyEngine,
        shown: LobbyState,
        stream: Stream,
        *,
        restored: bool = False,
    ) -> None:
        """`shown` is the state of the lobby on disk, an object that no other code changes."""
        super().__init__(context, stream)
        self.engine = engine
        self.shown = shown
        """The lobby as of the last durable entry, the only state that clients can see."""
        self.brief = lobby_brief(shown)
        """The lobby as it appears in lists."""
        self.news = NewsFeed(context.loop, context.plies, shown, engine.presence, self.pending)
        self.bots = SeatBots(
            context.loop,
            context.clock,
            context.house_bots,
            context.connections,
            engine.state,
            self.command,
        )
        self.restored = restored
        """Whether it was restored from its log, which may lack results in its matches' logs."""

    @property
    def stored(self) -> bool:
        """Whether the opening of the lobby is on disk."""
        return self.stream.durable >= 0

    # --- requests ---------------------------------------------------------------------------

    def open(self, step: Step, peer: Peer, request: int) -> None:
        """Carry out the effects of opening a lobby, while its first entry is being written."""
        self.pending.hold_answer(0, peer, request, partial(self.answer_host, peer, request))

        def begin() -> Step:
            self.news.follow(peer, self.engine.state.host.player)
            return step._replace(effects=step.effects[1:])

        self._attempt(begin, peer, request)

    def answer_host(self, peer: Peer, request: int) -> None:
        """Answer the request that opened the lobby, which may have been resent."""
        invite = self.engine.state.opened.invite
        peer.answer(Done(re=request, lobby=self.key, invite=invite))

    def answer_again(self, peer: Peer, request: int) -> bool:
        """Answer a resent request that was already carried out; return False for others."""
        key, state = peer.request_key(request), self.engine.state
        if peer.identity is None or key is None or key not in state.requests:
            return False
        if self.closed and not self._is_over:
            self.pending.turn_away(peer, request)
        else:
            answer = partial(self._answer, commands.Accepted(peer.identity.key), peer, request)
            self.pending.hold_answer(self.stream.tail, peer, request, answer)
        return True

    def command(self, command: Command, peer: Peer | None = None, request: int = 0) -> bool:
        """Carry out a command and answer it; return whether it was carried out. Returns False if
        the command was refused or failed, or the lobby is being reloaded.
        """
        if self.closed:
            if peer is not None and self._is_over:
                over = commands.Refuse(Code.CLOSED, "the lobby is closed")
                self._hold_refusal(over, peer, request)
            elif peer is not None:
                self.pending.turn_away(peer, request)
            return False
        key = None if peer is None else peer.request_key(request)
        work = partial(self.engine.handle, command, self.context.clock(), key)
        step = self._attempt(work, peer, request)
        if isinstance(command, commands.Connected | commands.Disconnected):  # these log nothing
            self.pending.hold(self.stream.tail, self.news.schedule)
        done = step is not None and not any(
            isinstance(effect, commands.Refuse) for effect in step.effects
        )
        if done and peer is not None and isinstance(command, commands.Join):
            self.news.spectators.pop(peer, None)
            self.news.schedule()
            self.news.follow(peer, command.player.player)
        return done

    @property
    def _is_over(self) -> bool:
        """Whether the lobby is closed for good, not just for a reload."""
        return self.engine.state.phase == "closed" and not self.stream.failed

    def join(self, peer: Peer, identity: Identity, invite: str | None, request: int) -> bool:
        """Let a player take a seat; return whether it has one now."""
        player = identity.player
        capabilities = peer.capabilities or _ANY_MATCH
        seat = self.bots.seat_of(player.player)
        join = commands.Join(player, capabilities, invite, seat, identity.account)
        return self.command(join, peer, request)

    def match_started(self, brief: MatchBrief) -> None:
        """Announce that a match of this lobby has begun."""
        values = {"type": "match_started", "lobby": self.key, "match": brief}
        self.news.broadcast(construct(MatchStarted, values))

    def match_ended(self, brief: MatchBrief, result: Result) -> None:
        """Announce that a match of this lobby is over, and count its result.

        The announcement comes first, because the last result closes the lobby.
        """
        values = {"type": "match_ended", "lobby": self.key, "match": brief}
        announce = partial(self.news.broadcast, construct(MatchEnded, values))
        if self.closed:  # a reload of the lobby finds that the match has ended
            announce()
        else:
            self.pending.hold(self.stream.tail, announce)
        self.command(commands.MatchFinished(brief.match, result))

    def match_lost(self, match: str, result: Result) -> None:
        """Count the result of a match that could not be created or read."""
        if match in self.engine.state.round.running:
            brief = match_brief(self.engine.state, match)
            self.match_ended(brief.model_copy(update={"result": result}), result)

    def _show(self, entry: entries.Entry) -> None:
        """Apply a durable entry to the visible state, and schedule news of it."""
        self.shown.apply(entry)
        if not isinstance(entry, _OF_MATCHES) or self.brief.state != self.shown.phase:
            self.brief = lobby_brief(self.shown)
        if isinstance(entry, _OF_MEMBERS):
            self.context.members_changed(self)
        if not isinstance(entry, entries.MatchBegun):  # announced by `match_started`
            self.news.schedule()

    # --- effects ----------------------------------------------------------------------------

    def _attempt(
        self,
        work: Callable[[], Step],
        peer: Peer | None = None,
        request: int = 0,
    ) -> Step | None:
        """Run `work` and perform its effects; return None after an exception."""
        try:
            step = work()
            self._apply_effects(step.effects, peer, request)
            self.wake_at(step.deadline)
        except Exception:
            LOG.exception("lobby %s failed", self.key)
            self.fail(peer, request)
            return None
        return step

    def _apply_effects(self, effects: list[Effect], peer: Peer | None, request: int) -> None:
        """Carry out the effects of one step. Its entries are appended all or not at all."""
        appends = [effect for effect in effects if isinstance(effect, commands.Append)]
        lines = iter([_encode(append.entry) for append in appends])
        for effect in effects:
            match effect:
                case commands.Append(entry):
                    self.context.store.append(self.stream, entry.seq, next(lines), self)
                    if isinstance(entry, _OF_MEMBERS):
                        self.context.members_changed(self)
                    self.pending.hold(entry.seq, partial(self._show, entry))
                case commands.Accepted() | commands.AnswerArranged():
                    if peer is not None:
                        answer = partial(self._answer, effect, peer, request)
                        self.pending.hold_answer(self.stream.tail, peer, request, answer)
                case commands.Refuse():
                    if peer is not None:
                        self._hold_refusal(effect, peer, request)
                case _:
                    self.pending.hold(self.stream.tail, partial(self._perform, effect))

    def _hold_refusal(self, refusal: commands.Refuse, peer: Peer, request: int) -> None:
        """Refuse a request once the state that the refusal describes is durable."""
        answer = partial(
            peer.refuse,
            request,
            refusal.code,
            refusal.message,
            retry_after_ms=refusal.retry_after_ms,
        )
        self.pending.hold_answer(self.stream.tail, peer, request, answer)

    def _answer(
        self, effect: commands.Accepted | commands.AnswerArranged, peer: Peer, request: int
    ) -> None:
        """Answer a request that was carried out."""
        if isinstance(effect, commands.Accepted):
            if not self.engine.state.is_insider(effect.player):
                self.news.unfollow(peer)  # the one who left needs no notice
            seeks = self.engine.state.opened.seek_s is not None
            peer.answer(Done(re=request, lobby=self.key if seeks else None))
            return
        plies = self.context.plies(list(self.shown.round.running))
        briefs = arranged_briefs(self.shown, effect.tags, plies=plies)
        peer.answer(Arranged(re=request, matches=briefs))

    def _perform(
        self,
        effect: commands.StartBot
        | commands.StopBot
        | commands.BeginMatch
        | commands.VacateSeat
        | commands.NotifyRemoved
        | commands.LobbyOver,
    ) -> None:
        match effect:
            case commands.StartBot():
                self.bots.start(effect)
            case commands.StopBot(seat):
                self.bots.stop(seat)
            case commands.BeginMatch():
                self.context.begin_match(self, effect)
            case commands.VacateSeat():
                self.context.vacate_seat(effect)
            case commands.NotifyRemoved(player, reason):
                self.news.send_changes()  # the last changes that this player may see
                if not self.engine.state.is_insider(player):
                    self.news.drop(player, LobbyClosed(lobby=self.key, reason=reason))
            case commands.LobbyOver(reason):
                self._close(LobbyClosed(lobby=self.key, reason=reason))
            case _:
                assert_never(effect)

    def _close(self, notice: LobbyClosed) -> None:
        """Announce the end of the lobby and close it, even after an exception."""
        try:
            self.news.send_changes()
            self.news.broadcast(notice)
            self.bots.stop_all()
        finally:
            self.suspend()
            self.context.closed(self)

    def finish_closing(self) -> None:
        """Close the log of a closed lobby if the server died before it did."""
        if self.engine.state.closed is not None:
            self._close(LobbyClosed(lobby=self.key, reason=self.engine.state.closed))

    # --- exceptions and timers --------------------------------------------------------------

    def recover(self) -> None:
        """Continue if the lobby is not ahead of its log; otherwise have it reloaded."""
        if self.engine.state.seq != self.stream.tail:
            super().recover()

    def suspend(self) -> None:
        super().suspend()
        self.news.stop()

    def run_due(self, now: int) -> None:
        done = self._attempt(lambda: self.engine.tick(now))
        if done is None:
            self.wake_at(now + TICK_RETRY_MS)


def _encode(entry: entries.Entry) -> bytes:
    return entry.model_dump_json().encode()
