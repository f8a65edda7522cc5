"""A process that compiles the rules of a game for a server, which only loads them then.

``python -m kibitz.process.rules_compiler GAME NICENESS``
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

from kibitz.process.parent_death import child_command
from kibitz_games.core import registry
from kibitz_games.core.warmup import warm_up_for_server

AWAITED_NICENESS = 5
"""The server itself, its bots and other programs go first."""
BACKGROUND_NICENESS = 19
"""Everything goes first."""


def command(game: str, awaited: bool) -> Sequence[str]:
    """Return the command line that compiles a game; `awaited` says whether a user waits."""
    niceness = AWAITED_NICENESS if awaited else BACKGROUND_NICENESS
    return child_command("kibitz.process.rules_compiler", game, str(niceness))


def main(game: str, niceness: str) -> None:
    """Compile what is not in the cache yet."""
    with contextlib.suppress(AttributeError, OSError):  # no such priorities on this system
        os.nice(int(niceness))
    warm_up_for_server(registry.get(game))


if __name__ == "__main__":
    main(*sys.argv[1:])
