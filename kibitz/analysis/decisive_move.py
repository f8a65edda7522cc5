"""The decisive move of a seat: the one that gave away a better result.

The search goes through the seat's turns from the end of the record to its start. From each turn a
bot plays all seats to the end. The search ends at the first turn from which the seat does better
than in the match. That turn was its last chance, and the move played there is the decisive one.
With a perfect bot the answer is exact; otherwise it is only as good as the bot's play.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kibitz.analysis.continuation import faults, play_on
from kibitz.analysis.recorded_turns import RecordedTurn, recorded_turns
from kibitz.analysis.seated_bot import BotFailedError, SeatedBot, prepare
from kibitz_bots.catalog import PERSONALITIES
from kibitz_bots.spec import BotFactory
from kibitz_games.core.game import Game
from kibitz_protocol.wire.recordfile import Record
from kibitz_protocol.wire.records import Entry, Moved, Result

STRONGEST = ("solver", "champion", "threat", "hunter", "mcts")
"""Names of house bots by preference; the default is the first that the game has."""
WITHOUT_VALUES = frozenset({"hunter"})
"""Bots in `STRONGEST` that do not report the value of a position."""


@dataclass(frozen=True)
class DecisiveMove:
    """The last turn of a seat from which it could still do better than in the match."""

    turn: RecordedTurn
    played: str
    """The move of the match, in the game's notation."""
    better: str
    """A move after which the seat does better, in the game's notation."""
    result: Result
    """The result after that move, with the bot in all seats."""
    line: tuple[str, ...]
    """The moves from there to the end, in the game's notation."""


def strongest(game: Game, *, valuing: bool = False) -> str:
    """Return the default house bot to judge a game; with `valuing`, one that reports values.

    Raises `ValueError` if the game has none.
    """
    for name in STRONGEST:
        bot = f"{game.info.name}/{name}"
        if bot in PERSONALITIES and not (valuing and name in WITHOUT_VALUES):
            return bot
    raise ValueError(f"{game.info.name} has no default bot; name one with --by")


def decisive_move(
    game: Game,
    record: Record,
    seat: int,
    factory: BotFactory,
    ms: int,
    *,
    on_turn: Callable[[RecordedTurn], object] | None = None,
) -> DecisiveMove | None:
    """Return the decisive move of `seat`, None if it could never have done better.

    `factory` makes the bots that finish the match from each turn, with `ms` milliseconds per turn;
    `on_turn` is called with every turn tried. Raises `ValueError` for an unfinished match,
    `BrokenLog`, and `BotFailedError` if the bot fails in a game.
    """
    if record.footer is None:
        raise ValueError("expected the record of a finished match")
    reached = record.footer.result.seats[seat].score
    branch = record.setup.branch
    first = 0 if branch is None else branch.ply  # the player of the seat made no earlier moves
    turns = [t for t in recorded_turns(game, record) if t.seat == seat and t.ply >= first]
    if turns:
        prepare(factory(), turns[0].before)
    for turn in reversed(turns):
        if on_turn is not None:
            on_turn(turn)
        match = turn.before.copy()
        name = f"{record.setup.match}-{turn.ply}-bisect"
        bots = {
            place: SeatedBot(factory(), match, place, ms, name)
            for place in range(len(match.players))
            if match.still_plays(place)
        }
        result, entries = play_on(match, bots)
        for fault in faults(entries):
            raise BotFailedError(
                f"the bot failed in seat {fault.seat + 1} when playing on from ply {turn.ply}:"
                f" {fault.cause}: {fault.detail}"
            )
        if result.seats[seat].score > reached:
            return _found(turn, result, entries)
    return None


def _found(turn: RecordedTurn, result: Result, entries: list[Entry]) -> DecisiveMove:
    match = turn.before.copy()
    game, line = match.game, []
    move = game.encode(match.game_state, match.decode(turn.played.action))
    played = game.notation.format(move)
    for entry in entries:
        if isinstance(entry, Moved):
            move = game.encode(match.game_state, match.decode(entry.action))
            line.append(game.notation.format(move))
        match.apply(entry)
    better = line[0] if line else "nothing"
    return DecisiveMove(turn, played, better, result, tuple(line))
