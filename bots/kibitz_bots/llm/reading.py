"""Find the move in a model's answer: the declared one, or else the only legal one it mentions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from pydantic import ValidationError

from kibitz_games.core.game import Game, GameError

Move: TypeAlias = dict[str, Any]
_SAID: Final = re.compile(r"\bmove\b[\s*`\"']*[:=]\s*(.+)", re.IGNORECASE)
_AROUND: Final = " \t.,;:!*`\"'()[]}"
_OBJECT: Final = re.compile(r"\{[^{}]*\}")


class NoMoveError(ValueError):
    """The answer contains no legal move; the message is sent to the model."""


def find_move(text: str, legal: Mapping[str, Move], game: Game | None) -> Move:
    """Return the legal move in an answer.

    `legal` maps notations to legal moves. A last line ``move: ...`` or a JSON object declares the
    move; without either, the answer must mention exactly one legal move. Raises `NoMoveError`.
    """
    candidates = [*_candidates(text)]
    for candidate in candidates:
        move = _legal_move(candidate, legal, game)
        if move is not None:
            return move
    if candidates:
        raise NoMoveError(f"{candidates[0][:80]!r} is not a legal move")
    named = {name for name in legal if _occurs(name, text)}
    if len(named) == 1:
        return legal[named.pop()]
    if named:
        raise NoMoveError("you named several legal moves without saying which one you play")
    raise NoMoveError("your answer contains no legal move")


def _candidates(text: str) -> Iterator[str]:
    """Yield the moves that an answer declares, last one first."""
    for match in reversed(_SAID.findall(text)):
        yield match.strip(_AROUND)
    for match in reversed(_OBJECT.findall(text)):
        try:
            fields = json.loads(match)
        except ValueError:
            continue
        yield str(fields["move"]).strip(_AROUND) if "move" in fields else match


def _legal_move(candidate: str, legal: Mapping[str, Move], game: Game | None) -> Move | None:
    plain = {name.lower(): move for name, move in legal.items()}
    first_words = [word.strip(_AROUND) for word in candidate.split()[:1]]
    for text in (candidate, *first_words):
        if text.lower() in plain:
            return plain[text.lower()]
    moves = [*legal.values()]
    for read in (_parsed(candidate, game), _fields(candidate)):
        if read in moves:
            return read
    return None


def _parsed(text: str, game: Game | None) -> Move | None:
    """Parse a move with the game's parser, which accepts alternative spellings."""
    if game is None:
        return None
    try:
        move: Move = game.notation.parse(text).to_wire()
    except (GameError, ValidationError):
        return None
    return move


def _fields(text: str) -> Move | None:
    try:
        fields = json.loads(text)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _occurs(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE) is not None
