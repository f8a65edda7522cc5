"""The changes that one command makes to a lobby: entries and effects. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby.budget import LobbyBudget
from kibitz_server.lobby.commands import Accepted, Append, Effect, Refusal
from kibitz_server.lobby.entries import Entry, Requested
from kibitz_server.lobby.presence import Presence
from kibitz_server.lobby.room import Room
from kibitz_server.lobby.seats import SeatedMember
from kibitz_server.lobby.state import LobbyState


class Transaction:
    """A lobby's state and presence, with the effects of the current command so far.

    Checks raise `Refusal`; a command makes all checks before it appends anything.
    """

    def __init__(
        self,
        state: LobbyState,
        presence: Presence,
        budget: LobbyBudget,
        room: Room,
        now: int,
    ) -> None:
        self.state = state
        self.presence = presence
        self.budget = budget
        self.room = room
        self.now = now
        """The time of the current command, on the caller's clock."""
        self.request: str | None = None
        """The key of the client's request, which the first entry gets."""
        self._effects: list[Effect] = []

    @property
    def empty(self) -> bool:
        """Whether the command has had no effects yet."""
        return not self._effects

    def append(self, entry: type[Entry], **fields: Any) -> None:
        """Create the next entry, apply it, and add the effect that writes it."""
        if issubclass(entry, Requested):
            fields["request"], self.request = self.request, None
        made = entry(seq=self.state.seq + 1, **fields)
        self.state.apply(made)
        self._effects.append(Append(made))

    def ask(self, effect: Effect) -> None:
        """Add an effect."""
        self._effects.append(effect)

    def ask_all(self, effects: Iterable[Effect]) -> None:
        """Add several effects."""
        self._effects += effects

    def accept(self, player: str) -> None:
        """Add the answer `done` for a player."""
        self._effects.append(Accepted(player))

    def charge_change(self, player: str) -> None:
        """Charge a player for an entry that it is about to cause; house bots are not charged."""
        member = self.state.seats.members.get(player)
        if member is None or member.player.kind != "house":
            self.budget.charge_change(player, self.now)

    def take_effects(self) -> list[Effect]:
        """Return the effects, and forget them."""
        effects, self._effects = self._effects, []
        return effects

    def require_not_closed(self) -> None:
        if self.state.phase == "closed":
            raise Refusal(Code.CLOSED, f"the lobby {self.state.settings.name!r} is closed")

    def require_host(self, player: str) -> None:
        self.require_not_closed()
        if player != self.state.host.player:
            raise Refusal(Code.NOT_HOST, f"the host of this lobby is {self.state.host.name!r}")

    def require_member(self, player: str) -> SeatedMember:
        self.require_not_closed()
        member = self.state.seats.members.get(player)
        if member is None:
            name = self.state.settings.name
            raise Refusal(Code.NOT_MEMBER, f"not a member of the lobby {name!r}")
        return member
