"""Checks of a lobby's settings before it is opened. Pure.

The server refuses settings with which a match or a house bot would fail later. Each function
returns a refusal's code and message, or None.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from kibitz_protocol.wire.lag import Lag
from kibitz_protocol.wire.lobbies import HouseSeat, LobbySettings, ProgrammeItem, ReservedSeat
from kibitz_protocol.wire.records import Setup, Spectating
from kibitz_protocol.wire.refusals import Code
from kibitz_server.accounts.names import BadName, normalise, skeleton
from kibitz_server.housebots.catalog import BotCatalog
from kibitz_server.lobby.arranging import MAX_MATCHES
from kibitz_server.lobby.schedule import match_count, uneven_blocks_problem

SettingsProblem: TypeAlias = tuple[Code, str]


def house_seats(settings: LobbySettings) -> int:
    """Return the number of house seats."""
    return sum(isinstance(seat, HouseSeat) for seat in settings.seats)


def settings_problem(
    settings: LobbySettings, balanced: Collection[str] = ()
) -> SettingsProblem | None:
    """Return why a lobby cannot have these settings, or None.

    The caller checks games, options and personalities. `balanced` names the games that are played
    in blocks.
    """
    return (
        _names_problem(settings)
        or _programme_problem(settings, balanced)
        or _conduct_problem(settings)
        or _lag_problem(settings)
        or branch_problem(settings)
    )


def branch_problem(settings: LobbySettings) -> SettingsProblem | None:
    """Return why a lobby with these settings cannot continue from another match, or None.

    The caller checks that match, and fills in its options.
    """
    if settings.branch is None:
        return None
    if settings.rated or settings.arranged:
        kind = "rated" if settings.rated else "arranged"
        return Code.BAD_OPTION, f"settings.{kind}: expected false for a lobby with a branch"
    if len(settings.programme) != 1:
        count = len(settings.programme)
        return Code.BAD_OPTION, f"settings.programme: expected 1 item with a branch, not {count}"
    item = settings.programme[0]
    for name, fits, expected in (
        ("games", item.games == 1, "1"),
        ("rotate", not item.rotate, "false"),
        ("seed", item.seed is None, "none"),
    ):
        if not fits:
            path = f"settings.programme.0.{name}"
            return Code.BAD_OPTION, f"{path}: expected {expected} in a lobby with a branch"
    return None


def branch_item_problem(item: ProgrammeItem, setup: Setup) -> SettingsProblem | None:
    """Return why an item of a programme cannot continue from this match, or None."""
    path, origin = "settings.programme.0", f"as in match {setup.match}"
    if item.game != setup.game:
        return Code.BAD_OPTION, f"{path}.game: expected {setup.game!r}, {origin}, not {item.game!r}"
    if item.seats != len(setup.seats):
        return Code.BAD_SEATS, (
            f"{path}.seats: expected {len(setup.seats)}, {origin}, not {item.seats}"
        )
    if item.options:
        return Code.BAD_OPTION, f"{path}.options: expected none; they are {origin}"
    return None


def _names_problem(settings: LobbySettings) -> SettingsProblem | None:
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


def _programme_problem(
    settings: LobbySettings, balanced: Collection[str]
) -> SettingsProblem | None:
    if settings.arranged:
        return None
    if not settings.programme:
        return Code.BAD_OPTION, (
            "settings.programme: expected at least one item, unless the matches are arranged"
        )
    for index, item in enumerate(settings.programme):
        problem = uneven_blocks_problem(item, balanced)
        if problem is not None:
            return Code.BAD_OPTION, f"settings.programme.{index}.games: {problem}"
    count = sum(match_count(item, balanced) for item in settings.programme)
    if count > MAX_MATCHES:
        return Code.LIMIT, f"a programme has at most {MAX_MATCHES} matches; this one has {count}"
    return None


def _conduct_problem(settings: LobbySettings) -> SettingsProblem | None:
    if settings.conduct.on_leave == "replace" and settings.conduct.stand_in is None:
        return Code.BAD_OPTION, "conduct.on_leave 'replace' needs a conduct.stand_in"
    if settings.spectating.mode == "shoulder" and settings.spectating.seat is None:
        return Code.BAD_OPTION, "spectating.mode 'shoulder' needs a spectating.seat"
    return None


def _lag_problem(settings: LobbySettings) -> SettingsProblem | None:
    if settings.rated and settings.lag != Lag():
        return Code.BAD_OPTION, "lag: expected the default in a rated lobby; leave it out"
    return None


# --- house bots and spectators -------------------------------------------------------------


def house_bots_problem(settings: LobbySettings, bots: BotCatalog) -> SettingsProblem | None:
    """Return why a house bot of the lobby cannot play in it, or None."""
    for index, spec in enumerate(settings.seats):
        if isinstance(spec, HouseSeat):
            path = f"settings.seats.{index}"
            problem = _house_seat_problem(spec.personality, path, settings, bots)
            if problem is not None:
                return problem
    if settings.conduct.stand_in is not None:
        problem = _personality_problem(settings.conduct.stand_in, "settings.conduct.stand_in", bots)
        if problem is not None:
            return problem
    for index, item in enumerate(settings.programme):
        path = f"settings.programme.{index}"
        problem = item_problem(item, path, settings, bots) or _too_few_places(
            item, path, settings, bots
        )
        if problem is not None:
            return problem
    return None


def item_problem(
    item: ProgrammeItem, path: str, settings: LobbySettings, bots: BotCatalog
) -> SettingsProblem | None:
    """Return why a lobby with these settings cannot play matches of this kind, or None."""
    stand_in = settings.conduct.stand_in
    if stand_in is not None and settings.conduct.on_leave == "replace":
        reason = _unable_reason(stand_in, item, bots)
        if reason is not None:
            return Code.BAD_SEATS, f"{path}: the stand-in {reason}"
    seat = shoulder_seat(settings.spectating)
    if seat is not None and seat >= item.seats:
        expected = f"expected one of the seats 0 to {item.seats - 1} of {path}, not {seat}"
        return Code.BAD_OPTION, f"spectating.seat: {expected}"
    return None


def shoulder_seat(spectating: Spectating) -> int | None:
    """Return the seat whose view the spectators get, or None."""
    return spectating.seat if spectating.mode == "shoulder" else None


def _personality_problem(personality: str, path: str, bots: BotCatalog) -> SettingsProblem | None:
    if not bots.knows(personality):
        name = personality.partition(":")[0]
        return Code.UNKNOWN_PERSONALITY, f"no house bot {name!r} on this server"
    flaw = bots.flaw(personality)
    return None if flaw is None else (Code.BAD_OPTION, f"{path}: {flaw}")


def _house_seat_problem(
    personality: str, path: str, settings: LobbySettings, bots: BotCatalog
) -> SettingsProblem | None:
    problem = _personality_problem(personality, path, bots)
    if problem is not None or not settings.programme:
        return problem
    reasons = [_unable_reason(personality, item, bots) for item in settings.programme]
    if all(reasons):
        return Code.BAD_SEATS, f"{path}: {reasons[0]}"
    return None


def _too_few_places(
    item: ProgrammeItem, path: str, settings: LobbySettings, bots: BotCatalog
) -> SettingsProblem | None:
    """Return a refusal if too few seats of the lobby can play an item, or None."""
    able = [
        spec
        for spec in settings.seats
        if not isinstance(spec, HouseSeat) or _unable_reason(spec.personality, item, bots) is None
    ]
    if settings.arranged or len(able) >= item.seats:
        return None
    return Code.BAD_SEATS, (
        f"{path}: {item.game!r} with {item.seats} seats needs as many seats in the lobby that"
        f" can play it, but there are {len(able)}"
    )


def _unable_reason(personality: str, item: ProgrammeItem, bots: BotCatalog) -> str | None:
    """Return why a house bot cannot play an item, or None."""
    if personality.partition("/")[0] != item.game:
        return f"{personality!r} does not play {item.game!r}"
    seats = bots.seats(personality)
    if seats and item.seats not in seats:
        listed = ", ".join(map(str, seats))
        return f"{personality!r} plays with {listed} seats, not with {item.seats}"
    return None
