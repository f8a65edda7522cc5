"""`kibitz new-game`: a game that works, to be changed into the one that is meant."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from string import Template

import click

from kibitz.output import echo

RULES = Template('''\
"""The rules of $title as kernels over one state record.

``board[row, column]`` is 0 for an empty cell, else 1 + the seat of a piece. An action is a cell,
``row * COLUMNS + column``.
"""

from __future__ import annotations

import numpy as np

from kibitz_games.compiled import kernels, operations
from kibitz_games.compiled.kernels import Int, kernel
from kibitz_games.compiled.operations import Moves, Record
from kibitz_games.compiled.snapshot import end_play, state_type

i64 = kernels.int64_cast()

ROWS, COLUMNS = 3, 3
CELLS = ROWS * COLUMNS
END_FULL = 1

STATE = state_type(
    "$package",
    position=[("board", np.uint8, (ROWS, COLUMNS))],
    max_plies=CELLS,
    source=__file__,
)


@kernel
def generate(st: Record, moves: Moves) -> Int:
    """Write the empty cells; none when the play is over."""
    n = i64(0)
    for cell in range(CELLS):
        if st.side >= 0 and st.board[cell // COLUMNS, cell % COLUMNS] == 0:
            moves[n] = cell
            n += 1
    return n


@kernel
def apply(st: Record, m: Int) -> None:
    """Put a piece of the seat to act on a cell, and give the turn to the other."""
    seat = i64(st.side)
    st.board[m // COLUMNS, m % COLUMNS] = 1 + seat
    st.side = 1 - seat
    if st.ply == CELLS - 1:
        end_play(st, END_FULL, -1)


operations.implement(STATE, max_actions=CELLS, generate=generate, apply=apply)
''')

GAME = Template('''\
"""$title, with the rules of `rules`."""

from __future__ import annotations

from pydantic import Field

from kibitz_games.$package import rules
from kibitz_games.core.declared import BoardView
from kibitz_games.core.game import Game, GameInfo, Model, NoOptions
from kibitz_games.core.grid import cell_names


class Move(Model):
    """The cell that gets a piece, counted row by row from the corner at the top left."""

    cell: int = Field(ge=0, lt=rules.CELLS)


class $kind(Game[NoOptions, Move, BoardView]):
    """$title."""

    info = GameInfo(
        name="$name",
        title="$title",
        summary="Fill a board of three by three; for two.",
        rules_version=1,
        seats=(2,),
        balanced=True,
        max_plies=rules.CELLS,
    )
    state_type = rules.STATE
    reasons = ("", "full", "dropped")
    action_names = cell_names(rules.ROWS, rules.COLUMNS)


GAME = $kind()
''')

CASES = Template('''\
"""What $title is tested with, next to the laws that hold for every game."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kibitz_games.$package import Move, rules
from kibitz_games.core.game import Game, Model

OPTIONS: list[dict[str, Any]] = [{}]


def spellings(game: Game, state: Any) -> Iterable[Model]:
    """Return every move that the model lets through."""
    return [Move(cell=cell) for cell in range(rules.CELLS)]
''')

TEST = Template('''\
"""What the laws cannot know of $title."""

from __future__ import annotations

from kibitz_games.core import registry
from kibitz_games.core.position import Position


def test_a_full_board_is_a_draw() -> None:
    position = Position(registry.get("$name"))
    for move in ("a1", "b1", "c1", "b2", "a2", "c2", "b3", "a3", "c3"):
        position.push_move(move)
    assert position.outcome is not None
    assert position.outcome.reason == "full"
    assert position.outcome.scores == (0.5, 0.5)
''')

PERFT = '{"options": {}, "seats": 2, "seed": 0, "perft": [9, 72, 504, 3024]}\n'

PAGE = Template("""\
# $title

What the game is, in a sentence.

## Rules

Board, turn, end, options.

## On the wire

A move is `{"cell": 4}`, counted row by row from 0. People write `b2`.
""")

NEXT = Template("""\
$title is in the box. Look at it, test it, play it:
  kibitz games $name
  python -m pytest tests/games -k "$name or $package"
  kibitz play $name $name/random $name/greedy --games 2
The rules are in games/kibitz_games/$package/rules.py; docs/add-a-game.md goes on from here.""")

_REGISTRY = "games/kibitz_games/core/registry.py"
_TABLE = "MODULES: dict[str, str] = {\n"
_GOLDEN = "tests/games/data/playthrough-{name}.txt"


@click.command("new-game", short_help="Write a game that works, to be changed into yours.")
@click.argument("name")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="The clone of kibitz to write into; usually where you are.",
)
def new_game(name: str, root: Path) -> None:
    """Write the rules, the tests and the page of a game called NAME, for example tic-tac-toe.

    It is a game for two who fill a board of three by three. Its tests pass as they are; change
    them with the rules.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        message = f"expected lower-case words with hyphens, as in tic-tac-toe, not {name!r}"
        raise click.BadParameter(message, param_hint="NAME")
    if not (root / _REGISTRY).is_file():
        raise click.ClickException(f"{root} is no clone of kibitz: it has no {_REGISTRY}")
    files = _files(name)
    for path in files:
        if (root / path).exists():
            raise click.ClickException(f"{path} is there already")
    registry = (root / _REGISTRY).read_text()
    if registry.count(_TABLE) != 1:
        raise click.ClickException(f"{_REGISTRY} has no table of games that begins {_TABLE!r}")
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    line = f'    "{name}": "kibitz_games.{_package(name)}",\n'
    (root / _REGISTRY).write_text(registry.replace(_TABLE, _TABLE + line))
    golden = _GOLDEN.format(name=name)
    (root / golden).write_text(_playthrough(name, root))
    for path in (*files, golden, _REGISTRY):
        echo(f"wrote {path}")
    echo(NEXT.substitute(_words(name)))


def _package(name: str) -> str:
    return name.replace("-", "_")


def _words(name: str) -> dict[str, str]:
    """Return what the templates are filled with."""
    return {
        "name": name,
        "package": _package(name),
        "kind": "".join(word.capitalize() for word in name.split("-")),
        "title": name.replace("-", " ").capitalize(),
    }


def _files(name: str) -> dict[str, str]:
    """Return the new files by their paths."""
    package, words = _package(name), _words(name)
    return {
        f"games/kibitz_games/{package}/rules.py": RULES.substitute(words),
        f"games/kibitz_games/{package}/__init__.py": GAME.substitute(words),
        f"tests/games/{package}/cases.py": CASES.substitute(words),
        f"tests/games/{package}/test_rules.py": TEST.substitute(words),
        f"tests/games/data/{name}-perft.jsonl": PERFT,
        f"docs/games/{name}.md": PAGE.substitute(words),
    }


def _playthrough(name: str, root: Path) -> str:
    """Return the golden playthrough, made by a process that finds the new game first."""
    command = [sys.executable, "-m", "kibitz_games.conformance.playthrough", name]
    done = subprocess.run(
        command,
        cwd=root / "games",
        env=os.environ | {"KIBITZ_PLAIN": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
