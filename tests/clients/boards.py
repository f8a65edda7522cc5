"""Hand-made scenes with every kind of ground, on both lattices."""

from __future__ import annotations

from kibitz_games.core.scene import Cell, Label, Mark, PieceColour, Scene

LETTERS = "abcdefghijklmnopqrst"


def crossings(size: int) -> Scene:
    """Return a board of lines with stones of two colors, a winning row, and coordinates."""
    stones = {(1, 1): 0, (2, 1): 0, (3, 1): 0, (2, 2): 1, (3, 3): 1, (0, 0): 1, (size - 1, 2): 1}
    cells = [
        Cell(f"{LETTERS[x]}{y + 1}", x, y, "point", owner=stones.get((x, y)))
        for y in range(size)
        for x in range(size)
    ]
    columns = [Label(LETTERS[x], x, -1) for x in range(size)]
    rows = [Label(str(y + 1), -1, y) for y in range(size)]
    marks = (Mark("win", ("b2", "c2", "d2"), 0), Mark("to", ("c3",), 1))
    return Scene("square", tuple(cells), marks, (), (*columns, *rows))


def stones(colours: tuple[PieceColour, ...]) -> Scene:
    """Return a black, a white and a black stone; `colours` are the seats' colors."""
    put: tuple[PieceColour, ...] = ("black", "white", "black")
    cells = [
        Cell(
            f"{LETTERS[x]}{y + 1}",
            x,
            y,
            "point",
            owner=colours.index(put[x]) if y == 0 and x < len(put) and colours else None,
            colour=put[x] if y == 0 and x < len(put) else None,
        )
        for y in range(4)
        for x in range(4)
    ]
    return Scene("square", tuple(cells), colours=colours)


def battlefield() -> Scene:
    """Tiles of every kind, vehicles in all directions, a seat's visible area, and keys."""
    cells = [_tile(x, y) for y in range(5) for x in range(7)]
    keys = [Cell("left", 8, 1, "button", glyph="←"), Cell("fire", 8, 3, "button", glyph="*")]
    labels = [Label(str(x + 1), x, -1) for x in range(7)]
    labels += [Label(str(y + 1), -1, y) for y in range(5)]
    seen = tuple(f"{y + 1},{x + 1}" for x, y in ((0, 2), (1, 1), (1, 2), (1, 3), (2, 2), (4, 2)))
    marks = (
        Mark("vision", seen, 0),
        Mark("from", ("3,1",), 0),
        Mark("path", ("3,2", "3,3"), 0),
        Mark("to", ("3,5",), 0),
    )
    return Scene("square", (*cells, *keys), marks, ("slot 7 of 40",), tuple(labels))


def _tile(x: int, y: int) -> Cell:
    name = f"{y + 1},{x + 1}"
    tanks = {(0, 2): (0, 90), (6, 0): (1, 180), (6, 4): (2, 0), (3, 4): (3, 270), (2, 0): (1, None)}
    if (x, y) in tanks:
        owner, heading = tanks[x, y]
        return Cell(name, x, y, "floor", owner=owner, heading=heading)
    if (x, y) == (4, 2):
        return Cell(name, x, y, "wreck")
    if (x, y) in {(3, 0), (3, 1), (5, 3)}:
        return Cell(name, x, y, "rock")
    if x > 3 and y < 2:
        return Cell(name, x, y, "fog")
    return Cell(name, x, y, "seen" if (x, y) in {(1, 2), (0, 3)} else "floor")


def island() -> Scene:
    """Hexagonal tiles, some crossed out by two seats, and a rock."""
    gone = {(1, 0): 0, (2, 1): 1, (1, 1): 1}
    cells = []
    for y in range(4):
        for x in range(4):
            name = f"{LETTERS[x]}{y + 1}"
            seat = gone.get((x, y))
            if seat is not None:
                cells.append(Cell(name, 2 * x + y % 2, y, "gone", tint=seat, glyph="xo"[seat]))
            elif (x, y) != (0, 3):
                ground = "rock" if (x, y) == (3, 3) else "floor"
                cells.append(Cell(name, 2 * x + y % 2, y, ground))  # type: ignore[arg-type]
    labels = [Label(LETTERS[x], 2 * x, -1) for x in range(4)]
    labels += [Label(str(y + 1), -2, y) for y in range(4)]
    return Scene("hex", tuple(cells), (Mark("to", ("b2", "c2"), 1),), (), tuple(labels))


def cards() -> Scene:
    """Numbers of one to three digits with the last sum marked and places below."""
    numbers = (7, 12, 130, 4)
    cells = [Cell(str(i), i, 0, "number", glyph=str(number)) for i, number in enumerate(numbers)]
    labels = [Label(str(i), i, 1) for i in range(len(numbers))]
    return Scene("square", tuple(cells), (Mark("to", ("2",), 1),), (), tuple(labels))
