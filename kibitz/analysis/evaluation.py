"""A bot's evaluation of every move of a record: its own move and the value of the position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kibitz.analysis.recorded_turns import RecordedTurn, recorded_turns
from kibitz.analysis.seated_bot import BotFailedError, SeatedBot, prepare
from kibitz_bots.spec import BotFactory
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import Comment, Entry, Moved
from kibitz_protocol.wire.values import Action
from kibitz_server.match.state import MatchState

MOST_SWINGS = 5
"""The maximum number of losses of value to list."""


@dataclass(frozen=True)
class MoveEvaluation:
    """The bot's evaluation of one move."""

    ply: int
    seat: int
    """The seat that moved, from 0."""
    played: str
    """The move of the match, in the game's notation."""
    best: str
    """The move that the bot would have played."""
    comment: Comment
    """The bot's comment on its own move."""

    @property
    def agrees(self) -> bool:
        """Whether the bot would have played the same move."""
        return self.played == self.best

    @property
    def value(self) -> float | None:
        """The value of the position for the seat that moved, in the bot's own unit."""
        return self.comment.value

    @property
    def end_in(self) -> int | None:
        """The number of plies to a proven win or loss, None if nothing is proven."""
        return self.comment.end_in

    @property
    def proven(self) -> str | None:
        """The proven result for the seat that moved: "won", "lost", or None."""
        if self.value is None or self.end_in is None:
            return None
        return "won" if self.value > 0 else "lost"


@dataclass(frozen=True)
class Swing:
    """The change of a seat's value from one of its turns to the next."""

    before: MoveEvaluation
    after: MoveEvaluation
    change: float
    """The later value minus the earlier one; see `Scale.beyond` for proven results."""


def evaluate(
    game: Game,
    record: Record,
    factory: BotFactory,
    ms: int,
    *,
    seats: Sequence[int] | None = None,
    on_move: Callable[[MoveEvaluation], object] | None = None,
) -> list[MoveEvaluation]:
    """Evaluate the turns of `seats` (all by default) with a bot, for `ms` milliseconds each.

    Each seat gets its own bot, which sees what the seat saw, in the order of the match. `on_move`
    is called with each finished evaluation. Raises `BotFailedError` and `BrokenLog`, both
    `ValueError`.
    """
    evaluations = []
    bots: dict[int, SeatedBot] = {}
    for turn in recorded_turns(game, record):
        if seats is not None and turn.seat not in seats:
            continue
        if not bots:
            prepare(factory(), turn.before)
        if turn.seat not in bots:
            bots[turn.seat] = SeatedBot(
                factory(), turn.before, turn.seat, ms, f"{record.setup.match}-analysis"
            )
        evaluations.append(_evaluation(turn, bots[turn.seat]))
        if on_move is not None:
            on_move(evaluations[-1])
    return evaluations


def _evaluation(turn: RecordedTurn, bot: SeatedBot) -> MoveEvaluation:
    match = turn.before
    try:
        action, comment = bot.answer(match)
        best = _notation(match, action)
    except Exception as error:
        raise BotFailedError.of(f"at ply {turn.ply}", error) from error
    played = _notation(match, turn.played.action)
    return MoveEvaluation(turn.ply, turn.seat, played, best, comment or Comment())


def _notation(match: MatchState, action: Action) -> str:
    """Return a wire move in the game's notation. Raises `ValueError` for an illegal one."""
    move = match.game.encode(match.game_state, match.decode(action))
    return match.game.notation.format(move)


class Scale:
    """A scale from the lowest to the highest value; proven results are at the ends."""

    def __init__(self, evaluations: Sequence[MoveEvaluation]) -> None:
        open_values = [
            evaluation.value
            for evaluation in evaluations
            if evaluation.value is not None and not evaluation.proven
        ]
        self.low = min(open_values, default=-1.0)
        self.high = max(open_values, default=1.0)
        if self.low == self.high:
            self.low, self.high = self.low - 1.0, self.high + 1.0

    def place(self, evaluation: MoveEvaluation) -> float | None:
        """Return the value, with proven results at `low` or `high`; None if there is no value."""
        if evaluation.proven is not None:
            return self.high if evaluation.proven == "won" else self.low
        return evaluation.value

    def beyond(self, evaluation: MoveEvaluation) -> float | None:
        """Return the value as `place` does, but put proven results half a scale beyond the ends."""
        place = self.place(evaluation)
        if place is None or evaluation.proven is None:
            return place
        margin = (self.high - self.low) / 2
        return place + margin if evaluation.proven == "won" else place - margin


def swings(evaluations: Sequence[MoveEvaluation]) -> list[Swing]:
    """Return the changes of the seats' values, greatest first."""
    scale = Scale(evaluations)
    changes = []
    last: dict[int, tuple[MoveEvaluation, float]] = {}
    for evaluation in evaluations:
        place = scale.beyond(evaluation)
        if place is None:
            continue
        if evaluation.seat in last:
            before, former = last[evaluation.seat]
            changes.append(Swing(before, evaluation, place - former))
        last[evaluation.seat] = evaluation, place
    return sorted(changes, key=lambda swing: -abs(swing.change))


def costliest(record: Record, evaluations: Sequence[MoveEvaluation]) -> list[Swing]:
    """Return the greatest losses of value, at most five.

    Gains are omitted, because they mirror the losses of the other seats. So are losses that round
    to nothing, and the moves that a branch repeats from another match, because its players did not
    make them.
    """
    first = 0 if record.setup.branch is None else record.setup.branch.ply
    return [
        swing
        for swing in swings(evaluations)
        if round(swing.change, 2) < 0 and swing.before.ply >= first
    ][:MOST_SWINGS]


def annotated(record: Record, evaluations: Sequence[MoveEvaluation]) -> Record:
    """Return a record with the comments of the analysis in place of the original ones.

    It is for viewers, which draw values and lines from comments; its hashes are still those of
    `record`.
    """
    scale = Scale(evaluations)
    comments = {evaluation.ply: _viewer_comment(evaluation, scale) for evaluation in evaluations}
    return replace(record, entries=tuple(_with_comments(record, comments)))


def _with_comments(record: Record, comments: Mapping[int, Comment]) -> Iterator[Entry]:
    for entry in record.entries:
        if isinstance(entry, Moved):
            yield entry.model_copy(update={"comment": comments.get(entry.ply)})
        else:
            yield entry


def _viewer_comment(evaluation: MoveEvaluation, scale: Scale) -> Comment:
    """Return the comment for a viewer, with proven values at the ends of the scale."""
    text = "as played" if evaluation.agrees else f"better: {evaluation.best}"
    proven = f"; {evaluation.proven}" if evaluation.proven else ""
    fields = {"text": f"{text}{proven}", "value": scale.place(evaluation)}
    return evaluation.comment.model_copy(update=fields)
