"""What the author of a bot sees: `Bot` with its one method, and the `Turn` that it answers.

::

    from kibitz import Bot, Turn

    class First(Bot):
        def choose(self, turn: Turn) -> dict:
            return turn.legal[0]

    if __name__ == "__main__":
        First.main()

Every match gets an instance of its own, so what a bot keeps in `self` belongs to one match. A
`choose` that is a plain function runs in a thread, so the connection stays alive while it
thinks; one that is ``async`` runs on the event loop and must not block it.
"""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from pydantic import BaseModel

from kibitz_bots.budget import Budget
from kibitz_bots.threads import Flag
from kibitz_protocol.clocks import Clock, TimeControl
from kibitz_protocol.messages import Snapshot, YourTurn
from kibitz_protocol.records import Comment, Player, Result
from kibitz_protocol.rooms import ProgrammeItem

if TYPE_CHECKING:
    from kibitz_games.api import Game, State

__all__ = ["Answer", "Bot", "Budget", "Choice", "Match", "Move", "Turn"]

Move: TypeAlias = dict[str, Any]
"""A move as it travels: a flat JSON object, such as an element of `Turn.legal`."""


@dataclass(frozen=True)
class Choice:
    """A move together with what the bot says of it."""

    action: Mapping[str, Any] | BaseModel
    comment: Comment | None = None


Answer: TypeAlias = Mapping[str, Any] | BaseModel | Choice
"""What `choose` may return: a wire move, a game's `Move`, or either of them in a `Choice`."""


@dataclass(frozen=True, kw_only=True)
class Match:
    """The match that a turn belongs to, as the player in `seat` knows it."""

    id: str
    game: str
    options: Mapping[str, Any]
    players: tuple[Player, ...]
    """Who sits where, by seat."""
    seat: int
    """The own seat."""
    time_control: TimeControl = field(default_factory=TimeControl)
    lobby: str | None = None
    number: int = 1

    @classmethod
    def of(cls, snapshot: Snapshot) -> Match:
        """Read the match from a snapshot that was sent to one of its players."""
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
    def rules(self) -> Game:
        """The rules of the game; `GameError` where they are not installed here."""
        from kibitz_games import registry

        return registry.get(self.game)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn of one match: everything that is needed to act."""

    match: Match
    ply: int
    view: Mapping[str, Any]
    """The observation: a JSON object as the game's `View` model describes it."""
    budget: Budget
    """How long to think."""
    clocks: tuple[Clock, ...] = ()
    """What every seat has left, by seat; empty without a clock."""
    listed: Sequence[Move] | None = field(default=None, repr=False)
    """The legal moves as the server sent them, None where it sent a rule in words instead."""
    rule: str | None = None
    """Which moves are legal, in words, where the server does not list them."""
    refusal: str | None = None
    """Why the answer before this one was refused, when the same turn is asked again."""
    called_off: Flag = field(default_factory=Flag, repr=False, compare=False)
    """Set when nobody waits for the answer any more: the flag fell or the match ended."""
    _said: list[Comment] = field(default_factory=list, init=False, repr=False, compare=False)
    _suggested: list[Move] = field(default_factory=list, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, message: YourTurn, match: Match, budget: Budget) -> Turn:
        """Read a turn from the message that announced it."""
        return cls(
            match=match,
            ply=message.ply,
            view=message.view,
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
        """The own seat, which is the one to act."""
        return self.match.seat

    @functools.cached_property
    def state(self) -> State:
        """A state that agrees with the view, for bots that search; change a copy of it.

        Where the game hides nothing it is the state of the match. Raises `GameError` where
        the rules are not installed here.
        """
        return self.sample(self.ply)

    def sample(self, seed: int) -> State:
        """Return a state that agrees with the view; another seed may give another one."""
        rules = self.match.rules
        return rules.sample(rules.View.model_validate(self.view), seed)

    @functools.cached_property
    def legal(self) -> list[Move]:
        """The legal moves. The rules list them where the server has not."""
        if self.listed is not None:
            return [dict(move) for move in self.listed]
        return [self.move(action) for action in self.match.rules.legal(self.state)]

    def move(self, action: int) -> Move:
        """Return the wire move of an action of `state`."""
        rules = self.match.rules
        return rules.dump(rules.encode(self.state, action))

    def text(self, action: int) -> str:
        """Return an action of `state` as a person would write it."""
        rules = self.match.rules
        return rules.text(rules.encode(self.state, action))

    def comment(
        self,
        text: str | None = None,
        *,
        value: float | None = None,
        depth: int | None = None,
        nodes: int | None = None,
        line: Sequence[str] | None = None,
    ) -> None:
        """Say something of the move to come; it goes into the record with it."""
        self._said.append(
            Comment(
                text=text, value=value, depth=depth, nodes=nodes, line=list(line) if line else None
            )
        )

    def suggest(self, move: Move) -> None:
        """Say what to play if the answer should be late, as long as there is nothing better.

        A manager that cannot wait plays the last suggestion (see `bridges.pbrain`); a server's
        clock runs until the answer.
        """
        self._suggested[:] = [move]

    @property
    def suggestion(self) -> Move | None:
        """The move that `suggest` was told last, None before."""
        return self._suggested[0] if self._suggested else None

    @property
    def said(self) -> Comment | None:
        """What `comment` was told; later words replace earlier ones, field by field."""
        if not self._said:
            return None
        fields: dict[str, Any] = {}
        for comment in self._said:
            fields |= comment.model_dump(exclude_none=True)
        return Comment(**fields)


class Bot:
    """A player. Subclasses write `choose`; everything else is optional.

    The class attributes are announced to the server before the bot takes a seat.
    """

    name: str = ""
    """The name at the table; the name of the class where it is empty."""
    games: Sequence[str] = ()
    """The games it plays; all where it is empty."""
    seats: Sequence[int] = ()
    """With how many players it plays; any number where it is empty."""
    at_once: int = 4
    """How many matches it plays at the same time."""
    rules: Literal["compiled", "plain"] = "compiled"
    """How the rules in the box run in its process: plain ones load in half the time and memory,
    for bots that do no more with them than to list moves."""

    def choose(self, turn: Turn) -> Answer | Awaitable[Answer]:
        """Return the move to play. May be ``async``."""
        raise NotImplementedError(f"{type(self).__name__} needs a method choose(self, turn)")

    def warm(self, programme: Sequence[ProgrammeItem]) -> None:
        """Get ready to play `programme`: compile, load weights. Runs before the bot is ready."""

    def started(self, match: Match) -> None:
        """Hear that a match begins, before its first turn; also after a restart of the bot."""

    def finished(self, match: Match, result: Result) -> None:
        """Hear how the match ended."""

    @classmethod
    def main(cls, argv: Sequence[str] | None = None) -> NoReturn:
        """Play as the command line says: ``python mybot.py --server URL --lobby CODE``."""
        from kibitz_bots.process import main

        sys.exit(main(argv, bot=cls))


class BadAnswer(ValueError):
    """A bot returned something that is no legal move."""


def read(answer: object, turn: Turn) -> tuple[Move, Comment | None]:
    """Return the wire move and the comment of an answer, or raise `BadAnswer`."""
    action, comment = answer, turn.said
    if isinstance(answer, Choice):
        action, comment = answer.action, answer.comment or comment
    if isinstance(action, BaseModel):
        return action.model_dump(mode="json", by_alias=True, exclude_none=True), comment
    if isinstance(action, Mapping):
        return dict(action), comment
    raise BadAnswer(f"expected a move such as turn.legal[0], not {type(action).__name__}")


def seed_of(turn: Turn, seed: int | str) -> random.Random:
    """Return random numbers that depend on `seed`, the seat and the ply, and on nothing else."""
    return random.Random(f"{seed}/{turn.seat}/{turn.ply}")
