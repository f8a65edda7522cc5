"""The state of a lobby, determined by its log. Pure.

A lobby's state is a fold over its entries (`entries`), as a match's is: the first is `opened`, and
each further one changes the state only through `LobbyState.apply`. Two states made of the same
entries are equal. Connections are not in the log, because they do not outlive the server
(`presence`).

    gathering --started--> running --last match settled--> finished --rematched--> gathering
    any of them --closed--> closed        (running: `closing` first, then the last match ends)

    arranged:  gathering --started--> running --closed--> closed

A match of the round is waiting, running, or settled, and settled in one of three ways. It *ended*
with a result that counts. It was *aborted*, by two server failures or by the operator, and counts
for nobody. Or it is *void*: it never began, because a player left, the host closes the lobby, or
the matches before it failed one after the other (`stopped`).

In an arranged lobby the host chooses the matches one by one, each under a tag. The outcome of every
tag is kept in compact form until the lobby closes, since there may be thousands.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from kibitz_protocol.wire.lobbies import (
    Arrangement,
    HouseSeat,
    LobbyPhase,
    LobbySettings,
    OpenSeat,
    ProgrammeItem,
    SeatSpec,
)
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Cause, Player, Result
from kibitz_protocol.wire.unchecked import all_without_fields_set
from kibitz_protocol.wire.values import derive_seed
from kibitz_server.lobby.entries import (
    Arranged,
    ArrangedMatch,
    Closed,
    CloseReason,
    Closing,
    Entry,
    HouseLost,
    Joined,
    Kicked,
    Left,
    MatchBegun,
    MatchEnded,
    Opened,
    Readied,
    Rematched,
    Started,
    Stopped,
    TakenOver,
)
from kibitz_server.lobby.schedule import (
    Candidate,
    PlannedMatch,
    Programme,
    arranged_seed,
    require_playable,
)
from kibitz_server.lobby.standings import StandingsTable
from kibitz_server.lobby.waiting import ArrangedQueue, Dropped, MatchQueue, ProgrammeQueue

MAX_BOT_FAILURES = 3
"""The failures of a house bot in a round after which its seat is open to anybody."""
MAX_MATCH_FAILURES = 5
"""The server's failures to play matches in a row after which the programme stops. As many as run at
once may fail of one passing cause, so that number is allowed in addition."""


@dataclass(frozen=True, slots=True)
class SeatedMember:
    """A member and its seat in the lobby."""

    player: Player
    seat: int
    capabilities: Capabilities
    ready: bool = False


@dataclass(frozen=True, slots=True)
class SettledMatch:
    """The outcome of an arranged match; `result` is its JSON, None if void.

    `seq` is the entry that settled it.
    """

    seq: int
    match: str
    item: ProgrammeItem
    players: tuple[Player, ...]
    result: bytes | None


@dataclass(slots=True)
class LobbyState:
    """The state after the entries so far. Only `apply` changes it."""

    opened: Opened
    seq: int = 0
    """The number of the last entry."""
    members: dict[str, SeatedMember] = field(default_factory=dict)
    banned: frozenset[str] = frozenset()
    """Players whom the host removed."""
    abandoned_seats: frozenset[int] = frozenset()
    """House seats whose house bot has failed too often: anybody may take them."""
    failures: dict[int, int] = field(default_factory=dict)
    """The number of failures of each seat's house bot in this round."""
    failure_reasons: dict[int, str] = field(default_factory=dict)
    """The reason for the last failure of each seat's house bot in this round."""
    round: int = 1
    started: bool = False
    roster: tuple[Player, ...] = ()
    """The members at the start of the round, whether or not still here."""
    planned: int = 0
    """The total number of matches of the round."""
    waiting: MatchQueue = field(default_factory=ArrangedQueue)
    """Matches of the round that have not begun."""
    running: dict[str, PlannedMatch] = field(default_factory=dict)
    """The running matches by identifier."""
    begun: dict[str, int] = field(default_factory=dict)
    """The entry that began each of them."""
    repeated: frozenset[int] = frozenset()
    """Numbers of matches that were aborted once and are played again."""
    tags: dict[str, int] = field(default_factory=dict)
    """The number of each match that the host arranged."""
    settled: dict[int, SettledMatch] = field(default_factory=dict)
    """Arranged matches by number, when they are over or void."""
    item_kinds: dict[str, ProgrammeItem] = field(default_factory=dict)
    """The arranged items so far, without seeds: matches of one kind share one item."""
    ended: int = 0
    aborted: int = 0
    void: int = 0
    failed_in_a_row: int = 0
    """The server's failures to play matches since the last one ended, including repeated ones."""
    last_failure: str = ""
    """The reason in the result of the last of them."""
    stopped: str = ""
    """Why the rest of the round is not played; empty if nothing stopped it."""
    standings: StandingsTable = field(default_factory=StandingsTable)
    closing: bool = False
    closed: CloseReason | None = None

    def __post_init__(self) -> None:
        self.opened = all_without_fields_set(self.opened)

    @classmethod
    def restore(cls, entries: Sequence[Entry]) -> LobbyState:
        """Fold a whole log. Raises `ValueError` if it is not one."""
        if not entries or not isinstance(entries[0], Opened):
            raise ValueError("the log of a lobby begins with an entry 'opened'")
        state = cls(entries[0])
        for entry in entries[1:]:
            state.apply(entry)
        return state

    @property
    def id(self) -> str:
        """The lobby's identifier."""
        return self.opened.lobby

    @property
    def host(self) -> Player:
        """The player who opened the lobby, in or out of it."""
        return self.opened.host

    @property
    def phase(self) -> LobbyPhase:
        if self.closed:
            return "closed"
        if not self.started:
            return "gathering"
        return "running" if self.playing or self.settings.arranged else "finished"

    @property
    def playing(self) -> bool:
        """Whether there is a match to play or to finish."""
        return bool(self.running or self.waiting)

    @property
    def failing(self) -> bool:
        """Whether more matches in a row have failed than a passing cause explains."""
        return self.failed_in_a_row >= self.settings.at_once + MAX_MATCH_FAILURES

    @property
    def accepts_matches(self) -> bool:
        """Whether the host may have more matches played, and others may join for them."""
        return self.settings.arranged and self.phase == "running" and not self.closing

    @property
    def accepts_ready(self) -> bool:
        """Whether members may declare themselves ready or not ready."""
        return self.phase == "gathering" or self.accepts_matches

    @property
    def settings(self) -> LobbySettings:
        return self.opened.settings

    @property
    def done(self) -> int:
        """The number of settled matches of the round."""
        return self.ended + self.aborted + self.void

    def seat_spec(self, seat: int) -> SeatSpec:
        """Return the present specification of a seat."""
        return OpenSeat() if seat in self.abandoned_seats else self.settings.seats[seat]

    def is_house_seat(self, seat: int) -> bool:
        """Return whether there is such a seat, and a house bot is started for it."""
        inside = 0 <= seat < len(self.settings.seats)
        return inside and isinstance(self.seat_spec(seat), HouseSeat)

    def house_seats(self) -> list[int]:
        """Return the seats that house bots are started for."""
        return [seat for seat in range(len(self.settings.seats)) if self.is_house_seat(seat)]

    def free_seats(self) -> list[int]:
        """Return the seats that no member has."""
        taken = {member.seat for member in self.members.values()}
        return [seat for seat in range(len(self.settings.seats)) if seat not in taken]

    def insiders(self) -> list[str]:
        """Return the keys of the host and the members, each once."""
        return list(dict.fromkeys((self.host.player, *self.members)))

    def is_insider(self, player: str) -> bool:
        """Return whether a player is the host or a member."""
        return player == self.host.player or player in self.members

    def may_watch(self, player: str) -> bool:
        """Return whether a player may enter as a spectator, and watch matches."""
        return self.settings.watchable or self.is_insider(player)

    def is_house_bot(self, player: str) -> bool:
        """Return whether a player is a member and a house bot."""
        member = self.members.get(player)
        return member is not None and member.player.kind == "house"

    def personality(self, player: str) -> str | None:
        """Return the personality of a member that is a house bot, or None."""
        member = self.members.get(player)
        if member is None or member.player.kind != "house":
            return None
        spec = self.settings.seats[member.seat]
        return spec.personality if isinstance(spec, HouseSeat) else None

    def played_items(self) -> list[ProgrammeItem]:
        """Return all items played here: the programme, and the kinds of arranged matches."""
        return [*self.settings.programme, *self.item_kinds.values()]

    def matches_of(self, player: str) -> list[str]:
        """Return the running matches that a player began with a seat at."""
        return [
            match
            for match, planned in self.running.items()
            if any(planned_player.player == player for planned_player in planned.players)
        ]

    def fewest_seats(self) -> int:
        """Return the smallest number of players of any match."""
        return min((item.seats for item in self.played_items()), default=1)

    def occupant(self, seat: int) -> SeatedMember | None:
        return next((member for member in self.members.values() if member.seat == seat), None)

    def by_seat(self) -> list[SeatedMember]:
        return sorted(self.members.values(), key=lambda member: member.seat)

    def round_seed(self) -> int:
        return derive_seed(self.opened.seed, "round", self.round)

    def arranged_match(self, wanted: Arrangement, hidden: Collection[str]) -> ArrangedMatch:
        """Fix the seed of a match; `hidden` names the games that hide something."""
        return ArrangedMatch(
            tag=wanted.tag,
            item=wanted.item,
            players=wanted.players,
            seed=arranged_seed(
                wanted.item, wanted.tag, self.round_seed(), hidden, drawn=self.opened.drawn
            ),
        )

    def require_playable(self) -> None:
        """Raise `Unplayable` if the present members cannot play the programme."""
        require_playable(self.settings.programme, self._candidates())

    def match_key(self, number: int) -> str:
        """Return the identifier of a match of this round, the same for every attempt to begin
        it."""
        again = "b" if number in self.repeated else ""
        return f"{self.opened.lobby}-{self.round}-{number}{again}"

    def apply(self, entry: Entry) -> None:
        """Apply the next entry; raises `ValueError` if its number is not the next one."""
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
                self._record_bot_failure(entry.seat, entry.reason)
            case Started():
                self._start()
            case Arranged():
                for allotted in entry.matches:
                    self._add_arranged(allotted)
            case MatchBegun():
                self.running[entry.match] = self.waiting.take(entry.number)
                self.begun[entry.match] = entry.seq
            case MatchEnded():
                self._end_match(entry)
            case Stopped():
                self.stopped = entry.reason
                self._void(self.waiting.drop())
            case Rematched():
                self._rematch(entry.round)
            case Closing():
                self.closing = True
                self._void(self.waiting.drop())
            case Closed():
                self.closed = entry.reason
            case TakenOver():
                pass  # the node that writes the log does not affect the lobby's state

    def _programme(self) -> Programme:
        """Return the present round's programme for the present members; raises `Unplayable`."""
        return Programme.of_round(
            self.settings.programme,
            self._candidates(),
            round=self.round,
            first=derive_seed(self.round_seed(), "first") if self.opened.drawn else 0,
            base_seed=self.round_seed(),
            hidden=self.opened.hidden,
            balanced=self.opened.balanced,
        )

    def _candidates(self) -> list[Candidate]:
        return [Candidate(member.player, member.capabilities) for member in self.by_seat()]

    def _join(self, entry: Joined) -> None:
        player = entry.player
        self.members[player.player] = SeatedMember(player, entry.seat, entry.capabilities)
        if self.phase == "running" and all(other.player != player.player for other in self.roster):
            self.roster = (*self.roster, player)

    def _ready(self, player: str, ready: bool) -> None:
        self.members[player] = replace(self.members[player], ready=ready)

    def _remove(self, player: str) -> None:
        del self.members[player]
        self._void(self.waiting.drop(player))

    def _void(self, dropped: Dropped) -> None:
        for planned in dropped.arranged:
            self._settle(planned, None)
        self.void += dropped.count

    def _settle(self, planned: PlannedMatch, result: Result | None) -> None:
        """Keep the outcome of an arranged match for the host's requests."""
        if planned.tag is not None:
            line = None
            if result is not None:
                line = result.__pydantic_serializer__.to_json(result, exclude_none=True)
            match = self.match_key(planned.number)
            self.settled[planned.number] = SettledMatch(
                self.seq, match, planned.item, planned.players, line
            )

    def _kick(self, player: str) -> None:
        seat = self.members[player].seat
        self._remove(player)
        if isinstance(self.seat_spec(seat), HouseSeat):
            self.abandoned_seats |= {seat}
        else:
            self.banned |= {player}

    def _record_bot_failure(self, seat: int, reason: str) -> None:
        self.failure_reasons[seat] = reason
        self.failures[seat] = self.failures.get(seat, 0) + 1
        bot = self.occupant(seat)
        if bot is not None:
            self._ready(bot.player.player, False)
        if self.failures[seat] < MAX_BOT_FAILURES:
            return
        self.abandoned_seats |= {seat}
        if bot is not None:
            self._remove(bot.player.player)

    def _start(self) -> None:
        if not self.settings.arranged:
            self.waiting = ProgrammeQueue(self._programme())
        self.planned = len(self.waiting)
        self.started = True
        self.roster = tuple(member.player for member in self.by_seat())

    def _add_arranged(self, allotted: ArrangedMatch) -> None:
        self.planned += 1
        item = allotted.item.model_copy(update={"seed": None})
        item = self.item_kinds.setdefault(item.model_dump_json(), item)
        players = tuple(self.members[player].player for player in allotted.players)
        self.tags[allotted.tag] = self.planned
        queue = self.waiting
        if not isinstance(queue, ArrangedQueue):
            raise ValueError(f"match {allotted.tag!r} is arranged in a lobby with a programme")
        queue.add(PlannedMatch(self.planned, item, players, allotted.seed, tag=allotted.tag))

    def _end_match(self, entry: MatchEnded) -> None:
        planned = self.running.pop(entry.match)
        del self.begun[entry.match]
        if entry.result.cause is Cause.ABORTED:
            self._settle(planned, entry.result)
            self.aborted += 1
            return
        if entry.result.cause is not Cause.INFRASTRUCTURE:
            self.standings.add(planned.players, entry.result)
            self._settle(planned, entry.result)
            self.ended += 1
            self.failed_in_a_row = 0
            return
        self.failed_in_a_row += 1
        self.last_failure = entry.result.reason
        if planned.number in self.repeated:
            self._settle(planned, entry.result)
            self.aborted += 1
        elif self.closing or any(player.player not in self.members for player in planned.players):
            self._settle(planned, None)
            self.void += 1
        else:
            self.repeated |= {planned.number}
            self.waiting.put_back(planned)

    def _rematch(self, round: int) -> None:
        self.round = round
        self.started = False
        self.roster = ()
        self.planned = self.ended = self.aborted = self.void = self.failed_in_a_row = 0
        self.last_failure = self.stopped = ""
        self.repeated = frozenset()
        self.failures = {}
        self.failure_reasons = {}
        self.standings = StandingsTable()
        for member in self.members.values():
            if member.player.kind != "house":
                self._ready(member.player.player, False)
