"""The conditions of rated play. Pure.

Ratings are only comparable if no player can gain an advantage through a match's settings. So rated
lobbies fix every setting that could:

- The host and all members (`admission`) have accounts, because guests have no lasting identity.
- The server draws the seeds and the first player. In an arranged lobby an item's seed only selects
  the matches that share a deal (`schedule.arranged_seed`), and the host has no seat.
- Seats rotate, and the game's options have their defaults, because a rating list is for one game.
- Spectators see public information only, and comments after the match.
- Each seat has at least `MIN_TIME_MS` for `MOVES` moves, a grace period within `GRACE_MS`, and the
  default number of illegal moves. Substitutes are not allowed.
- A house bot has at most one seat, and its default parameters. Other parameters would make it
  another player with the same rating.

`CONDITIONS` lists the conditions. `rated_problem` checks them for `host`, `seek`, `arrange` and
`rematch`, and once more when a match begins. If an earlier release opened a lobby that does not
meet them, its matches are no longer rated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Final, TypeAlias

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import HouseSeat, LobbySettings, ProgrammeItem
from kibitz_protocol.wire.records import Conduct
from kibitz_protocol.wire.refusals import Code
from kibitz_server.lobby.capabilities import assured_ms

MOVES: Final = 40
"""The number of moves for which a seat's clock must be sufficient."""
MIN_TIME_MS: Final = 20_000
"""Minimum thinking time of a seat for `MOVES` moves."""
GRACE_MS: Final = range(10_000, 600_001)
"""The allowed range of grace periods for disconnected seats."""
DEFAULT_MAX_ILLEGAL: Final = Conduct().max_illegal

Problem: TypeAlias = tuple[Code, str]
"""A refusal's code, and a sentence."""
StandardOptions: TypeAlias = Callable[[ProgrammeItem], bool]
"""Returns whether an item has the default options of its game."""


@dataclass(frozen=True, slots=True)
class RatedPlan:
    """The matches to rate: a lobby's settings, and items to be arranged in it."""

    settings: LobbySettings
    account: bool
    """Whether the host has an account."""
    standard: StandardOptions
    arranged: Sequence[tuple[str, ProgrammeItem]] = ()
    """The arranged items, each with its path in the request."""

    def items(self) -> Iterator[tuple[str, ProgrammeItem]]:
        """Yield all items with their paths."""
        programme = enumerate(self.settings.programme)
        paths = ((f"settings.programme.{index}", item) for index, item in programme)
        return chain(paths, self.arranged)

    def house_bots(self) -> Iterator[tuple[str, str]]:
        """Yield the personalities of house seats with their paths."""
        for index, seat in enumerate(self.settings.seats):
            if isinstance(seat, HouseSeat):
                yield f"settings.seats.{index}", seat.personality


Condition: TypeAlias = Callable[[RatedPlan], Problem | None]


def rated_problem(plan: RatedPlan) -> Problem | None:
    """Return why matches cannot be rated; None if they can, or are not rated."""
    if not plan.settings.rated:
        return None
    problems = (condition(plan) for condition in CONDITIONS.values())
    return next((problem for problem in problems if problem is not None), None)


def seat_time_ms(control: TimeControl) -> int:
    """Return the total thinking time of a seat for `MOVES` moves."""
    return control.main_ms + control.bank_ms + MOVES * assured_ms(control)


def _account(plan: RatedPlan) -> Problem | None:
    if plan.account:
        return None
    return Code.UNAUTHORIZED, "a rated match requires an account, and you are a guest"


def _seeds(plan: RatedPlan) -> Problem | None:
    for index, item in enumerate(plan.settings.programme):
        if item.seed is not None:
            path = f"settings.programme.{index}.seed"
            return (
                Code.BAD_OPTION,
                f"{path}: expected none, because the server draws the deals of rated matches",
            )
    return None


def _seats(plan: RatedPlan) -> Problem | None:
    for path, item in plan.items():
        if item.seats < 2:
            return Code.BAD_SEATS, f"{path}.seats: expected two or more in rated matches"
    return None


def _rotation(plan: RatedPlan) -> Problem | None:
    for path, item in plan.items():
        if not (item.rotate or plan.settings.arranged):
            return (
                Code.BAD_OPTION,
                f"{path}.rotate: expected true, because seats rotate in rated matches",
            )
    return None


def _options(plan: RatedPlan) -> Problem | None:
    for path, item in plan.items():
        if not plan.standard(item):
            expected = f"expected the default options of {item.game!r} in rated matches"
            return Code.BAD_OPTION, f"{path}.options: {expected}"
    return None


def _clock(plan: RatedPlan) -> Problem | None:
    for path, item in plan.items():
        control = item.time_control
        if not control.limited or seat_time_ms(control) < MIN_TIME_MS:
            return Code.BAD_OPTION, (
                f"{path}.time_control: expected a clock with {MIN_TIME_MS // 1000} s or more for"
                f" {MOVES} moves in rated matches, such as 60+1, not {control}"
            )
    return None


def _spectators(plan: RatedPlan) -> Problem | None:
    spectating = plan.settings.spectating
    if spectating.mode != "public":
        return Code.BAD_OPTION, "spectating.mode: expected 'public' in a rated lobby"
    if not plan.settings.watchable:
        return Code.BAD_OPTION, "settings.watchable: expected true in a rated lobby"
    if spectating.comments not in ("after", "none"):
        return Code.BAD_OPTION, (
            "spectating.comments: expected 'after' or 'none' in a rated lobby, whose players could"
            " read them"
        )
    return None


def _conduct(plan: RatedPlan) -> Problem | None:
    conduct = plan.settings.conduct
    if conduct.on_leave != "forfeit":
        return Code.BAD_OPTION, (
            "conduct.on_leave: expected 'forfeit', because rated matches have no substitutes"
        )
    if conduct.grace_ms not in GRACE_MS:
        low, high = GRACE_MS.start // 1000, (GRACE_MS.stop - 1) // 1000
        return Code.BAD_OPTION, (
            f"conduct.grace_ms: expected {low} s to {high} s in a rated lobby, not"
            f" {conduct.grace_ms} ms"
        )
    if conduct.max_illegal != DEFAULT_MAX_ILLEGAL:
        expected = f"expected {DEFAULT_MAX_ILLEGAL} in a rated lobby"
        return Code.BAD_OPTION, f"conduct.max_illegal: {expected}, not {conduct.max_illegal}"
    return None


def _house_bots(plan: RatedPlan) -> Problem | None:
    seen: set[str] = set()
    for path, personality in plan.house_bots():
        name, _, parameters = personality.partition(":")
        if parameters:
            return Code.BAD_OPTION, (
                f"{path}.personality: expected {name!r} without parameters in a rated lobby,"
                " because the rating is for the default ones"
            )
        if name in seen:
            return Code.BAD_SEATS, f"{path}: expected {name!r} once in a rated lobby"
        seen.add(name)
    return None


CONDITIONS: Final[Mapping[str, Condition]] = MappingProxyType(
    {
        "account": _account,
        "seeds": _seeds,
        "seats": _seats,
        "rotation": _rotation,
        "options": _options,
        "clock": _clock,
        "spectators": _spectators,
        "conduct": _conduct,
        "house bots": _house_bots,
    }
)
"""The conditions by name; the first one that fails is reported."""
