"""A lobby: members, seats, and a programme of matches. Sans-I/O.

`Lobby.handle` takes a command and returns effects, in order. The caller must carry them out in
that order, and each `Append` durably before anything after it. A command is either done, with
entries in the log, or refused, with nothing changed. Time is an argument: `now` is a monotonic
clock in milliseconds, `deadline` says when `tick` is due next.

Rules that are nobody else's:

- The host need not sit. Whoever hosted keeps the host's rights, in or out of the lobby, for
  its whole life, and enters without an invite code.
- A reserved seat lets in whoever has the name (or one that looks like it), whatever `joinable`
  says. A player whom the host removed may not come back.
- A house bot takes its seat with the ticket it was hired with. It says ready, as every bot,
  once it is warm; a rematch keeps it ready. When its process fails it is hired again, up to
  `HIRES` failures in a round; then its seat is open to anybody, and its matches are void.
- A match begins once all of its players are connected; others go on meanwhile. A member who
  is disconnected for longer than the tables' grace, and at least `AWAY_MS`, has left.
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
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, assert_never

from kibitz_protocol.messages import Capabilities
from kibitz_protocol.records import Player, Result
from kibitz_protocol.refusals import Code
from kibitz_protocol.rooms import (
    Arrangement,
    HouseSeat,
    HouseTrouble,
    LobbyBrief,
    LobbySettings,
    LobbyState,
    LobbyView,
    MatchBrief,
    Member,
    OpenSeat,
    ProgrammeItem,
    ReservedSeat,
    SeatSpec,
)
from kibitz_server import roll
from kibitz_server.names import BadName, normalise, skeleton
from kibitz_server.programme import (
    Planned,
    Unplayable,
    matches,
    next_matches,
    uneven,
    why_not,
)
from kibitz_server.roll import CloseReason, Entry, Opened, Roll, Seated

AWAY_MS = 30_000
"""A member may be disconnected at least this long, however short the tables' grace is."""
IDLE_MS = 15 * 60_000
"""How long a lobby stays where nobody is."""
MOST_MATCHES = 20_000
"""The most matches that a programme may have, or a host may arrange."""


# --- commands -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Join:
    """Take a seat. `ticket` is the house seat that the caller knows this bot was hired for."""

    player: Player
    capabilities: Capabilities | None = None
    invite: str | None = None
    ticket: int | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    player: str


@dataclass(frozen=True, slots=True)
class Kick:
    by: str
    player: str


@dataclass(frozen=True, slots=True)
class Ready:
    player: str
    ready: bool = True


@dataclass(frozen=True, slots=True)
class Start:
    by: str


@dataclass(frozen=True, slots=True)
class Rematch:
    by: str


@dataclass(frozen=True, slots=True)
class Close:
    by: str


@dataclass(frozen=True, slots=True)
class Arrange:
    """Play matches whose games, options and clocks the caller has checked.

    `hidden` names the games that hide something.
    """

    by: str
    matches: Sequence[Arrangement]
    hidden: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Connected:
    """Somebody is here: a member, the host, or a spectator. Not answered."""

    player: str


@dataclass(frozen=True, slots=True)
class Disconnected:
    """Somebody has no connection any more. Not answered."""

    player: str


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """A match that this lobby began is over. Told twice, it counts once. Not answered."""

    match: str
    result: Result


@dataclass(frozen=True, slots=True)
class HouseFailed:
    """The process of a house seat ended, or did not come in time. Not answered."""

    seat: int
    reason: str


@dataclass(frozen=True, slots=True)
class Resume:
    """First command after `Lobby.restore`. Not answered.

    `matches` are those of this lobby that exist, running or finished; all others that the log
    says have begun are begun again, under the same identifier. The caller tells `MatchEnded`
    for the finished ones, before or after.
    """

    matches: Collection[str]


Command: TypeAlias = (
    Join
    | Leave
    | Kick
    | Ready
    | Start
    | Rematch
    | Close
    | Arrange
    | Connected
    | Disconnected
    | MatchEnded
    | HouseFailed
    | Resume
)


# --- effects ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Append:
    """Write `entry` to the log; then the lobby looks as `Lobby.view` says."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Accepted:
    """Answer `player`: its request is done."""

    player: str


@dataclass(frozen=True, slots=True)
class Briefed:
    """Answer `player` with what `Lobby.arranged` says of `tags` once the log is written."""

    player: str
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer `player`: nothing was done. The only effect of its command."""

    player: str
    code: Code
    message: str


@dataclass(frozen=True, slots=True)
class Hire:
    """Start a process for a house seat; `player` is who it was before, to come back as."""

    seat: int
    personality: str
    player: Player | None


@dataclass(frozen=True, slots=True)
class Dismiss:
    """End the process of a house seat, if there is one."""

    seat: int


@dataclass(frozen=True, slots=True)
class Begin:
    """Make the match `match`, unless it exists."""

    match: str
    planned: Planned


@dataclass(frozen=True, slots=True)
class Vacate:
    """`player` leaves its seat at the running match `match`."""

    match: str
    player: str


@dataclass(frozen=True, slots=True)
class Gone:
    """Tell `player` that it is no longer in the lobby."""

    player: str
    reason: Literal["closed", "kicked", "expired", "failed"]


@dataclass(frozen=True, slots=True)
class Closed:
    """The lobby is gone; the last effect that it ever has."""

    reason: CloseReason


Effect: TypeAlias = (
    Append | Accepted | Briefed | Refuse | Hire | Dismiss | Begin | Vacate | Gone | Closed
)


class _Refusal(Exception):
    """Raised by a check before anything has changed."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


# --- the lobby ----------------------------------------------------------------------------


class Lobby:
    """A roll, and who is connected. Make one with `new` or `restore`."""

    def __init__(self, kept: Roll, now: int, idle_ms: int) -> None:
        self.roll = kept
        self._idle_ms = idle_ms
        self._present: set[str] = set()
        self._away = dict.fromkeys(kept.members, now)
        """Since when each member that is not connected has been away."""
        self._idle_since: int | None = now
        self._effects: list[Effect] = []

    @classmethod
    def new(cls, opened: Opened, now: int, *, idle_ms: int = IDLE_MS) -> tuple[Lobby, list[Effect]]:
        """Open a lobby whose settings have no `objection`; its host counts as connected."""
        lobby = cls(Roll(opened), now, idle_ms)
        lobby._effects.append(Append(opened))
        lobby._arrive(opened.host.player)
        for seat in range(len(opened.settings.seats)):
            lobby._hire(seat)
        return lobby, lobby._taken(now)

    @classmethod
    def restore(cls, entries: Sequence[Entry], now: int, *, idle_ms: int = IDLE_MS) -> Lobby:
        """Fold a log. Nobody is connected yet; handle `Resume` next."""
        return cls(Roll.restore(entries), now, idle_ms)

    @property
    def id(self) -> str:
        return self.roll.opened.lobby

    @property
    def host(self) -> Player:
        return self.roll.opened.host

    @property
    def settings(self) -> LobbySettings:
        return self.roll.settings

    @property
    def state(self) -> LobbyState:
        return self.roll.state

    def may_watch(self, player: str) -> bool:
        """Whether somebody may enter as a spectator, and watch matches."""
        return self.settings.watchable or self._inside(player)

    def handle(self, command: Command, now: int) -> list[Effect]:
        """Carry a command out, or refuse it.

        When this or `tick` raises anything, nothing of it may be carried out, and the lobby is of
        no use any more if `roll.seq` has gone on: it is ahead of its log.
        """
        try:
            self._carry_out(command, now)
            self._go_on()
            return self._taken(now)
        except _Refusal as refusal:
            assert not self._effects, "a refused command has no other effect"
            return [Refuse(_sender(command), refusal.code, refusal.message)]
        except BaseException:
            self._effects = []
            raise

    def deadline(self) -> int | None:
        """Return when `tick` is due, if nothing happens before."""
        if self.state == "closed":
            return None
        times = [since + self._away_ms() for since in self._away.values()]
        if self._idle_since is not None and not self.roll.playing:
            times.append(self._idle_since + self._idle_ms)
        return min(times, default=None)

    def tick(self, now: int) -> list[Effect]:
        """Let those go who are away for too long, and the lobby itself if nobody is here."""
        if self.state == "closed":
            return []
        try:
            for player, since in list(self._away.items()):
                if now >= since + self._away_ms() and player in self.roll.members:
                    self._let_go(self.roll.members[player], now)
            self._go_on()
            if self._expired(now):
                self._close("expired")
            return self._taken(now)
        except BaseException:
            self._effects = []
            raise

    # --- what members and lists see -------------------------------------------------------

    def view(
        self, viewer: str | None, *, spectators: int = 0, plies: Mapping[str, int] | None = None
    ) -> LobbyView:
        """Return the lobby as `viewer` may see it; `plies` are those of the running matches."""
        kept = self.roll
        return LobbyView(
            lobby=self.id,
            settings=self._shown_settings(viewer),
            host=self.host.player,
            state=kept.state,
            round=kept.round,
            members=[self._member(each) for each in kept.by_seat()],
            spectators=spectators,
            invite=kept.opened.invite if viewer is not None and self._inside(viewer) else None,
            planned=kept.planned,
            done=kept.done,
            void=kept.void,
            house_trouble=self._house_trouble(),
            live=[self.match_brief(match, plies=plies) for match in kept.running],
            standings=kept.table.lines(self._ranked()),
        )

    def brief(self) -> LobbyBrief:
        """Return the lobby's line in a list."""
        return LobbyBrief(
            lobby=self.id,
            name=self.settings.name,
            host=self.host.name,
            state=self.state,
            joinable=self.settings.joinable,
            watchable=self.settings.watchable,
            games=list(dict.fromkeys(item.game for item in self._items())),
            members=len(self.roll.members),
            places=len(self.settings.seats),
        )

    def match_brief(self, match: str, *, plies: Mapping[str, int] | None = None) -> MatchBrief:
        """Return a running match's line in a list; raises `KeyError` for any other."""
        planned = self.roll.running[match]
        return MatchBrief(
            match=match,
            lobby=self.id,
            number=planned.number,
            block=planned.block,
            game=planned.item.game,
            seats=list(planned.players),
            ply=(plies or {}).get(match, 0),
            time_control=planned.item.time_control,
            watchable=self._shows_matches(),
            tag=planned.tag,
        )

    def arranged(
        self, tags: Sequence[str], durable: int, *, plies: Mapping[str, int] | None = None
    ) -> list[MatchBrief | None]:
        """Return how arranged matches stand: None for one that waits.

        The seats are those who were to play, whoever may have played on for them. Results are
        on the disk before a lobby hears of them, but what is void only by an entry later than
        `durable` may be played after all when the server dies now: it still waits.
        """
        running = {planned.number: match for match, planned in self.roll.running.items()}
        briefs: list[MatchBrief | None] = []
        for tag in tags:
            number = self.roll.tags[tag]
            if number in running:
                briefs.append(self.match_brief(running[number], plies=plies))
            else:
                briefs.append(self._settled_brief(number, tag, durable))
        return briefs

    def personality(self, player: str) -> str | None:
        """Return which house bot a member is; None where it is none."""
        member = self.roll.members.get(player)
        spec = None if member is None else self.settings.seats[member.seat]
        hired = member is not None and member.player.kind == "house"
        return spec.personality if hired and isinstance(spec, HouseSeat) else None

    def _settled_brief(self, number: int, tag: str, durable: int) -> MatchBrief | None:
        settled = self.roll.settled.get(number)
        if settled is None or (settled.result is None and settled.seq > durable):
            return None
        line = settled.result
        result = None if line is None else Result.model_validate_json(line)
        return MatchBrief(
            match=settled.match,
            lobby=self.id,
            number=number,
            game=settled.item.game,
            seats=list(settled.players),
            ply=0 if result is None else result.plies,
            time_control=settled.item.time_control,
            watchable=self._shows_matches(),
            result=result,
            tag=tag,
            void=result is None,
        )

    def _house_trouble(self) -> list[HouseTrouble]:
        trouble = []
        for seat, count in sorted(self.roll.failures.items()):
            spec = self.settings.seats[seat]
            assert isinstance(spec, HouseSeat), "only a house seat's bot fails"
            trouble.append(
                HouseTrouble(
                    seat=seat,
                    personality=spec.personality,
                    failures=count,
                    reason=self.roll.failure_reasons[seat],
                    given_up=seat in self.roll.given_up,
                )
            )
        return trouble

    def _shows_matches(self) -> bool:
        return self.settings.watchable and self.settings.spectating.mode != "off"

    def _items(self) -> list[ProgrammeItem]:
        """Return what is played here: the programme, and the kinds of what was arranged."""
        return [*self.settings.programme, *self.roll.kinds.values()]

    def _shown_settings(self, viewer: str | None) -> LobbySettings:
        if viewer == self.host.player:
            return self.settings
        items = [item.model_copy(update={"seed": None}) for item in self.settings.programme]
        return self.settings.model_copy(update={"programme": items})

    def _member(self, each: Seated) -> Member:
        return Member(
            player=each.player.player,
            name=each.player.name,
            kind=each.player.kind,
            seat=each.seat,
            ready=each.ready,
            connected=each.player.player in self._present,
        )

    def _ranked(self) -> Sequence[Player]:
        if self.roll.started:
            return self.roll.roster
        return [each.player for each in self.roll.by_seat()]

    def _inside(self, player: str) -> bool:
        return player == self.host.player or player in self.roll.members

    # --- commands -------------------------------------------------------------------------

    def _carry_out(self, command: Command, now: int) -> None:
        match command:
            case Join():
                self._join(command)
            case Leave(player):
                self._leave(player, now)
            case Kick(by, player):
                self._kick(by, player)
            case Ready(player, ready):
                self._say_ready(player, ready)
            case Start(by):
                self._start(by)
            case Rematch(by):
                self._rematch(by)
            case Close(by):
                self._close_by(by)
            case Arrange():
                self._arrange(command)
            case Connected(player):
                self._arrive(player)
            case Disconnected(player):
                self._depart(player, now)
            case MatchEnded(match, result):
                self._end_match(match, result)
            case HouseFailed(seat, reason):
                self._fail_house(seat, reason, now)
            case Resume(matches):
                self._resume(matches)
            case _:
                assert_never(command)

    def _join(self, command: Join) -> None:
        player = command.player
        self._require_not_closed()
        if player.player not in self.roll.members:
            self._require_admission(command)
            seat = self._seat_for(command)
            capabilities = command.capabilities or Capabilities()
            self._require_use(player, capabilities, seat)
            self._append(roll.Joined, player=player, seat=seat, capabilities=capabilities)
        self._arrive(player.player)
        self._accept(player.player)

    def _leave(self, player: str, now: int) -> None:
        self._require_not_closed()
        member = self._require_member(player)
        if member.player.kind == "house":
            self._fail_house(member.seat, "the bot left", now)
        else:
            self._remove(member, roll.Left, reason="left")
        self._present.discard(player)
        self._accept(player)

    def _kick(self, by: str, player: str) -> None:
        self._require_host(by)
        member = self.roll.members.get(player)
        if member is None:
            raise _Refusal(Code.NO_SUCH_PLAYER, f"no member of this lobby: {player!r}")
        if player == by:
            raise _Refusal(Code.WRONG_STATE, "a host cannot remove itself; leave instead")
        hired = self._is_house_seat(member.seat)
        self._remove(member, roll.Kicked)
        self._present.discard(player)
        self._accept(by)
        self._effects.append(Gone(player, "kicked"))
        if hired:
            self._effects.append(Dismiss(member.seat))

    def _say_ready(self, player: str, ready: bool) -> None:
        self._require_not_closed()
        member = self._require_member(player)
        if member.ready == ready:  # said again, because the answer was lost
            self._accept(player)
            return
        if self.state != "gathering" and not self._arranging():
            raise _Refusal(
                Code.WRONG_STATE, f"ready is said while the lobby is gathering; it is {self.state}"
            )
        self._append(roll.Readied, player=player, ready=ready)
        self._accept(player)

    def _start(self, by: str) -> None:
        self._require_host(by)
        if self.state != "gathering":
            raise _Refusal(Code.WRONG_STATE, f"the lobby is {self.state} and cannot start")
        if not self.settings.arranged:
            self._require_programme()
        self._append_started()
        self._accept(by)

    def _require_programme(self) -> None:
        self._require_all_ready()
        try:
            self.roll.require_playable()
        except Unplayable as why:
            raise _Refusal(Code.BAD_SEATS, str(why)) from None

    def _arrange(self, command: Arrange) -> None:
        self._require_host(command.by)
        self._require_arranged()
        self._require_different(command.matches)
        known = self.roll.tags
        fresh = [each for each in command.matches if each.tag not in known]
        if fresh:
            self._require_arranging(len(fresh))
            for each in fresh:
                self._require_able(each)
            allotted = [self.roll.allot(each, command.hidden) for each in fresh]
            self._append(roll.Arranged, matches=allotted)
        self._effects.append(Briefed(command.by, [each.tag for each in command.matches]))

    def _rematch(self, by: str) -> None:
        self._require_host(by)
        if self.settings.arranged:
            raise _Refusal(
                Code.WRONG_STATE,
                "an arranged lobby has no rematch: arrange its matches again under other tags",
            )
        if self.state != "finished":
            raise _Refusal(
                Code.WRONG_STATE,
                f"a rematch follows a finished programme; the lobby is {self.state}",
            )
        self._append(roll.Rematched, round=self.roll.round + 1)
        self._accept(by)
        for seat in self._empty_house_seats():
            self._hire(seat)

    def _close_by(self, by: str) -> None:
        self._require_host(by)
        if not self.roll.running:
            self._close("closed", by)
            return
        if not self.roll.closing:
            self._append(roll.Closing)
        self._accept(by)

    def _end_match(self, match: str, result: Result) -> None:
        planned = self.roll.running.get(match)
        if planned is None:
            return
        if len(result.seats) != len(planned.players):
            raise ValueError(f"a result for {len(planned.players)} seats has {len(result.seats)}")
        self._append(roll.MatchEnded, number=planned.number, match=match, result=result)

    def _resume(self, matches: Collection[str]) -> None:
        if self.state == "closed":
            return
        for seat in self._empty_house_seats() if self.state != "finished" else []:
            self._cool(seat)
            self._hire(seat)
        for match, planned in self.roll.running.items():
            if match not in matches:
                self._effects.append(Begin(match, planned))

    # --- requirements: each holds, or the command is refused ------------------------------

    def _require_not_closed(self) -> None:
        if self.state == "closed":
            raise _Refusal(Code.CLOSED, f"the lobby {self.settings.name!r} is closed")

    def _require_host(self, player: str) -> None:
        self._require_not_closed()
        if player != self.host.player:
            raise _Refusal(Code.NOT_HOST, f"the host of this lobby is {self.host.name!r}")

    def _require_member(self, player: str) -> Seated:
        member = self.roll.members.get(player)
        if member is None:
            raise _Refusal(Code.NOT_MEMBER, f"not a member of the lobby {self.settings.name!r}")
        return member

    def _require_admission(self, command: Join) -> None:
        """Whoever has a seat waiting for it, and the host, need no invite code."""
        player = command.player.player
        if player in self.roll.barred:
            raise _Refusal(Code.CLOSED, f"the host removed you from {self.settings.name!r}")
        if not self._expected(command):
            self._require_invitation(command.invite)
        if self.state == "running" and not self._arranging():
            raise _Refusal(
                Code.WRONG_STATE, "the programme is running; join when the round is over"
            )

    def _require_invitation(self, invite: str | None) -> None:
        joinable = self.settings.joinable
        if joinable == "closed":
            raise _Refusal(Code.CLOSED, f"the lobby {self.settings.name!r} is not open to join")
        if joinable == "invite" and not _same(invite, self.roll.opened.invite):
            what = "needs an invite code" if invite is None else f"has another code than {invite!r}"
            raise _Refusal(Code.WRONG_INVITE, f"the lobby {self.settings.name!r} {what}")

    def _require_use(self, player: Player, capabilities: Capabilities, seat: int) -> None:
        """Refuse a bot that could play nothing here, or that would leave too few who can."""
        reasons = [why_not(item, capabilities) for item in self.settings.programme]
        if reasons and all(reasons):
            raise _Refusal(
                Code.BAD_SEATS, f"{player.name!r} can play nothing of the programme: {reasons[0]}"
            )
        if self.settings.arranged:
            return
        for item, reason in zip(self.settings.programme, reasons, strict=True):
            could = self._could_play(item, without=seat)
            if reason and could < item.seats:
                raise _Refusal(
                    Code.BAD_SEATS,
                    f"{item.game!r} with {item.seats} seats would have only {could} players if"
                    f" {player.name!r} joined: {reason}",
                )

    def _require_all_ready(self) -> None:
        missing = self._empty_house_seats()
        if missing:
            raise _Refusal(Code.NOT_READY, f"the house bot of seat {missing[0]} has not come yet")
        for member in self.roll.by_seat():
            if member.player.player not in self._present:
                raise _Refusal(Code.NOT_READY, f"{member.player.name!r} is not connected")
            if not member.ready:
                raise _Refusal(Code.NOT_READY, f"{member.player.name!r} is not ready")

    def _require_arranged(self) -> None:
        if not self.settings.arranged:
            raise _Refusal(
                Code.WRONG_STATE,
                f"the lobby {self.settings.name!r} plays a programme; matches are arranged in"
                " one that was opened with arranged=true",
            )

    def _require_different(self, matches: Sequence[Arrangement]) -> None:
        seen: set[str] = set()
        for index, each in enumerate(matches):
            if each.tag in seen:
                raise _Refusal(
                    Code.BAD_OPTION, f"matches.{index}.tag: {each.tag!r} is in this request twice"
                )
            seen.add(each.tag)

    def _require_arranging(self, more: int) -> None:
        if self.roll.closing:
            raise _Refusal(Code.WRONG_STATE, "the lobby is closing and begins nothing more")
        if self.state != "running":
            raise _Refusal(
                Code.WRONG_STATE,
                f"matches are arranged after the start; the lobby is {self.state}",
            )
        if self.roll.planned + more > MOST_MATCHES:
            raise _Refusal(
                Code.LIMIT,
                f"at most {MOST_MATCHES} matches are arranged in a lobby, and with these"
                f" {more} it would be {self.roll.planned + more}",
            )

    def _require_able(self, wanted: Arrangement) -> None:
        """Refuse a match that its players cannot play."""
        item, players = wanted.item, wanted.players
        if len(players) != item.seats:
            raise _Refusal(
                Code.BAD_SEATS,
                f"match {wanted.tag!r}: {item.seats} seats need as many players, and these are"
                f" {len(players)}",
            )
        if len(set(players)) < len(players):
            raise _Refusal(
                Code.BAD_SEATS, f"match {wanted.tag!r}: nobody has two of its seats: {players}"
            )
        for player in players:
            self._require_able_player(wanted, player)

    def _require_able_player(self, wanted: Arrangement, player: str) -> None:
        member = self.roll.members.get(player)
        if member is None:
            raise _Refusal(
                Code.NO_SUCH_PLAYER, f"match {wanted.tag!r}: no member of this lobby: {player!r}"
            )
        reason = why_not(wanted.item, member.capabilities)
        if reason:
            raise _Refusal(
                Code.BAD_SEATS,
                f"match {wanted.tag!r}: {member.player.name!r} cannot play it: {reason}",
            )

    # --- seats ----------------------------------------------------------------------------

    def _expected(self, command: Join) -> bool:
        """Whether the host let this player in by name, by hiring it, or is it."""
        return (
            command.player.player == self.host.player
            or command.ticket is not None
            or self._reserved_for(command.player.name) is not None
        )

    def _seat_for(self, command: Join) -> int:
        if command.ticket is not None:
            return self._ticketed(command.ticket)
        reserved = self._reserved_for(command.player.name)
        if reserved is not None:
            return reserved
        free = self._free_seats()
        for seat in free:
            if isinstance(self.roll.seat_spec(seat), OpenSeat):
                return seat
        name = self.settings.name
        if free:
            raise _Refusal(Code.FULL, f"the free seats of the lobby {name!r} are kept for others")
        raise _Refusal(
            Code.FULL, f"all {len(self.settings.seats)} seats of the lobby {name!r} are taken"
        )

    def _ticketed(self, seat: int) -> int:
        if not self._is_house_seat(seat) or self.roll.occupant(seat) is not None:
            raise _Refusal(Code.FULL, f"seat {seat} waits for no house bot")
        return seat

    def _reserved_for(self, name: str) -> int | None:
        looks = skeleton(name)
        for seat in self._free_seats():
            spec = self.roll.seat_spec(seat)
            if isinstance(spec, ReservedSeat) and skeleton(spec.name) == looks:
                return seat
        return None

    def _free_seats(self) -> list[int]:
        taken = {each.seat for each in self.roll.members.values()}
        return [seat for seat in range(len(self.settings.seats)) if seat not in taken]

    def _is_house_seat(self, seat: int) -> bool:
        inside = 0 <= seat < len(self.settings.seats)
        return inside and isinstance(self.roll.seat_spec(seat), HouseSeat)

    def _empty_house_seats(self) -> list[int]:
        """Seats that wait for a house bot, or whose house bot is not connected."""
        seats = []
        for seat in filter(self._is_house_seat, range(len(self.settings.seats))):
            bot = self.roll.occupant(seat)
            if bot is None or bot.player.player not in self._present:
                seats.append(seat)
        return seats

    def _could_play(self, item: ProgrammeItem, *, without: int) -> int:
        """Count the members who can play `item`, and the seats where such may yet come."""
        able = sum(1 for each in self.roll.members.values() if not why_not(item, each.capabilities))
        free = [self.roll.seat_spec(seat) for seat in self._free_seats() if seat != without]
        return able + sum(1 for spec in free if _could_seat(spec, item))

    # --- house bots -----------------------------------------------------------------------

    def _hire(self, seat: int) -> None:
        spec = self.roll.seat_spec(seat)
        if isinstance(spec, HouseSeat):
            bot = self.roll.occupant(seat)
            self._effects.append(Hire(seat, spec.personality, bot.player if bot else None))

    def _cool(self, seat: int) -> None:
        """A new process of a house bot is not warm, and says ready anew, where that may be said."""
        bot = self.roll.occupant(seat)
        sayable = self.state == "gathering" or self._arranging()
        if bot is not None and bot.ready and sayable:
            self._append(roll.Readied, player=bot.player.player, ready=False)

    def _fail_house(self, seat: int, reason: str, now: int) -> None:
        if self.state == "closed" or not self._is_house_seat(seat):
            return
        bot = self.roll.occupant(seat)
        if bot is not None:
            self._depart(bot.player.player, now)
        matches = self._matches_of(bot)
        self._append(roll.HouseLost, seat=seat, reason=reason[:200])
        if self._is_house_seat(seat):
            if self.state != "finished":
                self._hire(seat)
            return
        self._forget(bot)
        self._effects += [Vacate(match, bot.player.player) for match in matches if bot]
        self._effects.append(Dismiss(seat))

    # --- coming, going, and going on ------------------------------------------------------

    def _arrive(self, player: str) -> None:
        self._present.add(player)
        self._away.pop(player, None)

    def _depart(self, player: str, now: int) -> None:
        self._present.discard(player)
        if player in self.roll.members:
            self._away.setdefault(player, now)

    def _let_go(self, member: Seated, now: int) -> None:
        """A member has been away for too long; a house bot for which this happens has failed."""
        if member.player.kind == "house" and self._is_house_seat(member.seat):
            del self._away[member.player.player]
            self._fail_house(member.seat, "the bot did not come back", now)
        else:
            self._remove(member, roll.Left, reason="away")
            self._effects.append(Gone(member.player.player, "expired"))

    def _remove(self, member: Seated, entry: type[roll.Left | roll.Kicked], **fields: Any) -> None:
        player = member.player.player
        matches = self._matches_of(member)
        self._append(entry, player=player, **fields)
        self._forget(member)
        self._effects += [Vacate(match, player) for match in matches]

    def _forget(self, member: Seated | None) -> None:
        if member is not None:
            self._away.pop(member.player.player, None)

    def _matches_of(self, member: Seated | None) -> list[str]:
        if member is None:
            return []
        running = self.roll.running.items()
        return [match for match, planned in running if member.player in planned.players]

    def _go_on(self) -> None:
        """Do what the state now allows without being asked."""
        if self._starts_by_itself():
            self._append_started()
        if self.state == "running":
            self._begin_matches()
        if self.roll.closing and not self.roll.running and self.state != "closed":
            self._close("closed")

    def _starts_by_itself(self) -> bool:
        if self.settings.arranged or not self.settings.auto_start:
            return False
        if self.state != "gathering" or self._free_seats():
            return False
        members = self.roll.members.values()
        if not all(each.ready and each.player.player in self._present for each in members):
            return False
        try:
            self.roll.require_playable()
        except Unplayable:
            return False  # the host hears why when it asks to start
        return True

    def _begin_matches(self) -> None:
        chosen = next_matches(
            self.roll.waiting.values(),
            self.roll.running.values(),
            at_once=self.settings.at_once,
            capacity=self._capacity(),
            fewest=min((item.seats for item in self._items()), default=1),
        )
        for planned in chosen:
            match = self.roll.match_of(planned.number)
            players = list(planned.players)
            self._append(roll.MatchBegun, number=planned.number, match=match, players=players)
            self._effects.append(Begin(match, planned))

    def _capacity(self) -> dict[str, int]:
        return {
            player: each.capabilities.at_once
            for player, each in self.roll.members.items()
            if player in self._present and (each.ready or not self.settings.arranged)
        }

    def _close(self, reason: CloseReason, by: str | None = None) -> None:
        members = list(self.roll.members)
        seats = filter(self._is_house_seat, range(len(self.settings.seats)))
        self._append(roll.Closed, reason=reason)
        if by is not None:
            self._accept(by)
        self._effects += [Gone(player, reason) for player in members]
        self._effects += [Dismiss(seat) for seat in seats]
        self._effects.append(Closed(reason))
        self._away.clear()

    # --- small things ---------------------------------------------------------------------

    def _append(self, entry: Callable[..., Entry], **fields: Any) -> None:
        made = entry(seq=self.roll.seq + 1, **fields)
        self.roll.apply(made)
        self._effects.append(Append(made))

    def _append_started(self) -> None:
        self._append(roll.Started, round=self.roll.round, base_seed=self.roll.round_seed())

    def _accept(self, player: str) -> None:
        self._effects.append(Accepted(player))

    def _taken(self, now: int) -> list[Effect]:
        """Hand over the effects, and note whether anybody is here."""
        if not self._anybody():
            self._idle_since = now if self._idle_since is None else self._idle_since
        else:
            self._idle_since = None
        effects, self._effects = self._effects, []
        return effects

    def _anybody(self) -> bool:
        members = self.roll.members.values()
        house = {each.player.player for each in members if each.player.kind == "house"}
        return bool(self._present - house)

    def _expired(self, now: int) -> bool:
        if self.roll.playing or self._idle_since is None or self.state == "closed":
            return False
        return now >= self._idle_since + self._idle_ms

    def _arranging(self) -> bool:
        """Whether the host may have more matches played, and others may come for them."""
        return self.settings.arranged and self.state == "running" and not self.roll.closing

    def _away_ms(self) -> int:
        return max(self.settings.conduct.grace_ms, AWAY_MS)


# --- settings -----------------------------------------------------------------------------


def objection(settings: LobbySettings, balanced: Collection[str] = ()) -> tuple[Code, str] | None:
    """Say why a lobby cannot have these settings; None when it can.

    Games, options and personalities are for the caller to check, who knows them; `balanced`
    names the games that are played in blocks.
    """
    return (
        _places_trouble(settings)
        or _names_trouble(settings)
        or _programme_trouble(settings, balanced)
        or _conduct_trouble(settings)
    )


def _places_trouble(settings: LobbySettings) -> tuple[Code, str] | None:
    for item in settings.programme:
        places = sum(1 for spec in settings.seats if _could_seat(spec, item))
        if places < item.seats:
            return Code.BAD_SEATS, (
                f"{item.game!r} with {item.seats} seats needs as many places in the lobby that"
                f" can play it, and there are {places}"
            )
    for spec in settings.seats if settings.programme else []:
        if not any(_could_seat(spec, item) for item in settings.programme):
            assert isinstance(spec, HouseSeat), "anybody may play anything, but a house bot"
            return Code.BAD_SEATS, f"{spec.personality!r} plays no game of the programme"
    return None


def _names_trouble(settings: LobbySettings) -> tuple[Code, str] | None:
    looks: dict[str, str] = {}
    for spec in settings.seats:
        if not isinstance(spec, ReservedSeat):
            continue
        try:
            name = normalise(spec.name)
        except BadName as why:
            return Code.NAME_INVALID, str(why)
        if skeleton(name) in looks:
            return Code.BAD_SEATS, f"two seats are reserved for {name!r}"
        looks[skeleton(name)] = name
    return None


def _programme_trouble(
    settings: LobbySettings, balanced: Collection[str]
) -> tuple[Code, str] | None:
    if settings.arranged:
        return None
    if not settings.programme:
        return Code.BAD_OPTION, (
            "settings.programme: expected at least one item, unless the matches are arranged"
        )
    for index, item in enumerate(settings.programme):
        trouble = uneven(item, balanced)
        if trouble is not None:
            return Code.BAD_OPTION, f"settings.programme.{index}.games: {trouble}"
    count = sum(matches(item, balanced) for item in settings.programme)
    if count > MOST_MATCHES:
        return Code.LIMIT, f"a programme has at most {MOST_MATCHES} matches, and this has {count}"
    return None


def _conduct_trouble(settings: LobbySettings) -> tuple[Code, str] | None:
    if settings.conduct.on_leave == "replace" and settings.conduct.stand_in is None:
        return Code.BAD_OPTION, "conduct.on_leave 'replace' needs a conduct.stand_in"
    if settings.rated and settings.conduct.on_leave != "forfeit":
        return Code.BAD_OPTION, (
            "conduct.on_leave: expected 'forfeit' in a rated lobby, where nobody plays for another"
        )
    if settings.spectating.mode == "shoulder" and settings.spectating.seat is None:
        return Code.BAD_OPTION, "spectating.mode 'shoulder' needs a spectating.seat"
    return None


def _could_seat(spec: SeatSpec, item: ProgrammeItem) -> bool:
    return not isinstance(spec, HouseSeat) or spec.personality.partition("/")[0] == item.game


def _same(given: str | None, code: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), code.encode())


def _sender(command: Command) -> str:
    match command:
        case Join(player):
            return player.player
        case Leave(player) | Ready(player):
            return player
        case Kick(by) | Start(by) | Rematch(by) | Close(by) | Arrange(by):
            return by
    raise AssertionError(f"a command that is not answered was refused: {command}")
