"""The seats of a lobby and their members. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kibitz_protocol.wire.lobbies import HouseSeat, OpenSeat, SeatSpec
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Player
from kibitz_server.lobby.bot_failures import BotFailures


@dataclass(frozen=True, slots=True)
class SeatedMember:
    """A member and its seat in the lobby."""

    player: Player
    seat: int
    capabilities: Capabilities
    ready: bool = False


@dataclass(slots=True)
class Seats:
    """The seats of one lobby. Only `LobbyState` changes them."""

    specs: Sequence[SeatSpec]
    """The seats' specifications from the settings."""
    members: dict[str, SeatedMember] = field(default_factory=dict)
    banned: frozenset[str] = frozenset()
    """The players whom the host has removed."""
    abandoned: frozenset[int] = frozenset()
    """House seats that are open to everybody, because their bot has failed or was removed."""
    failures: BotFailures = field(default_factory=BotFailures)

    def spec(self, seat: int) -> SeatSpec:
        """Return the current specification of a seat."""
        return OpenSeat() if seat in self.abandoned else self.specs[seat]

    def is_house(self, seat: int) -> bool:
        """Return whether `seat` exists and is for a house bot."""
        return 0 <= seat < len(self.specs) and isinstance(self.spec(seat), HouseSeat)

    def house(self) -> list[int]:
        """Return the seats for house bots."""
        return [seat for seat in range(len(self.specs)) if self.is_house(seat)]

    def free(self) -> list[int]:
        """Return the seats that no member has."""
        taken = {member.seat for member in self.members.values()}
        return [seat for seat in range(len(self.specs)) if seat not in taken]

    def occupant(self, seat: int) -> SeatedMember | None:
        return next((member for member in self.members.values() if member.seat == seat), None)

    def by_seat(self) -> list[SeatedMember]:
        """Return the members in the order of their seats."""
        return sorted(self.members.values(), key=lambda member: member.seat)

    def is_house_bot(self, player: str) -> bool:
        """Return whether a player is a house bot with a seat here."""
        member = self.members.get(player)
        return member is not None and member.player.kind == "house"

    def personality(self, player: str) -> str | None:
        """Return the personality of a member that is a house bot, or None."""
        if not self.is_house_bot(player):
            return None
        spec = self.specs[self.members[player].seat]
        return spec.personality if isinstance(spec, HouseSeat) else None

    # --- changes --------------------------------------------------------------------------

    def set_ready(self, player: str, ready: bool) -> None:
        self.members[player] = replace(self.members[player], ready=ready)

    def kick(self, player: str) -> None:
        """Remove a member. A player is banned; a house bot's seat opens to everybody."""
        seat = self.members.pop(player).seat
        if self.is_house(seat):
            self.abandoned |= {seat}
        else:
            self.banned |= {player}

    def note_failure(self, seat: int, reason: str) -> str | None:
        """Count a failure of a seat's house bot.

        Returns the bot's key if it had too many failures and was removed.
        """
        given_up = self.failures.note(seat, reason)
        if given_up:
            self.abandoned |= {seat}
        bot = self.occupant(seat)
        if bot is None:
            return None
        self.set_ready(bot.player.player, False)
        return self.members.pop(bot.player.player).player.player if given_up else None

    def begin_round(self) -> None:
        """Forget all failures, and the ready flags of everybody except house bots."""
        self.failures = BotFailures()
        for player in self.members:
            if not self.is_house_bot(player):
                self.set_ready(player, False)
