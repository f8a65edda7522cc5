"""perft against published counts: the whole of move generation, play and undo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_games import perft, registry
from kibitz_games.api import Game
from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules

DATA = Path(__file__).parent / "data"
QUICK = 4
RULES: tuple[dict[str, Any], ...] = (
    {},
    {"stop": rules.STOP_NO_FOREIGN},
    {"stop": rules.STOP_NO_ACTIVE, "through": False},
    {"stop": rules.STOP_NO_ACTIVE},
    {"sticky": True},
)


def _lines(name: str) -> list[dict[str, Any]]:
    text = (DATA / name).read_text()
    return [json.loads(line) for line in text.splitlines() if not line.startswith("#")]


STARTS = _lines("chinese-checkers-perft.jsonl")
POSITIONS = _lines("chinese-checkers-positions.jsonl")


def _expect(game: Game, state: np.record, depth: int, leaves: int) -> None:
    found = perft.perft(state, depth)
    if found != leaves:
        split = {
            game.text(game.encode(state, action)): count
            for action, count in perft.split(state, depth).items()
        }
        view = game.dump(game.view(state, None))
        pytest.fail(f"depth {depth}: {found} leaves, expected {leaves}\n{view}\n{split}")


def _start(line: dict[str, Any]) -> tuple[Game, np.record]:
    game = registry.get("chinese-checkers")
    return game, game.start(game.Options.model_validate(line["options"]), line["seats"], {})


@pytest.mark.parametrize("line", STARTS, ids=lambda line: f"{line['options']}-{line['seats']}")
def test_perft_of_the_start(line: dict[str, Any]) -> None:
    game, state = _start(line)
    before = state.tobytes()
    for depth, leaves in enumerate(line["perft"][:QUICK], 1):
        _expect(game, state, depth, leaves)
    assert state.tobytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("line", STARTS, ids=lambda line: f"{line['options']}-{line['seats']}")
def test_deep_perft_of_the_start(line: dict[str, Any]) -> None:
    game, state = _start(line)
    for depth, leaves in enumerate(line["perft"][QUICK:], QUICK + 1):
        _expect(game, state, depth, leaves)


@pytest.mark.parametrize("rule", range(len(RULES)))
@pytest.mark.parametrize("line", POSITIONS, ids=lambda line: f"ply{line['ply']}-{line['corners']}")
def test_perft_of_positions(line: dict[str, Any], rule: int) -> None:
    game = registry.get("chinese-checkers")
    settings = {"stop": rules.STOP_ANY, "through": True, "sticky": False} | RULES[rule]
    state = rules.position(
        table=geo.ALL.index(("star", 4)),
        long_jumps=False,
        corners=tuple(line["corners"]),
        pegs=tuple(map(tuple, line["pegs"])),
        turn=line["turn"],
        **settings,
    )
    for depth, leaves in enumerate(line["perft"][rule], 1):
        _expect(game, state, depth, leaves)


def test_split_adds_up_to_perft() -> None:
    game = registry.get("chinese-checkers")
    state = game.start(game.Options(), 2, {})
    split = perft.split(state, 3)
    assert set(split) == set(game.legal(state))
    assert sum(split.values()) == perft.perft(state, 3) == 4760
    assert perft.perft(state, 0) == 1
