"""What is wrong with a lobby before it is opened, where house bots and spectators are concerned.

Whatever would make a match fail, or a house bot fail again and again, is said to the host at
once, and not found out when the lobby is full.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kibitz_protocol.records import Spectating
from kibitz_protocol.refusals import Code
from kibitz_protocol.rooms import HouseSeat, LobbySettings, ProgrammeItem

Objection = tuple[Code, str]


class Bots(Protocol):
    """What has to be known of the house bots."""

    def knows(self, personality: str) -> bool: ...

    def flaw(self, personality: str) -> str | None: ...

    def seats(self, personality: str) -> Sequence[int]: ...


def house_objection(settings: LobbySettings, bots: Bots) -> Objection | None:
    """Say why the house bots of a lobby cannot play there."""
    for index, spec in enumerate(settings.seats):
        if isinstance(spec, HouseSeat):
            found = _house_seat(spec.personality, f"settings.seats.{index}", settings, bots)
            if found is not None:
                return found
    if settings.conduct.stand_in is not None:
        found = _bot(settings.conduct.stand_in, "settings.conduct.stand_in", bots)
        if found is not None:
            return found
    for index, item in enumerate(settings.programme):
        path = f"settings.programme.{index}"
        found = item_objection(item, path, settings, bots) or _too_few(item, path, settings, bots)
        if found is not None:
            return found
    return None


def item_objection(
    item: ProgrammeItem, path: str, settings: LobbySettings, bots: Bots
) -> Objection | None:
    """Say why a lobby with these settings cannot play matches of this kind."""
    stand_in = settings.conduct.stand_in
    if stand_in is not None and settings.conduct.on_leave == "replace":
        found = _unable(stand_in, item, bots)
        if found is not None:
            return Code.BAD_SEATS, f"{path}: the stand-in {found}"
    seat = shoulder(settings.spectating)
    if seat is not None and seat >= item.seats:
        expected = f"expected one of the seats 0 to {item.seats - 1} of {path}, not {seat}"
        return Code.BAD_OPTION, f"spectating.seat: {expected}"
    return None


def shoulder(spectating: Spectating) -> int | None:
    """Return the seat through whose eyes spectators look, if they do."""
    return spectating.seat if spectating.mode == "shoulder" else None


def _bot(personality: str, path: str, bots: Bots) -> Objection | None:
    if not bots.knows(personality):
        name = personality.partition(":")[0]
        return Code.UNKNOWN_PERSONALITY, f"no house bot {name!r} on this server"
    flaw = bots.flaw(personality)
    return None if flaw is None else (Code.BAD_OPTION, f"{path}: {flaw}")


def _house_seat(
    personality: str, path: str, settings: LobbySettings, bots: Bots
) -> Objection | None:
    found = _bot(personality, path, bots)
    if found is not None or not settings.programme:
        return found
    reasons = [_unable(personality, item, bots) for item in settings.programme]
    if all(reasons):
        return Code.BAD_SEATS, f"{path}: {reasons[0]}"
    return None


def _too_few(
    item: ProgrammeItem, path: str, settings: LobbySettings, bots: Bots
) -> Objection | None:
    """Count the places of the lobby that can play an item."""
    able = [
        spec
        for spec in settings.seats
        if not isinstance(spec, HouseSeat) or _unable(spec.personality, item, bots) is None
    ]
    if settings.arranged or len(able) >= item.seats:
        return None
    return Code.BAD_SEATS, (
        f"{path}: {item.game!r} with {item.seats} seats needs as many places in the lobby that can"
        f" play it, and there are {len(able)}"
    )


def _unable(personality: str, item: ProgrammeItem, bots: Bots) -> str | None:
    """Say why a house bot does not play an item; None where it does."""
    if personality.partition("/")[0] != item.game:
        return f"{personality!r} does not play {item.game!r}"
    seats = bots.seats(personality)
    if seats and item.seats not in seats:
        listed = ", ".join(map(str, seats))
        return f"{personality!r} plays with {listed} seats, not with {item.seats}"
    return None
