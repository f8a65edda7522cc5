"""The rules for joining a lobby and for choosing the seat. Pure; every check raises `Refusal`.

- The host, the player of a reserved seat, and the house bot of a seat need no invite code;
  `joinable` applies to everybody else.
- A player whom the host removed may not rejoin.
- A rated lobby is for accounts and house bots; a host that arranges rated matches has no seat.
- A lobby whose programme is running cannot be joined; an arranged lobby can, until it closes.
- A bot is refused if it can play none of the programme's items, or if an item would have too few
  players because of it.
"""

from __future__ import annotations

import hmac

from kibitz_protocol.wire.lobbies import HouseSeat, OpenSeat, ProgrammeItem, ReservedSeat, SeatSpec
from kibitz_protocol.wire.messages import Capabilities
from kibitz_protocol.wire.records import Player
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.names import skeleton
from kibitz_server.lobby.capabilities import unable_reason
from kibitz_server.lobby.commands import Join, Refusal
from kibitz_server.lobby.state import LobbyState


def seat_for(state: LobbyState, join: Join) -> int:
    """Return the seat for a player who is not a member yet; raises `Refusal`."""
    _require_admission(state, join)
    seat = _choose_seat(state, join)
    _require_useful(state, join.player, join.capabilities or Capabilities(), seat)
    return seat


def could_seat(spec: SeatSpec, item: ProgrammeItem) -> bool:
    """Return whether a player who takes this free seat might be able to play `item`."""
    return not isinstance(spec, HouseSeat) or spec.personality.partition("/")[0] == item.game


def _require_admission(state: LobbyState, join: Join) -> None:
    settings = state.settings
    if settings.rated:
        _require_ratable(state, join)
    if join.player.player in state.seats.banned:
        raise Refusal(Code.CLOSED, f"the host removed you from {settings.name!r}")
    if not _is_expected(state, join):
        _require_invite(state, join.invite)
    if state.phase == "running" and not state.accepts_matches:
        raise Refusal(Code.WRONG_STATE, "the programme is running; join when the round is over")


def _require_ratable(state: LobbyState, join: Join) -> None:
    """Refuse guests, and the host of an arranged lobby, for rated matches."""
    if not join.account and join.house_seat is None:
        raise Refusal(
            Code.UNAUTHORIZED,
            f"the matches of {state.settings.name!r} are rated, which requires an account; you are"
            " a guest",
        )
    if state.settings.arranged and join.player.player == state.host.player:
        raise Refusal(
            Code.WRONG_STATE,
            "the host of an arranged rated lobby has no seat in it",
        )


def _is_expected(state: LobbyState, join: Join) -> bool:
    """Return whether the player needs no invite: the host, a house bot, or a reserved player."""
    return (
        join.player.player == state.host.player
        or join.house_seat is not None
        or _reserved_for(state, join.player) is not None
    )


def _require_invite(state: LobbyState, invite: str | None) -> None:
    joinable, name = state.settings.joinable, state.settings.name
    if joinable == "closed":
        raise Refusal(Code.CLOSED, f"the lobby {name!r} is not open to join")
    if joinable == "invite" and not _equals_secret(invite, state.opened.invite):
        what = "needs an invite code" if invite is None else f"has no invite code {invite!r}"
        raise Refusal(Code.WRONG_INVITE, f"the lobby {name!r} {what}")


def _choose_seat(state: LobbyState, join: Join) -> int:
    if join.house_seat is not None:
        return _house_seat(state, join.house_seat)
    reserved = _reserved_for(state, join.player)
    if reserved is not None:
        return reserved
    free = state.seats.free()
    for seat in free:
        if isinstance(state.seats.spec(seat), OpenSeat):
            return seat
    name = state.settings.name
    if free:
        raise Refusal(Code.FULL, f"the free seats of the lobby {name!r} are reserved")
    raise Refusal(
        Code.FULL, f"all {len(state.settings.seats)} seats of the lobby {name!r} are taken"
    )


def _house_seat(state: LobbyState, seat: int) -> int:
    if not state.seats.is_house(seat) or state.seats.occupant(seat) is not None:
        raise Refusal(Code.FULL, f"seat {seat + 1} is not waiting for a house bot")
    return seat


def _reserved_for(state: LobbyState, player: Player) -> int | None:
    """Return the free seat reserved for a player by key or by name, or None."""
    look = skeleton(player.name)
    for seat in state.seats.free():
        spec = state.seats.spec(seat)
        if not isinstance(spec, ReservedSeat):
            continue
        if spec.player == player.player or (spec.player is None and skeleton(spec.name) == look):
            return seat
    return None


def _require_useful(
    state: LobbyState, player: Player, capabilities: Capabilities, seat: int
) -> None:
    """Refuse a bot that can play no item, or that would leave an item with too few players."""
    programme = state.settings.programme
    reasons = [unable_reason(item, capabilities) for item in programme]
    if reasons and all(reasons):
        raise Refusal(
            Code.BAD_SEATS, f"{player.name!r} cannot play any match of the programme: {reasons[0]}"
        )
    if state.settings.arranged:
        return
    for item, reason in zip(programme, reasons, strict=True):
        could = _count_able(state, item, without=seat)
        if reason and could < item.seats:
            raise Refusal(
                Code.BAD_SEATS,
                f"{item.game!r} with {item.seats} seats would have only {could} players if"
                f" {player.name!r} joined: {reason}",
            )


def _count_able(state: LobbyState, item: ProgrammeItem, *, without: int) -> int:
    """Count the members who can play `item`, and the free seats that might get such a member."""
    members = state.seats.members.values()
    able = sum(1 for member in members if not unable_reason(item, member.capabilities))
    free = [state.seats.spec(seat) for seat in state.seats.free() if seat != without]
    return able + sum(1 for spec in free if could_seat(spec, item))


def _equals_secret(given: str | None, code: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), code.encode())
