"""What a game is: the interface between rules and everything that hosts, plays or draws them.

A game is one stateless object. A *state* is a numpy structured record that `play` changes
in place and `undo` restores byte for byte; copying a state is `state.copy()`. An *action* is
a small non-negative integer; what travels on the wire is the game's `Move` model, and
`encode` and `decode` are the only door between the two. `view` is the only way that anything
about a state leaves the server.

Callers may rely on the laws that `tests/games/test_laws.py` holds every registered game to:
`legal` is empty exactly when the play is over, every legal action applies and every other one
is refused by `decode`, the play ends by `max_plies`, and the same setup and actions give the
same bytes, compiled or plain.

Exceptions, all `ValueError`:

    GameError
     +-- InvalidSetup     options or number of seats that the game does not offer
     +-- IllegalAction    a move that is not legal in the present state
     +-- UnknownRules     a version of the rules that the game does not know
"""

from __future__ import annotations

import functools
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias, cast

import numpy as np
from pydantic import BaseModel, ConfigDict, create_model
from pydantic_core import to_json

from kibitz_games.scene import Scene

State: TypeAlias = np.record
Features: TypeAlias = "np.ndarray[Any, np.dtype[np.float32]]"
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
OVER = -1
"""What `Game.to_act` answers when the play is over: the end is a seat too."""

FlagPolicy = Literal["forfeit", "random", "skip"]


class GameError(ValueError):
    """Something asked of a game that its rules do not allow; `str()` is fit for a person."""


class InvalidSetup(GameError):
    """Options or a number of seats that the game does not offer.

    `path` names the offending option (``"options.board"``) or ``"seats"``.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class IllegalAction(GameError):
    """A move that is not legal now; the message reveals nothing that the mover cannot see."""


class UnknownRules(GameError):
    """A version of the rules that the game never had, or that is newer than it."""


class Model(BaseModel):
    """Base of every game's `Options`, `Move` and `View`: frozen, and strict about extras."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @classmethod
    def read(cls, sent: Mapping[str, Any]) -> Self:
        """Read what somebody sent, as `docs/protocol` says. Raises `ValidationError`.

        Nothing is converted: ``"5"``, ``5.0`` and ``true`` are no integers. Fields have their names
        on the wire and no others. It is read as JSON, where a tuple is a list.
        """
        return cls.model_validate_json(to_json(sent), strict=True, by_alias=True, by_name=False)

    @classmethod
    def trusted(cls, fields: dict[str, Any]) -> Self:
        """Return a model of values that need no validation; `fields` must have every field.

        For views on their way out: validating each would double what it costs to make one. The
        laws validate what comes out of it.
        """
        made = cls.__new__(cls)
        _set(made, "__dict__", fields)
        _set(made, "__pydantic_fields_set__", _names(cls))
        _set(made, "__pydantic_extra__", None)
        _set(made, "__pydantic_private__", None)
        return made


_set = object.__setattr__  # a frozen model's own would refuse


@functools.cache
def _names(model: type[Model]) -> set[str]:
    return set(model.model_fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameInfo:
    """Static facts of a game, which hosts, lobbies and searches check before they start."""

    name: str
    """Identifier on the wire and on the command line, for example ``chinese-checkers``."""
    title: str
    summary: str
    """One line for a list of games."""
    rules_version: int
    """Raised when the behaviour of the rules changes, and only then. A match keeps the version that
    it began under: see `Game.earlier`."""
    seats: tuple[int, ...]
    """Numbers of players that some options allow; `Game.start` has the last word."""
    hidden: bool = False
    """Whether some seat may not see everything."""
    on_flag: FlagPolicy = "forfeit"
    """What happens to a seat whose time ran out: it drops out (``forfeit``); or the server
    plays a legal action for it, drawn from the seed (``random``); or its turn passes with
    nothing done (``skip``, by the game's action `Game.skip`)."""
    balanced: bool = False
    """Whether a single match says little, because of who begins or of what was dealt. Such a
    game is played in blocks: a group of players takes every seat in turn, on one deal."""
    max_plies: int
    """An upper bound on the length of any play."""
    legal_rule: str = ""
    """Says in words which actions are legal, for games where a list would be long and the rule
    is plain (``any empty cell``); turns then carry the rule and a count instead of the list."""
    drops: bool = True
    """Whether the rest may play on after a seat has dropped out of a game of three or more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a play by the rules: per seat a rank (1 is best, ties share) and a score."""

    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    reason: str
    """Why it ended, in the game's words: ``goal``, ``repetition``, ``stall``, ``length``, ..."""
    points: tuple[float, ...] = field(default=(), repr=False)
    """What each seat has by the game's own count, where it counts; `scores` are shares of 1."""


class Game(ABC):
    """The rules of one kind of game. Subclasses are stateless; one instance is registered."""

    info: ClassVar[GameInfo]
    earlier: ClassVar[Mapping[int, Mapping[str, Json]]] = {}
    """The options under which the present rules do what an earlier version did, by version.

    A change of the rules is an option with a new default. What the game did before is another
    value of that option, and stands here; so there is one source of rules, and matches of every
    version are played on and replayed by it.
    """
    Options: ClassVar[type[Model]]
    """What a host may choose, every field with a default and a description."""
    Move: ClassVar[type[Model]]
    """An action on the wire: a flat object of integers, strings and booleans."""
    View: ClassVar[type[Model]]
    """What one viewer may know of a state."""

    def under(self, version: int) -> Game:
        """Return this game with the rules of a version: itself for the present one.

        Records and running matches say their version. The rules of an earlier one differ in
        their `info` and their `Options`: what was not an option then has one value only.
        Raises `UnknownRules`.
        """
        if version == self.info.rules_version:
            return self
        if version not in self.earlier:
            known = ", ".join(map(str, sorted([*self.earlier, self.info.rules_version])))
            name = self.info.name
            raise UnknownRules(f"{name} has the rules versions {known}, and none is {version}")
        return _under(self, version)

    @abstractmethod
    def deal(self, options: Model, seats: int, seed: int) -> dict[str, Json]:
        """Draw everything random of the start from `seed`; `{}` for a game without chance.

        The result is logged with the setup, so that a replay never draws again.
        """

    @abstractmethod
    def start(self, options: Model, seats: int, deal: Mapping[str, Json]) -> State:
        """Return the first state, or raise `InvalidSetup`."""

    @abstractmethod
    def to_act(self, state: State) -> int:
        """Return the seat to act, or `OVER`."""

    @abstractmethod
    def legal(self, state: State) -> list[int]:
        """Return the legal actions in a fixed order; empty exactly when the play is over.

        Where the rules force a pass, the pass is the only legal action.
        """

    def count(self, state: State) -> int:
        """Return the number of legal actions; a game may know it without listing them."""
        return len(self.legal(state))

    @abstractmethod
    def play(self, state: State, action: int) -> None:
        """Apply a legal action in place. Behaviour is undefined for any other action."""

    @abstractmethod
    def undo(self, state: State, action: int) -> None:
        """Take back `action`, the last one played; the state's bytes are as they were."""

    def skip(self, state: State) -> int:
        """Return the action of a seat that let its time run out, where `on_flag` is ``skip``.

        `play` and `undo` take it like any other, but it is not legal: nobody may choose it, and
        no wire move stands for it.
        """
        raise NotImplementedError(f"{self.info.name} skips no turns")

    @abstractmethod
    def drop(self, state: State, seat: int) -> None:
        """Take `seat` out of the play (resignation, lost on time, left); not undoable.

        It ranks below every seat that has not dropped, and above those that dropped before.
        When one seat is left the play is over. Nothing changes for a seat that has finished
        already, so that whoever has nothing left to do may go.
        """

    @abstractmethod
    def outcome(self, state: State) -> Outcome | None:
        """Return the outcome, or None while the play goes on."""

    @abstractmethod
    def view(self, state: State, seat: int | None) -> Model:
        """Return what `seat` may know, or what the public may know when `seat` is None."""

    @abstractmethod
    def full_view(self, state: State) -> Model:
        """Return the view of a referee, who may know everything."""

    @abstractmethod
    def sample(self, view: Model, seed: int) -> State:
        """Return a state that is consistent with `view`; the state itself if nothing is hidden."""

    @abstractmethod
    def decode(self, state: State, move: Model) -> int:
        """Turn a wire move into an action, or raise `IllegalAction`: the only legality check."""

    @abstractmethod
    def encode(self, state: State, action: int) -> Model:
        """Turn an action into its wire move."""

    def moves(self, state: State, actions: Sequence[int]) -> list[dict[str, Any]]:
        """Return `actions` as they travel: ``dump(encode(...))`` of each.

        Every turn lists them, so a game may answer from a table; callers change nothing in them.
        """
        return [self.dump(self.encode(state, action)) for action in actions]

    @abstractmethod
    def text(self, move: Model) -> str:
        """Write a wire move as a person would: ``"3-14"``."""

    @abstractmethod
    def parse(self, text: str) -> Model:
        """Read what `text` writes, or raise `IllegalAction` with what was expected."""

    def spellings(self, move: Model) -> tuple[str, ...]:
        """Return all ways in which a person may write a move; what `text` writes comes first.

        Case and separators are forgiven by whoever compares them.
        """
        return (self.text(move),)

    @abstractmethod
    def touches(self, move: Model) -> tuple[str, ...]:
        """Return the names of the scene's cells that a person picks, in order, to make a move."""

    @abstractmethod
    def scene(self, view: Model) -> Scene:
        """Draw a view."""

    def actions(self, state: State) -> int:
        """Return how many actions there are in plays like the one of `state`: all are smaller."""
        raise NotImplementedError(f"{self.info.name} does not count its actions")

    def features(self, view: Model, seat: int) -> Features:
        """Return what a learner in `seat` sees of a view: numbers from -1 to 1.

        The shape is the same for all views of plays with the same options and seats, and has at
        most three axes. The own seat comes first wherever seats are told apart.
        """
        raise NotImplementedError(f"{self.info.name} has no features for learners")

    def dump(self, model: Model) -> dict[str, Any]:
        """Return `model` as the JSON object that travels, absent options left out."""
        return model.model_dump(mode="json", by_alias=True, exclude_none=True)


@functools.cache
def _under(game: Game, version: int) -> Game:
    """Return a game of a class of its own, whose options are what they were."""
    fixed: Any = {name: (Literal[value], value) for name, value in game.earlier[version].items()}
    facts = {
        "__module__": type(game).__module__,
        "info": replace(game.info, rules_version=version),
        "earlier": {},
        "Options": create_model("Options", __base__=game.Options, **fixed),
    }
    kind = cast("type[Game]", ABCMeta(type(game).__name__, (type(game),), facts))
    made = object.__new__(kind)
    vars(made).update(vars(game))
    return made
