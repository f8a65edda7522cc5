"""kibitz: a board-game server for bots, people and spectators, and the SDK of its bots.

The names below are all that a program needs; each comes from the part that owns it and is
imported when it is first asked for, so that ``import kibitz`` costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kibitz_bots.sdk import Bot as Bot
    from kibitz_bots.sdk import Budget as Budget
    from kibitz_bots.sdk import Choice as Choice
    from kibitz_bots.sdk import Match as Match
    from kibitz_bots.sdk import Turn as Turn
    from kibitz_games.api import Game as Game
    from kibitz_games.scene import Scene as Scene
    from kibitz_protocol.client import Client as Client
    from kibitz_protocol.clocks import TimeControl as TimeControl
    from kibitz_protocol.errors import RefusedError as RefusedError
    from kibitz_protocol.recordfile import Record as Record
    from kibitz_protocol.recordfile import read_record as read_record

_OWNERS = {
    "Bot": "kibitz_bots.sdk",
    "Budget": "kibitz_bots.sdk",
    "Choice": "kibitz_bots.sdk",
    "Client": "kibitz_protocol.client",
    "Game": "kibitz_games.api",
    "Match": "kibitz_bots.sdk",
    "Record": "kibitz_protocol.recordfile",
    "RefusedError": "kibitz_protocol.errors",
    "Scene": "kibitz_games.scene",
    "TimeControl": "kibitz_protocol.clocks",
    "Turn": "kibitz_bots.sdk",
    "read_record": "kibitz_protocol.recordfile",
}

__all__ = [
    "Bot",
    "Budget",
    "Choice",
    "Client",
    "Game",
    "Match",
    "Record",
    "RefusedError",
    "Scene",
    "TimeControl",
    "Turn",
    "read_record",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("kibitz")
    try:
        owner = _OWNERS[name]
    except KeyError:
        raise AttributeError(f"module 'kibitz' has no attribute {name!r}") from None
    return getattr(importlib.import_module(owner), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
