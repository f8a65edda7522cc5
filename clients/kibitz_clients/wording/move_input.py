"""Move input: picking a legal move by its cells, or typing it.

This module does not implement any rules. `your_turn`, or the game, lists the legal actions.
`Notation.cells` gives the cells that pick each of them, and a `MoveSelector` narrows the list with
every cell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from heapq import nlargest
from typing import Final, TypeAlias

from pydantic import ValidationError

from kibitz_games.core.game import Game, GameError, IllegalAction, Model
from kibitz_games.core.scene import Cell, Scene
from kibitz_protocol.wire.messages import YourTurn

WireAction: TypeAlias = Mapping[str, bool | int | str]
"""An action as sent on the wire."""


@dataclass(frozen=True, slots=True)
class MoveOption:
    """A legal action with the cells that pick it, in order."""

    action: WireAction
    text: str
    cells: tuple[str, ...]


def move_options(game: Game, turn: YourTurn) -> tuple[MoveOption, ...]:
    """Return the legal actions of a turn.

    If the server does not list them, they are computed from the position that the player sees;
    empty if this client cannot do that.
    """
    made = []
    for fields in _legal_by_rules(game, turn) if turn.legal is None else turn.legal:
        move = game.Move.model_validate(fields)
        made.append(
            MoveOption(move.to_wire(), game.notation.format(move), game.notation.cells(move))
        )
    return tuple(made)


def _legal_by_rules(game: Game, turn: YourTurn) -> Sequence[WireAction]:
    try:
        state = game.sample(game.View.model_validate(turn.view), 0)
        return [game.encode(state, action).to_wire() for action in game.legal(state)]
    except (GameError, ValidationError):
        return ()


@dataclass
class MoveSelector:
    """Narrows the legal moves down to one, cell by cell.

    `picked` are the cells so far. A move is `ready` when exactly these cells pick it;
    `next_alternative` switches between several moves with the same cells.
    """

    options: Sequence[MoveOption]
    picked: tuple[str, ...] = ()
    _alternative: int = field(default=0, repr=False)

    @property
    def candidates(self) -> list[MoveOption]:
        """The moves that start with the picked cells."""
        count = len(self.picked)
        return [choice for choice in self.options if choice.cells[:count] == self.picked]

    @property
    def targets(self) -> frozenset[str]:
        """The cells that can be picked next."""
        count = len(self.picked)
        return frozenset(c.cells[count] for c in self.candidates if len(c.cells) > count)

    @property
    def example(self) -> str:
        """One of the moves as typed; empty if none is known."""
        return self.options[len(self.options) // 2].text if self.options else ""

    @property
    def alternatives(self) -> list[MoveOption]:
        """The moves picked by exactly these cells."""
        return [choice for choice in self.options if choice.cells == self.picked]

    @property
    def ready(self) -> MoveOption | None:
        """The move to play on confirmation."""
        same = self.alternatives
        return same[self._alternative % len(same)] if same else None

    def pick(self, place: str) -> bool:
        """Pick a cell, or start over with it; return False if no move uses it."""
        for start in (self.picked, self.picked[:-1], ()):
            trial = MoveSelector(self.options, (*start, place))
            if trial.candidates:
                self.picked, self._alternative = trial.picked, 0
                return True
        return False

    def undo_pick(self) -> bool:
        """Take back the last cell; return False if there is none."""
        had = bool(self.picked)
        self.picked, self._alternative = self.picked[:-1], 0
        return had

    def next_alternative(self) -> None:
        """Switch to the next move with the same cells."""
        self._alternative += 1

    def select(self, choice: MoveOption) -> None:
        """Pick all cells of a move at once."""
        self.picked = choice.cells
        self._alternative = self.alternatives.index(choice)


def parse_typed(
    game: Game, picker: MoveSelector, text: str, turn: YourTurn | None = None
) -> MoveOption | str:
    """Return the move that `text` means, or a sentence on why it is not a move.

    The game's own notation takes precedence. Otherwise the text is compared with the spellings of
    the legal moves; case and separators do not matter, and words may be abbreviated if that is
    unambiguous. If the legal moves are unknown, every move that the game can parse is accepted, and
    the server decides. `turn` contains the position, which is needed to explain why a move is
    illegal.
    """
    text = text.strip()
    try:
        move = game.notation.parse(text)
        wire = move.to_wire()
    except (GameError, ValidationError) as error:
        why = str(error) if isinstance(error, GameError) else f"{text!r} is not a move"
        return _only_match(_spelling_matches(game, picker, text), text) or _with_suggestions(
            why, picker, text
        )
    if not picker.options:
        return MoveOption(wire, game.notation.format(move), game.notation.cells(move))
    option = next((choice for choice in picker.options if choice.action == wire), None)
    if option is not None:
        return option
    return _with_suggestions(_why_illegal(game, move, turn), picker, text, _cells_of(game, move))


MAX_SUGGESTIONS: Final = 3
"""The maximum number of legal moves to suggest after invalid input."""
_TOKENS: Final = re.compile(r"[^\W\d_]+|\d+")


def _spelling_matches(game: Game, picker: MoveSelector, text: str) -> list[MoveOption]:
    """Return the moves with this spelling, or else those with a spelling that begins with it."""
    pieces = _TOKENS.findall(text.lower())
    one_word = re.fullmatch(r"[^\W_]+", text) is not None
    if not pieces:
        return []
    whole, joined, begun = [], [], []
    for choice in picker.options:
        model = game.Move.model_validate(choice.action)
        ways = [_TOKENS.findall(way.lower()) for way in game.notation.spellings(model)]
        if pieces in ways:
            whole.append(choice)
        elif one_word and any("".join(way) == "".join(pieces) for way in ways):
            joined.append(choice)
        elif any(_is_prefix(pieces, way, one_word=one_word) for way in ways):
            begun.append(choice)
    return whole or joined or begun


def _is_prefix(pieces: Sequence[str], way: Sequence[str], *, one_word: bool) -> bool:
    """Return whether a spelling starts with `pieces`, unless the last piece is a number."""
    if not pieces[-1].isalpha():
        return False
    if one_word and "".join(way).startswith("".join(pieces)):
        return True
    last = len(pieces) - 1
    return list(way[:last]) == list(pieces[:last]) and any(
        piece.startswith(pieces[last]) for piece in way[last : last + 1]
    )


def _only_match(options: Sequence[MoveOption], text: str) -> MoveOption | str | None:
    """Return the move if it is the only one, else a sentence that lists the candidates."""
    if len(options) < 2:
        return options[0] if options else None
    named = [choice.text for choice in options[:MAX_SUGGESTIONS]]
    rest = f" or {len(options) - MAX_SUGGESTIONS} more" if len(options) > MAX_SUGGESTIONS else ""
    choices = ", ".join(named) + rest if rest else f"{', '.join(named[:-1])} or {named[-1]}"
    return f"{text} is ambiguous: {choices}"


def _why_illegal(game: Game, move: Model, turn: YourTurn | None) -> str:
    """Return why a move is illegal; in games with hidden information, without a reason."""
    plain = f"{game.notation.format(move)} is not a legal move"
    if turn is None or game.info.hidden:
        return plain
    try:
        game.decode(game.sample(game.View.model_validate(turn.view), 0), move)
    except IllegalAction as error:
        return f"{plain}: {error}"
    except (GameError, ValidationError):
        pass
    return plain


def _cells_of(game: Game, move: Model) -> tuple[str, ...]:
    try:
        return game.notation.cells(move)
    except GameError:  # names cells outside the board
        return ()


def _with_suggestions(
    why: str, picker: MoveSelector, text: str, touches: tuple[str, ...] = ()
) -> str:
    """Add the legal moves most similar to the input to a reason."""

    def likeness(choice: MoveOption) -> tuple[int, float]:
        shared = sum(one == other for one, other in zip(touches, choice.cells, strict=False))
        return shared, SequenceMatcher(None, text.lower(), choice.text.lower()).ratio()

    near = [choice.text for choice in nlargest(MAX_SUGGESTIONS, picker.options, key=likeness)]
    return f"{why}; similar legal moves: {', '.join(near)}" if near else why


HEX_ROW_SCALE: Final = 1.7
"""Units of x per unit of y on a hexagonal lattice."""


def neighbour_towards(scene: Scene, place: str | None, across: int, down: int) -> str | None:
    """Return the cell that an arrow key leads to from `place`: the nearest in that direction."""
    here = next((cell for cell in scene.cells if cell.name == place), None)
    if here is None:
        return scene.cells[len(scene.cells) // 2].name if scene.cells else None
    steep = HEX_ROW_SCALE if scene.lattice == "hex" else 1.0

    def cost(cell: Cell) -> float:
        along = (cell.x - here.x) * across + (cell.y - here.y) * down * steep
        aside = abs((cell.x - here.x) * down) + abs((cell.y - here.y) * across * steep)
        return along + 2.5 * aside if along > 0 else float("inf")

    best = min(scene.cells, key=cost, default=here)
    return best.name if cost(best) < float("inf") else here.name


def most_central(scene: Scene, places: frozenset[str]) -> str | None:
    """Return the one of `places` nearest to the center of the board."""
    if not scene.cells:
        return None
    steep = HEX_ROW_SCALE if scene.lattice == "hex" else 1.0
    x = sum(cell.x for cell in scene.cells) / len(scene.cells)
    y = sum(cell.y for cell in scene.cells) / len(scene.cells)
    cells = [cell for cell in scene.cells if cell.name in places]
    best = min(cells, key=lambda c: (c.x - x) ** 2 + ((c.y - y) * steep) ** 2, default=None)
    return None if best is None else best.name
