"""The conditions of rated play, all of them. Pure.

Ratings are only comparable if no player or accomplice can choose something that decides a match. So
every setting that gives a host such a choice is fixed here for rated lobbies:

- The host has an account, and so has everybody who joins (`admission`). Guests have no lasting
  identity that a rating could belong to.
- The server draws the seeds, and who begins. In an arranged lobby the seed of an item only says
  which matches share a deal (`schedule.arranged_seed`), and the host has no seat.
- Seats rotate, and the options are the game's own: one rating list compares one game.
- Spectators see what is public, and comments when the match is over.
- Each seat has `MIN_TIME_MS` at least for a match of `MOVES` moves, a grace of `GRACE_MS`, and as
  many illegal moves as elsewhere. No substitute takes over a seat.
- House bots play with their usual parameters, each once: a rating belongs to the personality, and
  with parameters of a host's choice it would be that of another player.

`CONDITIONS` is a table. `rated_problem` checks settings when a lobby is opened or sought, when a
match is arranged, before a rematch, and once more when a match begins. A lobby that an earlier
release accepted continues, but unrated.
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
from kibitz_server.lobby.schedule import assured_ms

MOVES: Final = 40
"""The number of a seat's moves for which a clock must be enough."""
MIN_TIME_MS: Final = 20_000
"""The minimum time of a seat for so many moves."""
GRACE_MS: Final = range(10_000, 600_001)
"""The allowed graces of disconnected seats."""
DEFAULT_MAX_ILLEGAL: Final = Conduct().max_illegal

Problem: TypeAlias = tuple[Code, str]
"""A refusal's code, and a sentence."""
StandardOptions: TypeAlias = Callable[[ProgrammeItem], bool]
"""A function that returns whether an item has its game's default options."""


@dataclass(frozen=True, slots=True)
class RatedPlan:
    """The matches to be rated: a lobby's settings, and further items that are arranged in it."""

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
    """Return why matches cannot be rated; None if they can, or are not meant to be."""
    if not plan.settings.rated:
        return None
    problems = (condition(plan) for condition in CONDITIONS.values())
    return next((problem for problem in problems if problem is not None), None)


def seat_time_ms(control: TimeControl) -> int:
    """Return how long a seat may think in `MOVES` moves."""
    return control.main_ms + control.bank_ms + MOVES * assured_ms(control)


def _account(plan: RatedPlan) -> Problem | None:
    if plan.account:
        return None
    return Code.UNAUTHORIZED, "rated matches are for accounts, and you are a guest"


def _seeds(plan: RatedPlan) -> Problem | None:
    for index, item in enumerate(plan.settings.programme):
        if item.seed is not None:
            path = f"settings.programme.{index}.seed"
            return Code.BAD_OPTION, f"{path}: expected none, for the server draws rated deals"
    return None


def _seats(plan: RatedPlan) -> Problem | None:
    for path, item in plan.items():
        if item.seats < 2:
            return Code.BAD_SEATS, f"{path}.seats: expected two or more in rated matches"
    return None


def _rotation(plan: RatedPlan) -> Problem | None:
    for path, item in plan.items():
        if not (item.rotate or plan.settings.arranged):
            return Code.BAD_OPTION, f"{path}.rotate: expected true, for rated seats rotate"
    return None


def _options(plan: RatedPlan) -> Problem | None:
    for path, item in plan.items():
        if not plan.standard(item):
            expected = f"expected the usual options of {item.game!r} in rated matches"
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
            "conduct.on_leave: expected 'forfeit' in a rated lobby, where nobody plays for another"
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
                f"{path}.personality: expected {name!r} without parameters in a rated lobby, for"
                " the rating is the personality's"
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
"""Each condition by name; the first failing one is reported."""
