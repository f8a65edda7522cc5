"""Positions of five in a row, and a slow analysis of their lines by definition."""

from __future__ import annotations

import functools
import random
from typing import Any

from kibitz_games.core import registry

GAME: Any = registry.get("five-in-a-row")
STEPS = ((1, 0), (0, 1), (1, 1), (-1, 1))


def start(**options: Any) -> Any:
    return GAME.start(GAME.Options(**({"first": "seat-0"} | options)), 2, {})


def after(moves: str, **options: Any) -> Any:
    state = start(**options)
    for move in moves.split():
        play(state, move)
    return state


def play(state: Any, move: str) -> None:
    GAME.play(state, GAME.decode(state, GAME.notation.parse(move)))


def name(state: Any, action: int) -> str:
    text: str = GAME.notation.format(GAME.encode(state, action))
    return text


def names(state: Any, actions: Any) -> list[str]:
    return [name(state, action) for action in actions]


def at_random(seed: int, plies: int, **options: Any) -> Any:
    """Return a position after a number of random plies, fewer if the play would be over."""
    state, source = start(**options), random.Random(seed)
    for _ in range(plies):
        action = source.choice(GAME.legal(state))
        GAME.play(state, action)
        if GAME.to_act(state) < 0:
            GAME.undo(state, action)
            break
    return state


def rows(state: Any) -> list[str]:
    board: list[str] = GAME.view(state, None).to_wire()["board"]
    return board


def line(board: list[str], x: int, y: int, step: tuple[int, int], reach: int) -> str:
    """Return the cells of a line, ``#`` for cells off the board."""
    size, cells = len(board), []
    for k in range(-reach, reach + 1):
        column, row = x + k * step[0], y + k * step[1]
        inside = 0 <= column < size and 0 <= row < size
        cells.append(board[row][column] if inside else "#")
    return "".join(cells)


def seen(text: str, colour: str) -> str:
    """Return a line from a color's perspective: x for its own stones, # for obstacles."""
    other = "o" if colour == "x" else "x"
    text = text.replace(other, "#").replace(colour, "x")
    return text[: len(text) // 2] + "x" + text[len(text) // 2 + 1 :]


@functools.cache
def five(text: str, exact: bool) -> bool:
    """Return whether the center of a line belongs to a winning row."""
    centre = len(text) // 2
    left = len(text[:centre]) - len(text[:centre].rstrip("x"))
    right = len(text[centre:]) - len(text[centre:].lstrip("x"))
    return left + right == 5 or (left + right > 5 and not exact)


def with_one_more(text: str) -> list[str]:
    return [text[:i] + "x" + text[i + 1 :] for i in range(len(text)) if text[i] == "."]


ORDER = [
    "nothing",
    *("one", "open one"),
    *("two", "open two"),
    *("three", "open three"),
    *("four", "open four"),
    "five",
]


@functools.cache
def pattern(text: str, exact: bool) -> str:
    """Return the class of a line, derived from the effect of one more stone."""
    if five(text, exact):
        return "five"
    later = with_one_more(text)
    fives = sum(five(each, exact) for each in later)
    if fives:
        return "open four" if fives > 1 else "four"
    best = max((pattern(each, exact) for each in later), key=ORDER.index, default="nothing")
    becomes = {
        "open four": "open three",
        "four": "three",
        "open three": "open two",
        "three": "two",
        "open two": "open one",
        "two": "one",
    }
    return becomes.get(best, "nothing")


def number(text: str) -> int:
    """Return the index of a line in `patterns.lines`."""
    cells = text[: len(text) // 2] + text[len(text) // 2 + 1 :]
    return sum(".x#".index(cell) * 3**i for i, cell in enumerate(cells))
