"""perft of middle-game positions under five sets of rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kibitz_games.chinese_checkers import geometry as geo
from kibitz_games.chinese_checkers import rules
from kibitz_games.core import registry
from tests.games.conformance.test_perft import expect

DATA = Path(__file__).parents[1] / "data"
RULES: tuple[dict[str, Any], ...] = (
    {},
    {"stop": rules.STOP_NO_FOREIGN},
    {"stop": rules.STOP_NO_ACTIVE, "through": False},
    {"stop": rules.STOP_NO_ACTIVE},
    {"sticky": True},
)


POSITIONS = [
    json.loads(line)
    for line in (DATA / "chinese-checkers-positions.jsonl").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("rule", range(len(RULES)))
@pytest.mark.parametrize("line", POSITIONS, ids=lambda line: f"ply{line['ply']}-{line['corners']}")
def test_perft_of_positions(line: dict[str, Any], rule: int) -> None:
    game = registry.get("chinese-checkers")
    settings = {"stop": rules.STOP_ANY, "through": True, "sticky": False} | RULES[rule]
    state = rules.make_state(
        table=geo.ALL.index(("star", 4)),
        long_jumps=False,
        corners=tuple(line["corners"]),
        pegs=tuple(map(tuple, line["pegs"])),
        turn=line["turn"],
        **settings,
    )
    for depth, leaves in enumerate(line["perft"][rule], 1):
        expect(game, state, depth, leaves)
