"""Games and openings from other programs: Piskvork's ``.psq``, SGF, and Gomocup's openings.

- ``.psq`` is the format of Piskvork (`savePsq` in its game.cpp): ``Piskvorky 20x20, 11:11, 0``,
  where the last number is the player who moves first. A line ``x,y,milliseconds`` for each stone
  follows, counted from 1 at the top left, then the two names if the game is from a tournament, and
  then a code for the result.
- Lines of an opening file are ``x,y, x,y, ...``: black, white, black. Coordinates are relative to
  the cell ``size // 2``, as in Piskvork's openings.txt.
- SGF is a standard (https://www.red-bean.com/sgf/); ``GM[4]`` is Gomoku, but some programs write
  such games as Go, ``GM[1]``.

None of these formats records whether six in a row win. The readers assume that they do, unless the
game continues after six in a row.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kibitz_games.compiled.calls import play
from kibitz_games.core.game import IllegalAction
from kibitz_games.core.game_file import GameFile, GameFileError, Opening
from kibitz_games.five_in_a_row import geometry as geo
from kibitz_games.five_in_a_row import models

_HEAD = re.compile(
    r"Piskvorky\s+(\d{1,4})x(\d{1,4})(?:\s*,\s*-?\d+:-?\d+(?:\s*,\s*([01]))?)?\s*,?\s*"
)
_STONE = re.compile(r"\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*(?:,\s*-?\d+\s*)?", re.ASCII)
_RESULT = re.compile(r"\s*-?\d{1,4}\s*(?:,\s*[A-Za-z].*)?")
_PAIR = r"-?\d{1,9}\s*,\s*-?\d{1,9}"
_OFFSETS = re.compile(rf"{_PAIR}(?:\s*,\s*{_PAIR})*", re.ASCII)
_GOMOKU_OR_GO = (b"4", b"1")
_LONGEST_NAME = 32


@dataclass(frozen=True)
class Stone:
    """A stone read from a file, not validated yet."""

    x: int
    y: int
    line: int
    label: str = ""
    """A prefix for errors, such as ``move 5: ``."""

    def cell(self, size: int) -> tuple[int, int]:
        """Return its cell; raise `GameFileError` if it is not on the board."""
        if not (0 <= self.x < size and 0 <= self.y < size):
            raise self.error(f"expected a cell on a {size}x{size} board")
        return self.x, self.y

    def error(self, sentence: str) -> GameFileError:
        return GameFileError(self.line, self.label + sentence)


def read_psq(data: bytes) -> GameFile:
    """Read a game saved by Piskvork."""
    lines = _text_lines(data)
    head = _HEAD.fullmatch(lines[0]) if lines else None
    if head is None:
        raise GameFileError(1, "expected a header such as 'Piskvorky 15x15, 0:0, 0'")
    if head[1] != head[2]:
        raise GameFileError(1, f"expected a square board, found {head[1]}x{head[2]}")
    count = next((n for n, line in enumerate(lines[1:]) if not _STONE.fullmatch(line)), None)
    count = len(lines) - 1 if count is None else count
    stones = [_psq_stone(line, number) for number, line in enumerate(lines[1 : count + 1], 2)]
    names = _psq_names(lines, count + 1)
    if head[3] == "1":
        names = names[::-1]
    return _game_file(_size(int(head[1])), stones, names)


def _psq_stone(line: str, number: int) -> Stone:
    stone = _STONE.fullmatch(line)
    assert stone is not None
    return Stone(int(stone[1]) - 1, int(stone[2]) - 1, number)


def _psq_names(lines: Sequence[str], start: int) -> tuple[str, ...]:
    """Read the players' names from the lines after the stones, which start at index `start`."""
    rest = lines[start:]
    names = [*itertools.takewhile(lambda line: not _RESULT.fullmatch(line), rest)]
    if len(names) == 1 or any(map(_STONE.fullmatch, rest)):
        raise GameFileError(start + 1, "expected a stone as x,y,milliseconds, or two names")
    if len(names) > 2:
        raise GameFileError(start + 3, "expected a result code")
    return tuple(map(_engine_name, names))


def _engine_name(text: str) -> str:
    """Return the name of an engine such as ``pbrain-embryo.exe`` without prefix and suffix."""
    file = re.split(r"[\\/]", text.strip())[-1]
    return re.sub(r"^pbrain-|\.(exe|zip)$", "", file, flags=re.IGNORECASE)


def read_sgf(data: bytes) -> GameFile:
    """Read the main line of an SGF file with one game."""
    trees = _sgf_trees(data)
    if len(trees) != 1:
        raise GameFileError(1, f"expected one game, found {len(trees)}")
    size, stones, names = _sgf_line(trees[0])
    return _game_file(size, stones, names)


def _sgf_trees(data: bytes) -> list[Any]:
    from sgfmill import sgf_grammar

    try:
        return list(sgf_grammar.parse_sgf_collection(data))
    except ValueError as error:
        raise GameFileError(1, f"expected SGF: {error}") from None


def _sgf_line(tree: Any) -> tuple[int, list[Stone], tuple[str, ...]]:
    from sgfmill import sgf

    try:
        game = sgf.Sgf_game.from_coarse_game_tree(tree)
        root = game.get_root()
        kind = root.get_raw("GM") if root.has_property("GM") else b"1"
        if kind.strip() not in _GOMOKU_OR_GO:
            found = kind.decode("ascii", "replace")
            raise GameFileError(1, f"expected GM[4] or GM[1], found GM[{found}]")
        size = _size(game.get_size())
        stones = [*_sgf_stones(game, size)]
        names = tuple(game.get_player_name(colour) or "" for colour in "bw")
    except GameFileError:
        raise
    except (ValueError, LookupError) as error:
        raise GameFileError(1, f"expected SGF: {error}") from None
    return size, stones, names if any(names) else ()


def _sgf_stones(game: Any, size: int) -> Iterator[Stone]:
    count = 0
    for node in game.get_main_sequence():
        if node.has_setup_stones():
            raise GameFileError(1, "expected moves (B and W), found setup stones (AB)")
        colour, point = node.get_move()
        if colour is None:
            continue
        label = f"move {count + 1}: "
        if colour != "bw"[count % 2]:
            expected = models.COLOURS[count % 2]
            raise GameFileError(1, f"{label}expected {expected}, which is to move")
        if point is None:
            raise GameFileError(1, f"{label}expected a cell, found a pass")
        row, column = point
        yield Stone(column, size - 1 - row, 1, label)
        count += 1


def read_psq_opening(data: bytes, options: models.Options) -> list[Opening]:
    """Read the stones of a ``.psq`` as one opening."""
    return [_opening(1, read_psq(data), options.size)]


def read_sgf_openings(data: bytes, options: models.Options) -> list[Opening]:
    """Read the main line of each game of an SGF file as an opening."""
    return [_opening(1, _game_file(*_sgf_line(tree)), options.size) for tree in _sgf_trees(data)]


def _opening(line: int, game: GameFile, size: int) -> Opening:
    if game.options["size"] != size:
        found = game.options["size"]
        raise GameFileError(line, f"expected a {size}x{size} board, found {found}x{found}")
    if not game.moves:
        raise GameFileError(line, "expected at least one stone")
    return Opening(line, tuple(map(models.NOTATION.format, game.moves)))


def read_offsets(data: bytes, options: models.Options) -> list[Opening]:
    """Read the openings of a Gomocup file; empty lines are skipped."""
    numbered = enumerate(_text_lines(data), 1)
    return [
        _offset_line(number, line.strip(), options.size)
        for number, line in numbered
        if line.strip()
    ]


def _offset_line(number: int, line: str, size: int) -> Opening:
    if not _OFFSETS.fullmatch(line):
        raise GameFileError(number, "expected pairs such as 0,0, 1,-2, relative to the center")
    values = [int(value) + size // 2 for value in line.split(",")]
    cells = [Stone(x, y, number).cell(size) for x, y in zip(values[::2], values[1::2], strict=True)]
    return Opening(number, tuple(geo.name(*cell) for cell in cells))


def _text_lines(data: bytes) -> list[str]:
    """Return the lines; names may be in any encoding, everything else is ASCII."""
    return data.decode("utf-8-sig", "replace").rstrip().splitlines()


def _size(size: int) -> int:
    if not geo.SMALLEST <= size <= geo.LARGEST:
        expected = f"expected a board size from {geo.SMALLEST} to {geo.LARGEST}"
        raise GameFileError(1, f"{expected}, found {size}x{size}")
    return size


def _game_file(size: int, stones: Sequence[Stone], names: Sequence[str]) -> GameFile:
    """Return the game with the rules, freestyle or exact, that make all of its moves legal."""
    wire = [models.move(*stone.cell(size)) for stone in stones]
    for exact in (False, True):
        options = models.Options(size=size, exact=exact, first="seat-0")
        played = _played(options, stones, wire)
        if played == len(wire):
            chosen = {"size": size, "exact": exact, "first": "seat-0"}
            return GameFile(
                options=chosen, players=tuple(map(_printable, names)), moves=tuple(wire)
            )
    raise stones[played].error("expected no stone after the winning one")


def _played(options: models.Options, stones: Sequence[Stone], wire: Sequence[models.Move]) -> int:
    """Play stones until the match is over; return the number of stones played."""
    state = models.start(options, 2, {})
    for count, (stone, move) in enumerate(zip(stones, wire, strict=True)):
        if state["side"] < 0:
            return count
        try:
            play(state, models.decode(state, move))
        except IllegalAction as error:
            raise stone.error(str(error)) from None
    return len(wire)


def _printable(name: str) -> str:
    return "".join(character for character in name if character.isprintable()).strip()[
        :_LONGEST_NAME
    ]
