"""The house bots that players may request."""

from __future__ import annotations

from collections.abc import Sequence

from kibitz_protocol.wire.messages import BotLevel, HouseBotLine
from kibitz_server.housebots.catalog import BotCatalog
from tests.server.fakes import house_bot


class Agency:
    def bots(self) -> Sequence[HouseBotLine]:
        return house_bot("grid/greedy"), house_bot("grid/steady", seats=[2])

    def flaw(self, personality: str) -> str | None:
        return "no such parameter" if "depth" in personality else None

    def command(self, personality: str, url: str, lobby: str) -> Sequence[str]:
        raise AssertionError("nobody is started")


def test_a_bot_is_known_by_its_name_alone() -> None:
    catalog = BotCatalog(Agency())
    assert [bot.name for bot in catalog.lines] == ["grid/greedy", "grid/steady"]
    assert catalog.knows("grid/greedy:depth=3")
    assert not catalog.knows("grid/other")
    assert catalog.flaw("grid/greedy:depth=3") == "no such parameter"
    assert catalog.flaw("grid/greedy") is None


def test_a_bot_plays_with_the_seats_that_it_says() -> None:
    catalog = BotCatalog(Agency())
    assert catalog.seats("grid/steady:depth=3") == [2]
    assert catalog.seats("grid/greedy") == []


def test_a_bot_is_a_level_with_its_parameters_and_seats() -> None:
    class Leveled(Agency):
        def bots(self) -> Sequence[HouseBotLine]:
            levels = [
                BotLevel(level=1, seats=2),
                BotLevel(level=3, seats=2, parameters="depth=3"),
                BotLevel(level=2, seats=4, parameters="depth=3"),
            ]
            return [house_bot("grid/greedy").model_copy(update={"levels": levels})]

    catalog = BotCatalog(Leveled())
    asked = [("grid/greedy", 2), ("grid/greedy:depth=3", 2), ("grid/greedy:depth=3", 4)]
    assert [catalog.level(*each) for each in asked] == [1, 3, 2]
    unknown = [("grid/greedy", 4), ("grid/greedy:depth=4", 2), ("grid/other", 2)]
    assert [catalog.level(*each) for each in unknown] == [None] * 3


def test_without_a_launcher_there_are_no_bots() -> None:
    catalog = BotCatalog(None)
    assert catalog.lines == []
    assert not catalog.knows("grid/greedy")
    assert catalog.flaw("grid/greedy") is None
    assert catalog.seats("grid/greedy") == ()
