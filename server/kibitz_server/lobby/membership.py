"""The members of a lobby: joining, leaving, and getting ready. Pure."""

from __future__ import annotations

from typing import Any, Literal

from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby import entries
from kibitz_server.lobby.admission import seat_for
from kibitz_server.lobby.commands import Join, NotifyRemoved, Refusal, StopBot, VacateSeat
from kibitz_server.lobby.house_seats import HouseSeats
from kibitz_server.lobby.seats import SeatedMember
from kibitz_server.lobby.state import LobbyState
from kibitz_server.lobby.transaction import Transaction


class Membership:
    """Carries out the commands about the members of one lobby."""

    def __init__(self, lobby: Transaction, house: HouseSeats) -> None:
        self._lobby = lobby
        self._house = house

    def join(self, command: Join) -> None:
        lobby, player = self._lobby, command.player
        lobby.require_not_closed()
        if player.player not in lobby.state.seats.members:
            seat = seat_for(lobby.state, command)
            capabilities = command.capabilities or Capabilities()
            if player.kind != "house":
                lobby.charge_change(player.player)
            lobby.append(entries.Joined, player=player, seat=seat, capabilities=capabilities)
        lobby.presence.arrive(player.player)
        lobby.accept(player.player)

    def leave(self, player: str, now: int) -> None:
        member = self._lobby.require_member(player)
        if member.player.kind == "house":
            self._house.fail(member.seat, "the bot left", now)
        else:
            self._remove(member, entries.Left, reason="left")
        self._lobby.presence.disconnect(player)
        self._lobby.accept(player)
        self._lobby.ask(NotifyRemoved(player, "closed"))

    def kick(self, by: str, player: str) -> None:
        lobby = self._lobby
        lobby.require_host(by)
        member = lobby.state.seats.members.get(player)
        if member is None:
            raise Refusal(Code.NO_SUCH_PLAYER, f"no member of this lobby: {player!r}")
        if player == by:
            raise Refusal(Code.WRONG_STATE, "a host cannot remove itself; leave instead")
        _require_kickable(lobby.state)
        has_bot = lobby.state.seats.is_house(member.seat)
        self._remove(member, entries.Kicked)
        lobby.presence.disconnect(player)
        lobby.accept(by)
        lobby.ask(NotifyRemoved(player, "kicked"))
        if has_bot:
            lobby.ask(StopBot(member.seat))

    def set_ready(self, player: str, ready: bool) -> None:
        lobby = self._lobby
        member = lobby.require_member(player)
        if member.ready != ready:  # otherwise the player has resent the request
            if not lobby.state.accepts_ready:
                raise Refusal(
                    Code.WRONG_STATE,
                    f"ready can change while the lobby is gathering; it is {lobby.state.phase}",
                )
            lobby.charge_change(player)
            lobby.append(entries.Readied, player=player, ready=ready)
        lobby.accept(player)

    def disconnected(self, player: str, now: int) -> None:
        """Note that a player has lost its last connection; a member's grace period begins."""
        self._lobby.presence.depart(player, now, member=player in self._lobby.state.seats.members)

    def drop_absent(self, now: int, grace_ms: int) -> None:
        """Remove members who were absent for `grace_ms`; an absent house bot counts as failed."""
        lobby = self._lobby
        for player in lobby.presence.overdue(now, grace_ms):
            member = lobby.state.seats.members.get(player)
            if member is None:
                continue
            if member.player.kind == "house" and lobby.state.seats.is_house(member.seat):
                lobby.presence.remove(player)
                self._house.fail(member.seat, "the bot did not reconnect", now)
            else:
                self._remove(member, entries.Left, reason="away")
                lobby.ask(NotifyRemoved(player, "expired"))

    def _remove(
        self, member: SeatedMember, entry: type[entries.Left | entries.Kicked], **fields: Any
    ) -> None:
        player = member.player.player
        matches = self._lobby.state.round.matches_of(player)
        self._lobby.append(entry, player=player, **fields)
        self._lobby.presence.remove(player)
        reason: Literal["left", "kicked"] = "kicked" if entry is entries.Kicked else "left"
        self._lobby.ask_all(VacateSeat(match, player, reason) for match in matches)


def _require_kickable(state: LobbyState) -> None:
    """Refuse to remove a member if that could decide a match in the host's favor."""
    if state.opened.seek_s is not None:
        raise Refusal(
            Code.WRONG_STATE,
            "a seek's players cannot be removed: leave it and seek again to meet somebody else",
        )
    if state.settings.rated and state.round.running:
        raise Refusal(
            Code.WRONG_STATE,
            "players cannot be removed while a rated match of this lobby runs: wait for its end or"
            " ask the operator of the server to abort it",
        )
