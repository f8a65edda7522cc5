"""Compares what bots announce that they can play with the items of a programme. Pure."""

from __future__ import annotations

from kibitz_protocol.wire.clocks import TimeControl
from kibitz_protocol.wire.lobbies import ProgrammeItem
from kibitz_protocol.wire.messages import Capabilities


def unable_reason(item: ProgrammeItem, capabilities: Capabilities) -> str | None:
    """Return why a bot with these capabilities cannot play `item`, or None."""
    if capabilities.games:
        claims = [claim for claim in capabilities.games if claim.game == item.game]
        if not claims:
            return f"it does not claim the game {item.game!r}"
        if not any(not claim.seats or item.seats in claim.seats for claim in claims):
            return f"it does not claim {item.game!r} with {item.seats} seats"
    return _clock_problem(item.time_control, capabilities)


def _clock_problem(control: TimeControl, capabilities: Capabilities) -> str | None:
    if not control.limited:
        return None if capabilities.untimed else "it does not play without a clock"
    sure = assured_ms(control)
    if sure < capabilities.min_move_ms:
        return f"it needs {capabilities.min_move_ms} ms per move, and {control} guarantees {sure}"
    return None


def assured_ms(control: TimeControl) -> int:
    """Return the milliseconds that a clock guarantees for every move, however long the match."""
    period = control.period_ms if control.periods else 0
    return control.move_ms + control.increment_ms + period
