"""Errors in settings are reported to the host immediately, before a match or a house bot fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kibitz_protocol.wire.lobbies import LobbySettings, ProgrammeItem
from kibitz_protocol.wire.messages import HouseBotLine
from kibitz_server.housebots.catalog import BotCatalog
from kibitz_server.lobby.settings import house_bots_problem, item_problem, settings_problem
from tests.server.fakes import house_bot

OPEN = {"kind": "open"}


class Launcher:
    """A catalog with two bots of a game, of which one plays only with two seats."""

    def bots(self) -> Sequence[HouseBotLine]:
        return house_bot("grid/any"), house_bot("grid/two", seats=[2]), house_bot("race/any")

    def flaw(self, personality: str) -> str | None:
        return "depth: expected a whole number from 0, not 'no'" if "=no" in personality else None

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        raise AssertionError("nobody is started")


def house(personality: str) -> dict[str, str]:
    return {"kind": "house", "personality": personality}


def settings(*seats: dict[str, str], items: Sequence[int] = (2,), **fields: Any) -> LobbySettings:
    programme = [{"game": "grid", "seats": count} for count in items]
    return LobbySettings.model_validate({"seats": seats, "programme": programme, **fields})


def said(asked: LobbySettings) -> tuple[str, str] | None:
    return house_bots_problem(asked, BotCatalog(Launcher()))


def stand_in(personality: str, **fields: Any) -> dict[str, Any]:
    return {"conduct": {"on_leave": "replace", "stand_in": personality, **fields}}


@pytest.mark.parametrize(
    "asked",
    [
        settings(OPEN, house("grid/any:depth=3")),
        settings(OPEN, house("grid/two")),
        settings(OPEN, OPEN, house("grid/two"), items=(2, 3), programme=[]),
        settings(OPEN, OPEN, OPEN, house("grid/two"), items=(2, 3)),
        settings(OPEN, OPEN, **stand_in("grid/two")),
        settings(OPEN, OPEN, spectating={"mode": "shoulder", "seat": 1}),
        settings(OPEN, OPEN, spectating={"mode": "public", "seat": 7}),
    ],
)
def test_what_can_be_played_is_not_objected_to(asked: LobbySettings) -> None:
    assert said(asked) is None


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (
            settings(OPEN, house("grid/none:depth=3")),
            "unknown_personality",
            "no house bot 'grid/none' on this server",
        ),
        (
            settings(OPEN, house("grid/any:depth=no")),
            "bad_option",
            "settings.seats.1: depth: expected a whole number from 0, not 'no'",
        ),
        (
            settings(OPEN, OPEN, **stand_in("grid/any:depth=no")),
            "bad_option",
            "settings.conduct.stand_in: depth: expected a whole number from 0, not 'no'",
        ),
        (
            settings(OPEN, OPEN, OPEN, house("grid/two"), items=(3,)),
            "bad_seats",
            "settings.seats.3: 'grid/two' plays with 2 seats, not with 3",
        ),
        (
            settings(OPEN, OPEN, OPEN, items=(2, 3), **stand_in("grid/two")),
            "bad_seats",
            "settings.programme.1: the stand-in 'grid/two' plays with 2 seats, not with 3",
        ),
        (
            settings(OPEN, OPEN, house("grid/two"), items=(2, 3)),
            "bad_seats",
            "settings.programme.1: 'grid' with 3 seats needs as many seats in the lobby that can"
            " play it, but there are 2",
        ),
        (
            settings(OPEN),
            "bad_seats",
            "settings.programme.0: 'grid' with 2 seats needs as many seats in the lobby that can"
            " play it, but there are 1",
        ),
        (
            settings(OPEN, OPEN, house("race/any")),
            "bad_seats",
            "settings.seats.2: 'race/any' does not play 'grid'",
        ),
        (
            settings(OPEN, OPEN, spectating={"mode": "shoulder", "seat": 7}),
            "bad_option",
            "spectating.seat: expected one of the seats 0 to 1 of settings.programme.0, not 7",
        ),
        (
            settings(OPEN, OPEN, OPEN, items=(3, 2), spectating={"mode": "shoulder", "seat": 2}),
            "bad_option",
            "spectating.seat: expected one of the seats 0 to 1 of settings.programme.1, not 2",
        ),
    ],
)
def test_what_would_fail_later_is_said_at_once(
    asked: LobbySettings, code: str, message: str
) -> None:
    assert said(asked) == (code, message)


def test_a_stand_in_for_another_game_is_refused_where_matches_are_arranged() -> None:
    asked = settings(OPEN, OPEN, items=(), arranged=True, **stand_in("grid/any"))
    assert said(asked) is None
    other = ProgrammeItem(game="race", seats=2)
    assert item_problem(other, "matches.0.item", asked, BotCatalog(Launcher())) == (
        "bad_seats",
        "matches.0.item: the stand-in 'grid/any' does not play 'race'",
    )


@pytest.mark.parametrize("lag", [{"bank_ms": 0}, {"refill_ms": 100}, {"standstill_ms": 0}])
def test_only_unrated_lobbies_choose_what_is_forgiven_for_lag(lag: dict[str, int]) -> None:
    assert settings_problem(settings(OPEN, OPEN, lag=lag)) is None
    problem = settings_problem(settings(OPEN, OPEN, lag=lag, rated=True))
    assert problem is not None
    assert (str(problem[0]), problem[1]) == (
        "bad_option",
        "lag: expected the default in a rated lobby; leave it out",
    )
    assert settings_problem(settings(OPEN, OPEN, rated=True)) is None
