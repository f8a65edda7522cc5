"""perft (move generation, play, undo) compared with published or independent counts.

``data/GAME-perft.jsonl`` has a line for each start: options, seats, a deal or a seed if any, and
the leaves at depth 1, 2, ...; lines starting with # name the source.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_games.compiled import kernels
from kibitz_games.conformance import perft
from kibitz_games.core import registry
from kibitz_games.core.game import Game

DATA = Path(__file__).parents[1] / "data"
QUICK = 500_000 if kernels.compiled() else 20_000
"""Depths with more leaves are counted only in the slow set with machine code."""


def _lines(name: str) -> list[dict[str, Any]]:
    text = (DATA / f"{name}-perft.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines() if not line.startswith("#")]


STARTS = [
    pytest.param(name, line, id=f"{name}-{json.dumps(line['options'])}-{line['seats']}-{i}")
    for name in registry.names()
    for i, line in enumerate(_lines(name))
]


def expect(game: Game, state: np.record, depth: int, leaves: int) -> None:
    """Fail with the counts below each action if the leaves differ."""
    found = perft.perft(state, depth)
    if found != leaves:
        split = {
            game.notation.format(game.encode(state, action)): count
            for action, count in perft.divide(state, depth).items()
        }
        view = game.view(state, None).to_wire()
        pytest.fail(f"depth {depth}: {found} leaves, expected {leaves}\n{view}\n{split}")


def _start(name: str, line: dict[str, Any]) -> tuple[Game, np.record]:
    game = registry.get(name)
    options = game.Options.model_validate(line["options"])
    deal = line.get("deal") or game.deal(options, line["seats"], line.get("seed", 0))
    return game, game.start(options, line["seats"], deal)


@pytest.mark.parametrize(("name", "line"), STARTS)
def test_perft_of_the_start(name: str, line: dict[str, Any]) -> None:
    game, state = _start(name, line)
    before = state.tobytes()
    for depth, leaves in enumerate(line["perft"], 1):
        if leaves <= QUICK:
            expect(game, state, depth, leaves)
    assert state.tobytes() == before


@pytest.mark.slow
@pytest.mark.skipif(not kernels.compiled(), reason="plain rules would count for hours")
@pytest.mark.parametrize(("name", "line"), STARTS)
def test_deep_perft_of_the_start(name: str, line: dict[str, Any]) -> None:
    game, state = _start(name, line)
    for depth, leaves in enumerate(line["perft"], 1):
        if leaves > QUICK:
            expect(game, state, depth, leaves)


@pytest.mark.parametrize("name", registry.names())
def test_split_adds_up_to_perft(name: str) -> None:
    game, state = _start(name, _lines(name)[0])
    split = perft.divide(state, 2)
    assert set(split) == set(game.legal(state))
    assert sum(split.values()) == perft.perft(state, 2) == _lines(name)[0]["perft"][1]
    assert perft.perft(state, 0) == 1
