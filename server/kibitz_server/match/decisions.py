"""Decides on commands other than moves, and on fallen flags.

Each leads to one log entry, or is refused. All are pure functions of a match's state; the engine
appends the entry.
"""

from __future__ import annotations

import hashlib
from typing import Final, TypeAlias, assert_never

from kibitz_protocol.wire.records import (
    Aborted,
    Cause,
    Commented,
    Entry,
    Forfeited,
    Left,
    Moved,
    Noted,
    Replaced,
    Resigned,
    Returned,
)
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.visibility import comment_audience
from kibitz_server.match.absences import DEPARTURE_TEXTS, GONE_FOR_GOOD, cause_of
from kibitz_server.match.budget import NOTES
from kibitz_server.match.commands import (
    Abort,
    AddComment,
    Forfeit,
    Leave,
    Note,
    Refuse,
    Replace,
    Resign,
    Return,
)
from kibitz_server.match.refusals import refuse_over
from kibitz_server.match.state import MatchState

MAX_COMMENTS: Final = 2000
"""The maximum number of comments on one match; each is a permanent entry in its log."""
OtherCommand: TypeAlias = Resign | Leave | Return | Replace | Forfeit | Note | AddComment | Abort
"""A command other than a move."""


def decide(state: MatchState, command: OtherCommand, at: int) -> Entry | Refuse | None:
    """Return the log entry for a command at a given match time, or its refusal.

    Returns None if there is nothing to do.
    """
    match command:
        case Resign(seat):
            if not state.still_plays(seat):
                return refuse_over(state, seat)
            return Resigned(seq=state.seq + 1, at_ms=at, seat=seat)
        case Forfeit(seat, cause, detail):
            if not state.still_plays(seat):
                return refuse_over(state, seat)
            return forfeited(state, seat, cause, detail, at)
        case Leave():
            return _leave(state, command, at)
        case Return():
            return _return(state, command, at)
        case Replace():
            return _replace(state, command, at)
        case Note():
            return _note(state, command, at)
        case AddComment():
            return _comment(state, command, at)
        case Abort(detail, operator):
            if state.result is not None:
                return refuse_over(state, -1) if operator else None
            return aborted(state, detail, at, operator=operator)
        case _:
            assert_never(command)


def forfeited(state: MatchState, seat: int, cause: Cause, detail: str, at: int) -> Forfeited:
    """Return the entry that drops a seat that is still playing."""
    return Forfeited(seq=state.seq + 1, at_ms=at, seat=seat, cause=cause, detail=detail[:200])


def aborted(state: MatchState, detail: str, at: int, *, operator: bool = False) -> Aborted:
    """Return the entry that aborts a running match, so that it does not count."""
    return Aborted(
        seq=state.seq + 1, at_ms=at, detail=detail[:200], operator=True if operator else None
    )


def after_flag(state: MatchState, at: int) -> Moved | Forfeited:
    """Return the entry that follows a fallen flag (`GameInfo.on_flag`)."""
    match state.game.info.on_flag:
        case "forfeit":
            return forfeited(state, state.to_act, *_late_cause(state), at)
        case "random":
            return Moved(
                seq=state.seq + 1,
                at_ms=at,
                ply=state.ply,
                seat=state.to_act,
                action=state.encode(_random_action(state)),
            )
        case "skip":
            raise AssertionError("a skipped turn ends with its flag")


def _late_cause(state: MatchState) -> tuple[Cause, str]:
    """Return the cause of a fallen flag: the player's absence if it was absent, else its time."""
    gone = state.away.get(state.to_act)
    if gone is None:
        return Cause.TIME, "the flag fell"
    return cause_of(gone), f"{DEPARTURE_TEXTS[gone.reason]} before the flag fell"


def _random_action(state: MatchState) -> int:
    """Draw a legal action from the seed and the ply, so that replays draw the same one."""
    legal = state.game.legal(state.game_state)
    drawn = hashlib.sha256(f"{state.setup.seed}:flag:{state.ply}".encode()).digest()
    return legal[int.from_bytes(drawn[:8], "big") % len(legal)]


def _leave(state: MatchState, command: Leave, at: int) -> Left | Refuse | None:
    seat = command.seat
    if state.result is not None or seat in state.departed:
        return refuse_over(state, seat)
    known = state.away.get(seat)
    for_good = command.reason in GONE_FOR_GOOD
    if known is not None and (known.reason in GONE_FOR_GOOD or not for_good):
        return None  # the first reason counts, unless the player now leaves for good
    return Left(
        seq=state.seq + 1,
        at_ms=at,
        seat=seat,
        reason=command.reason,
        grace_ms=0 if for_good else state.setup.conduct.grace_ms,
        restart=True if command.restart else None,
    )


def _return(state: MatchState, command: Return, at: int) -> Returned | Refuse | None:
    seat = command.seat
    if state.result is not None or seat in state.departed:
        return refuse_over(state, seat)
    owner = state.players[seat]
    if command.player is not None and command.player != owner.player:
        message = f"seat {seat + 1} is played by {owner.name} now"
        return Refuse(seat, None, Code.NOT_SEATED, message, state.ply)
    if seat not in state.away and not command.takeover:
        return None
    takeover = True if command.takeover else None
    return Returned(seq=state.seq + 1, at_ms=at, seat=seat, takeover=takeover)


def _replace(state: MatchState, command: Replace, at: int) -> Replaced | Refuse:
    seat = command.seat
    if state.result is not None or seat in state.departed:
        return refuse_over(state, seat)
    if seat not in state.away:
        message = f"the player of seat {seat + 1} is connected"
        return Refuse(seat, None, Code.WRONG_STATE, message, state.ply)
    return Replaced(
        seq=state.seq + 1, at_ms=at, seat=seat, player=command.player, cause=command.cause
    )


def _note(state: MatchState, command: Note, at: int) -> Noted | Refuse:
    seat = command.seat
    if state.result is not None:
        return refuse_over(state, seat)
    left = state.left_of(NOTES, seat, at)
    if command.is_own and len(command.text) > left:
        message = (
            f"the notes of this seat have {left} characters left: {NOTES.at_once} at once and"
            f" {NOTES.per_hour} more per hour, at most {NOTES.most} in a match"
        )
        hint = "write less, or keep the notes in a file of your own"
        return Refuse(seat, None, Code.LIMIT, message, state.ply, hint)
    return Noted(seq=state.seq + 1, at_ms=at, seat=seat, text=command.text)


def _comment(state: MatchState, command: AddComment, at: int) -> Commented | Refuse:
    seat = -1 if command.seat is None else command.seat
    if state.result is not None:
        return refuse_over(state, seat)
    audience = comment_audience(state.setup, command.seat, state.game.info.hidden)
    if audience is None:
        message = "the host has disabled comments on this match"
        return Refuse(seat, None, Code.NO_COMMENTS, message, state.ply)
    if state.comments >= MAX_COMMENTS:
        message = f"the match has reached the limit of {MAX_COMMENTS} comments"
        return Refuse(seat, None, Code.LIMIT, message, state.ply)
    return Commented(
        seq=state.seq + 1,
        at_ms=at,
        ply=command.ply,
        author=command.author,
        seat=command.seat,
        audience=audience,
        text=command.text,
    )
