"""What a house bot loads or compiles during its turns, which a warm bot has done before.

``python -m tests.tools.compiled GAME/NAME ...`` prints a line of JSON for each personality: its
name, how many signatures its warm-up asked the compiler for, and those that its turns asked for
on top, as ``module.function(types)``. Every personality gets a process that has compiled nothing
yet: a copy (`os.fork`) of this one, which has only imported the modules.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from kibitz_bots import first_turn, parlour
from kibitz_bots.personalities import PERSONALITIES, Personality
from kibitz_bots.personalities.making import Recipe
from kibitz_games import kernels, registry
from kibitz_games.api import OVER
from kibitz_games.play import Play
from kibitz_protocol.rooms import ProgrammeItem

THINK_MS = 4
PLIES = 160
"""No play goes on for longer."""


@contextlib.contextmanager
def asked() -> Iterator[list[str]]:
    """Collect the signatures that the compiler is asked for within the block."""
    found: list[str] = []
    cached = kernels._cached

    def noted(dispatcher: Any, signature: Any) -> bool:
        function = dispatcher.py_func
        found.append(f"{function.__module__}.{function.__name__}{signature}")
        return cached(dispatcher, signature)

    kernels._cached = noted
    try:
        yield found
    finally:
        kernels._cached = cached


def measure(personality: Personality) -> tuple[int, list[str]]:
    """Return how much the warm-up of a personality asks for, and what its turns ask for then.

    It plays a whole play against itself, on the game's usual board, with the fewest seats.
    """
    seats = min(personality.seats or registry.get(personality.game).info.seats)
    bot, play = personality.make(), Play(registry.get(personality.game), seats=seats)
    matches = [parlour.match_of(play, seat) for seat in range(seats)]
    bots = [bot, *(personality.make() for _ in range(seats - 1))]
    with asked() as before:
        first_turn.warm(bot, [ProgrammeItem(game=personality.game, seats=seats)])
    after: list[str] = []
    while (seat := play.to_act) != OVER and len(play.entries) < PLIES:
        turn = parlour.turn_of(play, matches[seat], THINK_MS)
        with asked() as more:
            answer = bots[seat].choose(turn)
        after += more
        play.act(parlour.action_of(answer, play, turn))
    return len(before), after


def apart(personality: Personality) -> tuple[int, list[str]]:
    """Measure a personality in a copy of this process."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        status = 1
        try:
            os.write(writer, json.dumps(measure(personality)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    before, after = json.loads(said)
    return before, after


def main(names: list[str]) -> None:
    """Measure the personalities of these names."""
    for name in names:
        build = PERSONALITIES[name].build
        for part in (build.search, build.evaluation) if isinstance(build, Recipe) else ():
            if part:
                importlib.import_module(part.partition(":")[0])
        registry.get(PERSONALITIES[name].game)
    for name in names:
        before, after = apart(PERSONALITIES[name])
        sys.stdout.write(json.dumps([name, before, sorted(set(after))]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
