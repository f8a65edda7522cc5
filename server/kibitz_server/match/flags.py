"""Fallen flags: applies the game's policy to the seat that ran out of time."""

from __future__ import annotations

import hashlib

from kibitz_protocol.wire.records import Cause, Forfeited, Moved
from kibitz_server.match.absences import DEPARTURE_TEXTS, cause_of
from kibitz_server.match.decisions import forfeited
from kibitz_server.match.state import MatchState


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
