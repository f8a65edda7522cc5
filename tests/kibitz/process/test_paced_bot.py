from __future__ import annotations

import threading
import time
from typing import Any, cast

import pytest

from kibitz.process.paced_bot import PacedBot
from kibitz_bots.sdk import Bot, Turn


class First(Bot):
    """Plays the first legal move and stores its messages."""

    games = ("star",)
    at_once = 7

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def choose(self, turn: Turn) -> dict[str, Any]:
        return turn.legal[0]

    def prepare(self, programme: Any) -> None:
        self.heard.append(programme)

    def on_match_start(self, match: Any) -> None:
        self.heard.append(match)

    def on_match_end(self, match: Any, result: Any) -> None:
        self.heard.append(result)


class Slow(First):
    async def choose(self, turn: Turn) -> dict[str, Any]:  # type: ignore[override]
        return turn.legal[0]


class OneTurn:
    """A turn that records waits instead of waiting."""

    legal = ({"to": 1},)

    def __init__(self) -> None:
        self.cancelled = self
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


def test_it_plays_what_the_bot_plays_and_waits_for_the_rest() -> None:
    turn = OneTurn()
    assert PacedBot(First(), 2.0).choose(cast("Turn", turn)) == {"to": 1}
    assert 1.5 < turn.waited[0] <= 2.0


def test_a_turn_that_is_called_off_is_not_waited_for() -> None:
    turn = OneTurn()
    called_off = threading.Event()
    called_off.set()
    turn.cancelled = called_off  # type: ignore[assignment]
    begun = time.monotonic()
    PacedBot(First(), 3600).choose(cast("Turn", turn))
    assert time.monotonic() - begun < 60


def test_it_is_known_as_the_bot_and_passes_on_what_it_hears() -> None:
    bot = First()
    paced = PacedBot(bot, 1)
    assert (paced.name, paced.games, paced.at_once) == ("First", ("star",), 7)
    paced.prepare(cast("Any", "programme"))
    paced.on_match_start(cast("Any", "match"))
    paced.on_match_end(cast("Any", "match"), cast("Any", "result"))
    assert bot.heard == ["programme", "match", "result"]


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_a_bot_that_answers_with_a_coroutine_cannot_be_paced() -> None:
    with pytest.raises(TypeError, match="only synchronous bots can be paced"):
        PacedBot(Slow(), 1).choose(cast("Turn", OneTurn()))
