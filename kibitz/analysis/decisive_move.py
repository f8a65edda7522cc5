"""The decisive move of a seat: after it the better result that was there could not be had.

The record is folded back from its end, one turn of the seat after the other. From each of them a
bot plays all seats to the end. The first turn found from which the seat does better than it did
is the last at which it could: the move that it made there instead is the decisive one.

With a bot that plays perfectly this is exact. With any other it is what that bot can show.
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
"""Names of house bots; the default bot is the first that the game has."""


@dataclass(frozen=True)
class DecisiveMove:
    """The last turn of a seat from which it could still do better than it did."""

    turn: RecordedTurn
    played: str
    """The move of the match, in the words of the game."""
    better: str
    """A move after which the seat does better."""
    result: Result
    """How the match ends after that, with the bot at all seats."""
    line: tuple[str, ...]
    """The moves from there to that end, in the words of the game."""


def strongest(game: Game) -> str:
    """Return the default house bot that judges a game."""
    own = (f"{game.info.name}/{name}" for name in STRONGEST)
    return next(name for name in own if name in PERSONALITIES)


def decisive_move(
    game: Game,
    record: Record,
    seat: int,
    factory: BotFactory,
    ms: int,
    *,
    on_turn: Callable[[RecordedTurn], object] | None = None,
) -> DecisiveMove | None:
    """Return the decisive move of `seat`, None if it never could have done better.

    `factory` makes the bots that play on, with `ms` milliseconds for each turn; `on_turn` gets
    every turn that is tried. Raises `ValueError` for a match that is not over, `BrokenLog`, and
    `BotFailedError` where the bot fails in a game, which then shows nothing.
    """
    if record.footer is None:
        raise ValueError("expected the record of a match that is over")
    reached = record.footer.result.seats[seat].score
    turns = [turn for turn in recorded_turns(game, record) if turn.seat == seat]
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
                f"the bot failed in seat {fault.seat + 1}, from ply {turn.ply} on: {fault.cause}:"
                f" {fault.detail}"
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
