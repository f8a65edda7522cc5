"""Finding the move in a model's answer."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_bots.llm.reading import NoMoveError, find_move
from kibitz_games.core import registry
from kibitz_games.core.position import Position
from tests.games import cases

STAR = registry.get("chinese-checkers")
OPENING = Position(STAR)
LEGAL = {OPENING.format(action): OPENING.move(action).to_wire() for action in OPENING.legal}


@pytest.mark.parametrize(
    "text",
    [
        "move: 3-14",
        "Move: 3-14.",
        "**Move:** `3-14`",
        "I thought of 6-15, but\n\nMOVE = 3-14 (a step)",
        '{"move": "3-14"}',
        'So: {"from": 3, "to": 14}',
        'move: {"from": 3, "to": 14}',
        "The best is 3-14, clearly.",
        "move: 6-15? No.\nmove: 3-14",
        "move: 3 - 14" if "3 - 14" in LEGAL else "move: 3-14",
    ],
)
def test_a_move_is_found(text: str) -> None:
    assert find_move(text, LEGAL, STAR) == LEGAL["3-14"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "answer contains no legal move"),
        ("I resign", "answer contains no legal move"),
        ("move: 0-120", "'0-120' is not a legal move"),
        ("3-14 or 6-15", "several legal moves"),
        ("13-14 and 3-142", "no legal move"),
        ('{"move": 7}', "'7' is not a legal move"),
        ("{{{[", "no legal move"),
        ("move: " + "x" * 100_000, "is not a legal move"),
    ],
)
def test_what_is_no_move_is_told_to_the_model(text: str, reason: str) -> None:
    with pytest.raises(NoMoveError, match=reason) as caught:
        find_move(text, LEGAL, STAR)
    assert len(str(caught.value)) < 200


@given(st.text(max_size=300))
def test_whatever_a_model_says_is_a_legal_move_or_a_reason(text: str) -> None:
    with contextlib.suppress(NoMoveError):
        assert find_move(text, LEGAL, STAR) in LEGAL.values()


@pytest.mark.parametrize("name", sorted({*registry.names()}))
def test_every_legal_move_of_every_game_is_found_as_it_is_written(name: str) -> None:
    game = registry.get(name)
    for options, seats in [(each[1], each[2]) for each in cases.setups(name)][:3]:
        position, source = Position(game, options, seats=seats), random.Random(3)
        for _ in range(6):
            if not position.legal:
                break
            legal = {
                position.format(each): position.move(each).to_wire() for each in position.legal
            }
            for text, move in [*legal.items()][:12]:
                assert find_move(f"hm\nmove: {text}", legal, game) == move
            position.push(source.choice(position.legal))
