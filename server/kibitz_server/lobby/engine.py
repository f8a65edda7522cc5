"""The rules of a lobby: members, seats, and a programme of matches. Sans-I/O.

`LobbyEngine.handle` takes a command and returns a `Step`: the effects and the next deadline. The
caller must carry out the effects in order, and make each `Append` durable before the effects after
it. A command is either carried out, with entries in the log, or refused without any change. Time is
an argument: `now` is a monotonic clock in milliseconds, and `tick` is due at the deadline of the
last step.

The rules of a lobby:

- The host need not take a seat. The player who opened the lobby is its host until it closes, even
  after leaving it, and needs no invite code.
- A reserved seat admits the player with that name (or a confusable one), regardless of `joinable`.
  A player whom the host removed may not rejoin.
- A house bot takes the seat for which the server started it. Like every bot, it sends `ready` after
  its warm-up, and it stays ready for a rematch. If its process fails, the server restarts it. After
  `MAX_BOT_FAILURES` failures in a round, the seat opens to everybody, and its matches are void.
- A match begins once all of its players are connected, even if earlier matches still wait. Members
  who are disconnected for longer than the matches' grace period, and at least `MIN_GRACE_MS`, are
  removed.
- When a member leaves a running programme, its matches that have not begun become void and do not
  count. The other members continue. Nobody can join until the round is over.
- A match that a server failure ended is played once more; after a second failure it is aborted and
  does not count. A match that the operator aborts is not repeated.
- The host cannot remove members while a rated match of the lobby runs, or from a seek.
- In an arranged lobby the host chooses each match, from the start of the lobby until it closes. The
  host starts it, with the present members. Others may join or rejoin later, and play once they are
  ready. A match is identified by its tag, and is not played again if the tag is sent again
  (`arranging`). There is no rematch.
- The standings count only the current round; the log keeps the results of earlier rounds.
- Only the host sees the seeds that it put into the programme.
- A lobby opened by `seek` has additional rules (`seeks`).
- A lobby expires if only house bots are connected and no match is running or waiting.

`admission` has the rules for joining, `membership` those for members, `house_seats` for house bots,
`match_flow` for rounds and matches, and `arranging` for arranged matches. `presence` tracks
connections, `views` builds the views, `schedule` plans and begins matches, and `state` applies
entries to `seats` and `round`. A `Transaction` collects the entries and effects of a command.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from kibitz_server.lobby.budget import LobbyBudget
from kibitz_server.lobby.commands import (
    Append,
    Arrange,
    BotFailed,
    Close,
    Command,
    Connected,
    Disconnected,
    Fail,
    Join,
    Kick,
    Leave,
    MatchFinished,
    Ready,
    Refusal,
    Refuse,
    Rematch,
    Resume,
    Start,
    Step,
)
from kibitz_server.lobby.entries import Entry, Opened
from kibitz_server.lobby.house_seats import HouseSeats
from kibitz_server.lobby.match_flow import MatchFlow
from kibitz_server.lobby.membership import Membership
from kibitz_server.lobby.presence import Presence
from kibitz_server.lobby.room import Room
from kibitz_server.lobby.seeks import SeekTimer
from kibitz_server.lobby.state import LobbyState
from kibitz_server.lobby.transaction import Transaction
from kibitz_server.net.rate_limit import RateLimits

MIN_GRACE_MS = 30_000
"""Minimum grace period of disconnected members, even if that of the matches is shorter."""
IDLE_MS = 15 * 60_000
"""How long a lobby may be empty before it expires."""
DEFAULT_LIMITS = RateLimits()
UNLIMITED_ROOM = Room()


class LobbyEngine:
    """Carries out the commands of one lobby. Create it with `new` or `restore`."""

    def __init__(self, state: LobbyState, now: int, limits: RateLimits, room: Room) -> None:
        self.state = state
        self.presence = Presence(state.seats.members, now)
        self._seek_timer = SeekTimer(state, now)
        budget = LobbyBudget(limits, now)
        self._transaction = Transaction(state, self.presence, budget, room, now)
        self._house = HouseSeats(self._transaction)
        self._members = Membership(self._transaction, self._house)
        self._flow = MatchFlow(self._transaction, self._house)

    @classmethod
    def new(
        cls,
        opened: Opened,
        now: int,
        *,
        limits: RateLimits = DEFAULT_LIMITS,
        room: Room = UNLIMITED_ROOM,
    ) -> tuple[LobbyEngine, Step]:
        """Open a lobby, with its host connected. The settings must have no `settings_problem`."""
        engine = cls(LobbyState(opened), now, limits, room)
        engine._transaction.ask(Append(opened))
        engine.presence.arrive(opened.host.player)
        for seat in range(len(opened.settings.seats)):
            engine._house.start(seat)
        return engine, engine._take_step(now)

    @classmethod
    def restore(
        cls,
        log: Sequence[Entry],
        now: int,
        *,
        limits: RateLimits = DEFAULT_LIMITS,
        room: Room = UNLIMITED_ROOM,
    ) -> LobbyEngine:
        """Restore a lobby from its log, with nobody connected; handle `Resume` next."""
        return cls(LobbyState.restore(log), now, limits, room)

    def handle(self, command: Command, now: int, request: str | None = None) -> Step:
        """Carry out or refuse a command; `request` is the key of the client's request.

        If this or `tick` raises, there are no effects to carry out. If `state.seq` has advanced all
        the same, the lobby's state is ahead of its log, and the engine is no longer usable.
        """
        self._transaction.now, self._transaction.request = now, request
        try:
            self._execute(command, now)
            self._flow.advance()
            return self._take_step(now)
        except Refusal as refusal:
            assert self._transaction.empty, "a refused command has no other effect"
            refuse = Refuse(refusal.code, refusal.message, refusal.retry_after_ms)
            return Step([refuse], self._deadline(now))
        except BaseException:
            self._transaction.take_effects()
            raise

    def tick(self, now: int) -> Step:
        """Remove members who were absent for too long, and close the lobby if it has expired."""
        if self.state.phase == "closed":
            return Step([], None)
        self._transaction.now, self._transaction.request = now, None
        try:
            self._members.drop_absent(now, self._grace_ms())
            self._flow.advance()
            if self._is_expired(now):
                self._flow.close("expired")
            return self._take_step(now)
        except BaseException:
            self._transaction.take_effects()
            raise

    def _execute(self, command: Command, now: int) -> None:
        match command:
            case Join():
                self._members.join(command)
            case Leave(player):
                self._members.leave(player, now)
            case Kick(by, player):
                self._members.kick(by, player)
            case Ready(player, ready):
                self._members.set_ready(player, ready)
            case Start(by):
                self._flow.start(by)
            case Rematch(by):
                self._flow.rematch(by)
            case Close(by):
                self._flow.close_by_host(by)
            case Fail():
                self._flow.close("failed")
            case Arrange():
                self._flow.arrange(command)
            case Connected(player):
                self.presence.arrive(player)
            case Disconnected(player):
                self._members.disconnected(player, now)
            case MatchFinished(match, result):
                self._flow.finish_match(match, result)
            case BotFailed(seat, reason):
                self._house.fail(seat, reason, now)
            case Resume(matches):
                self._flow.resume(matches)
            case _:
                assert_never(command)

    def _is_expired(self, now: int) -> bool:
        unwanted = self._seek_timer.due(self.state)
        if unwanted is not None and now >= unwanted:
            return True
        due = self.presence.empty_for(IDLE_MS)
        return due is not None and now >= due and not self.state.round.playing

    def _take_step(self, now: int) -> Step:
        """Return the effects so far with the next deadline, and update the idle timers."""
        self.presence.note_visitors(self.state.seats.is_house_bot, now)
        self._seek_timer.note(self.state, now)
        return Step(self._transaction.take_effects(), self._deadline(now))

    def _deadline(self, now: int) -> int | None:
        """Return when `tick` is due if no command comes first."""
        if self.state.phase == "closed":
            return None
        idle = None if self.state.round.playing else self.presence.empty_for(IDLE_MS)
        seek = self._seek_timer.due(self.state)
        planning = now if self._flow.goes_on else None
        away = self.presence.first_overdue(self._grace_ms())
        due = [planning, self._flow.retry_at, away, idle, seek]
        return min((moment for moment in due if moment is not None), default=None)

    def _grace_ms(self) -> int:
        return max(self.state.settings.conduct.grace_ms, MIN_GRACE_MS)
