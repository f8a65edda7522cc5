"""A complete match as text, for people to read and tests to compare.

``python -m kibitz_games.conformance.playthrough GAME [--version N] [--seats N] [--seed S]
[--options JSON] [--every N]``
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator

from kibitz_games.conformance import laws
from kibitz_games.core import registry
from kibitz_games.core.game import TERMINAL, Game, Model
from kibitz_games.core.position import Position
from kibitz_games.core.scene import Cell, Scene, seat_name

SEED = 1
EVERY = 20
"""The number of plies between drawings of the position."""


def playthrough(
    game: Game,
    *,
    options: Model | None = None,
    seats: int | None = None,
    seed: int = SEED,
    every: int = EVERY,
) -> str:
    """Return a random match as text: setup, actions with the number of choices, positions."""
    play = Position(game, options=options, seats=seats, seed=seed)
    return "\n".join(_lines(play, every)) + "\n"


def _lines(play: Position, every: int) -> Iterator[str]:
    game, source, ply = play.game, random.Random(play.seed), 0
    assert play.options is not None
    yield f"{game.info.name}, rules version {game.info.rules_version}, {play.seats} seats"
    yield f"options {json.dumps(play.options.to_wire(), sort_keys=True)}"
    yield f"deal {json.dumps(play.deal, sort_keys=True)}"
    yield from render_text(play.scene())
    while play.to_act != TERMINAL:
        seat, legal = play.to_act, play.legal
        action = laws.epsilon_greedy(play.state, legal, source)
        text = game.notation.format(game.encode(play.state, action))
        play.push(action)
        ply += 1
        yield f"{ply:4} {seat_name(seat)} {text:8} of {len(legal):3}, key {_key(play):016x}"
        if ply % every == 0 or play.to_act == TERMINAL:
            yield from render_text(play.scene())
    yield f"outcome {play.outcome}"
    if play.outcome is not None and play.outcome.points:
        yield f"points {', '.join(f'{points:g}' for points in play.outcome.points)}"


def _key(play: Position) -> int:
    return int(play.state["key"])


def render_text(scene: Scene) -> list[str]:
    """Draw a scene as text: glyphs, owners' digits from 1, and dots for empty cells.

    A piece without an owner is drawn as the first letter of its color. The widest glyph determines
    the spacing.
    """
    texts = [_characters(cell) for cell in scene.cells]
    width = max(map(len, texts), default=1)
    stretch = (width + 2) // 2 if scene.lattice == "hex" else width + 1
    rows: dict[float, dict[int, str]] = {}
    for cell, text in zip(scene.cells, texts, strict=True):
        rows.setdefault(cell.y, {})[int(cell.x * stretch)] = text.rjust(width)
    drawn = [_line(row) for _, row in sorted(rows.items())]
    return [*drawn, *scene.text]


def _line(row: dict[int, str]) -> str:
    line = ""
    for column, text in sorted(row.items()):
        line = line.ljust(column) + text
    return line


def _characters(cell: Cell) -> str:
    if cell.glyph:
        return cell.glyph
    if cell.owner is None and cell.colour is not None:
        return cell.colour[0]
    return "." if cell.owner is None else str(cell.owner + 1)


def _main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="print a random match of a game")
    parser.add_argument("game", choices=registry.names())
    parser.add_argument(
        "--version", type=int, help="version of the rules (default: the current one)"
    )
    parser.add_argument("--seats", type=int)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--options", default="{}", help="as JSON")
    parser.add_argument(
        "--every", type=int, default=EVERY, help="number of plies between positions"
    )
    chosen = parser.parse_args(arguments)
    game = registry.get(chosen.game, chosen.version)
    options = game.Options.model_validate_json(chosen.options)
    text = playthrough(
        game, options=options, seats=chosen.seats, seed=chosen.seed, every=chosen.every
    )
    sys.stdout.write(text)


if __name__ == "__main__":
    _main(sys.argv[1:])
