"""Unvalidated models: equal in serialization, and shared if equal."""

from __future__ import annotations

import pytest

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import LobbySettings, OpenSeat, ProgrammeItem
from kibitz_protocol.wire.records import Conduct
from kibitz_protocol.wire.unchecked import all_without_fields_set


def settings(name: str, main_ms: int) -> LobbySettings:
    control = TimeControl(main_ms=main_ms)
    return LobbySettings(
        name=name,
        seats=[OpenSeat(), OpenSeat()],
        programme=[ProgrammeItem(game="toy", options={"size": 3}, time_control=control)],
        conduct=Conduct(grace_ms=7_000),
    )


def test_nothing_that_is_written_changes() -> None:
    given = settings("one", 60_000)
    kept = all_without_fields_set(given)
    assert kept == given
    assert kept.model_dump_json() == given.model_dump_json()


def test_equal_models_within_others_are_one_object() -> None:
    one = all_without_fields_set(settings("one", 60_000))
    two = all_without_fields_set(settings("two", 60_000))
    assert one.conduct is two.conduct
    assert one.seats[0] is one.seats[1] is two.seats[0]
    assert one.programme[0].time_control is two.programme[0].time_control


def test_models_that_differ_stay_apart() -> None:
    one = all_without_fields_set(settings("one", 60_000))
    two = all_without_fields_set(settings("one", 61_000))
    assert one.programme[0].time_control.main_ms == 60_000
    assert two.programme[0].time_control.main_ms == 61_000


def test_lists_and_options_that_are_equal_are_shared_with_what_they_are_in() -> None:
    one = all_without_fields_set(settings("one", 60_000))
    two = all_without_fields_set(settings("two", 60_000))
    assert one.programme[0] is two.programme[0]
    assert one.seats is two.seats


@pytest.mark.parametrize("size", [True, "1", [1]])
def test_options_that_python_takes_for_equal_stay_apart(size: object) -> None:
    whole = ProgrammeItem(game="toy", options={"size": 1})
    other = ProgrammeItem(game="toy", options={"size": size})
    one, two = map(all_without_fields_set, (whole, other))
    assert one.model_dump_json() == whole.model_dump_json()
    assert two.model_dump_json() == other.model_dump_json()
    assert type(two.options["size"]) is type(size)


def test_a_model_that_is_kept_already_is_not_made_again() -> None:
    one = all_without_fields_set(settings("one", 60_000))
    assert all_without_fields_set(one) is one
