"""The state of a lobby, determined by its log. Pure.

A lobby's state is a fold over its entries (`entries`), like that of a match. The first entry is
`opened`. Only `LobbyState.apply` changes the state, once for each later entry. The same entries
always give equal states. Connections are not in the log, because they do not survive a restart
(`presence`).

    gathering --started--> running --last match settled--> finished --rematched--> gathering
    any of them --closed--> closed        (running: `closing` first, then the last match ends)

    arranged:  gathering --started--> running --closed--> closed

`seats` has the members and their seats, `round` the matches of the current round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from kibitz_protocol.wire.lobbies import LobbyPhase, LobbySettings, ProgrammeItem
from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.unchecked import all_without_fields_set
from kibitz_protocol.wire.values import derive_seed
from kibitz_server.lobby.entries import (
    Arranged,
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
    Requested,
    Started,
    Stopped,
    TakenOver,
)
from kibitz_server.lobby.round import Round
from kibitz_server.lobby.schedule import Programme, require_playable
from kibitz_server.lobby.seats import SeatedMember, Seats
from kibitz_server.lobby.waiting import ProgrammeQueue

MAX_REQUESTS: Final = 128
"""The number of latest requests that a lobby remembers, to answer resent ones."""


@dataclass(slots=True)
class LobbyState:
    """The state of a lobby after some of its entries. Only `apply` changes it."""

    opened: Opened
    seq: int = 0
    """The number of the last entry."""
    seats: Seats = field(init=False)
    round: Round = field(init=False)
    """The current round."""
    closing: bool = False
    closed: CloseReason | None = None
    requests: dict[str, None] = field(default_factory=dict)
    """The keys of the last requests that were carried out, oldest first."""

    def __post_init__(self) -> None:
        self.opened = all_without_fields_set(self.opened)
        self.seats = Seats(self.opened.settings.seats)
        self.round = self._round(1)

    @classmethod
    def restore(cls, entries: Sequence[Entry]) -> LobbyState:
        """Return the state after a whole log; raises `ValueError` for an invalid log."""
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
        """The player who opened the lobby, whether or not it is a member."""
        return self.opened.host

    @property
    def settings(self) -> LobbySettings:
        return self.opened.settings

    @property
    def phase(self) -> LobbyPhase:
        if self.closed:
            return "closed"
        if not self.round.started:
            return "gathering"
        return "running" if self.round.playing or self.settings.arranged else "finished"

    @property
    def accepts_matches(self) -> bool:
        """Whether the host may arrange more matches, and players may still join."""
        return self.settings.arranged and self.phase == "running" and not self.closing

    @property
    def accepts_ready(self) -> bool:
        """Whether members may set and clear their ready flags."""
        return self.phase == "gathering" or self.accepts_matches

    def insiders(self) -> list[str]:
        """Return the keys of the host and the members, without duplicates."""
        return list(dict.fromkeys((self.host.player, *self.seats.members)))

    def is_insider(self, player: str) -> bool:
        """Return whether a player is the host or a member."""
        return player == self.host.player or player in self.seats.members

    def may_watch(self, player: str) -> bool:
        """Return whether a player may enter as a spectator, and watch matches."""
        return self.settings.watchable or self.is_insider(player)

    def played_items(self) -> list[ProgrammeItem]:
        """Return the items of the programme and of the arranged matches."""
        return [*self.settings.programme, *self.round.item_kinds.values()]

    def require_playable(self) -> None:
        """Raise `Unplayable` if the current members cannot play the programme."""
        require_playable(self.settings.programme, self.seats.by_seat())

    def apply(self, entry: Entry) -> None:
        """Apply the next entry; raises `ValueError` if its number is not the next one."""
        if entry.seq != self.seq + 1:
            raise ValueError(f"entry {entry.seq} of a lobby follows {self.seq}")
        self.seq = entry.seq
        if isinstance(entry, Requested) and entry.request is not None:
            self._remember(entry.request)
        match entry:
            case Opened():
                raise ValueError("a lobby is opened once")
            case Joined():
                self._join(entry)
            case Left():
                del self.seats.members[entry.player]
                self.round.drop(entry.player)
            case Kicked():
                self.seats.kick(entry.player)
                self.round.drop(entry.player)
            case Readied():
                self.seats.set_ready(entry.player, entry.ready)
            case HouseLost():
                removed = self.seats.note_failure(entry.seat, entry.reason)
                if removed is not None:
                    self.round.drop(removed)
            case Started():
                self._start()
            case Arranged():
                for allotted in entry.matches:
                    players = tuple(self.seats.members[key].player for key in allotted.players)
                    self.round.arrange(allotted, players)
            case MatchBegun():
                self.round.begin(entry)
            case MatchEnded():
                self.round.end(entry, () if self.closing else self.seats.members)
            case Stopped():
                self.round.stopped = entry.reason
                self.round.drop()
            case Rematched():
                self.round = self._round(entry.round)
                self.seats.begin_round()
            case Closing():
                self.closing = True
                self.round.drop()
            case Closed():
                self.closed = entry.reason
            case TakenOver():
                pass  # the owner of the log is not part of the state

    def _remember(self, request: str) -> None:
        self.requests[request] = None
        if len(self.requests) > MAX_REQUESTS:
            del self.requests[next(iter(self.requests))]

    def _round(self, number: int) -> Round:
        return Round(self.id, number, derive_seed(self.opened.seed, "round", number))

    def _join(self, entry: Joined) -> None:
        player = entry.player
        member = SeatedMember(player, entry.seat, entry.capabilities)
        self.seats.members[player.player] = member
        if self.phase == "running":
            self.round.admit(player)

    def _start(self) -> None:
        if not self.settings.arranged:
            self.round.waiting = ProgrammeQueue(self._programme())
        self.round.start(member.player for member in self.seats.by_seat())

    def _programme(self) -> Programme:
        """Return the current round's programme for the current members; raises `Unplayable`."""
        return Programme.of_round(
            self.settings.programme,
            self.seats.by_seat(),
            round=self.round.number,
            first=derive_seed(self.round.seed, "first") if self.opened.drawn else 0,
            base_seed=self.round.seed,
            hidden=self.opened.hidden,
            balanced=self.opened.balanced,
        )
