"""kibitz: a board-game server for bots, people and spectators, with an SDK for bots.

The names below are the public API. Each is imported from its own package on first access, so
``import kibitz`` is fast.
"""

from __future__ import annotations as annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kibitz_bots.process import run as run
    from kibitz_bots.running.inprocess import play_locally as play_locally
    from kibitz_bots.running.line_search import analyze as analyze
    from kibitz_bots.sdk import Bot as Bot
    from kibitz_bots.sdk import Budget as Budget
    from kibitz_bots.sdk import Decision as Decision
    from kibitz_bots.sdk import Match as Match
    from kibitz_bots.sdk import Turn as Turn
    from kibitz_games.core.game import Game as Game
    from kibitz_games.core.position import Position as Position
    from kibitz_games.core.scene import Scene as Scene
    from kibitz_protocol.client.client import Client as Client
    from kibitz_protocol.client.errors import RefusedError as RefusedError
    from kibitz_protocol.wire.clocks import TimeControl as TimeControl
    from kibitz_protocol.wire.recordfile import Record as Record
    from kibitz_protocol.wire.recordfile import read_record as read_record

_OWNERS = {
    "Bot": "kibitz_bots.sdk",
    "Budget": "kibitz_bots.sdk",
    "Client": "kibitz_protocol.client.client",
    "Decision": "kibitz_bots.sdk",
    "Game": "kibitz_games.core.game",
    "Match": "kibitz_bots.sdk",
    "Position": "kibitz_games.core.position",
    "Record": "kibitz_protocol.wire.recordfile",
    "RefusedError": "kibitz_protocol.client.errors",
    "Scene": "kibitz_games.core.scene",
    "TimeControl": "kibitz_protocol.wire.clocks",
    "Turn": "kibitz_bots.sdk",
    "analyze": "kibitz_bots.running.line_search",
    "play_locally": "kibitz_bots.running.inprocess",
    "read_record": "kibitz_protocol.wire.recordfile",
    "run": "kibitz_bots.process",
}

__all__ = list(_OWNERS)


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
