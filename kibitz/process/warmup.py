"""Warm-up: compiles the code of house bots, so that they start at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kibitz_protocol.wire.lobbies import ProgrammeItem

if TYPE_CHECKING:
    from kibitz_bots.catalog import Personality

Tell = Callable[[str], None]


def warm_up(tell: Tell, bots: Sequence[Personality]) -> None:
    """Warm up `bots` one by one; their compiled code is kept in the cache.

    Each bot plays on its game's default board with every number of seats that it supports. Bots
    with the same search on the same game share code: the first one compiles it, and the others only
    load it. This also compiles the code that a server needs for their games.
    """
    from kibitz_bots.running import warmup as bots_warmup
    from kibitz_games.compiled import kernels
    from kibitz_games.core import registry
    from kibitz_games.core.warmup import warm_up_for_server

    kernels.get_mode()  # fixed now, because some personalities would request plain rules
    for number, personality in enumerate(bots, 1):
        began = time.monotonic()
        bots_warmup.warm_up(personality.make(), [*_programme_items(personality)])
        warm_up_for_server(registry.get(personality.game))
        took = time.monotonic() - began
        tell(f"{number:>3}/{len(bots)}  {took:5.1f} s  {personality.name}")


def _programme_items(personality: Personality) -> Iterator[ProgrammeItem]:
    from kibitz_games.core import registry

    for seats in personality.seats or registry.get(personality.game).info.seats:
        yield ProgrammeItem(game=personality.game, seats=seats)
