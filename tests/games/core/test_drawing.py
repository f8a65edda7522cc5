"""A stage plus the later paints equals the scene, at every ply of every game for every viewer."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kibitz_games.core import registry
from kibitz_games.core.drawing import Stage, scene_of, stage_of
from kibitz_games.core.game import TERMINAL, Game
from kibitz_games.core.position import Position
from kibitz_games.core.scene import Cell, Label, Mark, Scene
from kibitz_protocol.wire.merge_patch import apply
from tests.games import cases
from tests.tools.paints import paint_between
from tests.tools.profiles import some

DATA = Path(__file__).parents[1] / "data"
GOLDENS = sorted([*DATA.glob("playthrough-*.txt"), *DATA.glob("earlier/playthrough-*.txt")])
_PLIED = re.compile(r" *\d+ seat \d (?P<move>.*?) +of +\d+, key ")

Look = Callable[[Position], Scene]


def looks(game: Game, seats: int) -> list[Look]:
    """Return the drawing functions for each viewer of a game."""
    found: list[Look] = [lambda position: position.scene()]
    if game.info.hidden:
        found.append(lambda position: game.scene(game.referee_view(position.state)))
        found += [lambda position, seat=seat: position.scene(seat) for seat in range(seats)]  # type: ignore[misc]
    return found


class Easels:
    """The stages of all viewers of a play, updated only by paints."""

    def __init__(self, position: Position) -> None:
        assert position.seats is not None
        self._looks = looks(position.game, position.seats)
        self._scenes = [look(position) for look in self._looks]
        self._stages = [sent(stage_of(scene)) for scene in self._scenes]

    def require_paints(self, position: Position) -> None:
        """Paint the changes since the last call, and require the current scenes."""
        for i, look in enumerate(self._looks):
            scene = look(position)
            paint = sent(paint_between(self._scenes[i], scene))
            self._stages[i] = apply(self._stages[i], paint)
            assert self._stages[i] == sent(stage_of(scene))
            assert unordered(scene_of(self._stages[i])) == unordered(scene)
            self._scenes[i] = scene


def sent(document: Stage) -> Stage:
    """Return a document as received."""
    arrived: Stage = json.loads(json.dumps(document))
    return arrived


def unordered(scene: Scene) -> tuple[frozenset[Cell], Scene]:
    return frozenset(scene.cells), replace(scene, cells=())


def golden_play(path: Path) -> tuple[Position, list[str]]:
    """Return the first position of a golden playthrough, and its moves as text."""
    head, options, deal, *lines = path.read_text().splitlines()
    facts = re.fullmatch(r"(?P<name>[a-z-]+), rules version (\d+), (\d+) seats", head)
    assert facts is not None
    game = registry.get(facts["name"], int(facts[2]))
    chosen = game.Options.from_wire(json.loads(options.removeprefix("options ")))
    position = Position(game, chosen, int(facts[3]), deal=json.loads(deal.removeprefix("deal ")))
    return position, [found["move"] for found in map(_PLIED.match, lines) if found]


@pytest.mark.parametrize("path", some(GOLDENS, 3), ids=lambda path: path.stem)
def test_a_stage_and_paints_are_the_scene_after_every_ply_of_a_golden(path: Path) -> None:
    position, moves = golden_play(path)
    easels = Easels(position)
    for move in moves:
        position.push_move(move)
        easels.require_paints(position)
    assert position.to_act == TERMINAL


@pytest.mark.parametrize("name", registry.names())
def test_seats_that_leave_are_painted_too(name: str) -> None:
    for game, options, seats in cases.setups(name):
        source = random.Random(seats)
        position = Position(game, options, seats, seed=seats)
        easels = Easels(position)
        for ply in range(12):
            if position.to_act == TERMINAL:
                break
            if ply % 4 == 3:
                position.forfeit(source.randrange(seats))
            else:
                position.push(source.choice(position.legal))
            easels.require_paints(position)


# --- by hand -------------------------------------------------------------------------------------

SCENE = Scene(
    "hex",
    (Cell("a", 0, 0, "home", owner=0, tint=1, heading=0), Cell("b", 2, 0, glyph="12")),
    (Mark("to", ("a",), 0), Mark("path", ("a", "b"))),
    ("below",),
    (Label("A", 0, -1),),
    ("black", "white"),
)


def test_a_stage_leaves_out_what_is_none() -> None:
    assert stage_of(SCENE) == {
        "lattice": "hex",
        "cells": {
            "a": {"x": 0, "y": 0, "kind": "home", "owner": 0, "tint": 1, "heading": 0},
            "b": {"x": 2, "y": 0, "kind": "hole", "glyph": "12"},
        },
        "labels": [{"text": "A", "x": 0, "y": -1}],
        "marks": [
            {"kind": "to", "cells": ["a"], "seat": 0},
            {"kind": "path", "cells": ["a", "b"]},
        ],
        "text": ["below"],
        "colours": ["black", "white"],
    }
    assert scene_of(stage_of(SCENE)) == SCENE


def test_where_nothing_changed_nothing_is_painted() -> None:
    again = replace(SCENE, cells=tuple(replace(cell) for cell in SCENE.cells))
    assert paint_between(SCENE, again) == {}
    assert apply(stage_of(SCENE), {}) == stage_of(SCENE)


@pytest.mark.parametrize(
    ("change", "paint"),
    [
        ({"text": ()}, {"text": []}),
        ({"marks": SCENE.marks[1:]}, {"marks": [{"kind": "path", "cells": ["a", "b"]}]}),
        ({"labels": ()}, {"labels": []}),
        ({"colours": ()}, {"colours": []}),
        ({"cells": SCENE.cells[:1]}, {"cells": {"b": None}}),
        (
            {"cells": (replace(SCENE.cells[0], owner=None), SCENE.cells[1])},
            {"cells": {"a": {"owner": None}}},
        ),
        (
            {"cells": (Cell("c", 1, 1), *SCENE.cells)},
            {"cells": {"c": {"x": 1, "y": 1, "kind": "hole"}}},
        ),
    ],
)
def test_a_paint_has_what_changed(change: dict[str, Any], paint: dict[str, Any]) -> None:
    after, stage = replace(SCENE, **change), stage_of(SCENE)
    assert paint_between(SCENE, after) == paint
    assert apply(stage, paint) == stage_of(after)
    assert stage == stage_of(SCENE)  # it is unchanged


def test_most_cells_are_compared_by_identity() -> None:
    """The cost of paints depends on it: games cache the cells they have created."""
    for game, position in _begun():
        before = {id(cell) for cell in position.scene().cells}
        position.push(position.legal[0])
        after = position.scene().cells
        assert len(after) - len([c for c in after if id(c) in before]) < 16, game.info.name


def _begun() -> Iterator[tuple[Game, Position]]:
    for name in registry.names():
        game = registry.get(name)
        yield game, Position(game)
