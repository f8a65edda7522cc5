"""Matches as text: moves, comments, outcomes of seats, results, errors."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from kibitz_clients import palette
from kibitz_clients.matches.timeline import Frame, MatchInfo
from kibitz_clients.wording.short_names import shown_name
from kibitz_games.core.game import Game, GameError
from kibitz_games.core.scene import PieceColour
from kibitz_protocol import printable
from kibitz_protocol.client.errors import KibitzError, RefusedError, SessionError, UnansweredError
from kibitz_protocol.wire.lobbies import HouseTrouble
from kibitz_protocol.wire.records import (
    UNDECIDED,
    Aborted,
    Cause,
    Comment,
    Commented,
    Engine,
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
    SeatResult,
)
from kibitz_protocol.wire.values import Action

LOST_LOBBY_TEXTS = {
    "closed": "it is closed, or you left it elsewhere",
    "kicked": "the host removed you",
    "expired": "you were disconnected for too long, or nobody was left",
    "failed": "the server could not continue it",
}
"""Texts for the reasons of `LobbyClosed`."""

CAUSE_TEXTS: dict[Cause, str] = {
    Cause.RULES: "by the rules",
    Cause.RESIGNATION: "resigned",
    Cause.TIME: "lost on time",
    Cause.ILLEGAL: "sent illegal moves",
    Cause.CRASH: "crashed",
    Cause.DISCONNECT: "lost the connection",
    Cause.ABANDONED: "left the match",
    Cause.TAKEOVER: "lost its seat to another connection",
    Cause.KICKED: "was removed by the host",
    Cause.ABORTED: "aborted by the operator",
    Cause.INFRASTRUCTURE: "the server could not continue",
}
_ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}


def ordinal(rank: int) -> str:
    """Format a rank: ``1st``."""
    return _ORDINALS.get(rank, f"{rank}th")


def house_bot_failure(trouble: HouseTrouble) -> str:
    """Describe the failure of a house bot and its consequence."""
    what = f"{trouble.personality} in seat {trouble.seat + 1} failed: {trouble.reason}"
    if trouble.given_up:
        return f"{what}; it will not be restarted, and the seat is open to anyone"
    return f"{what}; it will be restarted"


def lost_lobby(lobby: str, reason: str) -> str:
    """Say in one line why this program no longer gets news of the lobby."""
    return f"lobby {lobby}: {LOST_LOBBY_TEXTS[reason]}"


def stopped_programme(reason: str) -> str:
    """Describe why a server has stopped a programme."""
    return f"the rest of the programme will not be played: {printable.line(reason)}"


def move_text(game: Game | None, action: Action) -> str:
    """Format an action in its game's notation, or as its fields if the game is unknown."""
    if game is not None:
        try:
            return game.notation.format(game.Move.model_validate(action))
        except (ValidationError, GameError):
            pass
    return printable.line(" ".join(f"{name}={value}" for name, value in action.items()))


def step_text(game: Game | None, frame: Frame) -> str:
    """Describe what happened right before a frame, without naming the seat."""
    if frame.mover is not None:
        return "a hidden move"
    return "" if frame.entry is None else entry_text(game, frame.entry)


def acting_seat(frame: Frame) -> int | None:
    """Return the seat that acted in a step, even for hidden moves, since turns are public."""
    if frame.mover is not None or frame.entry is None:
        return frame.mover
    return entry_seat(frame.entry)


def viewpoint_text(facts: MatchInfo, seat: int) -> str:
    """Describe the viewpoint on a match: that of a seat or of the public."""
    return (
        "as the public saw it" if seat < 0 else f"as {player_label(seat, facts.seats[seat])} saw it"
    )


def entry_text(game: Game | None, happened: Entry) -> str:
    """Describe an entry without naming its seat."""
    return printable.line(_entry_text(game, happened))


def _entry_text(game: Game | None, happened: Entry) -> str:
    match happened:
        case Moved(action=action):
            return move_text(game, action)
        case Flagged():
            skips = game is not None and game.info.on_flag == "skip"
            return "time is up; turn skipped" if skips else "time is up"
        case Resigned():
            return "resigns"
        case Left(reason="left"):
            return "leaves"
        case Left(reason="kicked"):
            return "is removed by the host"
        case Left(reason=reason, grace_ms=grace):
            return f"away ({reason}), {grace // 1000} s to return"
        case Returned(takeover=True):
            return "seat taken over by another connection"
        case Returned():
            return "returns"
        case Forfeited(cause=cause, detail=detail):
            return f"out: {CAUSE_TEXTS[cause]}" + (f" ({detail})" if detail else "")
        case Replaced(player=player):
            return f"replaced by {shown_name(player.name, player.kind)}"
        case Aborted(operator=True, detail=detail):
            return f"aborted by the operator: {detail}"
        case Aborted(detail=detail):
            return f"aborted: {detail}"
        case Noted(text=text):
            return f"notes: {text}"
        case Commented(author=author, text=text):
            return f"{shown_name(author.name, author.kind)}: {text}"
        case Hidden():
            return "hidden"


def entry_seat(happened: Entry) -> int | None:
    """Return the seat of an entry; None for a comment, which names its author."""
    return None if isinstance(happened, Hidden | Aborted | Commented) else happened.seat


def comment_text(comment: Comment) -> str:
    """Format a bot's comment on its move: value, depth, nodes, expected line, text."""
    parts = []
    if comment.value is not None:
        parts.append(value_text(comment))
    if comment.depth is not None:
        parts.append(f"d{comment.depth}")
    if comment.nodes is not None:
        parts.append(f"{_count_text(comment.nodes)}n")
    if comment.line:
        parts.append(" ".join(comment.line))
    if comment.text:
        parts.append(comment.text)
    return printable.line(" ".join(parts))


def value_text(comment: Comment) -> str:
    """Format the value of a comment: proven results in words, "-" if there is no value."""
    if comment.value is None:
        return "-"
    if comment.end_in is not None:
        won = "won" if comment.value > 0 else "lost"
        return f"{won} in {comment.end_in}" if comment.end_in else won
    return f"{comment.value:+z.2f}" if abs(comment.value) < 100_000 else f"{comment.value:+.3g}"


def _count_text(number: int) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}M"
    return f"{number // 1000}k" if number >= 10_000 else str(number)


def player_label(seat: int, who: Player, colours: Sequence[PieceColour] = ()) -> str:
    """Return a player's name after the glyph of the seat, or of its stones if it has `colours`."""
    return f"{palette.piece_glyph(seat, colours)} {shown_name(who.name, who.kind)}"


def player_labels(facts: MatchInfo) -> str:
    """Return the names of all players with glyphs, in seat order."""
    return "  ".join(player_label(seat, who) for seat, who in enumerate(facts.seats))


def end_reason(result: Result) -> str:
    """Describe what ended a match."""
    return printable.line(_end_reason(result))


def _end_reason(result: Result) -> str:
    if result.cause is Cause.RULES:
        return result.reason or CAUSE_TEXTS[Cause.RULES]
    why = CAUSE_TEXTS[result.cause]
    return f"{why} ({result.reason})" if result.reason else why


def points_text(ended: SeatResult) -> str:
    """Format a seat's points in the game; empty if the game does not count points."""
    return "" if ended.points is None else f"{ended.points:,g}"


def seat_note(ended: SeatResult) -> str:
    """Describe the result of a seat without its player: ``2nd, 340, lost on time``."""
    why = CAUSE_TEXTS[ended.cause] if ended.cause else ""
    return ", ".join(part for part in (ordinal(ended.rank), points_text(ended), why) if part)


def result_lines(facts: MatchInfo, result: Result) -> list[str]:
    """Return one line for each seat, best first: rank, player, points, why it dropped out."""
    order = sorted(range(len(result.seats)), key=lambda seat: (result.seats[seat].rank, seat))
    lines = []
    for seat in order:
        ended = result.seats[seat]
        why = f"  {CAUSE_TEXTS[ended.cause]}" if ended.cause else ""
        detail = f" ({printable.line(ended.detail)})" if ended.detail else ""
        name = player_label(seat, facts.seats[seat])
        points = points_text(ended) or f"{ended.score:g}"
        lines.append(f"{ordinal(ended.rank)} {name} {points}{why}{detail}")
    return lines


def result_summary(facts: MatchInfo, result: Result, game: Game | None = None) -> str:
    """Describe in one line who won and how: ``● ada wins with five in a row, 31 plies``.

    Without `game`, the ending is described by the result's reason or cause.
    """
    best = [seat for seat, ended in enumerate(result.seats) if ended.rank == 1]
    if result.cause in UNDECIDED:
        won = "not finished"
    elif len(best) == len(result.seats) > 1:
        won = "drawn"
    else:
        names = ", ".join(player_label(seat, facts.seats[seat]) for seat in best)
        won = f"{names} {'win' if len(best) > 1 else 'wins'}"
    points = [points_text(result.seats[seat]) for seat in best]
    noun = "point" if points[:1] == ["1"] else "points"
    counted = f", {points[0]} {noun}" if points and points[0] and len(set(points)) == 1 else ""
    return f"{won}{printable.line(_how(facts, result, game))}{counted}, {result.plies} plies"


def ending_text(result: Result, game: Game | None) -> str:
    """Describe how a match ended, in the game's own words if it has any."""
    known = {} if game is None or result.cause is not Cause.RULES else game.reason_texts
    return known.get(result.reason) or end_reason(result)


def _how(facts: MatchInfo, result: Result, game: Game | None) -> str:
    """Describe how a match ended, for use after the winner's name."""
    text = ending_text(result, game)
    if text != end_reason(result):
        return f" {text}"
    left = [
        f"{player_label(seat, who)} {CAUSE_TEXTS[ended.cause]}"
        for seat, (who, ended) in enumerate(zip(facts.seats, result.seats, strict=False))
        if ended.cause is not None
    ]
    return f": {', '.join(left)}" if left else f", {_end_reason(result)}"


def explain_error(error: BaseException, url: str = "") -> str:
    """Explain an error in one sentence, with a remedy if one is known."""
    return printable.line(_explain_error(error, url))


def _explain_error(error: BaseException, url: str) -> str:
    match error:
        case RefusedError(message=message, hint=hint):
            return f"{message}; {hint}" if hint else message
        case SessionError():
            where = f" {url}" if url and url not in str(error) else ""
            return f"the connection to the server{where} has ended: {error}"
        case UnansweredError():
            return (
                f"the server did not answer ({error});"
                " before you repeat the request, check whether it took effect"
            )
        case KibitzError() | OSError() | ValueError():
            return str(error) or type(error).__name__
        case _:
            return f"{type(error).__name__}: {error}"


def engine_text(engine: Engine | None) -> str:
    """Describe the engine in a seat: name, version, parameters and hashes; "" for None."""
    if engine is None:
        return ""
    settings = ", ".join(f"{name}={value}" for name, value in engine.parameters.items())
    weights = ", ".join(f"{name} {digest[:8]}" for name, digest in engine.weights.items())
    details = "; ".join(part for part in (engine.version, settings, weights) if part)
    return printable.line(f"{engine.name} ({details})" if details else engine.name)
