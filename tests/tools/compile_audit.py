"""List compilations and cache loads that a house bot's warm-up missed.

``python -m tests.tools.compile_audit GAME/NAME[:KEY=VALUE] ...`` prints a JSON line for each bot:
its name as given, the number of signatures that its warm-up requested from the compiler, and the
additional ones requested during its turns, as ``module.function(types)``. Every bot is measured in
a fresh process: a fork of this one, which has imported the modules but compiled nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

from kibitz_bots.catalog import PERSONALITIES, find
from kibitz_bots.catalog.personality import EngineSpec
from kibitz_bots.running import inprocess
from kibitz_bots.running import warmup as bots_warmup
from kibitz_games.compiled import cache
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL
from kibitz_games.core.position import Position
from kibitz_protocol.wire.lobbies import ProgrammeItem

THINK_MS = 4
PLIES = 160
"""The maximum number of plies of a play."""


@contextlib.contextmanager
def requested_signatures() -> Iterator[list[str]]:
    """Collect the signatures requested from the compiler within the block."""
    found: list[str] = []
    cached = cache._is_cached

    def noted(dispatcher: Any, signature: Any) -> bool:
        function = dispatcher.py_func
        found.append(f"{function.__module__}.{function.__name__}{signature}")
        return cached(dispatcher, signature)

    cache._is_cached = noted
    try:
        yield found
    finally:
        cache._is_cached = cached


def measure(spec: str) -> tuple[int, list[str]]:
    """Count the signatures that a bot's warm-up requests; list those that its turns request.

    The bot plays a complete match against itself, on the default board with the minimum number of
    seats.
    """
    make, personality = find(spec), PERSONALITIES[spec.partition(":")[0]]
    seats = min(personality.seats or registry.get(personality.game).info.seats)
    bot, play = make(), Position(registry.get(personality.game), seats=seats)
    matches = [inprocess.local_match(play, seat) for seat in range(seats)]
    bots = [bot, *(make() for _ in range(seats - 1))]
    with requested_signatures() as before:
        bots_warmup.warm_up(bot, [ProgrammeItem(game=personality.game, seats=seats)])
    after: list[str] = []
    while (seat := play.to_act) != TERMINAL and len(play.history) < PLIES:
        turn = inprocess.local_turn(play, matches[seat], THINK_MS)
        with requested_signatures() as more:
            answer = bots[seat].choose(turn)
        after += more
        play.push(inprocess.action_from(answer, play, turn))
    return len(before), after


def measure_in_fork(spec: str) -> tuple[int, list[str]]:
    """Measure a bot in a fork of this process."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        status = 1
        try:
            os.write(writer, json.dumps(measure(spec)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    before, after = json.loads(said)
    return before, after


def main(specs: list[str]) -> None:
    """Measure the bots with the given names."""
    for spec in specs:
        personality = PERSONALITIES[spec.partition(":")[0]]
        if isinstance(build := personality.build, EngineSpec):
            build.search()
            for load in (build.evaluation, *(each.load for each in build.choices.values())):
                if load is not None:
                    load()
        registry.get(personality.game)
    for spec in specs:
        before, after = measure_in_fork(spec)
        sys.stdout.write(json.dumps([spec, before, sorted(set(after))]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
