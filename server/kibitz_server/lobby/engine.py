"""The rules of a lobby: members, seats, and a programme of matches. Sans-I/O.

`LobbyEngine.handle` takes a command and returns a `Step`: effects, in order, and the next
deadline. The caller must carry the effects out in that order, and each `Append` durably before
anything after it. A command is either done, with entries in the log, or refused, with nothing
changed. Time is an argument: `now` is a monotonic clock in milliseconds, and `tick` is due when
the deadline of the last step has come.

Rules that are nobody else's:

- The host need not sit. Whoever hosted keeps the host's rights, in or out of the lobby, for
  its whole life, and enters without an invite code.
- A reserved seat lets in whoever has the name (or one that looks like it), whatever `joinable`
  says. A player whom the host removed may not come back.
- A house bot takes the seat that its process was started for. It says ready, as every bot,
  once it is warm; a rematch keeps it ready. When its process fails it is started again, up to
  `MAX_BOT_FAILURES` failures in a round; then its seat is open to anybody, and its matches are
  void.
- A match begins once all of its players are connected; others go on meanwhile. A member who
  is disconnected for longer than the matches' grace, and at least `MIN_GRACE_MS`, has left.
- When a member leaves a running programme, its matches that have not begun are void: they
  count for nobody, and the others play on. Nobody joins until the round is over.
- A match that the server's own trouble ended is played once more; a second time it counts as
  aborted, and for nobody.
- In an arranged lobby the host says match by match what is played, from its start until it
  closes. It starts when the host says, whoever has come by then; who comes later, or comes
  back, may still join, and plays once it has said ready. A match is known by its tag: one that
  is known is never played again, asking for it tells how it stands. There is no rematch.
- A rematch keeps earlier results in the log only: the standings are of the present round.
- Seeds that a host writes into a programme are shown to the host alone.
- A lobby where nobody is connected (house bots aside) and nothing is played expires.

Each of these rules is in one place: who may join in `admission`, what may be arranged in
`arranging`, who is connected in `presence`, what is shown in `views`, which matches are planned
and begun in `schedule`, and what entries change in `state`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, assert_never

from kibitz_protocol.wire.lobbies import HouseSeat
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Result
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby import entries
from kibitz_server.lobby.admission import seat_for
from kibitz_server.lobby.arranging import new_arrangements
from kibitz_server.lobby.commands import (
    Accepted,
    AnswerArranged,
    Append,
    Arrange,
    BeginMatch,
    BotFailed,
    Close,
    Command,
    Connected,
    Disconnected,
    Effect,
    Join,
    Kick,
    Leave,
    LobbyOver,
    MatchFinished,
    NotifyRemoved,
    Ready,
    Refusal,
    Refuse,
    Rematch,
    Resume,
    Start,
    StartBot,
    Step,
    StopBot,
    VacateSeat,
    sender,
)
from kibitz_server.lobby.entries import CloseReason, Entry, Opened
from kibitz_server.lobby.presence import Presence
from kibitz_server.lobby.schedule import Unplayable, next_matches
from kibitz_server.lobby.state import LobbyState, SeatedMember

MIN_GRACE_MS = 30_000
"""A member may be disconnected at least this long, however short the matches' grace is."""
IDLE_MS = 15 * 60_000
"""How long a lobby stays where nobody is."""
_REASON_CHARS = 200
"""Characters that the log keeps of why a house bot failed."""


class LobbyEngine:
    """Decides what a command changes. Make one with `new` or `restore`."""

    __slots__ = ("_effects", "_idle_ms", "presence", "state")

    def __init__(self, state: LobbyState, now: int, idle_ms: int) -> None:
        self.state = state
        self.presence = Presence(state.members, now)
        self._idle_ms = idle_ms
        self._effects: list[Effect] = []
        """What the present call has asked for so far."""

    @classmethod
    def new(cls, opened: Opened, now: int, *, idle_ms: int = IDLE_MS) -> tuple[LobbyEngine, Step]:
        """Open a lobby whose settings have no `settings_problem`; its host counts as connected."""
        engine = cls(LobbyState(opened), now, idle_ms)
        engine._effects.append(Append(opened))
        engine.presence.arrive(opened.host.player)
        for seat in range(len(opened.settings.seats)):
            engine._start_bot(seat)
        return engine, engine._take_step(now)

    @classmethod
    def restore(cls, log: Sequence[Entry], now: int, *, idle_ms: int = IDLE_MS) -> LobbyEngine:
        """Fold a log. Nobody is connected yet; handle `Resume` next."""
        return cls(LobbyState.restore(log), now, idle_ms)

    def handle(self, command: Command, now: int) -> Step:
        """Carry a command out, or refuse it.

        When this or `tick` raises anything, nothing of it may be carried out, and the lobby is of
        no use any more if `state.seq` has gone on: it is ahead of its log.
        """
        try:
            self._execute(command, now)
            self._advance()
            return self._take_step(now)
        except Refusal as refusal:
            assert not self._effects, "a refused command has no other effect"
            refuse = Refuse(sender(command), refusal.code, refusal.message)
            return Step([refuse], self._deadline())
        except BaseException:
            self._effects = []
            raise

    def tick(self, now: int) -> Step:
        """Drop members who are away for too long, and close the lobby if nobody is here."""
        if self.state.phase == "closed":
            return Step([], None)
        try:
            for player in self.presence.overdue(now, self._grace_ms()):
                if player in self.state.members:
                    self._drop_absent(self.state.members[player], now)
            self._advance()
            if self._is_expired(now):
                self._close("expired")
            return self._take_step(now)
        except BaseException:
            self._effects = []
            raise

    # --- commands -------------------------------------------------------------------------

    def _execute(self, command: Command, now: int) -> None:
        match command:
            case Join():
                self._join(command)
            case Leave(player):
                self._leave(player, now)
            case Kick(by, player):
                self._kick(by, player)
            case Ready(player, ready):
                self._set_ready(player, ready)
            case Start(by):
                self._start(by)
            case Rematch(by):
                self._rematch(by)
            case Close(by):
                self._close_by_host(by)
            case Arrange():
                self._arrange(command)
            case Connected(player):
                self.presence.arrive(player)
            case Disconnected(player):
                self._mark_away(player, now)
            case MatchFinished(match, result):
                self._end_match(match, result)
            case BotFailed(seat, reason):
                self._fail_bot(seat, reason, now)
            case Resume(matches):
                self._resume(matches)
            case _:
                assert_never(command)

    def _join(self, command: Join) -> None:
        player = command.player
        self._require_not_closed()
        if player.player not in self.state.members:
            seat = seat_for(self.state, command)
            capabilities = command.capabilities or Capabilities()
            self._append(entries.Joined, player=player, seat=seat, capabilities=capabilities)
        self.presence.arrive(player.player)
        self._accept(player.player)

    def _leave(self, player: str, now: int) -> None:
        self._require_not_closed()
        member = self._require_member(player)
        if member.player.kind == "house":
            self._fail_bot(member.seat, "the bot left", now)
        else:
            self._remove(member, entries.Left, reason="left")
        self.presence.disconnect(player)
        self._accept(player)

    def _kick(self, by: str, player: str) -> None:
        self._require_host(by)
        member = self.state.members.get(player)
        if member is None:
            raise Refusal(Code.NO_SUCH_PLAYER, f"no member of this lobby: {player!r}")
        if player == by:
            raise Refusal(Code.WRONG_STATE, "a host cannot remove itself; leave instead")
        has_bot = self.state.is_house_seat(member.seat)
        self._remove(member, entries.Kicked)
        self.presence.disconnect(player)
        self._accept(by)
        self._effects.append(NotifyRemoved(player, "kicked"))
        if has_bot:
            self._effects.append(StopBot(member.seat))

    def _set_ready(self, player: str, ready: bool) -> None:
        self._require_not_closed()
        member = self._require_member(player)
        if member.ready == ready:  # said again, because the answer was lost
            self._accept(player)
            return
        if not self._may_say_ready():
            raise Refusal(
                Code.WRONG_STATE,
                f"ready is said while the lobby is gathering; it is {self.state.phase}",
            )
        self._append(entries.Readied, player=player, ready=ready)
        self._accept(player)

    def _start(self, by: str) -> None:
        self._require_host(by)
        if self.state.phase != "gathering":
            raise Refusal(Code.WRONG_STATE, f"the lobby is {self.state.phase} and cannot start")
        if not self.state.settings.arranged:
            self._require_all_ready()
            self._require_playable()
        self._append_started()
        self._accept(by)

    def _arrange(self, command: Arrange) -> None:
        self._require_host(command.by)
        fresh = new_arrangements(self.state, command)
        if fresh:
            matches = [self.state.arranged_match(each, command.hidden) for each in fresh]
            self._append(entries.Arranged, matches=matches)
        self._effects.append(AnswerArranged(command.by, [each.tag for each in command.matches]))

    def _rematch(self, by: str) -> None:
        self._require_host(by)
        if self.state.settings.arranged:
            raise Refusal(
                Code.WRONG_STATE,
                "an arranged lobby has no rematch: arrange its matches again under other tags",
            )
        if self.state.phase != "finished":
            raise Refusal(
                Code.WRONG_STATE,
                f"a rematch follows a finished programme; the lobby is {self.state.phase}",
            )
        self._append(entries.Rematched, round=self.state.round + 1)
        self._accept(by)
        for seat in self._empty_house_seats():
            self._start_bot(seat)

    def _close_by_host(self, by: str) -> None:
        self._require_host(by)
        if not self.state.running:
            self._close("closed", by)
            return
        if not self.state.closing:
            self._append(entries.Closing)
        self._accept(by)

    def _end_match(self, match: str, result: Result) -> None:
        planned = self.state.running.get(match)
        if planned is None:
            return
        if len(result.seats) != len(planned.players):
            raise ValueError(f"a result for {len(planned.players)} seats has {len(result.seats)}")
        self._append(entries.MatchEnded, number=planned.number, match=match, result=result)

    def _resume(self, matches: Collection[str]) -> None:
        if self.state.phase == "closed":
            return
        for seat in self._empty_house_seats() if self.state.phase != "finished" else []:
            self._reset_ready(seat)
            self._start_bot(seat)
        for match, planned in self.state.running.items():
            if match not in matches:
                self._effects.append(BeginMatch(match, planned))

    # --- requirements: each holds, or the command is refused ------------------------------

    def _require_not_closed(self) -> None:
        if self.state.phase == "closed":
            raise Refusal(Code.CLOSED, f"the lobby {self.state.settings.name!r} is closed")

    def _require_host(self, player: str) -> None:
        self._require_not_closed()
        if player != self.state.host.player:
            raise Refusal(Code.NOT_HOST, f"the host of this lobby is {self.state.host.name!r}")

    def _require_member(self, player: str) -> SeatedMember:
        member = self.state.members.get(player)
        if member is None:
            name = self.state.settings.name
            raise Refusal(Code.NOT_MEMBER, f"not a member of the lobby {name!r}")
        return member

    def _require_all_ready(self) -> None:
        missing = self._empty_house_seats()
        if missing:
            raise Refusal(
                Code.NOT_READY, f"the house bot of seat {missing[0] + 1} has not come yet"
            )
        for member in self.state.by_seat():
            if member.player.player not in self.presence.connected:
                raise Refusal(Code.NOT_READY, f"{member.player.name!r} is not connected")
            if not member.ready:
                raise Refusal(Code.NOT_READY, f"{member.player.name!r} is not ready")

    def _require_playable(self) -> None:
        try:
            self.state.require_playable()
        except Unplayable as why:
            raise Refusal(Code.BAD_SEATS, str(why)) from None

    # --- house bots -----------------------------------------------------------------------

    def _start_bot(self, seat: int) -> None:
        spec = self.state.seat_spec(seat)
        if isinstance(spec, HouseSeat):
            bot = self.state.occupant(seat)
            self._effects.append(StartBot(seat, spec.personality, bot.player if bot else None))

    def _reset_ready(self, seat: int) -> None:
        """A new process of a house bot is not warm, and says ready anew, where that may be said."""
        bot = self.state.occupant(seat)
        if bot is not None and bot.ready and self._may_say_ready():
            self._append(entries.Readied, player=bot.player.player, ready=False)

    def _fail_bot(self, seat: int, reason: str, now: int) -> None:
        if self.state.phase == "closed" or not self.state.is_house_seat(seat):
            return
        bot = self.state.occupant(seat)
        if bot is not None:
            self._mark_away(bot.player.player, now)
        matches = self._matches_of(bot)
        self._append(entries.HouseLost, seat=seat, reason=reason[:_REASON_CHARS])
        if self.state.is_house_seat(seat):
            if self.state.phase != "finished":
                self._start_bot(seat)
            return
        if bot is not None:
            self.presence.remove(bot.player.player)
            self._effects += [VacateSeat(match, bot.player.player) for match in matches]
        self._effects.append(StopBot(seat))

    def _empty_house_seats(self) -> list[int]:
        """Return the seats that wait for a house bot, or whose house bot is not connected."""
        seats = []
        for seat in self.state.house_seats():
            bot = self.state.occupant(seat)
            if bot is None or bot.player.player not in self.presence.connected:
                seats.append(seat)
        return seats

    # --- coming and going -----------------------------------------------------------------

    def _mark_away(self, player: str, now: int) -> None:
        self.presence.depart(player, now, member=player in self.state.members)

    def _drop_absent(self, member: SeatedMember, now: int) -> None:
        """A member has been away for too long; a house bot for which this happens has failed."""
        if member.player.kind == "house" and self.state.is_house_seat(member.seat):
            self.presence.remove(member.player.player)
            self._fail_bot(member.seat, "the bot did not come back", now)
        else:
            self._remove(member, entries.Left, reason="away")
            self._effects.append(NotifyRemoved(member.player.player, "expired"))

    def _remove(
        self, member: SeatedMember, entry: type[entries.Left | entries.Kicked], **fields: Any
    ) -> None:
        player = member.player.player
        matches = self._matches_of(member)
        self._append(entry, player=player, **fields)
        self.presence.remove(player)
        self._effects += [VacateSeat(match, player) for match in matches]

    def _matches_of(self, member: SeatedMember | None) -> list[str]:
        if member is None:
            return []
        running = self.state.running.items()
        return [match for match, planned in running if member.player in planned.players]

    # --- going on -------------------------------------------------------------------------

    def _advance(self) -> None:
        """Do what the state now allows without being asked."""
        if not self.state.started and self._starts_by_itself():
            self._append_started()
        if self.state.phase == "running":
            self._begin_matches()
        if self.state.closing and not self.state.running and self.state.phase != "closed":
            self._close("closed")

    def _starts_by_itself(self) -> bool:
        state = self.state
        if state.settings.arranged or not state.settings.auto_start:
            return False
        if state.closed or state.free_seats():
            return False
        connected = self.presence.connected
        members = state.members.values()
        if not all(each.ready and each.player.player in connected for each in members):
            return False
        try:
            state.require_playable()
        except Unplayable:
            return False  # the host hears why when it asks to start
        return True

    def _begin_matches(self) -> None:
        state = self.state
        if not state.waiting or len(state.running) >= state.settings.at_once:
            return
        chosen = next_matches(
            state.waiting,
            state.running.values(),
            at_once=state.settings.at_once,
            capacity=self._capacity(),
            fewest=state.fewest_seats(),
        )
        for number, players in [(each.number, list(each.players)) for each in chosen]:
            match = state.match_key(number)
            self._append(entries.MatchBegun, number=number, match=match, players=players)
            self._effects.append(BeginMatch(match, state.running[match]))

    def _capacity(self) -> dict[str, int]:
        """Return how many matches each connected member plays at the same time."""
        return {
            player: each.capabilities.at_once
            for player, each in self.state.members.items()
            if player in self.presence.connected
            and (each.ready or not self.state.settings.arranged)
        }

    def _close(self, reason: CloseReason, by: str | None = None) -> None:
        members = list(self.state.members)
        seats = self.state.house_seats()
        self._append(entries.Closed, reason=reason)
        if by is not None:
            self._accept(by)
        self._effects += [NotifyRemoved(player, reason) for player in members]
        self._effects += [StopBot(seat) for seat in seats]
        self._effects.append(LobbyOver(reason))
        self.presence.clear_absences()

    def _is_expired(self, now: int) -> bool:
        due = self.presence.empty_for(self._idle_ms)
        return due is not None and now >= due and not self.state.playing

    # --- small things ---------------------------------------------------------------------

    def _append(self, entry: Callable[..., Entry], **fields: Any) -> None:
        made = entry(seq=self.state.seq + 1, **fields)
        self.state.apply(made)
        self._effects.append(Append(made))

    def _append_started(self) -> None:
        state = self.state
        self._append(entries.Started, round=state.round, base_seed=state.round_seed())

    def _accept(self, player: str) -> None:
        self._effects.append(Accepted(player))

    def _take_step(self, now: int) -> Step:
        """Note whether anybody is here, and hand over the effects with the next deadline."""
        self.presence.note_visitors(self.state.is_house_bot, now)
        effects, self._effects = self._effects, []
        return Step(effects, self._deadline())

    def _deadline(self) -> int | None:
        """Return when `tick` is due, if nothing happens before."""
        if self.state.phase == "closed":
            return None
        idle = None if self.state.playing else self.presence.empty_for(self._idle_ms)
        due = [self.presence.first_overdue(self._grace_ms()), idle]
        return min((each for each in due if each is not None), default=None)

    def _may_say_ready(self) -> bool:
        return self.state.phase == "gathering" or self.state.accepts_matches

    def _grace_ms(self) -> int:
        return max(self.state.settings.conduct.grace_ms, MIN_GRACE_MS)
