"""A process that compiles a game's rules for a server, which then only loads them.

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
"""The niceness if a user waits: the server, its bots and other programs still run first."""
BACKGROUND_NICENESS = 19
"""The lowest priority."""


def command(game: str, awaited: bool) -> Sequence[str]:
    """Return the command line that compiles a game; `awaited` says whether a user is waiting."""
    niceness = AWAITED_NICENESS if awaited else BACKGROUND_NICENESS
    return child_command("kibitz.process.rules_compiler", game, str(niceness))


def main(game: str, niceness: str) -> None:
    """Compile everything that is not yet in the cache."""
    with contextlib.suppress(AttributeError, OSError):  # this system has no such priorities
        os.nice(int(niceness))
    rules = registry.get(game)
    warm_up_for_server(rules)


if __name__ == "__main__":
    main(*sys.argv[1:])
