"""What clients say about a match: moves, comments, what became of seats, results, errors."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from kibitz_clients import palette
from kibitz_clients.follow import Facts, Frame
from kibitz_games.api import Game, GameError
from kibitz_games.scene import PieceColour
from kibitz_protocol import printable
from kibitz_protocol.errors import KibitzError, RefusedError, SessionError, UnansweredError
from kibitz_protocol.records import (
    Aborted,
    Cause,
    Comment,
    Entry,
    Flagged,
    Forfeited,
    Hidden,
    Left,
    Moved,
    Noted,
    Player,
    Replaced,
    Resigned,
    Result,
    Returned,
)
from kibitz_protocol.rooms import HouseTrouble
from kibitz_protocol.values import Action

CAUSES: dict[Cause, str] = {
    Cause.RULES: "by the rules",
    Cause.RESIGNATION: "resigned",
    Cause.TIME: "lost on time",
    Cause.ILLEGAL: "sent illegal moves",
    Cause.CRASH: "crashed",
    Cause.DISCONNECT: "lost the connection",
    Cause.ABANDONED: "left the match",
    Cause.TAKEOVER: "lost its seat to another connection",
    Cause.INFRASTRUCTURE: "the server could not go on",
}
_ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}


def ordinal(rank: int) -> str:
    """Write a rank: ``1st``."""
    return _ORDINALS.get(rank, f"{rank}th")


def house_trouble(trouble: HouseTrouble) -> str:
    """Say that a house bot failed, and what follows from it."""
    what = f"{trouble.personality} of seat {trouble.seat + 1} failed: {trouble.reason}"
    if trouble.given_up:
        return f"{what}; it is not started again, and the seat is open to anybody"
    return f"{what}; it is started again"


def move(game: Game | None, action: Action) -> str:
    """Write an action as its game does, or as its fields where the game is not known."""
    if game is not None:
        try:
            return game.text(game.Move.model_validate(action))
        except (ValidationError, GameError):
            pass
    return printable.line(" ".join(f"{name}={value}" for name, value in action.items()))


def step(game: Game | None, frame: Frame) -> str:
    """Say what happened right before a frame, without naming the seat."""
    if frame.mover is not None:
        return "a hidden move"
    return "" if frame.entry is None else entry(game, frame.entry)


def doer(frame: Frame) -> int | None:
    """Return the seat whose doing a step was; of a hidden move too, since turns are known."""
    if frame.mover is not None or frame.entry is None:
        return frame.mover
    return seat_of(frame.entry)


def eyes(facts: Facts, seat: int) -> str:
    """Say through whose eyes a match is seen: those of a seat, or of the public."""
    return "as the public saw it" if seat < 0 else f"as {player(seat, facts.seats[seat])} saw it"


def entry(game: Game | None, happened: Entry) -> str:
    """Say what an entry was, without naming its seat."""
    return printable.line(_entry(game, happened))


def _entry(game: Game | None, happened: Entry) -> str:
    match happened:
        case Moved(action=action):
            return move(game, action)
        case Flagged():
            skips = game is not None and game.info.on_flag == "skip"
            return "time is up, the turn passes" if skips else "time is up"
        case Resigned():
            return "resigns"
        case Left(reason="left"):
            return "goes away"
        case Left(reason=reason, grace_ms=grace):
            return f"away ({reason}), {grace // 1000} s to return"
        case Returned(takeover=True):
            return "another connection has taken the seat over"
        case Returned():
            return "is back"
        case Forfeited(cause=cause, detail=detail):
            return f"out: {CAUSES[cause]}" + (f" ({detail})" if detail else "")
        case Replaced(player=player):
            return f"replaced by {player.name}"
        case Aborted(detail=detail):
            return f"aborted: {detail}"
        case Noted(text=text):
            return f"notes: {text}"
        case Hidden():
            return "hidden"


def seat_of(happened: Entry) -> int | None:
    """Return whose doing an entry is."""
    return None if isinstance(happened, Hidden | Aborted) else happened.seat


def comment(said: Comment) -> str:
    """Write what a bot said of its move: value, depth, nodes, the line it expects, its text."""
    parts = []
    if said.value is not None:
        parts.append(_value(said.value))
    if said.depth is not None:
        parts.append(f"d{said.depth}")
    if said.nodes is not None:
        parts.append(f"{_count(said.nodes)}n")
    if said.line:
        parts.append(" ".join(said.line))
    if said.text:
        parts.append(said.text)
    return printable.line(" ".join(parts))


DECIDED = 1e6
"""What a search says of a play that is won, as a value; of a lost one, the negative."""


def _value(value: float) -> str:
    if abs(value) >= DECIDED:
        return "wins" if value > 0 else "loses"
    return f"{value:+.2f}" if abs(value) < 100_000 else f"{value:+.3g}"


def _count(number: int) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}M"
    return f"{number // 1000}k" if number >= 10_000 else str(number)


def player(seat: int, who: Player, colours: Sequence[PieceColour] = ()) -> str:
    """Name a player with the glyph of the seat, or with its stone where pieces have `colours`."""
    return f"{palette.piece(seat, colours)} {printable.line(who.name)}"


def players(facts: Facts) -> str:
    """Name all players in seat order."""
    return "  ".join(player(seat, who) for seat, who in enumerate(facts.seats))


def ending(result: Result) -> str:
    """Say what ended a match."""
    return printable.line(_ending(result))


def _ending(result: Result) -> str:
    if result.cause is Cause.RULES:
        return result.reason or CAUSES[Cause.RULES]
    why = CAUSES[result.cause]
    return f"{why} ({result.reason})" if result.reason else why


def verdict(facts: Facts, result: Result) -> list[str]:
    """Return one line for each seat, best first: rank, player, score, why it dropped out."""
    order = sorted(range(len(result.seats)), key=lambda seat: (result.seats[seat].rank, seat))
    lines = []
    for seat in order:
        ended = result.seats[seat]
        why = f"  {CAUSES[ended.cause]}" if ended.cause else ""
        detail = f" ({printable.line(ended.detail)})" if ended.detail else ""
        name = player(seat, facts.seats[seat])
        lines.append(f"{ordinal(ended.rank)} {name} {ended.score:g}{why}{detail}")
    return lines


def winner(facts: Facts, result: Result) -> str:
    """Say in one line who won and how."""
    best = [seat for seat, ended in enumerate(result.seats) if ended.rank == 1]
    names = ", ".join(player(seat, facts.seats[seat]) for seat in best)
    if len(best) == len(result.seats) > 1:
        return f"drawn, {ending(result)}, {result.plies} plies"
    return f"{names} {'win' if len(best) > 1 else 'wins'}, {ending(result)}, {result.plies} plies"


def explain(error: BaseException, url: str = "") -> str:
    """Say what went wrong in one sentence, with what to do about it where that is known."""
    return printable.line(_explained(error, url))


def _explained(error: BaseException, url: str) -> str:
    match error:
        case RefusedError(message=message, hint=hint):
            return f"{message}; {hint}" if hint else message
        case SessionError():
            where = f" {url}" if url and url not in str(error) else ""
            return f"the connection to the server{where} has ended: {error}"
        case UnansweredError():
            return f"the server did not answer ({error}); look before you repeat it"
        case KibitzError() | OSError() | ValueError():
            return str(error) or type(error).__name__
        case _:
            return f"{type(error).__name__}: {error}"
