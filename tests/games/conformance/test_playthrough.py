"""Golden playthroughs: one complete play of each game as readable text.

After an intended change of rules, regenerate them: ``python -m kibitz_games.conformance.playthrough
GAME > tests/games/data/playthrough-GAME.txt``
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kibitz_games.conformance.playthrough import playthrough, render_text
from kibitz_games.core import registry
from kibitz_games.core.scene import Cell, Scene

DATA = Path(__file__).parents[1] / "data"


def test_no_game_lacks_goldens_and_no_golden_lacks_a_game() -> None:
    for kind in ("playthrough-*.txt", "*-perft.jsonl"):
        named = {
            path.stem.removeprefix("playthrough-").removesuffix("-perft")
            for path in DATA.glob(kind)
        }
        assert named == set(registry.names())


@pytest.mark.parametrize("name", registry.names())
def test_playthrough_is_the_golden_one(name: str) -> None:
    golden = (DATA / f"playthrough-{name}.txt").read_text()
    assert playthrough(registry.get(name)) == golden


def test_drawing_of_both_lattices() -> None:
    cells = (Cell("a", 1, 0, owner=3), Cell("b", 0, 1), Cell("c", 2, 1, glyph="#"))
    assert render_text(Scene("hex", cells, text=("below",))) == [" 4", ". #", "below"]
    assert render_text(Scene("square", cells)) == ["  4", ".   #"]


def test_wide_glyphs_have_room() -> None:
    cells = (Cell("a", 0, 0, glyph="17"), Cell("b", 1, 0, glyph="5"), Cell("c", 2, 0))
    assert render_text(Scene("square", cells)) == ["17  5  ."]
    apart = (Cell("a", 0, 0, glyph="17"), Cell("b", 2, 0, glyph="25"), Cell("c", 1, 1))
    assert render_text(Scene("hex", apart)) == ["17  25", "   ."]
