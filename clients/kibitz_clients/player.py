"""Choosing a move by its places: what a person picks, and what is left to pick.

No rule is known here. `your_turn` lists the legal actions, or the game does, `Game.touches`
names the places that each is picked by, and a `Picker` narrows the list with every place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from heapq import nlargest
from typing import Final, TypeAlias

from pydantic import ValidationError

from kibitz_games.api import Game, GameError, IllegalAction, Model
from kibitz_games.scene import Cell, Scene
from kibitz_protocol.messages import YourTurn

Wire: TypeAlias = Mapping[str, bool | int | str]
"""An action as it travels."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A legal action with the places that it is picked by, in order."""

    wire: Wire
    text: str
    touches: tuple[str, ...]


def choices(game: Game, turn: YourTurn) -> tuple[Choice, ...]:
    """Return the legal actions of a turn.

    Where the server does not list them, they are those of a position as the player sees it;
    empty where this client's rules cannot tell.
    """
    made = []
    for fields in _by_the_rules(game, turn) if turn.legal is None else turn.legal:
        move = game.Move.model_validate(fields)
        made.append(Choice(game.dump(move), game.text(move), game.touches(move)))
    return tuple(made)


def _by_the_rules(game: Game, turn: YourTurn) -> Sequence[Wire]:
    try:
        state = game.sample(game.View.model_validate(turn.view), 0)
        return game.moves(state, game.legal(state))
    except (GameError, ValidationError):
        return ()


@dataclass
class Picker:
    """The choice of one move.

    `picked` are the places so far. A move is `ready` once it is the one that is picked by
    exactly these places; several with the same places are told apart with `turn_over`.
    """

    choices: Sequence[Choice]
    picked: tuple[str, ...] = ()
    _which: int = field(default=0, repr=False)

    @property
    def open(self) -> list[Choice]:
        """The choices that begin with what is picked."""
        count = len(self.picked)
        return [choice for choice in self.choices if choice.touches[:count] == self.picked]

    @property
    def targets(self) -> frozenset[str]:
        """The places that may be picked next."""
        count = len(self.picked)
        return frozenset(c.touches[count] for c in self.open if len(c.touches) > count)

    @property
    def example(self) -> str:
        """One of the moves as a person types it; empty where none is known."""
        return self.choices[len(self.choices) // 2].text if self.choices else ""

    @property
    def same(self) -> list[Choice]:
        """The choices picked by exactly these places."""
        return [choice for choice in self.choices if choice.touches == self.picked]

    @property
    def ready(self) -> Choice | None:
        """The move to play when it is confirmed."""
        same = self.same
        return same[self._which % len(same)] if same else None

    def pick(self, place: str) -> bool:
        """Pick a place, or begin anew with it; False where no move is picked by it."""
        for start in (self.picked, self.picked[:-1], ()):
            trial = Picker(self.choices, (*start, place))
            if trial.open:
                self.picked, self._which = trial.picked, 0
                return True
        return False

    def back(self) -> bool:
        """Take the last place back; False where there is none."""
        had = bool(self.picked)
        self.picked, self._which = self.picked[:-1], 0
        return had

    def turn_over(self) -> None:
        """Take the next of the moves that are picked by the same places."""
        self._which += 1

    def choose(self, choice: Choice) -> None:
        """Pick all places of a move at once."""
        self.picked = choice.touches
        self._which = self.same.index(choice)


def typed(game: Game, picker: Picker, text: str, turn: YourTurn | None = None) -> Choice | str:
    """Return the move that `text` writes, or a sentence on why it is none.

    What the game itself reads comes first, then any spelling of a legal move: in any case, with
    any separators or, where that is one word, with none; a beginning that only one move has
    will do for words. Where the server does not list the legal moves, whatever the game can
    read is a move for the server to judge. `turn` has the position that reasons are found in.
    """
    text = text.strip()
    try:
        move = game.parse(text)
        wire = game.dump(move)
    except (GameError, ValidationError) as error:
        why = str(error) if isinstance(error, GameError) else f"{text!r} is no move"
        return _one_of(_spelled(game, picker, text), text) or _near(why, picker, text)
    if not picker.choices:
        return Choice(wire, game.text(move), game.touches(move))
    found = next((choice for choice in picker.choices if choice.wire == wire), None)
    if found is not None:
        return found
    return _near(_reason(game, move, turn), picker, text, _touched(game, move))


NEAR: Final = 3
"""How many legal moves are named to who wrote none."""
_PIECES: Final = re.compile(r"[^\W\d_]+|\d+")


def _spelled(game: Game, picker: Picker, text: str) -> list[Choice]:
    """Return the moves that a text spells; those that it begins where it spells none."""
    pieces = _PIECES.findall(text.lower())
    one_word = re.fullmatch(r"[^\W_]+", text) is not None
    if not pieces:
        return []
    whole, joined, begun = [], [], []
    for choice in picker.choices:
        model = game.Move.model_validate(choice.wire)
        ways = [_PIECES.findall(way.lower()) for way in game.spellings(model)]
        if pieces in ways:
            whole.append(choice)
        elif one_word and any("".join(way) == "".join(pieces) for way in ways):
            joined.append(choice)
        elif any(_begins(pieces, way, one_word=one_word) for way in ways):
            begun.append(choice)
    return whole or joined or begun


def _begins(pieces: Sequence[str], way: Sequence[str], *, one_word: bool) -> bool:
    """Whether a spelling begins so. A number is never half of another one."""
    if not pieces[-1].isalpha():
        return False
    if one_word and "".join(way).startswith("".join(pieces)):
        return True
    last = len(pieces) - 1
    return list(way[:last]) == list(pieces[:last]) and any(
        piece.startswith(pieces[last]) for piece in way[last : last + 1]
    )


def _one_of(found: Sequence[Choice], text: str) -> Choice | str | None:
    """Return the only move of several that a text may mean, or say which they are."""
    if len(found) < 2:
        return found[0] if found else None
    named = [choice.text for choice in found[:NEAR]]
    rest = f" or {len(found) - NEAR} more" if len(found) > NEAR else ""
    said = ", ".join(named) + rest if rest else f"{', '.join(named[:-1])} or {named[-1]}"
    return f"{text} may be {said}"


def _reason(game: Game, move: Model, turn: YourTurn | None) -> str:
    """Say why a move is not legal, as far as this player may know."""
    plain = f"{game.text(move)} is not a legal move now"
    if turn is None or game.info.hidden:
        return plain
    try:
        game.decode(game.sample(game.View.model_validate(turn.view), 0), move)
    except IllegalAction as error:
        return f"{plain}: {error}"
    except (GameError, ValidationError):
        pass
    return plain


def _touched(game: Game, move: Model) -> tuple[str, ...]:
    try:
        return game.touches(move)
    except GameError:  # places that the board does not have
        return ()


def _near(why: str, picker: Picker, text: str, touches: tuple[str, ...] = ()) -> str:
    """Add the legal moves to a reason that are most like what was written."""

    def likeness(choice: Choice) -> tuple[int, float]:
        shared = sum(one == other for one, other in zip(touches, choice.touches, strict=False))
        return shared, SequenceMatcher(None, text.lower(), choice.text.lower()).ratio()

    near = [choice.text for choice in nlargest(NEAR, picker.choices, key=likeness)]
    return f"{why}; legal and near: {', '.join(near)}" if near else why


STEEP: Final = 1.7
"""Units of y count so many of x on a hexagonal lattice, where rows are closer."""


def towards(scene: Scene, place: str | None, across: int, down: int) -> str | None:
    """Return the place that an arrow key leads to from `place`: the nearest in that direction."""
    here = next((cell for cell in scene.cells if cell.name == place), None)
    if here is None:
        return scene.cells[len(scene.cells) // 2].name if scene.cells else None
    steep = STEEP if scene.lattice == "hex" else 1.0

    def cost(cell: Cell) -> float:
        along = (cell.x - here.x) * across + (cell.y - here.y) * down * steep
        aside = abs((cell.x - here.x) * down) + abs((cell.y - here.y) * across * steep)
        return along + 2.5 * aside if along > 0 else float("inf")

    best = min(scene.cells, key=cost, default=here)
    return best.name if cost(best) < float("inf") else here.name


def central(scene: Scene, places: frozenset[str]) -> str | None:
    """Return the one of `places` that is nearest to the middle of the board, to begin at."""
    if not scene.cells:
        return None
    steep = STEEP if scene.lattice == "hex" else 1.0
    x = sum(cell.x for cell in scene.cells) / len(scene.cells)
    y = sum(cell.y for cell in scene.cells) / len(scene.cells)
    cells = [cell for cell in scene.cells if cell.name in places]
    best = min(cells, key=lambda c: (c.x - x) ** 2 + ((c.y - y) * steep) ** 2, default=None)
    return None if best is None else best.name
