"""The interface `Game`, between rules and everything that hosts, plays or draws them.

A game is one stateless object of a class ``Game[Options, Move, View]``. To write one, provide
`GameInfo`, the three models, a type of state with the operations on it (`compiled.operations`), and
override the defaults below that do not fit. See `docs/add-a-game.md`.

A *state* is a numpy structured record that `play` changes in place and `undo` restores byte for
byte; copying a state is `state.copy()`. An *action* is a small non-negative integer. Its wire
format is the game's `Move` model, and only `encode` and `decode` convert between the two. `view` is
the only way that any part of a state leaves the server.

Callers may rely on the laws that `tests/games/conformance/test_laws.py` holds every registered game
to: `legal` is empty exactly when the play is over, every legal action applies and every other one
is refused by `decode`, the play ends by `max_plies`, and the same setup and actions give the
same bytes, compiled or plain.
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
"""The return value of `Game.to_act` when the play is over."""

TimeoutPolicy = Literal["forfeit", "random", "skip"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameInfo:
    """Static facts of a game, which hosts, lobbies and searches check before they start."""

    name: str
    """Identifier on the wire and on the command line, for example ``chinese-checkers``."""
    title: str
    summary: str
    """One line for a list of games."""
    rules_version: int
    """Raised when the behavior of the rules changes, and only then. A match keeps the version that
    it began under: see `Game.earlier_versions`."""
    seats: tuple[int, ...]
    """Numbers of players that some options allow; `Game.start` has the last word."""
    hidden: bool = False
    """Whether some seat may not see everything."""
    on_flag: TimeoutPolicy = "forfeit"
    """The treatment of a seat whose time ran out: it drops out (``forfeit``); or the server plays a
    legal action for it, drawn from the seed (``random``); or it passes its turn without acting
    (``skip``, by the game's action `Game.skip`)."""
    balanced: bool = False
    """Whether a single match says little, because of the first seat's advantage or the deal. Such a
    game is played in blocks: a group of players takes every seat in turn, on one deal."""
    max_plies: int
    """An upper bound on the length of any play."""
    legal_rule: str = ""
    """A description of the legal actions, for games where a list would be long and the rule is
    plain (``any empty cell``); turns then carry the rule and a count instead of the list."""
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
    """Each seat's points, if the game counts any; `scores` are shares of 1."""


_WRITTEN_FROM = {
    "view_json": ("view",),
    "legal_json": ("legal", "encode"),
}
"""Optional faster methods, each with the methods that it must agree with. A subclass that overrides
one of the latter does not inherit the faster method."""


class Game(Generic[OptionsT, MoveT, ViewT]):
    """The rules of one kind of game. Subclasses are stateless; one instance is registered.

    Three kinds of methods have defaults. Those about the play (`to_act` to `outcome`) ask the
    operations that were implemented for `state_type`. Those about moves (`encode` to `notation`)
    do for a `Move` that is one integer, the action itself. Those about views (`view`, `sample`,
    `scene`, `features`) do if nothing is hidden: a `View` gets the fields of the state that have
    the same names, see `core.declared`.
    """

    info: ClassVar[GameInfo]
    earlier_versions: ClassVar[Mapping[int, Mapping[str, Json]]] = {}
    """The options under which the present rules match those of an earlier version, by version.

    A change of the rules is an option with a new default. The game's earlier behavior is another
    value of that option, listed here. So there is one source of rules, and it plays on and replays
    matches of every version.
    """
    Options: type[OptionsT]
    """The options of a match; every field has a default and a description."""
    Move: type[MoveT]
    """An action on the wire: a flat object of integers, strings and booleans."""
    View: type[ViewT]
    """The part of a state that one viewer may know."""
    warm_up_options: ClassVar[Sequence[Mapping[str, Json]]] = ({},)
    """Options that together use every kernel of the rules, which a server loads before a match."""
    state_type: ClassVar[np.dtype[Any]]
    """The type of the states, for which operations are implemented."""
    reasons: ClassVar[tuple[str, ...]] = ("", "dropped")
    """Words for the field ``end`` of a state, which is an index here: the first for a play that
    goes on, the last for one that ended because a seat left."""
    reason_texts: ClassVar[Mapping[str, str]] = {}
    """The wording of `reasons` in a result, after the winner or the draw: ``with five in a
    row``."""
    action_names: ClassVar[tuple[str, ...]] = ()
    """How people write each action of a `Move` that is one integer; empty for its number."""
    _present: ClassVar[Any] = None
    """Of a game with the rules of an earlier version, the game with the present ones."""
    symbols: ClassVar[str] = ".xo"
    """Characters of a ``board`` in a view: an empty cell, then the pieces of each seat."""
    file_formats: ClassVar[Mapping[str, Callable[[bytes], GameFile]]] = {}
    """Readers of matches that other programs saved, by the end of the file's name: ``.sgf``."""
    opening_formats: ClassVar[Mapping[str, Callable[[bytes, Any], Sequence[Opening]]]] = {}
    """Readers of openings from such files, for the options of a game, which has `opening`."""

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
        """Raise `TypeError` if a default does not fit the game's `info`."""
        wanted = ["view", "referee_view", "sample"] if self.info.hidden else []
        wanted += ["skip"] if self.info.on_flag == "skip" else []
        for name in wanted:
            if getattr(type(self), name) is getattr(Game, name):
                why = "skips turns" if name == "skip" else "hides something"
                raise TypeError(f"{self.info.name} {why}, so it has to override `{name}`")

    # Games have no state, and searches and caches compare them by identity: a copy is the same.

    def __copy__(self, memo: object = None) -> Self:
        return self

    __deepcopy__ = __copy__

    def __reduce__(self) -> Any:
        """Pickle a registered game by its name, any other without the caches of its defaults."""
        from kibitz_games.core import registry

        if self._present is not None:
            return _at_version, (self._present, self.info.rules_version)
        name = self.info.name
        if name in registry.names() and registry.get(name) is self:
            return registry.get, (name,)
        own = {key: value for key, value in vars(self).items() if not _is_cached(type(self), key)}
        return _bare, (type(self),), own

    def at_version(self, version: int) -> Self:
        """Return this game with the rules of a version: the game itself for the present one.

        Records and running matches contain their version. The rules of an earlier one differ in
        their `info` and their `Options`: later options have a single allowed value. Raises
        `UnknownRules`.
        """
        if version == self.info.rules_version:
            return self
        if version not in self.earlier_versions:
            known = ", ".join(map(str, sorted([*self.earlier_versions, self.info.rules_version])))
            name = self.info.name
            raise UnknownRules(f"{name} has the rules versions {known}, and none is {version}")
        return cast(Self, _at_version(self, version))

    # --------------------------------------------------------------------------------- the play

    def deal(self, options: OptionsT, seats: int, seed: int) -> dict[str, Json]:
        """Draw everything random of the start from `seed`; `{}` for a game without chance.

        The result is logged with the setup, so that a replay never draws again.
        """
        return {}

    def start(self, options: OptionsT, seats: int, deal: Mapping[str, Json]) -> State:
        """Return the first state, or raise `InvalidSetup`.

        By default a state of zeros, which `set_up` completes, for the numbers of seats in `info`.
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
        """Complete the first state of a play, whose fields are 0; the default changes nothing.

        Raise `InvalidSetup` for options that the models cannot refuse.
        """

    def to_act(self, state: State) -> int:
        """Return the seat to act, or `TERMINAL`: the state's ``side``."""
        return int(state["side"])

    def legal(self, state: State) -> list[int]:
        """Return the legal actions in a fixed order; empty exactly when the play is over.

        If the rules force a pass, the pass is the only legal action.
        """
        return cast(list[int], self.defaults.operations.legal(state))

    def count_legal(self, state: State) -> int:
        """Return the number of legal actions; a game may compute it without listing them."""
        return len(self.legal(state))

    def play(self, state: State, action: int) -> None:
        """Apply a legal action in place. Behavior is undefined for any other action."""
        self.defaults.operations.play(state, action)

    def play_turn(self, state: State, action: int) -> int:
        """Apply a legal action in place and return who acts then: `play` and `to_act` in one."""
        defaults = self.defaults
        if defaults.plays:
            acting: int = defaults.operations.play_turn(state, action)
            return acting
        self.play(state, action)
        return self.to_act(state)

    def undo(self, state: State, action: int) -> None:
        """Take back `action`, the last one played; the state's bytes are as they were."""
        self.defaults.operations.undo(state, action)

    def skip(self, state: State) -> int:
        """Return the action of a seat that let its time run out, if `on_flag` is ``skip``.

        `play` and `undo` take it like any other, but it is not legal: players cannot choose it, and
        it has no wire move.
        """
        raise NotImplementedError(f"{self.info.name} skips no turns")

    def forfeit(self, state: State, seat: int) -> None:
        """Take `seat` out of the play (resignation, lost on time, left); not undoable.

        It ranks below every seat that has not left, and above those that left before. When one seat
        is left the play is over. Nothing changes for a seat that has finished already, so players
        with nothing left to do may leave. Raises `GameError` for a seat that does not exist.
        """
        seats = int(state["seats"])
        if not 0 <= seat < seats:
            raise GameError(f"expected a seat from 0 to {seats - 1}, not {seat}")
        if int(state["side"]) != TERMINAL and self.in_play(state, seat):
            self.defaults.operations.forfeit(state, seat)

    def in_play(self, state: State, seat: int) -> bool:
        """Return whether a seat may still leave a play that goes on; by default each may."""
        return True

    def outcome(self, state: State) -> Outcome | None:
        """Return the outcome, or None while the play goes on.

        By default the scores are those of the operation `returns`, and ranks follow from them.
        """
        if int(state["side"]) != TERMINAL:
            return None
        scores = self.defaults.operations.returns(state)
        ranks = tuple(1 + sum(other > score for other in scores) for score in scores)
        return Outcome(ranks, scores, self.reasons[int(state["end"])], self.points(state))

    def points(self, state: State) -> tuple[float, ...]:
        """Return each seat's points, as the game counts them; empty if it counts none."""
        return ()

    # -------------------------------------------------------------------------------- the moves

    def decode(self, state: State, move: MoveT) -> int:
        """Turn a wire move into an action, or raise `IllegalAction`: the only legality check."""
        return self.defaults.codec.decode(move, self.legal(state))

    def encode(self, state: State, action: int) -> MoveT:
        """Turn an action into its wire move."""
        return cast(MoveT, self.defaults.codec.encode(action))

    def legal_json(self, state: State, most: int) -> tuple[bytes, int]:
        """Return the legal actions as the JSON list of the wire format, and their number.

        The list is empty bytes if it would be longer than `most`. A server writes it with every
        turn that lists its actions, so a game may override it with a faster version.
        """
        legal = self.legal(state)
        if len(legal) > most:
            return b"", len(legal)
        moves = [self.encode(state, action) for action in legal]
        return to_json(moves, by_alias=True, exclude_none=True), len(legal)

    @functools.cached_property
    def notation(self) -> Notation[MoveT]:
        """How people write and click moves; a game has an object of its own in this place."""
        return self.defaults.codec

    # -------------------------------------------------------------------------------- the views

    def view(self, state: State, seat: int | None) -> ViewT:
        """Return the part of a state that `seat` may know, or the public if `seat` is None."""
        return cast(ViewT, self.defaults.declared.view(state))

    def referee_view(self, state: State) -> ViewT:
        """Return the view of a referee, who may know everything."""
        return self.view(state, None)

    def sample(self, view: ViewT, seed: int) -> State:
        """Return a state that is consistent with `view`; the state itself if nothing is hidden.

        By default, facts that are not in the view, such as earlier plies, are as at the start.
        """
        state = self.defaults.declared.state(view)
        state["key"] = self.defaults.operations.compute_key(state)
        return cast(State, state)

    def scene(self, view: ViewT) -> Scene:
        """Draw a view; by default its ``board``, a list of rows of `symbols`.

        `action_names` that are no cells of the board become buttons above it.
        """
        from kibitz_games.core import grid

        return grid.board_scene(view, self.symbols, action_names=self.action_names)

    def features(self, view: ViewT, seat: int) -> Features:
        """Return a view as the observation of a learner in `seat`: numbers from -1 to 1.

        The shape is the same for all views of plays with the same options and seats, and has at
        most three axes. The viewer's own seat comes first wherever seats are distinguished. By
        default a plane for each seat over the view's ``board``, float32 [seats, rows, columns].
        """
        from kibitz_games.core import grid

        return grid.board_features(view, self.symbols, seat)

    def view_json(self, state: State, seat: int | None) -> bytes:
        """Return the view of `seat` as the JSON that travels: that of its model.

        A server writes it with every turn of a game that hides nothing, so a game may have it
        quicker, without a model: byte for byte the same.
        """
        return self.view(state, seat).to_json()

    @functools.cached_property
    def defaults(self) -> Defaults:
        """The parts of which the default methods are made."""
        own = type(self)
        return Defaults(self, plays=own.play is Game.play and own.to_act is Game.to_act)


def _bare(kind: type[Game]) -> Game:
    """Return a game whose attributes a pickle will add."""
    return object.__new__(kind)


def _is_cached(kind: type[Game], name: str) -> bool:
    return isinstance(getattr(kind, name, None), functools.cached_property)


@functools.cache
def _at_version(game: Game, version: int) -> Game:
    """Return a copy of a game with its own class, whose options are those of `version`."""
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
