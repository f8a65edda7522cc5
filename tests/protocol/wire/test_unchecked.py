"""Models without what nobody asks of them: equal in all that is written, and shared where equal."""

from __future__ import annotations

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


def test_models_with_options_are_not_shared() -> None:
    """A dict has no hash, so each keeps its own."""
    one = all_without_fields_set(settings("one", 60_000))
    two = all_without_fields_set(settings("one", 60_000))
    assert one.programme[0] is not two.programme[0]
    assert one.programme[0] == two.programme[0]
