"""The SDK: `Bot` with its method `choose`, and the `Turn` that it answers.

::

    from kibitz import Bot, Turn

    class First(Bot):
        def choose(self, turn: Turn) -> dict:
            return turn.legal[0]

    if __name__ == "__main__":
        First.main()

Every match gets its own instance, so attributes of `self` belong to one match. A plain `choose`
runs in a thread, so that the connection stays responsive; an ``async`` `choose` runs on the event
loop and must not block it.

If a game's rules are installed, bots can use them: `Turn.view` is the game's own model, and
`Turn.position` is a position to search on, with legal actions, push, pop and playouts.
"""

from __future__ import annotations

import functools
import json
import random
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeAlias, cast

from pydantic import BaseModel
from typing_extensions import TypeVar

from kibitz_bots.budget import Budget
from kibitz_bots.comments import readable_comment
from kibitz_games.core.integers import integer
from kibitz_protocol.wire.clocks import Clock, TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.messages import Snapshot, YourTurn
from kibitz_protocol.wire.records import Comment, Engine, Player, Result
from kibitz_search.cancellation import CancelToken

if TYPE_CHECKING:
    from kibitz_games.core.game import Game, State
    from kibitz_games.core.position import Position

__all__ = ["Answer", "Bot", "Budget", "Decision", "Match", "Move", "Turn"]

Move: TypeAlias = dict[str, Any]
"""A move as sent on the wire: a flat JSON object, such as an element of `Turn.legal`."""
ViewT = TypeVar("ViewT", default=Any)
"""The game's `View` model, for bots that declare which one they expect: ``Turn[NimView]``."""


def legal_moves(rules: Game, state: State) -> list[Move]:
    """Return the legal moves of a state, as a server lists them in a turn."""
    written, _ = rules.legal_json(state, rules.count_legal(state))
    moves: list[Move] = json.loads(written)
    return moves


@dataclass(frozen=True)
class Decision:
    """A move with the bot's comment."""

    action: int | Mapping[str, Any] | BaseModel
    """The move: any value that `Bot.choose` may return without a comment."""
    comment: Comment | Mapping[str, Any] | None = None
    """Replaces the data from `Turn.comment` in the record: a `Comment`, or a mapping of its fields.
    Fields that the protocol does not accept are dropped; see `Turn.comment`."""


Answer: TypeAlias = int | Mapping[str, Any] | BaseModel | Decision
"""The return type of `choose`: a wire move, a game's `Move` model, an action of `Turn.position`, or
any of these in a `Decision`."""


@dataclass(frozen=True, kw_only=True)
class Match:
    """A match from the perspective of the player in `seat`."""

    id: str
    game: str
    """The name of the game."""
    options: Mapping[str, Any]
    """The game's options as JSON; missing ones have default values."""
    players: tuple[Player, ...]
    """The players, by seat."""
    seat: int
    """The bot's seat, from 0."""
    time_control: TimeControl = field(default_factory=TimeControl)
    lobby: str | None = None
    number: int = 1
    """The number of the match in its lobby, from 1."""

    @classmethod
    def of(cls, snapshot: Snapshot) -> Match:
        """Read the match from a snapshot that was sent to one of its players.

        Raises `ValueError` for a spectator's snapshot.
        """
        if snapshot.you is None:
            raise ValueError(f"match {snapshot.match} has no seat for this player")
        return cls(
            id=snapshot.match,
            game=snapshot.game,
            options=snapshot.options,
            players=tuple(snapshot.seats),
            seat=snapshot.you,
            time_control=snapshot.time_control,
            lobby=snapshot.lobby,
            number=snapshot.number,
        )

    @functools.cached_property
    def game_rules(self) -> Game:
        """The rules of the game. Raises `GameError` if they are not installed here."""
        from kibitz_games.core import registry

        return registry.get(self.game)


@dataclass(frozen=True, kw_only=True)
class Turn(Generic[ViewT]):
    """One turn of one match, with everything that a bot needs to act."""

    match: Match
    ply: int
    """The number of moves made before this turn, by all seats together."""
    observation: Mapping[str, Any]
    """The bot's view as the server sent it: a JSON object described by the game's `View`."""
    budget: Budget
    """The time budget of the turn."""
    clocks: tuple[Clock, ...] = ()
    """The clocks, by seat; empty without a clock."""
    listed: Sequence[Move] | None = field(default=None, repr=False)
    """The legal moves as the server sent them, None if it sent a description instead."""
    rule: str | None = None
    """A description of the legal moves if the server does not list them."""
    refusal: str | None = None
    """Why the previous answer was refused, if the same turn is asked again."""
    cancelled: CancelToken = field(default_factory=CancelToken, repr=False, compare=False)
    """Set once the answer is no longer needed: the flag fell or the match ended."""
    _pending: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _faults: list[str] = field(default_factory=list, init=False, repr=False, compare=False)
    _suggestions: list[Move] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, message: YourTurn, match: Match, budget: Budget) -> Turn[ViewT]:
        """Read a turn from the message that announced it.

        Raises `ValueError` if it has no view because the connection has declined views.
        """
        if message.view is None:
            raise ValueError(f"the turn of match {message.match} was sent without its view")
        return cls(
            match=match,
            ply=message.ply,
            observation=message.view,
            budget=budget,
            clocks=tuple(message.clocks or ()),
            listed=message.legal,
            rule=message.legal_rule,
        )

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.match.game

    @property
    def seat(self) -> int:
        """The bot's seat, which is the seat to act."""
        return self.match.seat

    @property
    def has_rules(self) -> bool:
        """Whether the rules of the game are installed here."""
        from kibitz_games.core import registry

        return registry.can_load(self.game)

    @functools.cached_property
    def view(self) -> ViewT:
        """The bot's view as the game's `View` model: ``turn.view.board``.

        If the rules of the game are not installed here, this is `observation`.
        """
        if not self.has_rules:
            return cast("ViewT", self.observation)
        return cast("ViewT", self.match.game_rules.View.model_validate(self.observation))

    @functools.cached_property
    def position(self) -> Position:
        """A position to search on; the bot may push actions on it and pop them.

        In games with hidden information, it is one of the positions that are consistent with the
        view; `sample` returns others. Changing it does not change `state`. Raises `GameError` if
        the rules are not installed here.
        """
        from kibitz_games.core.position import Position

        return Position.from_state(self.match.game_rules, self.state)

    @functools.cached_property
    def state(self) -> State:
        """The state record that the rules work on, consistent with the view.

        Copy it before changing it. In games without hidden information, it is the state of the
        match. Raises `GameError` if the rules are not installed here.
        """
        return self.sample(self.ply)

    def sample(self, seed: int) -> State:
        """Return a state that is consistent with the view; different seeds may give different ones.

        Raises `GameError` if the rules are not installed here.
        """
        rules = self.match.game_rules
        return rules.sample(cast("Any", self.view), seed)

    @functools.cached_property
    def legal(self) -> list[Move]:
        """The legal moves, each a JSON object. The rules list them if the server did not."""
        if self.listed is not None:
            return [dict(move) for move in self.listed]
        return legal_moves(self.match.game_rules, self.state)

    def move(self, action: int) -> Move:
        """Return the wire move of an action, which must be legal in `state`."""
        wire: Move = self.match.game_rules.encode(self.state, action).to_wire()
        return wire

    def text(self, action: int) -> str:
        """Return an action of `state` in human-readable notation."""
        rules = self.match.game_rules
        return rules.notation.format(rules.encode(self.state, action))

    def comment(
        self,
        text: str | None = None,
        *,
        value: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        line: Sequence[str] | None = None,
    ) -> None:
        """Set the comment on this turn's move; the record contains both.

        `value` is the value of the position for the bot's seat, in any unit; `depth` is the search
        depth in plies; `nodes` is the number of positions searched; `line` lists the expected moves
        in notation. Later values replace earlier ones, field by field. A field that the protocol
        does not accept, such as a value of ``inf`` or a text of more than 200 characters, is
        dropped, with one note per match in the record.
        """
        given = {"text": text, "value": value, "depth": depth, "nodes": nodes, "line": line}
        comment = self._readable({name: part for name, part in given.items() if part is not None})
        if comment is not None:
            self._pending.update(comment.model_dump(exclude_none=True))

    def suggest(self, move: Move) -> None:
        """Suggest a move to play if the answer is late.

        `adapters.gomocup_server` plays the last suggestion at its deadline; a kibitz server ignores
        suggestions and waits for the answer.
        """
        self._suggestions[:] = [move]

    @property
    def suggestion(self) -> Move | None:
        """The last move passed to `suggest`, or None."""
        return self._suggestions[0] if self._suggestions else None

    @property
    def pending_comment(self) -> Comment | None:
        """The comment set with `comment`, or None."""
        return self._readable(self._pending) if self._pending else None

    @property
    def comment_faults(self) -> tuple[str, ...]:
        """The fields dropped from comments on this turn, with reasons."""
        return tuple(self._faults)

    def _readable(self, written: object) -> Comment | None:
        """Return the valid part of a comment and store the faults."""
        comment, faults = readable_comment(written)
        self._faults.extend(fault for fault in faults if fault not in self._faults)
        return comment


class Bot:
    """A bot.

    Subclasses implement `choose`; everything else is optional. The class attributes are announced
    to the server before the bot takes a seat.
    """

    name: str = ""
    """The player name; the name of the class if empty."""
    version: str = ""
    """The bot's version, in any format; it appears in records."""
    engine: Engine | None = None
    """The engine description for records; built from `name` and `version` if None."""
    games: Sequence[str] = ()
    """The games that the bot plays; all if empty."""
    seats: Sequence[int] = ()
    """The supported numbers of players; all if empty."""
    at_once: int = 4
    """The maximum number of concurrent matches."""
    jit: bool = True
    """Whether the built-in rules run as machine code in the bot's process. The plain Python rules
    load in half the time and memory, for bots that only list moves."""

    run_process: ClassVar[Callable[[Sequence[str] | None, type[Bot]], int] | None] = None
    """The function that `main` calls, set by the package's ``__init__``."""

    def choose(self, turn: Turn) -> Answer | Awaitable[Answer]:
        """Return the move to play.

        May be ``async``. The move is a legal move as JSON (an element of ``turn.legal``), the
        game's `Move` model, or an action of ``turn.position``, alone or in a `Decision`. Integers
        may be of any type with ``__index__``, such as numpy's. After an illegal answer the bot is
        asked again, with the reason in ``turn.refusal``. A second illegal answer or an exception
        resigns the match.
        """
        raise NotImplementedError(f"{type(self).__name__} needs a method choose(self, turn)")

    def prepare(self, programme: Sequence[ProgrammeItem]) -> None:
        """Prepare for the matches of `programme`, for instance compile code or load weights.

        It is called before the bot reports ready, on an instance that plays no match. Each item has
        a ``game``, its ``options`` and the number of ``seats``.
        """

    def on_match_start(self, match: Match) -> None:
        """Handle the start of a match, before its first turn; called again after a restart."""

    def on_match_end(self, match: Match, result: Result) -> None:
        """Handle the result of the match."""

    @classmethod
    def main(cls, argv: Sequence[str] | None = None) -> NoReturn:
        """Play according to the command line: ``python mybot.py --server URL --lobby CODE``.

        `argv` are the arguments after the program's name, by default those of the process. The
        process exits with status 0, with 1 if the bot failed, or with 2 if it could not start.
        """
        assert Bot.run_process is not None, "kibitz_bots sets it on import"
        sys.exit(Bot.run_process(argv, cls))


class BadAnswer(ValueError):
    """A bot's answer is not a legal move."""


def parse_answer(answer: object, turn: Turn) -> tuple[Move, Comment | None]:
    """Return the wire move and the comment of an answer, or raise `BadAnswer`.

    The caller must check whether the move is legal.
    """
    action, comment = answer, turn.pending_comment
    if isinstance(answer, Decision):
        action, comment = answer.action, turn._readable(answer.comment) or comment
    if isinstance(action, BaseModel):
        action = action.model_dump(by_alias=True, exclude_none=True, warnings=False)
    if isinstance(action, Mapping):
        return {name: _plain(value) for name, value in action.items()}, comment
    if (number := integer(action)) is not None and turn.has_rules:
        return _move_of_action(number, turn), comment
    raise BadAnswer(f"expected a move such as turn.legal[0], not {type(action).__name__}")


def _plain(value: Any) -> Any:
    """Return a field of a move; convert other libraries' integers to `int`."""
    number = integer(value)
    return value if number is None else number


def _move_of_action(action: int, turn: Turn) -> Move:
    if action not in turn.match.game_rules.legal(turn.state):
        raise BadAnswer(f"expected one of turn.position.legal, not the action {action}")
    return turn.move(action)


def rng_for(turn: Turn, seed: int | str) -> random.Random:
    """Return a generator seeded by `seed`, the seat and the ply only."""
    return random.Random(f"{seed}/{turn.seat}/{turn.ply}")
