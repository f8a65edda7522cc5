"""Play a game like a server after its warm-up, and print the kernels requested from numba.

``python served_play.py GAME``
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from kibitz_games.compiled import cache
from kibitz_games.core import drawing, registry, warmup
from kibitz_games.core.game import Game, InvalidSetup, Json

Request: TypeAlias = Callable[[Any], Any]
"""Loads or compiles a kernel for a signature."""
SEEN: list[str] = []
"""The kernels that were compiled or loaded since the list was cleared."""
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "chinese-checkers": [
        {"board": "rhombus", "size": 4},
        {"size": 2},
        {"stop": "no-active"},
    ],
    "five-in-a-row": [{"swap": True}, {"opening": ["h8", "i9", "c3"]}, {"dead_board_draw": True}],
    "line-nim": [{"free": 20}],
    "number-merge": [{"preset": name} for name in ("fair", "classic", "long", "open")],
    "tanks": [{"turns": 30, "memory": "report"}],
}
"""Additional options to play each game with."""
MOST_PLIES = 400


def spy(real: Callable[[Any, Path], Request]) -> Callable[[Any, Path], Request]:
    """Return `cache.compile_locked` wrapped to record every kernel that it compiles or loads."""

    def watched(dispatcher: Any, lock: Path) -> Request:
        load_or_compile = real(dispatcher, lock)

        def call(signature: Any) -> Any:
            SEEN.append(f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__name__}")
            return load_or_compile(signature)

        return call

    return watched


def all_options(game: Game) -> Iterator[Mapping[str, Json]]:
    """Yield the options to play a game with."""
    yield from game.warm_up_options
    yield from OPTIONS.get(game.info.name, [])
    if game.info.name == "chinese-checkers":
        state = game.start(game.Options(), 2, {})
        yield {"opening": [game.notation.format(game.encode(state, game.legal(state)[0]))]}


def play(game: Game, values: Mapping[str, Json], seats: int) -> bool:
    """Play a match with all operations that a server uses; return whether it was possible."""
    try:
        options = game.Options.from_wire(values)
        state = game.start(options, seats, game.deal(options, seats, 7))
    except (InvalidSetup, ValidationError):
        return False
    source, ply = random.Random(seats), 0
    while game.to_act(state) >= 0 and ply < MOST_PLIES:
        legal = game.legal(state)
        action = source.choice(legal)
        assert game.decode(state, game.encode(state, action)) == action
        if ply % 10 == 0:
            show(game, state, seats)
        if game.info.on_flag == "skip" and ply % 5 == 4:
            action = game.skip(state)
        game.play_turn(state, action)
        if ply % 20 == 10:
            end(game, state.copy(), seats)
        ply += 1
    show(game, state, seats)
    game.outcome(state)
    return True


def show(game: Game, state: Any, seats: int) -> None:
    """Request everything that a turn, an event and a drawing need."""
    game.count_legal(state)
    game.legal_json(state, 1000)
    for action in game.legal(state):
        game.notation.cells(game.encode(state, action))
    for viewer in (None, *range(seats)):
        view = game.view(state, viewer)
        view.to_wire()
        game.view_json(state, viewer)
        drawing.stage_of(game.scene(view))
    game.scene(game.referee_view(state))


def end(game: Game, state: Any, seats: int) -> None:
    """Drop the seats one by one."""
    for seat in range(seats):
        game.forfeit(state, seat)
        game.in_play(state, seat)
    game.outcome(state)


def main(name: str) -> None:
    """Print the code loaded during the warm-up and afterwards."""
    vars(cache)["compile_locked"] = spy(cache.compile_locked)
    present = registry.get(name)
    warmup.warm_up_for_server(present)
    warm_up = len(SEEN)
    SEEN.clear()
    plays = 0
    for version in (None, *present.earlier_versions):
        game = registry.get(name, version)
        for values in all_options(game):
            plays += sum(play(game, values, seats) for seats in game.info.seats)
    found = {
        "warm_up": warm_up,
        "use": sorted(set(SEEN)),
        "plays": plays,
        "is_compiled": warmup.is_compiled(present),
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
