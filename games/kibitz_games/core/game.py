"""The `Game` interface between the rules and the code that hosts, plays or draws them.

A game is one stateless instance of a subclass of ``Game[Options, Move, View]``. To write one,
provide `GameInfo`, the three models and a state type with its operations (`compiled.operations`),
and override the defaults below that do not fit. See `docs/add-a-game.md`.

A *state* is a numpy structured record that `play` changes in place and `undo` restores byte for
byte; copying a state is `state.copy()`. An *action* is a small non-negative integer. Its wire
format is the game's `Move` model, and only `encode` and `decode` convert between the two. State
leaves the server only through `view`.

Callers may rely on the laws that `tests/games/conformance/test_laws.py` checks for every registered
game: `legal` is empty exactly when the match is over, every legal action can be played, `decode`
refuses all other actions, the match ends within `max_plies`, and the same setup and actions give
the same bytes, compiled or not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Literal, Self, cast, get_args

import numpy as np
from pydantic import create_model
from pydantic_core import to_json

from kibitz_games.core.defaults import Defaults
from kibitz_games.core.game_file import GameFile, Opening
from kibitz_games.core.model import Features as Features
from kibitz_games.core.model import GameError as GameError
from kibitz_games.core.model import IllegalAction as IllegalAction
from kibitz_games.core.model import InvalidSetup as InvalidSetup
from kibitz_games.core.model import Json as Json
from kibitz_games.core.model import Model as Model
from kibitz_games.core.model import MoveT as MoveT
from kibitz_games.core.model import NoOptions as NoOptions
from kibitz_games.core.model import OptionsT as OptionsT
from kibitz_games.core.model import State as State
from kibitz_games.core.model import UnknownRules as UnknownRules
from kibitz_games.core.model import ViewT as ViewT
from kibitz_games.core.notation import Notation as Notation
from kibitz_games.core.scene import Scene

TERMINAL = -1
"""The return value of `Game.to_act` when the match is over."""

TimeoutPolicy = Literal["forfeit", "random", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameInfo:
    """Static facts about a game, which hosts, lobbies and searches check before they start."""

    name: str
    """The identifier on the wire and on the command line, such as ``chinese-checkers``."""
    title: str
    summary: str
    """One line of description for lists of games."""
    rules_version: int
    """Incremented whenever the behavior of the rules changes. A match keeps the version with which
    it started: see `Game.earlier_versions`."""
    seats: tuple[int, ...]
    """All supported numbers of players; `Game.start` may refuse some of them for certain
    options."""
    hidden: bool = False
    """Whether the game hides information from some seats."""
    on_flag: TimeoutPolicy = "forfeit"
    """The consequence for a seat that runs out of time: it drops out (``forfeit``), the server
    plays a legal action for it, drawn from the seed (``random``), or its turn is skipped (``skip``,
    with the action `Game.skip`)."""
    balanced: bool = False
    """Whether tournaments play blocks of matches in which each player takes every seat on the same
    deal. This suits games whose first seat or deal gives an advantage."""
    max_plies: int
    """An upper bound on the number of plies in a match."""
    legal_rule: str = ""
    """A description of the legal actions, for games with a simple rule and a long list (``any empty
    cell``). Turns then contain the rule and a count instead of the list."""
    drops: bool = True
    """Whether a game with three or more players continues after one of them drops out."""
    many_forms: bool = False
    """Whether `decode` accepts several moves for the same action. The server then logs the move
    that `encode` returns, which takes longer than logging the move that it received."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a match: each seat's rank (1 is best, ties share a rank) and score."""

    ranks: tuple[int, ...]
    scores: tuple[float, ...]
    reason: str
    """Why the match ended, in the game's terms: ``goal``, ``repetition``, ``stall``, ``length``,
    ..."""
    points: tuple[float, ...] = field(default=(), repr=False)
    """Each seat's points, if the game counts points; the `scores` are between 0 and 1."""


_WRITTEN_FROM = {
    "view_json": ("view",),
    "legal_json": ("legal", "encode"),
}
"""Maps each fast method to the methods that it replaces. A subclass that overrides one of these
does not inherit the fast method, because its results could differ."""


class Game(Generic[OptionsT, MoveT, ViewT]):
    """The rules of one kind of game. Subclasses are stateless; one instance is registered.

    Three groups of methods have defaults. The methods for playing (`to_act` to `outcome`) call the
    operations implemented for `state_type`. The defaults for moves (`encode` to `notation`) require
    a `Move` with one integer, the action itself. The defaults for views (`view`, `sample`, `scene`,
    `features`) require a game without hidden information: a `View` gets the fields of the state
    with the same names (see `core.declared`).
    """

    info: ClassVar[GameInfo]
    earlier_versions: ClassVar[Mapping[int, Mapping[str, Json]]] = {}
    """Maps each earlier version to the options with which the current rules reproduce it.

    To change the rules, add an option whose default is the new behavior, and list the value for the
    earlier behavior here. One implementation then resumes and replays matches of every version.
    """
    Options: type[OptionsT]
    """The options of a match; every field has a default and a description."""
    Move: type[MoveT]
    """An action on the wire: a flat object of integers, strings and booleans."""
    View: type[ViewT]
    """The part of a state that one viewer may see."""
    warm_up_options: ClassVar[Sequence[Mapping[str, Json]]] = ({},)
    """Sets of options that together exercise every kernel of the rules, for warming up a server."""
    state_type: ClassVar[np.dtype[Any]]
    """The numpy type of the states; the operations are registered for it."""
    reasons: ClassVar[tuple[str, ...]] = ("", "dropped")
    """The reasons for the end, indexed by a state's field ``end``: the first until the match ends,
    the last if it ended because a seat left."""
    reason_texts: ClassVar[Mapping[str, str]] = {}
    """The phrase for each reason in a result, after the winner or the draw: ``with five in a
    row``."""
    action_names: ClassVar[tuple[str, ...]] = ()
    """The name of each action if a `Move` is one integer; by default its number."""
    _present: ClassVar[Any] = None
    """The game with the current rules, if this one has the rules of an earlier version."""
    symbols: ClassVar[str] = ".xo"
    """The characters of a ``board`` in a view: an empty cell, then each seat's piece."""
    file_formats: ClassVar[Mapping[str, Callable[[bytes], GameFile]]] = {}
    """Readers of matches saved by other programs, by file name extension: ``.sgf``."""
    opening_formats: ClassVar[Mapping[str, Callable[[bytes, Any], Sequence[Opening]]]] = {}
    """Readers of openings from such files, by extension. The game's options need a field
    `opening`."""

    def __init_subclass__(cls, **facts: Any) -> None:
        """Take the three models from ``Game[Options, Move, View]``."""
        super().__init_subclass__(**facts)
        for quick, sources in _WRITTEN_FROM.items():
            if quick not in cls.__dict__ and any(name in cls.__dict__ for name in sources):
                setattr(cls, quick, getattr(Game, quick))
        for base in cls.__dict__.get("__orig_bases__", ()):
            for name, model in zip(("Options", "Move", "View"), get_args(base), strict=False):
                if isinstance(model, type) and name not in cls.__dict__:
                    setattr(cls, name, model)

    def __init__(self) -> None:
        """Raise `TypeError` if the game's `info` requires a method that is not overridden."""
        wanted = ["view", "referee_view", "sample"] if self.info.hidden else []
        wanted += ["skip"] if self.info.on_flag == "skip" else []
        for name in wanted:
            if getattr(type(self), name) is getattr(Game, name):
                why = "skips turns" if name == "skip" else "has hidden information"
                raise TypeError(f"{self.info.name} {why}, so it must override `{name}`")

    # Searches and caches compare games by identity, so copying one returns the same object.

    def __copy__(self, memo: object = None) -> Self:
        return self

    __deepcopy__ = __copy__

    def __reduce__(self) -> Any:
        """Pickle a registered game as its name, and any other without its cached properties."""
        from kibitz_games.core import registry

        if self._present is not None:
            return _at_version, (self._present, self.info.rules_version)
        name = self.info.name
        if name in registry.names() and registry.get(name) is self:
            return registry.get, (name,)
        own = {key: value for key, value in vars(self).items() if not _is_cached(type(self), key)}
        return _bare, (type(self),), own

    def at_version(self, version: int) -> Self:
        """Return this game with the rules of a version; the game itself for the current one.

        Records and running matches contain their version. A game with an earlier version differs in
        `info` and `Options`: each option added since allows only the value for the earlier
        behavior. Raises `UnknownRules`.
        """
        if version == self.info.rules_version:
            return self
        if version not in self.earlier_versions:
            known = ", ".join(map(str, sorted([*self.earlier_versions, self.info.rules_version])))
            name = self.info.name
            raise UnknownRules(f"{name} has the rules versions {known}, but not {version}")
        return cast(Self, _at_version(self, version))

    # --------------------------------------------------------------------------------- the play

    def deal(self, options: OptionsT, seats: int, seed: int) -> dict[str, Json]:
        """Draw all random elements of the start from `seed`; `{}` for a game without chance.

        The result is logged with the setup, so replays do not depend on the random generator.
        """
        return {}

    def start(self, options: OptionsT, seats: int, deal: Mapping[str, Json]) -> State:
        """Return the first state, or raise `InvalidSetup`.

        The default accepts the numbers of seats in `info`, creates a state of zeros, and completes
        it with `set_up`.
        """
        if seats not in self.info.seats:
            allowed = " or ".join(map(str, self.info.seats))
            raise InvalidSetup("seats", f"expected {allowed} players, not {seats}")
        from kibitz_games.compiled import snapshot

        state = snapshot.new_state(self.state_type, seats)
        self.set_up(state, options, deal)
        state["key"] = self.defaults.operations.compute_key(state)
        return cast(State, state)

    def set_up(self, state: Any, options: OptionsT, deal: Mapping[str, Json]) -> None:
        """Complete the first state of a match, whose fields are all 0; the default changes nothing.

        Raise `InvalidSetup` for options that the models cannot reject.
        """

    def to_act(self, state: State) -> int:
        """Return the seat to act (the state's ``side``), or `TERMINAL`."""
        return int(state["side"])

    def legal(self, state: State) -> list[int]:
        """Return the legal actions in a fixed order; empty exactly when the match is over.

        If the rules force a pass, the pass is the only legal action.
        """
        return cast(list[int], self.defaults.operations.legal(state))

    def count_legal(self, state: State) -> int:
        """Return the number of legal actions, if possible without listing them."""
        return len(self.legal(state))

    def play(self, state: State, action: int) -> None:
        """Apply a legal action in place; the behavior for any other action is undefined."""
        self.defaults.operations.play(state, action)

    @functools.cached_property
    def play_turn(self) -> Callable[[State, int], int]:
        """A function that applies a legal action in place and returns the seat to act next."""
        own = type(self)
        if own.play is Game.play and own.to_act is Game.to_act:
            return cast(Callable[[State, int], int], self.defaults.operations.play_turn)

        def play_turn(state: State, action: int) -> int:
            self.play(state, action)
            return self.to_act(state)

        return play_turn

    def undo(self, state: State, action: int) -> None:
        """Take back `action`, the last one played, and restore the state byte for byte."""
        self.defaults.operations.undo(state, action)

    def skip(self, state: State) -> int:
        """Return the action for a seat that ran out of time, if `on_flag` is ``skip``.

        `play` and `undo` accept it like any other, but it is not legal: players cannot choose it,
        and it has no wire move.
        """
        raise NotImplementedError(f"{self.info.name} does not skip turns")

    def forfeit(self, state: State, seat: int) -> None:
        """Remove `seat` from the match (it resigned, lost on time or left); this cannot be undone.

        It ranks below every seat that has not left, and above those that left before. The match is
        over once only one seat remains. A seat that has already finished keeps its result, so its
        player may leave. Raises `GameError` for a seat that does not exist.
        """
        seats = int(state["seats"])
        if not 0 <= seat < seats:
            raise GameError(f"expected a seat from 0 to {seats - 1}, not {seat}")
        if int(state["side"]) != TERMINAL and self.in_play(state, seat):
            self.defaults.operations.forfeit(state, seat)

    def in_play(self, state: State, seat: int) -> bool:
        """Return whether a seat can still leave an unfinished match; by default, every seat can."""
        return True

    def outcome(self, state: State) -> Outcome | None:
        """Return the outcome, or None until the match is over.

        By default, the operation `returns` gives the scores, and the ranks follow from these.
        """
        if int(state["side"]) != TERMINAL:
            return None
        scores = self.defaults.operations.returns(state)
        ranks = tuple(1 + sum(other > score for other in scores) for score in scores)
        return Outcome(ranks, scores, self.reasons[int(state["end"])], self.points(state))

    def points(self, state: State) -> tuple[float, ...]:
        """Return each seat's points; empty if the game counts none."""
        return ()

    # -------------------------------------------------------------------------------- the moves

    def decode(self, state: State, move: MoveT) -> int:
        """Convert a wire move to an action, or raise `IllegalAction`.

        This is the only legality check.
        """
        return self.defaults.codec.decode(move, self.legal(state))

    def encode(self, state: State, action: int) -> MoveT:
        """Convert an action to its wire move."""
        return cast(MoveT, self.defaults.codec.encode(action))

    def legal_json(self, state: State, most: int) -> tuple[bytes, int]:
        """Return the legal actions as JSON in the wire format, and their number.

        The JSON is empty if there are more than `most` actions. The server sends it with every turn
        that lists its actions, so games may override it with a faster version.
        """
        legal = self.legal(state)
        if len(legal) > most:
            return b"", len(legal)
        moves = [self.encode(state, action) for action in legal]
        return to_json(moves, by_alias=True, exclude_none=True), len(legal)

    @functools.cached_property
    def notation(self) -> Notation[MoveT]:
        """How people write and click moves; games may override it."""
        return self.defaults.codec

    # -------------------------------------------------------------------------------- the views

    def view(self, state: State, seat: int | None) -> ViewT:
        """Return the part of a state that `seat` may see, or the public if `seat` is None."""
        return cast(ViewT, self.defaults.declared.view(state))

    def referee_view(self, state: State) -> ViewT:
        """Return the view of a referee, who may see everything."""
        return self.view(state, None)

    def sample(self, view: ViewT, seed: int) -> State:
        """Return a state that is consistent with `view`; the state itself if nothing is hidden.

        By default, fields that are not in the view, such as the number of plies, have their initial
        values.
        """
        state = self.defaults.declared.state(view)
        state["key"] = self.defaults.operations.compute_key(state)
        return cast(State, state)

    def scene(self, view: ViewT) -> Scene:
        """Return the scene of a view; by default its ``board``, a list of rows of `symbols`.

        `action_names` that are not cells of the board become buttons above it.
        """
        from kibitz_games.core import grid

        return grid.board_scene(view, self.symbols, action_names=self.action_names)

    def features(self, view: ViewT, seat: int) -> Features:
        """Return a view as an observation for a learner in `seat`: numbers from -1 to 1.

        The shape is the same for all views of matches with the same options and seats, and has at
        most three axes. The viewer's own seat is first wherever seats are distinguished. By
        default, the result has one plane for each seat over the view's ``board``: float32 [seats,
        rows, columns].
        """
        from kibitz_games.core import grid

        return grid.board_features(view, self.symbols, seat)

    def view_json(self, state: State, seat: int | None) -> bytes:
        """Return the view of `seat` as JSON in the wire format.

        The server sends it with every turn of a game without hidden information, so games may
        override it to write the same bytes faster, without a model.
        """
        return self.view(state, seat).to_json()

    @functools.cached_property
    def defaults(self) -> Defaults:
        """The components behind the default methods."""
        return Defaults(self)


def _bare(kind: type[Game]) -> Game:
    """Return an instance without attributes, for `pickle` to fill."""
    return object.__new__(kind)


def _is_cached(kind: type[Game], name: str) -> bool:
    return isinstance(getattr(kind, name, None), functools.cached_property)


@functools.cache
def _at_version(game: Game, version: int) -> Game:
    """Return a copy of a game as an instance of a new subclass with the options of `version`."""
    fixed: Any = {
        name: (Literal[value], value) for name, value in game.earlier_versions[version].items()
    }
    facts = {
        "__module__": type(game).__module__,
        "info": replace(game.info, rules_version=version),
        "earlier_versions": {},
        "_present": game,
        "Options": create_model("Options", __base__=game.Options, **fixed),
    }
    kind = type(type(game).__name__, (type(game),), facts)
    made: Game = object.__new__(kind)
    vars(made).update(vars(game))
    return made
