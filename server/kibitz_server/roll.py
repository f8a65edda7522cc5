"""The roll of a lobby: its log, and what the log says. Pure.

A lobby is a fold over its entries, as a match is: the first is `opened`, and each further one
changes the roll in a way that `Roll.apply` alone decides. Two rolls made of the same entries
are equal. Who is connected is not in the log: it does not outlive the server.

    gathering --started--> running --last match settled--> finished --rematched--> gathering
    any of them --closed--> closed        (running: `closing` first, then the last match ends)

    arranged:  gathering --started--> running --closed--> closed

A match of the round is waiting, running, or settled, and settled in one of three ways: it
*ended* with a result that counts; it was *aborted*, twice, by the server's own trouble, and
counts for nobody; or it is *void*, never begun, because a player has gone or the host closes.

In an arranged lobby the host says which matches to play, as it goes, each under a tag. What
became of every tag is kept until the lobby closes, and kept small: there may be thousands.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from kibitz_protocol.messages import Capabilities
from kibitz_protocol.records import Cause, Player, Result
from kibitz_protocol.rooms import (
    Arrangement,
    HouseSeat,
    LobbySettings,
    LobbyState,
    OpenSeat,
    ProgrammeItem,
    SeatSpec,
)
from kibitz_protocol.values import Key, Line, Seq, Strict, Tag
from kibitz_server.programme import (
    Candidate,
    Planned,
    arranged_seed,
    derive,
    plan,
    require_playable,
)
from kibitz_server.standings import Table

CloseReason: TypeAlias = Literal["closed", "expired", "failed"]
"""By its host, for nobody was there any more, or because the server could not go on with it."""
LobbyKey: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=16, pattern=r"^[A-Za-z0-9_-]+$")
]
"""A lobby's identifier, short enough to begin the identifiers of its matches."""
HIRES = 3
"""How often a house bot may fail in a round until its seat is given up."""


class EntryBase(Strict):
    """`seq` numbers the entries of a lobby from 0, which is always `opened`."""

    seq: Seq


class Opened(EntryBase):
    """All that is fixed for the lobby's life. `seed` is secret: every round's comes of it."""

    kind: Literal["opened"] = "opened"
    seq: Literal[0] = 0
    lobby: LobbyKey
    host: Player
    settings: LobbySettings
    invite: Line
    created: Line = Field(description="UTC time, ISO 8601")
    seed: int = Field(ge=0, lt=2**64)
    hidden: list[str] = Field(description="the games of the programme that hide something")
    balanced: list[str] = Field(
        default_factory=list, description="the games of the programme that are played in blocks"
    )


class Joined(EntryBase):
    kind: Literal["joined"] = "joined"
    player: Player
    seat: int
    capabilities: Capabilities


class Left(EntryBase):
    """A member went, or (`away`) was disconnected for too long."""

    kind: Literal["left"] = "left"
    player: Key
    reason: Literal["left", "away"]


class Kicked(EntryBase):
    """The host removed a member, for good. A house bot's seat is open from now on."""

    kind: Literal["kicked"] = "kicked"
    player: Key


class Readied(EntryBase):
    kind: Literal["readied"] = "readied"
    player: Key
    ready: bool


class HouseLost(EntryBase):
    """The house bot of a seat died, or never came; after `HIRES` times its seat is open."""

    kind: Literal["house_lost"] = "house_lost"
    seat: int
    reason: Line


class Started(EntryBase):
    """The round's programme is planned, by rule `rule`, for who is a member now."""

    kind: Literal["started"] = "started"
    round: int
    base_seed: int
    rule: Literal[1] = 1


class Allotted(Strict):
    """A match that the host arranged, and the seed that it is played from."""

    tag: Tag
    item: ProgrammeItem
    players: list[Key]
    seed: int


class Arranged(EntryBase):
    """The host wants these matches played; they are numbered on from the last one."""

    kind: Literal["arranged"] = "arranged"
    matches: list[Allotted]


class MatchBegun(EntryBase):
    """From this entry on the match exists; who finds that it does not makes it."""

    kind: Literal["match_begun"] = "match_begun"
    number: int
    match: Key
    players: list[Player]


class MatchEnded(EntryBase):
    kind: Literal["match_ended"] = "match_ended"
    number: int
    match: Key
    result: Result


class Rematched(EntryBase):
    """Back to gathering for round `round`; everybody but house bots says ready again."""

    kind: Literal["rematched"] = "rematched"
    round: int


class Closing(EntryBase):
    """No further match begins; those that run are finished first."""

    kind: Literal["closing"] = "closing"


class Closed(EntryBase):
    kind: Literal["closed"] = "closed"
    reason: CloseReason


Entry: TypeAlias = (
    Opened
    | Joined
    | Left
    | Kicked
    | Readied
    | HouseLost
    | Started
    | Arranged
    | MatchBegun
    | MatchEnded
    | Rematched
    | Closing
    | Closed
)
AnyEntry: TypeAlias = Annotated[Entry, Field(discriminator="kind")]
ENTRY: TypeAdapter[Entry] = TypeAdapter(AnyEntry)


def host_of(head: bytes) -> str:
    """Return the key of the player who opened a lobby, from the first line of its log."""
    opened = ENTRY.validate_json(head)
    if not isinstance(opened, Opened):
        raise AssertionError(f"the first line of a lobby's log is its opening, not {opened.kind}")
    return opened.host.player


"""Reads a line of the log: ``ENTRY.validate_json(line)``; ``entry.model_dump_json()`` writes it."""


@dataclass(frozen=True, slots=True)
class Seated:
    """A member and the lobby's seat that it has."""

    player: Player
    seat: int
    capabilities: Capabilities
    ready: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a match that the host arranged; `result` is its JSON, None where void.

    `seq` is the entry that says so.
    """

    seq: int
    match: str
    item: ProgrammeItem
    players: tuple[Player, ...]
    result: bytes | None


@dataclass
class Roll:
    """What the entries so far say. Only `apply` changes it."""

    opened: Opened
    seq: int = 0
    """The number of the last entry."""
    members: dict[str, Seated] = field(default_factory=dict)
    barred: set[str] = field(default_factory=set)
    """Players whom the host removed."""
    given_up: set[int] = field(default_factory=set)
    """House seats that no house bot is hired for any more: anybody may take them."""
    failures: dict[int, int] = field(default_factory=dict)
    """How often the house bot of a seat has failed in this round."""
    failure_reasons: dict[int, str] = field(default_factory=dict)
    """What became of the house bot of a seat when it failed the last time in this round."""
    round: int = 1
    started: bool = False
    roster: tuple[Player, ...] = ()
    """Who was a member at the start of the round, whether or not still here."""
    planned: int = 0
    """Matches of the round in all."""
    waiting: dict[int, Planned] = field(default_factory=dict)
    running: dict[str, Planned] = field(default_factory=dict)
    """By match."""
    repeated: set[int] = field(default_factory=set)
    """Numbers of matches that were aborted once and are played again."""
    tags: dict[str, int] = field(default_factory=dict)
    """The number of each match that the host arranged."""
    settled: dict[int, Settled] = field(default_factory=dict)
    """Arranged matches by number, when they are over or void."""
    kinds: dict[str, ProgrammeItem] = field(default_factory=dict)
    """What was arranged so far, without seeds: matches of one kind share one item."""
    ended: int = 0
    aborted: int = 0
    void: int = 0
    table: Table = field(default_factory=Table)
    closing: bool = False
    closed: CloseReason | None = None

    @classmethod
    def restore(cls, entries: Sequence[Entry]) -> Roll:
        """Fold a whole log; raises `ValueError` where it is not one."""
        if not entries or not isinstance(entries[0], Opened):
            raise ValueError("the log of a lobby begins with an entry 'opened'")
        roll = cls(entries[0])
        for entry in entries[1:]:
            roll.apply(entry)
        return roll

    @property
    def state(self) -> LobbyState:
        if self.closed:
            return "closed"
        if not self.started:
            return "gathering"
        return "running" if self.playing or self.settings.arranged else "finished"

    @property
    def playing(self) -> bool:
        """Whether there is a match to play or to finish."""
        return bool(self.waiting or self.running)

    @property
    def settings(self) -> LobbySettings:
        return self.opened.settings

    @property
    def done(self) -> int:
        """Matches of the round that are settled."""
        return self.ended + self.aborted + self.void

    def seat_spec(self, seat: int) -> SeatSpec:
        """Return what a seat waits for now."""
        return OpenSeat() if seat in self.given_up else self.settings.seats[seat]

    def occupant(self, seat: int) -> Seated | None:
        return next((each for each in self.members.values() if each.seat == seat), None)

    def by_seat(self) -> list[Seated]:
        return sorted(self.members.values(), key=lambda each: each.seat)

    def round_seed(self) -> int:
        return derive(self.opened.seed, "round", self.round)

    def allot(self, wanted: Arrangement, hidden: Collection[str]) -> Allotted:
        """Fix the seed of a match; `hidden` names the games that hide something."""
        return Allotted(
            tag=wanted.tag,
            item=wanted.item,
            players=wanted.players,
            seed=arranged_seed(wanted.item, wanted.tag, self.round_seed(), hidden),
        )

    def plan(self) -> list[Planned]:
        """Plan the present round for the present members; raises `Unplayable`."""
        return plan(
            self.settings.programme,
            self._candidates(),
            round=self.round,
            base_seed=self.round_seed(),
            hidden=self.opened.hidden,
            balanced=self.opened.balanced,
        )

    def require_playable(self) -> None:
        """Raise `Unplayable` where `plan` would."""
        require_playable(self.settings.programme, self._candidates())

    def match_of(self, number: int) -> str:
        """Return the identifier of a match of this round: always the same for the same play."""
        again = "b" if number in self.repeated else ""
        return f"{self.opened.lobby}-{self.round}-{number}{again}"

    def apply(self, entry: Entry) -> None:
        """Take the next entry; raises `ValueError` when its number is not the next one."""
        if entry.seq != self.seq + 1:
            raise ValueError(f"entry {entry.seq} of a lobby follows {self.seq}")
        self.seq = entry.seq
        match entry:
            case Opened():
                raise ValueError("a lobby is opened once")
            case Joined():
                self._join(entry)
            case Left():
                self._remove(entry.player)
            case Kicked():
                self._kick(entry.player)
            case Readied():
                self._ready(entry.player, entry.ready)
            case HouseLost():
                self._lose_house(entry.seat, entry.reason)
            case Started():
                self._start()
            case Arranged():
                for allotted in entry.matches:
                    self._arrange(allotted)
            case MatchBegun():
                self.running[entry.match] = self.waiting.pop(entry.number)
            case MatchEnded():
                self._end(entry)
            case Rematched():
                self._rematch(entry.round)
            case Closing():
                self.closing = True
                self._void(list(self.waiting))
            case Closed():
                self.closed = entry.reason

    def _candidates(self) -> list[Candidate]:
        return [Candidate(each.player, each.capabilities) for each in self.by_seat()]

    def _join(self, entry: Joined) -> None:
        player = entry.player
        self.members[player.player] = Seated(player, entry.seat, entry.capabilities)
        if self.state == "running" and all(each.player != player.player for each in self.roster):
            self.roster = (*self.roster, player)

    def _ready(self, player: str, ready: bool) -> None:
        self.members[player] = replace(self.members[player], ready=ready)

    def _remove(self, player: str) -> None:
        del self.members[player]
        self._void(
            [
                number
                for number, planned in self.waiting.items()
                if any(each.player == player for each in planned.players)
            ]
        )

    def _void(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self._settle(self.waiting.pop(number), None)
        self.void += len(numbers)

    def _settle(self, planned: Planned, result: Result | None) -> None:
        """Keep what became of an arranged match, for the host to ask."""
        if planned.tag is not None:
            line = None
            if result is not None:
                line = result.__pydantic_serializer__.to_json(result, exclude_none=True)
            match = self.match_of(planned.number)
            self.settled[planned.number] = Settled(
                self.seq, match, planned.item, planned.players, line
            )

    def _kick(self, player: str) -> None:
        seat = self.members[player].seat
        self._remove(player)
        if isinstance(self.seat_spec(seat), HouseSeat):
            self.given_up.add(seat)
        else:
            self.barred.add(player)

    def _lose_house(self, seat: int, reason: str) -> None:
        self.failure_reasons[seat] = reason
        self.failures[seat] = self.failures.get(seat, 0) + 1
        bot = self.occupant(seat)
        if bot is not None:
            self._ready(bot.player.player, False)
        if self.failures[seat] < HIRES:
            return
        self.given_up.add(seat)
        if bot is not None:
            self._remove(bot.player.player)

    def _start(self) -> None:
        if not self.settings.arranged:
            self.waiting = {planned.number: planned for planned in self.plan()}
        self.planned = len(self.waiting)
        self.started = True
        self.roster = tuple(each.player for each in self.by_seat())

    def _arrange(self, allotted: Allotted) -> None:
        self.planned += 1
        item = allotted.item.model_copy(update={"seed": None})
        item = self.kinds.setdefault(item.model_dump_json(), item)
        players = tuple(self.members[player].player for player in allotted.players)
        self.tags[allotted.tag] = self.planned
        self.waiting[self.planned] = Planned(
            self.planned, item, players, allotted.seed, tag=allotted.tag
        )

    def _end(self, entry: MatchEnded) -> None:
        planned = self.running.pop(entry.match)
        if entry.result.cause is not Cause.INFRASTRUCTURE:
            self.table.add(planned.players, entry.result)
            self._settle(planned, entry.result)
            self.ended += 1
        elif planned.number in self.repeated:
            self._settle(planned, entry.result)
            self.aborted += 1
        elif self.closing or any(each.player not in self.members for each in planned.players):
            self._settle(planned, None)
            self.void += 1
        else:
            self.repeated.add(planned.number)
            self.waiting = dict(sorted([*self.waiting.items(), (planned.number, planned)]))

    def _rematch(self, round: int) -> None:
        self.round = round
        self.started = False
        self.roster = ()
        self.planned = self.ended = self.aborted = self.void = 0
        self.repeated = set()
        self.failures = {}
        self.failure_reasons = {}
        self.table = Table()
        for each in self.members.values():
            if each.player.kind != "house":
                self._ready(each.player.player, False)
