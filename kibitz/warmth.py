"""Machine code made in advance: what house bots would otherwise compile when they first start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from kibitz_protocol.rooms import ProgrammeItem

if TYPE_CHECKING:
    from kibitz_bots import Bot


def warm_up(tell: Callable[[str], None], programme: Sequence[ProgrammeItem] | None = None) -> None:
    """Warm every personality once; the code that it compiles stays in the cache.

    Without `programme` it is every game in the box with every number of players.
    """
    from kibitz_bots.personalities import PERSONALITIES
    from kibitz_games import kernels

    kernels.mode()  # settled now, for some personalities would ask for plain rules
    items = list(programme or _everything())
    for personality in PERSONALITIES.values():
        tell(f"warming {personality.name}")
        bot = personality.make()
        bot.warm([item for item in items if _plays(bot, item)])


def _plays(bot: Bot, item: ProgrammeItem) -> bool:
    return (not bot.games or item.game in bot.games) and (
        not bot.seats or item.seats is None or item.seats in bot.seats
    )


def _everything() -> Iterable[ProgrammeItem]:
    from kibitz_games import registry

    for name in registry.names():
        for seats in registry.get(name).info.seats:
            yield ProgrammeItem(game=name, seats=seats)
