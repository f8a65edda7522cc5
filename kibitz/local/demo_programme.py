"""The programme of the demo: a lobby per game, with house bots and a few minutes of matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import HouseSeat, LobbySettings, ProgrammeItem
from kibitz_protocol.wire.records import Spectating

CLOCK: Final = TimeControl.parse("60+3")


@dataclass(frozen=True)
class DemoGame:
    """A game of the demo: its players, one process each, and their matches."""

    name: str
    bots: tuple[str, ...]
    items: tuple[ProgrammeItem, ...]

    def settings(self) -> LobbySettings:
        """Return the lobby settings: a seat for each bot, one match at a time."""
        return LobbySettings(
            name=self.name,
            joinable="closed",
            seats=[HouseSeat(personality=f"{self.name}/{bot}") for bot in self.bots],
            programme=list(self.items),
            at_once=1,
            spectating=Spectating(mode="referee"),  # shows what is hidden from the players
        )


def _item(
    game: str, seats: int, *, games: int | None = None, **options: str | int | bool
) -> ProgrammeItem:
    """Return the programme item: `games` matches, or a block if the game is played in blocks."""
    item = ProgrammeItem(game=game, seats=seats, options=dict(options), time_control=CLOCK)
    return item if games is None else item.model_copy(update={"games": games, "rotate": False})


DEMO: Final = (
    DemoGame(
        "connect-four",
        ("greedy", "random"),
        (_item("connect-four", 2), _item("connect-four", 2)),
    ),
    DemoGame(
        "line-nim",
        ("greedy", "random"),
        (_item("line-nim", 2, free=18), _item("line-nim", 2, free=16)),
    ),
    DemoGame(
        "five-in-a-row",
        ("greedy", "greedy"),
        (_item("five-in-a-row", 2, size=7), _item("five-in-a-row", 2, size=7, exact=True)),
    ),
    DemoGame(
        "tanks",
        ("greedy", "random", "random", "random"),
        (_item("tanks", 4, games=1, turns=240),),
    ),
    DemoGame(
        "number-merge",
        ("greedy", "random"),
        (_item("number-merge", 2), _item("number-merge", 2)),
    ),
    DemoGame(
        "chinese-checkers",
        ("iddfs-hand:time=0.1", "greedy-hand", "greedy-euclid", "greedy-hand", "random", "random"),
        (
            _item("chinese-checkers", 6, size=2),
            _item("chinese-checkers", 3, size=3),
            _item("chinese-checkers", 2, size=3),
        ),
    ),
)
"""In the order in which their bots start; small boards keep the matches short."""
