"""Answers refused commands, mostly moves, and logs each illegal move as a note.

All are pure functions of a match's state.
"""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError
from pydantic_core import to_json

from kibitz_games.core.game import IllegalAction
from kibitz_protocol.wire.records import Noted, RefusedMove
from kibitz_protocol.wire.refusals import Code
from kibitz_server.match.answered_moves import find_entry
from kibitz_server.match.commands import Accepted, Play, Refuse
from kibitz_server.match.state import MatchState

_ACTION_CHARS: Final = 1000
"""The number of characters of a refused illegal action that the log keeps."""
_NOTE_CHARS: Final = 2000
"""The number of characters of the message about an illegal action that the log keeps."""


def refuse_over(state: MatchState, seat: int, request: int | None = None) -> Refuse:
    """Refuse a command after the end of the match, or after the seat dropped out."""
    message = "the match is over" if state.result else f"seat {seat + 1} has dropped out"
    return Refuse(seat, request, Code.OVER, message, state.ply)


def answer_out_of_turn(state: MatchState, play: Play) -> Accepted | Refuse:
    """Refuse a move that is not for the current turn; a resent move gets its original answer."""
    seat = play.seat
    known = find_entry(state.answered, play.ply, seat, play.id)
    if known is not None:
        return Accepted(seat, play.id, known)
    if state.result is not None or seat in state.departed:
        return refuse_over(state, seat, play.id)
    if play.ply != state.ply:
        return Refuse(seat, play.id, Code.STALE, f"the match is at ply {state.ply}", state.ply)
    message = f"seat {state.to_act + 1} is to act"
    return Refuse(seat, play.id, Code.NOT_YOUR_TURN, message, state.ply)


def refuse_late(state: MatchState, play: Play) -> Refuse:
    """Refuse a move that arrived after its flag fell."""
    over = state.result is not None or play.seat in state.departed
    message = "the move arrived after the time of this turn ran out"
    return Refuse(play.seat, play.id, Code.OVER if over else Code.STALE, message, state.ply)


def refuse_illegal(
    state: MatchState, play: Play, error: ValidationError | IllegalAction, at: int
) -> tuple[Refuse, Noted]:
    """Refuse a move with an illegal action, and add a note to the seat's own record.

    `max_illegal` limits these notes.
    """
    if isinstance(error, IllegalAction):
        code, message = Code.ILLEGAL, str(error)
    else:
        code, message = Code.MALFORMED, _validation_message(error)
    sent = to_json(play.action).decode()[:_ACTION_CHARS]
    note = Noted(
        seq=state.seq + 1,
        at_ms=at,
        seat=play.seat,
        text=f"refused as {code}: {message}"[:_NOTE_CHARS],
        refused=RefusedMove(ply=play.ply, code=code, action=sent, id=play.id),
    )
    return Refuse(play.seat, play.id, code, message, state.ply, _hint(state, code)), note


def _hint(state: MatchState, code: Code) -> str:
    """Return a hint for an illegal action: an action that is legal for the seat to act now."""
    game = state.game
    action = to_json(state.encode(game.legal(state.game_state)[0])).decode()
    if code is Code.MALFORMED:
        return f"an action of {game.info.name} looks like {action}"
    return f"choose a legal action, for example {action}"


def _validation_message(error: ValidationError) -> str:
    """Return a message: which part of an action is invalid, and what was expected there."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(["action", *map(str, first["loc"])])
    return f"{path}: {first['msg'].removeprefix('Value error, ').lower()}"[:300]
